#include "recipe/assignment.h"

#include "tests/unit/bz_test.h"

static void expect_slice(struct bz_str s, const char *expected, const char *line)
{
    if ((expected == NULL) != (s.p == NULL) ||
        (expected && !bz_str_eq(s, bz_str_from(expected))))
        fail_msg("%s: <%.*s> instead of <%s>", line, BZ_STR_ARG(s),
                 expected ? expected : "nothing");
}

static void every_operator_finds_its_name_and_its_value(void **state)
{
    static const struct {
        const char *line;
        enum bz_ast_op op;
        const char *name;
    } cases[] = {
        {"A = 'v'",    BZ_AST_SET,     "A" },
        {"A ?= 'v'",   BZ_AST_DEFAULT, "A" },
        {"A ?\?= 'v'", BZ_AST_WEAK,    "A" },
        {"A := 'v'",   BZ_AST_NOW,     "A" },
        {"A += 'v'",   BZ_AST_APPEND,  "A" },
        {"A =+ 'v'",   BZ_AST_PREPEND, "A" },
        {"A .= 'v'",   BZ_AST_POSTDOT, "A" },
        {"A =. 'v'",   BZ_AST_PREDOT,  "A" },
 /* without spaces the name is as short as it can be */
        {"A='v'",      BZ_AST_SET,     "A" },
        {"A?='v'",     BZ_AST_DEFAULT, "A" },
        {"A?\?='v'",   BZ_AST_WEAK,    "A" },
        {"A:='v'",     BZ_AST_NOW,     "A" },
        {"A+='v'",     BZ_AST_APPEND,  "A" },
        {"A=+'v'",     BZ_AST_PREPEND, "A" },
        {"A.='v'",     BZ_AST_POSTDOT, "A" },
        {"A=.'v'",     BZ_AST_PREDOT,  "A" },
        {"A+=+'v'",    BZ_AST_PREPEND, "A+"},
        {"A:=.'v'",    BZ_AST_PREDOT,  "A:"},
        {"A:+='v'",    BZ_AST_APPEND,  "A:"},
        {"A.:='v'",    BZ_AST_NOW,     "A."},
        {"A+ = 'v'",   BZ_AST_SET,     "A+"},
        {"A: := 'v'",  BZ_AST_NOW,     "A:"},
        {":='v'",      BZ_AST_NOW,     ""  },
        {"+='v'",      BZ_AST_APPEND,  ""  },
        {"=+'v'",      BZ_AST_PREPEND, ""  },
        {"='v'",       BZ_AST_SET,     ""  },
    };
    struct bz_assignment_stop stop;
    struct bz_assignment a;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        if (!bz_assignment_read(bz_str_from(cases[i].line), &a, &stop))
            fail_msg("%s: expected %s", cases[i].line, stop.expected);
        assert_int_equal(a.op, cases[i].op);
        expect_slice(a.name, cases[i].name, cases[i].line);
        expect_slice(a.value, "v", cases[i].line);
        assert_false(a.exported);
    }
}

static void names_flags_exports_and_quotes(void **state)
{
    static const struct {
        const char *line, *name, *flag, *value;
        bool exported;
    } cases[] = {
        {"A = \"\"",                     "A",               NULL,         "",                   false},
        {"aZ09-_+.${}/~: = ''",          "aZ09-_+.${}/~:",  NULL,         "",                   false},
        {"FOO:append:${X} = \" b\"",     "FOO:append:${X}", NULL,         " b",                 false},
        {"A[f] = '1'",                   "A",               "f",          "1",                  false},
        {"A[f]='1'",                     "A",               "f",          "1",                  false},
        {"A:x[aZ09-_+.@/] = '1'",        "A:x",             "aZ09-_+.@/", "1",                  false},
        {"[f] = '1'",                    "",                "f",          "1",                  false},
        {"export A = '1'",               "A",               NULL,         "1",                  true },
        {"export \t\xc2\xa0 A[f] = '1'", "A",               "f",          "1",                  true },
        {"export = '1'",                 "",                NULL,         "1",                  true }, /* exports the nameless */
        {"export := '1'",                "",                NULL,         "1",                  true },
        {"export='1'",                   "export",          NULL,         "1",                  false},
        {"exported = '1'",               "exported",        NULL,         "1",                  false},
        {"A\t\xe2\x80\x83=\xc2\xa0'1'",  "A",               NULL,         "1",                  false},
 /* what stands between the quotes is kept as it is */
        {"A = 'x\"y'",                   "A",               NULL,         "x\"y",               false},
        {"A = \"it's\"",                 "A",               NULL,         "it's",               false},
        {"A = '\\$(x) \\n # no'",        "A",               NULL,         "\\$(x) \\n # no",    false},
 /* four of a kind are taken, three are not, five are again */
        {"A = \"x\" \"y\"",              "A",               NULL,         "x\" \"y",            false},
        {"A = \"\"\"\"",                 "A",               NULL,         "\"\"",               false},
        {"A = '''''",                    "A",               NULL,         "'''",                false},
        {"A = \"a'b\"",                  "A",               NULL,         "a'b",                false},
        {"A = 'gr\xc3\xbc\xc3\x9f'",     "A",               NULL,         "gr\xc3\xbc\xc3\x9f", false},
    };
    struct bz_assignment_stop stop;
    struct bz_assignment a;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        if (!bz_assignment_read(bz_str_from(cases[i].line), &a, &stop))
            fail_msg("%s: expected %s", cases[i].line, stop.expected);
        expect_slice(a.name, cases[i].name, cases[i].line);
        expect_slice(a.flag, cases[i].flag, cases[i].line);
        expect_slice(a.value, cases[i].value, cases[i].line);
        assert_int_equal(a.exported, cases[i].exported);
    }
}

static void missing_white_space_is_noticed(void **state)
{
    static const struct {
        const char *line;
        bool tight;
        size_t op_at;
    } cases[] = {
        {"A = '1'",      false, 2},
        {"A='1'",        true,  1},
        {"A ='1'",       true,  2},
        {"A= '1'",       true,  1},
        {"A+= '1'",      true,  1},
        {"A[f]?\?= '1'", true,  4},
        {"A[f] += '1'",  false, 5},
    };
    struct bz_assignment_stop stop;
    struct bz_assignment a;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        assert_true(bz_assignment_read(bz_str_from(cases[i].line), &a, &stop));
        assert_int_equal(a.tight, cases[i].tight);
        assert_int_equal(a.op_at, cases[i].op_at);
    }
}

static void what_is_no_assignment_says_where_it_stopped(void **state)
{
    static const char operator[] = "an operator: = ?= ?\?= := += =+ .= =.";
    static const char value[] = "a value in quotes";
    static const struct {
        const char *line;
        size_t at;
        const char *expected;
    } cases[] = {
        {"", 0, operator},
         {"A", 1, operator},
          {"A B = '1'", 2, operator},
           {" A = '1'", 1, operator},
            {"A@ = '1'", 1, operator},
             {"gr\xc3\xbc = '1'", 2, operator},
              {"A : = '1'", 2, operator},
               {"A ?\?\?= '1'", 2, operator},
                {"A [f] = '1'", 2, operator},
                 {
                     "A[f][g] = '1'",
                     4,
                     operator},
                     {"A[] = '1'", 2, "the name of a flag"},
                     {"A[@f] = '1'", 2, "the name of a flag"},
                     {"A[/f] = '1'", 2, "the name of a flag"},
                     {"A[", 2, "the name of a flag"},
                     {"A[f", 3, "']' after the name of the flag"},
                     {"A[f g] = '1'", 3, "']' after the name of the flag"},
                     {"A =", 3, value},
                     {"A == '1'", 3, value},
                     {"A = x", 4, value},
                     {"A =+= '1'", 4, value},
                     {"A +=+ '1'", 4, value},
                     {"A = '1", 4, "a quote at the end of the line to match this one"},
                     {"A = '", 4, "a quote at the end of the line to match this one"},
                     {"A = '1\"", 4,
                      "a quote at the end of the line to match this one"},
                     {"A = '1' # c", 7, "the end of the line after the value"},
                     {"A = '1' ", 7, "the end of the line after the value"},
                     {"A = \"x\"y\"", 6,
                      "no single quote of the kind that encloses the value"},
                     {"A = '''", 5,
                      "no single quote of the kind that encloses the value"},
                };
    struct bz_assignment_stop stop;
    struct bz_assignment a;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        if (bz_assignment_read(bz_str_from(cases[i].line), &a, &stop))
            fail_msg("%s is taken", cases[i].line);
        if (stop.at != cases[i].at)
            fail_msg("%s: stopped at %zu", cases[i].line, stop.at);
        assert_string_equal(stop.expected, cases[i].expected);
    }
}

static void the_classes_differ_where_the_patterns_do(void **state)
{
    static const struct {
        enum bz_assignment_class class;
        const char *has;
    } cases[] = {
        {BZ_ASSIGNMENT_NAME,       "aZ09-_+.${}/~:"},
        {BZ_ASSIGNMENT_PLAIN_NAME, "aZ09-_+.${}/~" },
        {BZ_ASSIGNMENT_FLAG,       "aZ09-_+.@/"    },
        {BZ_ASSIGNMENT_PLAIN_FLAG, "aZ09-_+.@"     },
        {BZ_ASSIGNMENT_FLAG_START, "aZ09-_+."      },
    };
    static const char every[] = "aZ09-_+.${}/~:@ \t[]()='\"#\\!%&*,;<>?^`|\x7f\x80\xff";

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        for (const char *p = every; *p; p++)
            assert_int_equal(bz_assignment_skip(bz_str_of(p, 1), 0, cases[i].class),
                             strchr(cases[i].has, *p) != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_finds_its_name_and_its_value),
        cmocka_unit_test(names_flags_exports_and_quotes),
        cmocka_unit_test(missing_white_space_is_noticed),
        cmocka_unit_test(what_is_no_assignment_says_where_it_stopped),
        cmocka_unit_test(the_classes_differ_where_the_patterns_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
