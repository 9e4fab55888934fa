#include "sig/origin_op.h"

#include "tests/unit/sig/history_script.h"

/* The operations on V, oldest first: line, operator, and a dash before those without
 * effect. */
static const struct {
    const char *script, *ops;
} cases[] = {
    {"a:1 set V x",                                                                    "1 set"                                  },
 /* overwritten by what comes later */
    {"a:1 set V x\na:2 append V y\na:3 set V z\na:4 append V w",
     "-1 set, -2 append, 3 set, 4 append"                                                                                       },
    {"a:1 set? V x\na:2 set V y",                                                      "-1 set?, 2 set"                         },
 /* too late to be a default */
    {"a:1 set V x\na:2 set? V y",                                                      "1 set, -2 set?"                         },
    {"a:1 set? V x\na:2 set? V y",                                                     "1 set?, -2 set?"                        },
    {"a:1 set V[_defaultval] x\na:2 set V[_defaultval] y",                             "-1 set, 2 set"                          },
    {"a:1 set V[_defaultval] x\na:2 append V y",                                       "-1 set, 2 append"                       },
 /* := with the variable in it adds, else it replaces */
    {"a:1 set V x\na:2 immediate V ${V} y",                                            "1 set, 2 immediate"                     },
    {"a:1 set V x\na:2 immediate V y",                                                 "-1 set, 2 immediate"                    },
 /* what is applied at the end stays, if its override is active */
    {"a:1 set V:append x\na:2 set V y\na:3 set V:append:on z\na:4 set V:remove:off y",
     "1 :append, 2 set, 3 :append[on], -4 :remove[off]"                                                                         },
 /* and if there was something to take out */
    {"a:1 set V x y\na:2 set V:remove y\na:3 set V:remove z",
     "1 set, 2 :remove, -3 :remove"                                                                                             },
 /* variants */
    {"a:1 set V x\na:2 set V:off y",                                                   "1 set, -2 override[off]:set"            },
    {"a:1 set V x\na:2 set V:on y\na:3 set V:append z",
     "-1 set, 3 :append, 2 override[on]:set"                                                                                    },
    {"a:1 set V:on x\na:2 set V:on y",                                                 "-1 override[on]:set, 2 override[on]:set"},
    {"a:1 set V:on:off x",                                                             "-1 override[on:off]:set"                },
 /* flags that count, one by one */
    {"a:1 set V x\na:2 set V[vardeps] y\na:3 set V[doc] z\na:4 set V[vardeps] w",
     "1 set, -2 set[vardeps], 4 set[vardeps]"                                                                                   },
    {"a:1 set V:on x\na:2 set V[export] 1",                                            "2 set[export], 1 override[on]:set"      },
};

static void list(const char *script, const char *name, struct bz_buf *out)
{
    struct history_script s;
    struct bz_origin_files files = {0};
    struct bz_record record = {0};
    struct bz_digest_hasher *hasher;
    struct bz_origin o;
    struct bz_origin_ops ops = {0};
    struct bz_err err;

    history_script_run(&s, script);
    assert_ok(bz_vars_set(s.vars, BZ_STR("OVERRIDES"), BZ_STR("no:on"), 0, NULL, &err),
              &err);
    assert_ok(bz_digest_hasher_new(&hasher, &err), &err);
    assert_ok(bz_origin_open(&o, s.vars, &files, hasher, &record, &err), &err);
    bz_origin_op_list(&o, bz_str_from(name), &ops);
    for (size_t i = 0; i < ops.len; i++) {
        bz_buf_addf(out, "%s%s%u %.*s", i ? ", " : "", ops.at[i].off ? "-" : "",
                    ops.at[i].line, BZ_STR_ARG(ops.at[i].op));
        if (ops.at[i].flag.n > 0 && ops.at[i].flag.p[0] != '_')
            bz_buf_addf(out, "[%.*s]", BZ_STR_ARG(ops.at[i].flag));
    }
    bz_vec_release(&ops);
    bz_origin_release(&o);
    bz_digest_hasher_free(hasher);
    bz_record_release(&record);
    bz_origin_file_release(&files);
    history_script_release(&s);
}

static void what_has_no_effect_is_marked(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf out = {0};

        list(cases[i].script, "V", &out);
        if (strcmp(bz_buf_text(&out), cases[i].ops) != 0)
            fail_msg("case %zu: %s, expected %s", i, bz_buf_text(&out), cases[i].ops);
        bz_buf_release(&out);
    }
}

static void a_flag_has_its_own_operations(void **state)
{
    struct bz_buf out = {0};

    (void)state;
    list("a:1 set V x\na:2 set V[doc] y\na:3 set V[vardeps] z", "V[doc]", &out);
    assert_string_equal(bz_buf_text(&out), "2 set[doc]");
    bz_buf_release(&out);
}

static void a_function_begins_where_it_begins(void **state)
{
    struct bz_buf out = {0};
    struct history_script s;
    struct bz_vars_at at = {.file = "a", .line = 9};
    struct bz_origin_files files = {0};
    struct bz_record record = {0};
    struct bz_digest_hasher *hasher;
    struct bz_origin o;
    struct bz_origin_ops ops = {0};
    struct bz_err err;

    (void)state;
    history_script_run(&s, "");
    assert_ok(bz_vars_set(s.vars, BZ_STR("F"), BZ_STR("  a\n  b\n"), 0, &at, &err),
              &err);
    assert_ok(bz_digest_hasher_new(&hasher, &err), &err);
    assert_ok(bz_origin_open(&o, s.vars, &files, hasher, &record, &err), &err);
    bz_origin_op_list(&o, BZ_STR("F"), &ops);
    assert_int_equal(ops.at[0].line, 6);
    bz_vec_release(&ops);
    bz_origin_release(&o);
    bz_digest_hasher_free(hasher);
    bz_origin_file_release(&files);
    history_script_release(&s);
    bz_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_effect_is_marked),
        cmocka_unit_test(a_flag_has_its_own_operations),
        cmocka_unit_test(a_function_begins_where_it_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
