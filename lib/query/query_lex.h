/* query_lex.h - the text of a question to tokens.
 *
 * A word is a name, a pattern, a keyword or a number: everything up to a blank or one
 * of  ( ) , ^ $ = ' "  A + or - is an operator only where a word would begin, since
 * names have them: `a-b` is a name, `a - b` and `a -b` are differences. Quotes of
 * either kind make a word of anything.
 */
#ifndef BZ_QUERY_QUERY_LEX_H
#define BZ_QUERY_QUERY_LEX_H

#include "base/err.h"
#include "base/str.h"

enum bz_query_token {
    BZ_QUERY_TOKEN_END,
    BZ_QUERY_TOKEN_WORD,
    BZ_QUERY_TOKEN_QUOTED, /* text is without the quotes */
    BZ_QUERY_TOKEN_REF,    /* $name; text is without the $ */
    BZ_QUERY_TOKEN_SIGN,   /* one of ( ) , + - ^ = */
};

struct bz_query_lex {
    struct bz_str rest; /* what has not been read */
    const char *begin;
    enum bz_query_token kind; /* of the token at hand */
    struct bz_str text;
    uint32_t column; /* in bytes, from 1 */
};

void bz_query_lex_init(struct bz_query_lex *lex, struct bz_str text);

/* Goes on to the next token, the first one at first. BZ_E_INVAL for a quote that does
 * not end and for a $ without a name; lex->column is where. */
int bz_query_lex_next(struct bz_query_lex *lex, struct bz_err *err) BZ_MUST_CHECK;

#endif
