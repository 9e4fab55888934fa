#include "tests/unit/vars/script.h"

#include "sig/deps.h"

static void show(const struct bz_deps *d, const struct bz_deps_item *item,
                 struct bz_buf *out)
{
    struct bz_str value = item->value.p ? item->value : BZ_STR("(none)");

    assert_true(item->done);
    bz_buf_addf(out, "%.*s:", BZ_STR_ARG(item->name));
    for (size_t k = 0; k < item->n; k++)
        bz_buf_addf(out, " %.*s", BZ_STR_ARG(d->items.at[item->deps[k].i].name));
    bz_buf_addf(out, " = %.*s\n", BZ_STR_ARG(value));
}

/* Lists what a task leads to, as "name: deps = value" lines, the task first. */
static void list(struct bz_vars *v, const struct bz_deps_opts *opts, const char *task,
                 struct bz_buf *out)
{
    struct bz_deps d;
    struct bz_deps_id id = {0};
    struct bz_bitset all = {0};
    struct bz_err err;
    int rc = bz_deps_open(&d, v, opts, &err);

    if (rc == 0)
        rc = bz_deps_find(&d, bz_str_from(task), &id, &err);
    if (rc == 0) {
        bz_deps_reach(&d, id, &all);
        bz_bitset_set(&all, id.i);
    } else {
        bz_buf_addf(out, "%s", err.msg);
    }
    for (size_t i = bz_bitset_next(&all, 0); i < BZ_BITSET_END;
         i = bz_bitset_next(&all, i + 1))
        show(&d, &d.items.at[i], out);
    bz_bitset_release(&all);
    bz_deps_close(&d);
}

struct row {
    const char *script, *ignored, *deps;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct script s = {0};
        struct bz_buf out = {0};
        struct bz_deps_opts opts = {.ignored = bz_str_from(rows[i].ignored)};
        struct bz_err err = {0};

        assert_ok(script_run(&s, rows[i].script, &err), &err);
        list(script_store(&s), &opts, "T", &out);
        assert_string_equal(bz_buf_text(&out), rows[i].deps);
        bz_buf_release(&out);
        script_release(&s);
    }
}

static void a_value_depends_on_what_it_refers_to(void **state)
{
    static const struct row rows[] = {
        {"T=x ${A} ${B}\nA=${C}\nC=1",                        "",
         "T: A B = x ${A} ${B}\nA: C = ${C}\n"
         "B: = \nC: = 1\n"                                                                             },
        {"T=${A}\nA=${B}\nB=1",                               "A", "T: = ${A}\n"                       },
        {"T=${A}${B}\nT[vardepsexclude]=A",                   "",  "T: B = ${A}${B}\nB: = \n"          },
        {"T=x\nT[vardeps]=${W} B\nW=A\nA=1",                  "",  "T: A B = x\nA: = 1\nB: = \n"       },
        {"T=${A}\nT[vardepvalue]=v ${B}\nB=b",                "",  "T: = v b\n"                        },
        {"T=a b c\nT[vardepvalueexclude]=b |c",               "",  "T: = a \n"                         },
        {"T=${@d.getVar('A')}\nA=1",                          "",  "T: A = ${@d.getVar('A')}\nA: = 1\n"},
        {"T=${A}\nA=${@'x' if d.getVar('T', False) else ''}", "",
         "T: A = ${A}\nA: T = ${@'x' if d.getVar('T', False) else ''}\n"                               },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void of_contains_only_the_answer_counts(void **state)
{
    static const struct row rows[] = {
        {"T=${@bb.utils.contains('F', 'b a', '1', '', d)}\nF=a b c", "",
         "T: = ${@bb.utils.contains('F', 'b a', '1', '', d)}\nF{b a} = Set\n"                                    },
        {"T=${@bb.utils.filter('F', 'z a', d)}\nF=a b c",            "",
         "T: = ${@bb.utils.filter('F', 'z a', d)}\nF{a} = Set\nF{z} = Unset\n"                                   },
        {"T=${@bb.utils.contains('F', 'a', '1', '', d)}\nF=a",       "F",
         "T: = ${@bb.utils.contains('F', 'a', '1', '', d)}\n"                                                    },
        {"T=a b\nT:remove=${R}\nR=b",                                "",  "T: R = a b\n_remove of ${R}\nR: = b\n"},
        {"T=a b\nT:remove=${R}\nR=z",                                "",  "T: = a b\n"                           },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void shell_code_depends_on_exports_and_on_what_it_calls(void **state)
{
    static const struct row rows[] = {
        {"T=f ${A}; g; h\nT[func]=1\nf=:\nf[func]=1\ng=1\nE=e\nE[export]=1", "",
         "T: A E f g = f ${A}; g; h\nA: = \nE: = e\nf: E = :\ng: = 1\n"                                                            },
        {"T=${C} x\nT[func]=1\nC=f\nf=1",                                    "", "T: C f = ${C} x\nC: = f\nf: = 1\n"               },
        {"T=:\nT[func]=1\nT[prefuncs]=a\nT[postfuncs]=b\nT[exports]=c",      "",
         "T: a b c = :\na: = \nb: = \nc: = \n"                                                                                     },
        {"T=a ${X}\nT[func]=1\nX=b;c\nb=1\nBB_HASH_CODEPARSER_VALS=X=d",     "",
         "T: X = a ${X}\nX: = b;c\n"                                                                                               },
        {"T=if\nT[func]=1",                                                  "", "T: line 1: expected a command, but the text ends"},
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void flags_count_if_some_are_named_that_do_not(void **state)
{
    static const struct row rows[] = {
        {"T=t\nT[doc]=x\nT[own]=${A}\nBB_SIGNATURE_EXCLUDE_FLAGS=doc", "",
         "T: T[own] = t\nT[own]: A = ${A}\nA: = \n"                                                         },
        {"T=t\nT[vardeps]=A[no]",                                      "", "T: A[no] = t\nA[no]: = (none)\n"},
        {"T=t\nT[own]=1",                                              "", "T: = t\n"                       },
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

static void python_code_depends_on_what_it_mentions(void **state)
{
    static const struct row rows[] = {
        {"T=f(d.getVar('R'), bb.utils.contains('F', 'a', 1, 2, d), unknown())\n"
         "T[func]=1\nT[python]=1\nf=1\nF=a\nE=e\nE[export]=1", "",
         "T: R f = f(d.getVar('R'), bb.utils.contains('F', 'a', 1, 2, d), unknown())\n"
         "F{a} = Set\nR: = \nf: = 1\n"               },
        {"T=f(\nT[func]=1\nT[python]=1",                                "",
         "T: SyntaxError: a bracket was never closed"},
    };

    (void)state;
    check(rows, BZ_COUNTOF(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_depends_on_what_it_refers_to),
        cmocka_unit_test(of_contains_only_the_answer_counts),
        cmocka_unit_test(shell_code_depends_on_exports_and_on_what_it_calls),
        cmocka_unit_test(flags_count_if_some_are_named_that_do_not),
        cmocka_unit_test(python_code_depends_on_what_it_mentions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
