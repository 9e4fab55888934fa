#include "query/query_lex.h"

void bz_query_lex_init(struct bz_query_lex *lex, struct bz_str text)
{
    *lex = (struct bz_query_lex){.rest = text, .begin = text.p};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool ends_word(char c)
{
    return is_space(c) || (c != '\0' && strchr("(),^$='\"", c));
}

static size_t word_length(struct bz_str s)
{
    size_t n = 0;

    while (n < s.n && !ends_word(s.p[n]))
        n++;
    return n;
}

static void take(struct bz_query_lex *lex, enum bz_query_token kind, size_t skip,
                 size_t n)
{
    lex->kind = kind;
    lex->text = bz_str_sub(lex->rest, skip, skip + n);
    lex->rest = bz_str_drop(lex->rest, skip + n);
}

static int take_quoted(struct bz_query_lex *lex, struct bz_err *err)
{
    size_t end = bz_str_find_byte(bz_str_drop(lex->rest, 1), lex->rest.p[0]);

    if (end == BZ_STR_NONE)
        return bz_fail(err, BZ_E_INVAL, "column %u: the quote does not end",
                       lex->column);
    take(lex, BZ_QUERY_TOKEN_QUOTED, 1, end);
    lex->rest = bz_str_drop(lex->rest, 1);
    return 0;
}

static int take_ref(struct bz_query_lex *lex, struct bz_err *err)
{
    size_t n = word_length(bz_str_drop(lex->rest, 1));

    if (n == 0)
        return bz_fail(err, BZ_E_INVAL, "column %u: '$' has no name after it",
                       lex->column);
    take(lex, BZ_QUERY_TOKEN_REF, 1, n);
    return 0;
}

int bz_query_lex_next(struct bz_query_lex *lex, struct bz_err *err)
{
    while (lex->rest.n > 0 && is_space(lex->rest.p[0]))
        lex->rest = bz_str_drop(lex->rest, 1);
    lex->column = lex->rest.p ? (uint32_t)(lex->rest.p - lex->begin) + 1 : 1;
    if (lex->rest.n == 0) {
        lex->kind = BZ_QUERY_TOKEN_END;
        lex->text = (struct bz_str){0};
        return 0;
    }
    switch (lex->rest.p[0]) {
    case '"':
    case '\'':
        return take_quoted(lex, err);
    case '$':
        return take_ref(lex, err);
    case '(':
    case ')':
    case ',':
    case '+':
    case '-':
    case '^':
    case '=':
        take(lex, BZ_QUERY_TOKEN_SIGN, 0, 1);
        return 0;
    default:
        take(lex, BZ_QUERY_TOKEN_WORD, 0, word_length(lex->rest));
        return 0;
    }
}
