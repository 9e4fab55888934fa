#include "code/py_lex.h"

#include "tests/unit/code/py_rows.h"

/* Short names of the tokens that tests look at; others are shown by their text. */
static const char *name_of(enum bz_py_tok tok)
{
    switch (tok) {
    case BZ_PY_TOK_NEWLINE:
        return "NL";
    case BZ_PY_TOK_INDENT:
        return ">";
    case BZ_PY_TOK_DEDENT:
        return "<";
    case BZ_PY_TOK_AUGMENT:
        return "AUG";
    case BZ_PY_TOK_FSTRING:
        return "F";
    default:
        return NULL;
    }
}

static int tokens(const char *code, struct bz_buf *to, struct bz_err *err)
{
    struct bz_py_lex l;
    int rc;

    bz_py_lex_init(&l, bz_str_from(code), (struct bz_py_origin){"x.bb", 9});
    while ((rc = bz_py_lex_next(&l, err)) == 0 && l.tok != BZ_PY_TOK_END) {
        if (to->len > 0)
            bz_buf_add_char(to, ' ');
        if (name_of(l.tok))
            bz_buf_addf(to, "%s", name_of(l.tok));
        else
            bz_buf_add_str(to, l.text);
        if (l.tok == BZ_PY_TOK_FSTRING)
            break;
    }
    return rc;
}

static void text_is_cut_as_python_cuts_it(void **state)
{
    static const struct py_row rows[] = {
        ROW("", ""),
        ROW("a", "a NL"),
        ROW("a\n\n\n", "a NL"),
        ROW("a # b\n# c\nd", "a NL d NL"),
        ROW("if a:\n  b\n\nc", "if a : NL > b NL < c NL"),
        ROW("if a:\n  if b:\n    c\nd", "if a : NL > if b : NL > c NL < < d NL"),
        ROW("if a:\n  b", "if a : NL > b NL <"),
        ROW("if a:\n\tb\n        c\n", NULL),
        ROW("(a\n  b)\nc", "( a b ) NL c NL"),
        ROW("a \\\n  b", "a b NL"),
        ROW("a+=b**c**=d//=e>>=f->g:=h...",
            "a AUG b ** c AUG d AUG e AUG f -> g := h ... NL"),
        ROW("a<<b>>c<=d>=e==f!=g<h>i", "a << b >> c <= d >= e == f != g < h > i NL"),
        ROW("1.5e3j 1_0 0x_ff 0b1 0O7 00 1. .5 1e-5 1if x",
            "1.5e3j 1_0 0x_ff 0b1 0O7 00 1. .5 1e-5 1 if x NL"),
        ROW("1..real", "1. . real NL"),
        ROW("'a' \"b'c\" '''d\n'e''' r'\\'' b'x' Rb'y' u'z'",
            "a b'c d\n'e \\' x y z NL"),
        ROW("f'a'", "F"),
        ROW("a.b,c;d", "a . b , c ; d NL"),
        ROW("\f a", "> a NL <"),
        ROW(" \f"
            "a",
            "a NL"),
        ROW("\xc3\xa9t\xc3\xa9 = 1", "\xc3\xa9t\xc3\xa9 = 1 NL"),
        ROW("if a:\n    b\n  # c\n    d", "if a : NL > b NL d NL <"),
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};
        int rc = tokens(rows[i].code, &found, &err);

        if (!rows[i].calls) {
            assert_int_equal(rc, BZ_E_INVAL);
            continue;
        }
        assert_ok(rc, &err);
        assert_string_equal(bz_buf_text(&found), rows[i].calls);
    }
}

static void what_is_no_token_is_refused_with_its_line(void **state)
{
    static const struct py_row rows[] = {
        ROW("a\n$", "x.bb:11: SyntaxError: invalid syntax"),
        ROW("a ! b", "x.bb:10: SyntaxError: invalid syntax"),
        ROW("'a", "x.bb:10: SyntaxError: unterminated string literal"),
        ROW("a\n\n'''b\n",
            "x.bb:12: SyntaxError: unterminated triple-quoted string literal"),
        ROW("(a\n", "x.bb:11: SyntaxError: a bracket was never closed"),
        ROW("a)", "x.bb:10: SyntaxError: a bracket closes that was not opened"),
        ROW("(a]", "x.bb:10: SyntaxError: a bracket closes that is not the one opened"),
        ROW("07", "x.bb:10: SyntaxError: leading zeros in decimal integer literals are "
                  "not permitted"),
        ROW("1__0", "x.bb:10: SyntaxError: invalid number"),
        ROW("0x", "x.bb:10: SyntaxError: invalid number"),
        ROW("0b2", "x.bb:10: SyntaxError: invalid number"),
        ROW("1a", "x.bb:10: SyntaxError: invalid number"),
        ROW("1e+", "x.bb:10: SyntaxError: invalid number"),
        ROW("a \\ b", "x.bb:10: SyntaxError: unexpected character after line "
                      "continuation character"),
        ROW("a \\\n", "x.bb:11: SyntaxError: unexpected end of the text"),
        ROW("if a:\n    b\n  c", "x.bb:12: SyntaxError: unindent does not match any "
                                 "outer indentation level"),
        ROW("if a:\n\tb\n        c",
            "x.bb:12: SyntaxError: inconsistent use of tabs and spaces in indentation"),
        ROW("a = \xe2\x80\x9cx\xe2\x80\x9d",
            "x.bb:10: SyntaxError: a character that no name may have"),
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        assert_int_equal(tokens(rows[i].code, &found, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].calls);
    }
}

/* CPython stops at the same numbers. */
static void brackets_and_indentation_have_limits(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf code = {0}, found = {0};
    struct bz_err err = {0};
    int i;

    (void)state;
    for (i = 0; i < BZ_PY_LEX_BRACKETS; i++)
        bz_buf_add_char(&code, '(');
    assert_int_equal(tokens(bz_buf_text(&code), &found, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "x.bb:10: SyntaxError: a bracket was never closed");
    bz_buf_add_char(&code, '(');
    assert_int_equal(tokens(bz_buf_text(&code), &found, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "x.bb:10: SyntaxError: too many nested parentheses");
    bz_buf_truncate(&code, 0);
    for (i = 0; i < BZ_PY_LEX_INDENTS - 1; i++)
        bz_buf_addf(&code, "%*sif a:\n", i, "");
    assert_ok(tokens(bz_buf_text(&code), &found, &err), &err);
    bz_buf_addf(&code, "%*sif a:\n%*sb", i, "", i + 1, "");
    assert_int_equal(tokens(bz_buf_text(&code), &found, &err), BZ_E_INVAL);
    assert_string_equal(err.msg,
                        "x.bb:110: SyntaxError: too many levels of indentation");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cut_as_python_cuts_it),
        cmocka_unit_test(what_is_no_token_is_refused_with_its_line),
        cmocka_unit_test(brackets_and_indentation_have_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
