#include "vars/constraint.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

/* What a list means, as text: "bar; foo >= 1.0". */
static int parse(const char *list, struct bz_buf *out, struct bz_err *err)
{
    struct bz_arena arena = {0};
    struct bz_constraints c = {0};
    int rc = bz_constraint_parse(&arena, bz_str_from(list), &c, err);

    for (size_t i = 0; i < c.len; i++) {
        bz_buf_addf(out, "%s%.*s", i > 0 ? "; " : "", BZ_STR_ARG(c.at[i].name));
        for (size_t k = 0; k < c.at[i].versions.len; k++)
            bz_buf_addf(out, "%s%.*s %.*s", k > 0 ? ", " : " ",
                        BZ_STR_ARG(c.at[i].versions.at[k].op),
                        BZ_STR_ARG(c.at[i].versions.at[k].version));
    }
    bz_constraint_release(&c);
    bz_arena_release(&arena);
    return rc;
}

static void lists_are_read_as_bitbake_reads_them(void **state)
{
    static const struct {
        const char *list, *meaning;
    } rows[] = {
        {"",                            ""                        },
        {"foo",                         "foo"                     },
        {"foo bar foo",                 "bar; foo"                },
        {"foo (= 1.10)",                "foo = 1.10"              },
        {"foo (=1.10)",                 "foo = 1.10"              },
        {"foo ( = 1.10 ) bar",          "bar; foo = 1.10"         },
        {"foo(>= 1)",                   "1); foo(>="              },
        {"foo (>= 1), bar (<< 2), c",   "bar << 2; c; foo >= 1"   },
        {"foo (>= 1) foo (<= 3)",       "foo >= 1, <= 3"          },
        {"foo (>= 1) foo",              "foo >= 1"                },
        {"foo (>= 1 2)",                "foo >= 1, >= 1 2"        },
        {"foo (>= 1 2 3)",              "foo >= 1, >= 12, >= 12 3"},
        {"foo (>= 1) (<= 2)",           "foo >= 1, <= 1 2"        },
        {"foo (>=) bar",                "bar; foo"                },
        {"foo (>= 1 bar",               "foo >= 1, >= 1bar"       },
        {"foo (=> 1) b (=< 2) c (!=3)", "b =< 2; c != 3; foo => 1"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_buf out = {0};
        struct bz_err err;

        assert_ok(parse(rows[i].list, &out, &err), &err);
        assert_string_equal(bz_buf_text(&out), rows[i].meaning);
        bz_buf_release(&out);
    }
}

static void what_bitbake_refuses_is_an_error(void **state)
{
    static const struct {
        const char *list, *reason;
    } rows[] = {
        {"foo (1.0)",  "'(1.0)' has no operator; write for example '(>= 1.0)'"},
        {"foo ( 1.0)", "'(1.0)' has no operator; write for example '(>= 1.0)'"},
        {"(>= 1)",     "the version '1' has no name before it"                },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_buf out = {0};
        struct bz_err err;

        assert_int_equal(parse(rows[i].list, &out, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].reason);
        bz_buf_release(&out);
    }
}

static void a_version_has_a_limit(void **state)
{
    struct bz_buf list = {0}, out = {0};
    struct bz_err err;

    (void)state;
    bz_buf_addf(&list, "foo (>=");
    for (int i = 0; i < 2000; i++)
        bz_buf_addf(&list, " 1");
    assert_int_equal(parse(bz_buf_text(&list), &out, &err), BZ_E_LIMIT);
    bz_buf_release(&list);
    bz_buf_release(&out);
}

static void names_alone_leave_brackets_out(void **state)
{
    struct bz_str rest = BZ_STR(" a (>= 1.0) b ( = 2 ) (x) c (= 1"), name;
    struct bz_buf out = {0};

    (void)state;
    while (bz_constraint_next_name(&rest, &name))
        bz_buf_addf(&out, "%.*s.", BZ_STR_ARG(name));
    assert_string_equal(bz_buf_text(&out), "a.b.c.");
    bz_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read_as_bitbake_reads_them),
        cmocka_unit_test(what_bitbake_refuses_is_an_error),
        cmocka_unit_test(a_version_has_a_limit),
        cmocka_unit_test(names_alone_leave_brackets_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
