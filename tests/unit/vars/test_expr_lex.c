#include "vars/expr_lex.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("'a'", "a"),
    ROW("\"a\"", "a"),
    ROW("'a' \"b\" 'c'", "abc"),
    ROW("'it\\'s'", "it's"),
    ROW("\"a\\\"b\"", "a\"b"),
    ROW("'\\n\\t\\\\\\a\\b\\f\\v\\r' == chr(10) + chr(9) + chr(92) + chr(7) + chr(8) + "
        "chr(12) + chr(11) + chr(13)",
        "True"),
    ROW("'\\x41\\101\\u00e9'", "AA\xc3\xa9"),
    ROW("len('\\0\\00\\1')", "3"),
    ROW("'\\q\\.'", "\\q\\."),
    ROW("r'\\n\\q'", "\\n\\q"),
    ROW("R\"a\\b\"", "a\\b"),
    ROW("u'x'", "x"),
    ROW("\"\"\"a\"b\"\"\"", "a\"b"),
    ROW("'''a\\'b'''", "a'b"),
    ROW("''", ""),
    ROW("'a#b' # comment", "a#b"),
    ROW("(1 # one\n + 2)", "3"),
    ROW("0x1F", "31"),
    ROW("0o17", "15"),
    ROW("0b101", "5"),
    ROW("1_000", "1000"),
    ROW("0", "0"),
    ROW("00", "0"),
    ROW("1.5", "1.5"),
    ROW("1e3", "1000.0"),
    ROW(".5", "0.5"),
    ROW("2.", "2.0"),
    ROW("1e-7", "1e-07"),
    ROW("1e16", "1e+16"),
    ROW("1e15", "1000000000000000.0"),
    ROW("123456789.125", "123456789.125"),
    ROW("0.1", "0.1"),
    ROW("1.0", "1.0"),
    ROW("-0.0", "-0.0"),
    ROW("9223372036854775807", "9223372036854775807"),
    ROW("True", "True"),
    ROW("False", "False"),
    ROW("None", "None"),
    ROW("'U \\\nV'", "U V"),
    ROW("'h\\u00e9' == U", "False"),
    ROW("len('\\U0001F600')", "1"),
};

static const struct expr_row errors[] = {
    ROW("'abc", "SyntaxError: unterminated string literal"),
    ROW("\"abc", "SyntaxError: unterminated string literal"),
    ROW("'a' 'b", "SyntaxError: unterminated string literal"),
    ROW("\"\"\"abc", "SyntaxError: unterminated triple-quoted string literal"),
    ROW("\"a\nb\"", "SyntaxError: unterminated string literal"),
};

static const char *const unknown[] = {
    "\"\\N{DASH}\"",
    "b'x'",
    "1 # one\r + 2",
    "f'{A}'",
    "rb'x'",
    "99999999999999999999",
    "1j",
    "0777",
    "1 if 1else 2",
    "'\\ud800'",
    "'\\x4'",
    "a ? b",
    "a $ b",
    "x.1",
    "1__0",
    "\xc3\xa9",
};

static void literals_have_the_values_python_gives_them(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void bad_tokens_are_syntax_errors(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void rare_literals_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void tokens_come_one_after_the_other(void **state)
{
    static const struct {
        enum bz_expr_tok tok;
        const char *text;
    } want[] = {
        {BZ_EXPR_TOK_NAME,       "name" },
        {BZ_EXPR_TOK_NOT,        "not"  },
        {BZ_EXPR_TOK_IN,         "in"   },
        {BZ_EXPR_TOK_OPEN_LIST,  "["    },
        {BZ_EXPR_TOK_STR,        "a\nb" },
        {BZ_EXPR_TOK_COMMA,      ","    },
        {BZ_EXPR_TOK_FLOAT,      "1.5e3"},
        {BZ_EXPR_TOK_CLOSE_LIST, "]"    },
        {BZ_EXPR_TOK_DSLASH,     "//"   },
        {BZ_EXPR_TOK_INT,        "0x1f" },
        {BZ_EXPR_TOK_NE,         "!="   },
        {BZ_EXPR_TOK_NONE,       "None" },
        {BZ_EXPR_TOK_OTHER,      "while"},
        {BZ_EXPR_TOK_END,        ""     },
        {BZ_EXPR_TOK_END,        ""     },
    };
    struct bz_expr_scratch mem;
    struct bz_expr_lex lex;
    struct bz_err err = {0};
    size_t i;

    (void)state;
    bz_expr_scratch_init(&mem);
    bz_expr_lex_init(
        &lex, BZ_STR("name not in ['a\\nb',1.5e3]// 0x1f!=\t None while # the end"),
        &mem);
    for (i = 0; i < BZ_COUNTOF(want); i++) {
        assert_ok(bz_expr_lex_next(&lex, &err), &err);
        assert_int_equal(lex.tok, want[i].tok);
        if (!bz_str_eq(lex.text, bz_str_from(want[i].text)))
            fail_msg("'%.*s' is not '%s'", BZ_STR_ARG(lex.text), want[i].text);
    }
    bz_expr_scratch_release(&mem);
}

static void strings_without_escapes_are_not_copied(void **state)
{
    static const char code[] = "'abc'";
    struct bz_expr_scratch mem;
    struct bz_expr_lex lex;
    struct bz_err err = {0};

    (void)state;
    bz_expr_scratch_init(&mem);
    bz_expr_lex_init(&lex, bz_str_from(code), &mem);
    assert_ok(bz_expr_lex_next(&lex, &err), &err);
    assert_ptr_equal(lex.text.p, code + 1);
    bz_expr_scratch_release(&mem);
}

static void operators_have_the_signs_of_pythons_messages(void **state)
{
    (void)state;
    assert_string_equal(bz_expr_lex_sign(BZ_EXPR_TOK_PLUS), "+");
    assert_string_equal(bz_expr_lex_sign(BZ_EXPR_TOK_GE), ">=");
    assert_string_equal(bz_expr_lex_sign(BZ_EXPR_TOK_POWER), "** or pow()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_have_the_values_python_gives_them),
        cmocka_unit_test(bad_tokens_are_syntax_errors),
        cmocka_unit_test(rare_literals_are_left_to_python),
        cmocka_unit_test(tokens_come_one_after_the_other),
        cmocka_unit_test(strings_without_escapes_are_not_copied),
        cmocka_unit_test(operators_have_the_signs_of_pythons_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
