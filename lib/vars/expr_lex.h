/* expr_lex.h - the text of an expression as Python's tokens.
 *
 * Reads one token ahead and keeps nothing but its place. White space means nothing
 * except a line break outside of brackets, which ends an expression in Python and is
 * refused here.
 */
#ifndef BZ_VARS_EXPR_LEX_H
#define BZ_VARS_EXPR_LEX_H

#include "base/err.h"
#include "base/str.h"
#include "vars/expr_scratch.h"

enum bz_expr_tok {
    BZ_EXPR_TOK_END,
    BZ_EXPR_TOK_NAME,
    BZ_EXPR_TOK_INT,
    BZ_EXPR_TOK_FLOAT,
    BZ_EXPR_TOK_STR, /* text is its value, escapes resolved */
    BZ_EXPR_TOK_NONE,
    BZ_EXPR_TOK_TRUE,
    BZ_EXPR_TOK_FALSE,
    BZ_EXPR_TOK_OPEN, /* ( */
    BZ_EXPR_TOK_CLOSE,
    BZ_EXPR_TOK_OPEN_LIST, /* [ */
    BZ_EXPR_TOK_CLOSE_LIST,
    BZ_EXPR_TOK_OPEN_DICT, /* { */
    BZ_EXPR_TOK_CLOSE_DICT,
    BZ_EXPR_TOK_COMMA,
    BZ_EXPR_TOK_COLON,
    BZ_EXPR_TOK_DOT,
    BZ_EXPR_TOK_ASSIGN,
    BZ_EXPR_TOK_IF,
    BZ_EXPR_TOK_ELSE,
    BZ_EXPR_TOK_FOR,
    BZ_EXPR_TOK_LAMBDA,
    BZ_EXPR_TOK_OTHER, /* what no expression that is known here has */
    /* The operators, which the tree keeps to say which one it was. */
    BZ_EXPR_TOK_OR,
    BZ_EXPR_TOK_AND,
    BZ_EXPR_TOK_NOT,
    BZ_EXPR_TOK_IN,
    BZ_EXPR_TOK_NOT_IN, /* of two words: made by the parser, as is the next but one */
    BZ_EXPR_TOK_IS,
    BZ_EXPR_TOK_IS_NOT,
    BZ_EXPR_TOK_LT,
    BZ_EXPR_TOK_LE,
    BZ_EXPR_TOK_GT,
    BZ_EXPR_TOK_GE,
    BZ_EXPR_TOK_EQ,
    BZ_EXPR_TOK_NE,
    BZ_EXPR_TOK_BAR,
    BZ_EXPR_TOK_CARET,
    BZ_EXPR_TOK_AMP,
    BZ_EXPR_TOK_LSHIFT,
    BZ_EXPR_TOK_RSHIFT,
    BZ_EXPR_TOK_PLUS,
    BZ_EXPR_TOK_MINUS,
    BZ_EXPR_TOK_STAR,
    BZ_EXPR_TOK_SLASH,
    BZ_EXPR_TOK_DSLASH,
    BZ_EXPR_TOK_PERCENT,
    BZ_EXPR_TOK_TILDE,
    BZ_EXPR_TOK_POWER,
};

struct bz_expr_lex {
    const char *at, *end;
    struct bz_expr_scratch *mem; /* for strings that have escapes */
    unsigned open;               /* brackets that are open */
    enum bz_expr_tok tok;        /* the token that was read last, */
    struct bz_str text;          /* and its text */
};

/* Starts before the first token; `code` outlives the lexer and what it gives out. */
void bz_expr_lex_init(struct bz_expr_lex *l, struct bz_str code,
                      struct bz_expr_scratch *mem);

/* Reads the next token. BZ_E_INVAL: Python refuses it; "SyntaxError: unterminated
 * string literal" is the case in which BitBake leaves a ${@...} as it is. BZ_E_NOSUP:
 * Python might take it. */
int bz_expr_lex_next(struct bz_expr_lex *l, struct bz_err *err) BZ_MUST_CHECK;

/* The sign or word of an operator, as Python's messages show it; static. */
const char *bz_expr_lex_sign(enum bz_expr_tok op);

#endif
