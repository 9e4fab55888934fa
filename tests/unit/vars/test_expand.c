#include "tests/unit/vars/script.h"

#include "vars/expand.h"
#include "vars/refs.h"

static void references_and_expressions_are_replaced_as_bitbake_does(void **state)
{
    static const struct script_case cases[] = {
        {"A=1\nX=${A} ${A}",                  "X",    "1 1"                   },
        {"X=${A}",                            "X",    "${A}"                  },
        {"A=B\nB=2\nX=${${A}}",               "X",    "2"                     },
        {"A=1\nX=${A",                        "X",    "${A"                   },
        {"X=${}",                             "X",    "${}"                   },
        {"A=1\nX=$A ${A}",                    "X",    "$A 1"                  },
        {"A=1\nX=$${A}}",                     "X",    "$1}"                   },
        {"A=1\nX=${ A}",                      "X",    "${ A}"                 },
        {"A-1.b+c/~_:d=1\nX=${A-1.b+c/~_:d}", "X",    "1"                     },
        {"A=x\nX=sed -e 's:IP{:I${:g' ${A}",  "X",    "sed -e 's:IP{:I${:g' x"},
        {"F=a\nX=${@'${F}' + 'b'}",           "X",    "ab"                    },
        {"X=${@'${U}'}",                      "X",    "${@'${U}'}"            },
        {"X=a ${@'1'} ${@'${U}'} ${@'2'}",    "X",    "a 1 ${@'${U}'} 2"      },
        {"X=${@'}'}",                         "X",    "${@'}'}"               },
        {"X=a${@'1'} ${@'}'}",                "X",    "a${@'1'} ${@'}'}"      },
        {"X=${@{'a':'b'}['a']}",              "X",    "b"                     },
        {"X=${@ 'a' }",                       "X",    "a"                     },
        {"X=${@'{'}}",                        "X",    SCRIPT_FAILS            },
        {"X=${@'{}'}",                        "X",    "{}"                    },
        {"X=${@'{'} }",                       "X",    SCRIPT_FAILS            },
        {"X=${@'a'\nY=b}",                    "X",    "${@'a'"                },
        {"X=${@",                             "X",    "${@"                   },
        {"X=${@}",                            "X",    "${@}"                  },
        {"X=${@1 # it's}",                    "X",    "1"                     },
        {"X=${@'\\''}",                       "X",    "'"                     },
        {"A=${@'$'}{B}\nB=2\nX=${A}",         "X",    "2"                     },
        {"N=X\nX=1\nY=${${@'N'}}",            "Y",    "X"                     },
        {"foo=foo\nbar=bar\nvalue_of_foobar=187\nX=${value_of_${@('${foo}'+'bar')[0:3]}"
         "${${@'BAR'.lower()}}}",    "X",    "187"                   },
        {"A=${B}\nB=${C}\nC=3",               "A",    "3"                     },
        {"A=1\nX[f]=${A}",                    "X[f]", "1"                     },
        {"X[f]~=${A}\nA=2",                   "X[f]", "2"                     },
        {"X[f]=1\nX[f]~=2",                   "X[f]", "1"                     },
        {"X[f]=",                             "X[f]", ""                      },
        {"X=1",                               "X[f]", NULL                    },
        {"X=${X:a}\nX:a=1",                   "X",    "1"                     },
        {"A=1\nX=${A}\ncopy\nA=2",            "X",    "2"                     },
    };

    (void)state;
    script_check_all(cases, BZ_COUNTOF(cases));
}

static void recursion_is_an_error_that_names_the_chain(void **state)
{
    static const struct {
        const char *script, *question, *says;
    } cases[] = {
        {"X=${X}",                      "X",    "X -> X: variable X references itself"        },
        {"A=${B}\nB=${A}",              "A",    "A -> B -> A: variable A references itself"   },
        {"A=${B}\nB=${C}\nC=${B}",      "A",
         "A -> B -> C -> B: variable B references itself"                                     },
        {"A=${@d.getVar('B')}\nB=${A}", "B",
         "B -> A -> B: variable B references itself"                                          },
        {"A[f]=${B}\nB=${B}",           "A[f]", "A[f] -> B -> B: variable B references itself"},
        {"A=${${@'A'}}",                "A",    "A -> A: variable A references itself"        },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct script s;
        struct bz_err err = {0};
        struct bz_str out;
        struct bz_buf room = {0};

        assert_ok(script_run(&s, cases[i].script, &err), &err);
        assert_int_equal(
            script_ask(script_store(&s), cases[i].question, &room, &out, &err),
            BZ_E_INVAL);
        assert_string_equal(err.msg, cases[i].says);
        script_release(&s);
    }
}

static void a_long_chain_keeps_its_ends(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;
    char name[64], value[64];

    (void)state;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "A_RATHER_LONG_NAME_%d", i);
        snprintf(value, sizeof(value), "${A_RATHER_LONG_NAME_%d}", (i + 1) % 20);
        assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), 0, NULL, &err),
                  &err);
    }
    assert_int_equal(bz_vars_get(v, BZ_STR("A_RATHER_LONG_NAME_3"), 0, &out, &err),
                     BZ_E_INVAL);
    assert_string_equal(err.msg,
                        "A_RATHER_LONG_NAME_3 -> A_RATHER_LONG_NAME_4 -> ... -> "
                        "A_RATHER_LONG_NAME_2 -> A_RATHER_LONG_NAME_3: variable "
                        "A_RATHER_LONG_NAME_3 references itself");
    bz_vars_free(v);
}

/* V0 refers to V1 and so on, `n` times. */
static int read_chain(int n, struct bz_err *err)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_str out;
    char name[32], value[32];
    int rc;

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "V%d", i);
        snprintf(value, sizeof(value), "${V%d}", i + 1);
        assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), 0, NULL, err),
                  err);
    }
    snprintf(name, sizeof(name), "V%d", n);
    assert_ok(bz_vars_set(v, bz_str_from(name), BZ_STR("end"), 0, NULL, err), err);
    rc = bz_vars_get(v, BZ_STR("V0"), 0, &out, err);
    if (rc == 0)
        assert_true(bz_str_eq(out, BZ_STR("end")));
    bz_vars_free(v);
    return rc;
}

static void depth_is_bounded(void **state)
{
    struct bz_err err = {0};

    (void)state;
    assert_ok(read_chain(BZ_EXPAND_DEPTH, &err), &err);
    assert_int_equal(read_chain(BZ_EXPAND_DEPTH + 1, &err), BZ_E_LIMIT);
    assert_int_equal(read_chain(100000, &err), BZ_E_LIMIT);
    assert_non_null(strstr(err.msg, "V0 -> V1 -> ... -> V247 -> V248: values refer"));
}

/* How deep it gets is a matter of the build; it must not be the end of the stack. */
static void deep_expressions_in_deep_values_leave_some_stack(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;
    int rc;

    (void)state;
    for (int i = 0; i < BZ_EXPAND_DEPTH - 1; i++) {
        struct bz_buf value = {0};
        char name[32];

        bz_buf_addf(&value, "${@");
        for (int n = 0; n < 80; n++)
            bz_buf_addf(&value, "''+(");
        bz_buf_addf(&value, "d.getVar('V%d')", i + 1);
        for (int n = 0; n < 80; n++)
            bz_buf_addf(&value, ")");
        bz_buf_addf(&value, "}");
        snprintf(name, sizeof(name), "V%d", i);
        assert_ok(bz_vars_set(v, bz_str_from(name), bz_buf_str(&value), 0, NULL, &err),
                  &err);
        bz_buf_release(&value);
    }
    assert_ok(bz_vars_set(v, BZ_STR("V247"), BZ_STR("end"), 0, NULL, &err), &err);
    rc = bz_vars_get(v, BZ_STR("V0"), 0, &out, &err);
    if (rc < 0)
        assert_int_equal(rc, BZ_E_LIMIT);
    else
        assert_true(bz_str_eq(out, BZ_STR("end")));
    bz_vars_free(v);
}

static void size_is_bounded_however_references_multiply(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;
    char name[32], value[32];

    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "V%d", i);
        snprintf(value, sizeof(value), "${V%d}${V%d}", i + 1, i + 1);
        assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), 0, NULL, &err),
                  &err);
    }
    assert_ok(bz_vars_set(v, BZ_STR("V40"), BZ_STR("x"), 0, NULL, &err), &err);
    assert_int_equal(bz_vars_get(v, BZ_STR("V0"), 0, &out, &err), BZ_E_LIMIT);
    bz_vars_free(v);
}

static void a_text_that_expands_to_itself_and_more_is_stopped(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s, "X=${@d.getVar('X', False) + ' '}", &err), &err);
    assert_int_equal(bz_vars_get(script_store(&s), BZ_STR("X"), 0, &out, &err),
                     BZ_E_LIMIT);
    script_release(&s);
}

static void nesting_is_resolved_from_the_inside(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_buf text = {0};
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    for (int i = 0; i < 500; i++)
        bz_buf_addf(&text, "${");
    bz_buf_addf(&text, "foo");
    for (int i = 0; i < 500; i++)
        bz_buf_addf(&text, "}");
    assert_ok(bz_vars_set(v, BZ_STR("foo"), BZ_STR("foo"), 0, NULL, &err), &err);
    assert_ok(
        bz_vars_expand(v, bz_buf_str(&text), (struct bz_str){0}, NULL, &out, &err),
        &err);
    assert_true(bz_str_eq(out, BZ_STR("foo")));
    bz_buf_release(&text);
    bz_vars_free(v);
}

/* The thread sanitizer looks at every byte of a range that a library function may read,
 * each time: there the same calls take quadratic time. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNITS 10000
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define UNITS 10000
#elif !defined(UNITS)
#define UNITS 200000
#endif

/* Each would take minutes if every brace were searched for from every other one. What
 * ends in a string literal without an end stays as it is, unless its brackets are wrong
 * before that. */
static void hostile_texts_take_linear_time(void **state)
{
    static const struct {
        const char *unit;
        bool fails;
    } cases[] = {
        {"${@",   true },
        {"${@{",  true },
        {"{",     true },
        {"}",     true },
        {"${a",   true },
        {"${@{}", true },
        {"${@\n", false},
        {"x",     false},
        {"{}",    false},
    };
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf text = {0};
        int rc;

        bz_buf_addf(&text, "${@");
        for (int n = 0; n < UNITS; n++)
            bz_buf_addf(&text, "%s", cases[i].unit);
        bz_buf_addf(&text, "'}");
        rc = bz_vars_expand(v, bz_buf_str(&text), (struct bz_str){0}, NULL, &out, &err);
        if ((rc < 0) != cases[i].fails)
            fail_msg("%s: %d", cases[i].unit, rc);
        if (rc == 0)
            assert_true(bz_str_eq(out, bz_buf_str(&text)));
        bz_buf_release(&text);
    }
    bz_vars_free(v);
}

static void what_is_read_on_this_level_is_noted(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_arena arena = {0};
    struct bz_refs refs;
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s, "A=${B} ${U}\nB=${C}\nC=1", &err), &err);
    bz_refs_init(&refs, &arena);
    assert_ok(bz_vars_expand(script_store(&s), BZ_STR("${A} ${@d.getVar('D')}"),
                             BZ_STR("X"), &refs, &out, &err),
              &err);
    assert_true(bz_str_eq(out, BZ_STR("1 ${U} None")));
    assert_int_equal(refs.reads.len, 3);
    assert_non_null(bz_map_get(&refs.reads, BZ_STR("A")));
    assert_non_null(bz_map_get(&refs.reads, BZ_STR("U"))); /* left in the second turn */
    assert_non_null(bz_map_get(&refs.reads, BZ_STR("D")));
    bz_refs_release(&refs);
    bz_arena_release(&arena);
    script_release(&s);
}

static void nothing_and_empty_stay_what_they_are(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(bz_vars_expand(v, (struct bz_str){0}, BZ_STR("X"), NULL, &out, &err),
              &err);
    assert_null(out.p);
    assert_ok(bz_vars_expand(v, BZ_STR(""), BZ_STR("X"), NULL, &out, &err), &err);
    assert_non_null(out.p);
    assert_int_equal(out.n, 0);
    bz_vars_free(v);
}

static void a_text_may_not_name_the_variable_it_stands_for(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s, "X=1", &err), &err);
    assert_int_equal(
        bz_vars_expand(script_store(&s), BZ_STR("${X}"), BZ_STR("X"), NULL, &out, &err),
        BZ_E_INVAL);
    assert_string_equal(err.msg, "X -> X: variable X references itself");
    assert_ok(bz_vars_expand(script_store(&s), BZ_STR("${@d.getVar('X')}"), BZ_STR("X"),
                             NULL, &out, &err),
              &err);
    assert_true(bz_str_eq(out, BZ_STR("1")));
    script_release(&s);
}

static int hook(void *ctx, struct bz_vars *v, struct bz_str code, struct bz_str name,
                struct bz_refs *refs, struct bz_str *out, struct bz_err *err)
{
    int *calls = ctx;

    (void)v;
    (void)name;
    (void)refs;
    ++*calls;
    if (bz_str_eq(code, BZ_STR("lambda: 'known'")))
        *out = BZ_STR("from the hook");
    else if (bz_str_eq(code, BZ_STR("lambda: 'wrong'")))
        return bz_fail(err, BZ_E_INVAL, "ValueError: wrong");
    else
        return bz_fail(err, BZ_E_NOSUP, "no");
    return 0;
}

static void what_the_evaluator_does_not_know_goes_to_the_hook(void **state)
{
    static const struct bz_vars_at at = {.file = "a.bb", .line = 7};
    struct bz_vars *v = bz_vars_new(NULL), *copy;
    struct bz_err err = {0};
    struct bz_str out;
    int calls = 0;
    struct bz_vars_python python = {hook, &calls};

    (void)state;
    assert_ok(
        bz_vars_set(v, BZ_STR("X"), BZ_STR("a ${@lambda: 'known'}"), 0, &at, &err),
        &err);
    assert_int_equal(bz_vars_get(v, BZ_STR("X"), 0, &out, &err), BZ_E_NOSUP);
    assert_non_null(strstr(err.msg, "X (a.bb:7): ${@lambda: 'known'}: "));
    bz_vars_set_python(v, &python);
    copy = bz_vars_new(v);
    assert_ok(bz_vars_get(copy, BZ_STR("X"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("a from the hook")));
    assert_int_equal(calls, 1);
    assert_int_equal(bz_vars_expand(copy, BZ_STR("${@lambda: 'wrong'}"),
                                    (struct bz_str){0}, NULL, &out, &err),
                     BZ_E_INVAL);
    assert_string_equal(err.msg, "expansion: ${@lambda: 'wrong'}: ValueError: wrong");
    assert_int_equal(bz_vars_expand(copy, BZ_STR("${@lambda: 'unknown'}"),
                                    (struct bz_str){0}, NULL, &out, &err),
                     BZ_E_NOSUP);
    bz_vars_free(copy);
    bz_vars_free(v);
}

static void an_error_inside_an_expression_is_told_once_and_from_within(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s, "A=${@d.getVar('B')}\nB=x ${@int('test')}", &err), &err);
    assert_int_equal(bz_vars_get(script_store(&s), BZ_STR("A"), 0, &out, &err),
                     BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "A -> B: ${@int('test')}: ValueError"));
    assert_int_equal(bz_vars_get(script_store(&s), BZ_STR("B"), 0, &out, &err),
                     BZ_E_INVAL);
    assert_ptr_equal(strstr(err.msg, "B: ${@int('test')}: ValueError"), err.msg);
    script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_and_expressions_are_replaced_as_bitbake_does),
        cmocka_unit_test(recursion_is_an_error_that_names_the_chain),
        cmocka_unit_test(a_long_chain_keeps_its_ends),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(deep_expressions_in_deep_values_leave_some_stack),
        cmocka_unit_test(size_is_bounded_however_references_multiply),
        cmocka_unit_test(a_text_that_expands_to_itself_and_more_is_stopped),
        cmocka_unit_test(nesting_is_resolved_from_the_inside),
        cmocka_unit_test(hostile_texts_take_linear_time),
        cmocka_unit_test(what_is_read_on_this_level_is_noted),
        cmocka_unit_test(nothing_and_empty_stay_what_they_are),
        cmocka_unit_test(a_text_may_not_name_the_variable_it_stands_for),
        cmocka_unit_test(what_the_evaluator_does_not_know_goes_to_the_hook),
        cmocka_unit_test(an_error_inside_an_expression_is_told_once_and_from_within),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
