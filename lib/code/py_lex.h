/* py_lex.h - the text of a Python module as tokens, line structure included.
 *
 * Reads one token at a time and keeps nothing but its place, so a copy of the struct is
 * a place to come back to. Lines, indentation, brackets and the joining of lines are
 * those of CPython 3.11. An f-string is not one token: the lexer stops behind its first
 * quote, and py_fstring.c takes its pieces and fields from there.
 */
#ifndef BZ_CODE_PY_LEX_H
#define BZ_CODE_PY_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum bz_py_tok {
    BZ_PY_TOK_END,
    BZ_PY_TOK_NEWLINE,
    BZ_PY_TOK_INDENT,
    BZ_PY_TOK_DEDENT,
    BZ_PY_TOK_NAME,
    BZ_PY_TOK_NUMBER,
    BZ_PY_TOK_STRING,  /* text: between the quotes, see `string` */
    BZ_PY_TOK_FSTRING, /* text is empty; the lexer is at the first piece */
    /* Signs. */
    BZ_PY_TOK_OPEN, /* ( */
    BZ_PY_TOK_CLOSE,
    BZ_PY_TOK_OPEN_LIST, /* [ */
    BZ_PY_TOK_CLOSE_LIST,
    BZ_PY_TOK_OPEN_DICT, /* { */
    BZ_PY_TOK_CLOSE_DICT,
    BZ_PY_TOK_COMMA,
    BZ_PY_TOK_COLON,
    BZ_PY_TOK_SEMICOLON,
    BZ_PY_TOK_DOT,
    BZ_PY_TOK_ELLIPSIS,
    BZ_PY_TOK_ASSIGN,
    BZ_PY_TOK_WALRUS,
    BZ_PY_TOK_ARROW,
    BZ_PY_TOK_AUGMENT, /* any of += -= ... */
    BZ_PY_TOK_BANG,    /* in a field of an f-string only */
    BZ_PY_TOK_AT,
    BZ_PY_TOK_PLUS,
    BZ_PY_TOK_MINUS,
    BZ_PY_TOK_STAR,
    BZ_PY_TOK_POWER,
    BZ_PY_TOK_TERM, /* / // % */
    BZ_PY_TOK_TILDE,
    BZ_PY_TOK_SHIFT, /* << >> */
    BZ_PY_TOK_AMP,
    BZ_PY_TOK_CARET,
    BZ_PY_TOK_BAR,
    BZ_PY_TOK_COMPARE, /* < > <= >= == != */
    /* Words. `match` and `case` are names. */
    BZ_PY_TOK_AND,
    BZ_PY_TOK_AS,
    BZ_PY_TOK_ASSERT,
    BZ_PY_TOK_ASYNC,
    BZ_PY_TOK_AWAIT,
    BZ_PY_TOK_CLASS,
    BZ_PY_TOK_DEF,
    BZ_PY_TOK_DEL,
    BZ_PY_TOK_ELIF,
    BZ_PY_TOK_ELSE,
    BZ_PY_TOK_EXCEPT,
    BZ_PY_TOK_FALSE,
    BZ_PY_TOK_FINALLY,
    BZ_PY_TOK_FOR,
    BZ_PY_TOK_FROM,
    BZ_PY_TOK_GLOBAL, /* and nonlocal */
    BZ_PY_TOK_IF,
    BZ_PY_TOK_IMPORT,
    BZ_PY_TOK_IN,
    BZ_PY_TOK_IS,
    BZ_PY_TOK_LAMBDA,
    BZ_PY_TOK_NONE,
    BZ_PY_TOK_NOT,
    BZ_PY_TOK_OR,
    BZ_PY_TOK_PASS, /* and break, continue */
    BZ_PY_TOK_RAISE,
    BZ_PY_TOK_RETURN,
    BZ_PY_TOK_TRUE,
    BZ_PY_TOK_TRY,
    BZ_PY_TOK_WHILE,
    BZ_PY_TOK_WITH,
    BZ_PY_TOK_YIELD,
};

enum {
    BZ_PY_LEX_BRACKETS = 200, /* as deep as CPython takes them */
    BZ_PY_LEX_INDENTS = 100,
};

/* What stands before and around a string. */
struct bz_py_quote {
    char quote;
    bool triple, raw, bytes;
};

struct bz_py_indent {
    uint32_t column; /* a tab goes to the next multiple of 8, */
    uint32_t other;  /* or counts as one */
};

/* Where the text comes from, for messages. */
struct bz_py_origin {
    const char *file; /* NULL: not from a file */
    int64_t line;     /* what to add to the number of a line in the text */
};

struct bz_py_lex {
    const char *start, *at, *end;
    enum bz_py_tok tok;       /* the token that was read last, */
    struct bz_str text;       /* its text, */
    struct bz_py_quote quote; /* and, of a string, its kind */
    const char *from;         /* where it begins, prefix and quotes included */
    const char *before;       /* where the token before it ends */
    const char *counted;      /* lines are counted up to here: */
    uint32_t line;
    struct bz_py_origin origin;
    bool fresh;         /* at the start of a line whose indentation counts */
    int16_t pending;    /* INDENT (1) or DEDENTs (< 0) not given out yet */
    uint16_t nindents;  /* beyond the one that is always there */
    uint16_t nbrackets; /* that are open */
    uint16_t field;     /* as many brackets are open in a field; 0: in none */
    struct bz_py_indent indents[BZ_PY_LEX_INDENTS + 1];
    char brackets[BZ_PY_LEX_BRACKETS];
};

/* Starts before the first token. The text has '\n' only as line ends; it outlives the
 * lexer and what it gives out. */
void bz_py_lex_init(struct bz_py_lex *l, struct bz_str code,
                    struct bz_py_origin origin);

/* Reads the next token. BZ_E_INVAL, "SyntaxError: ...": Python refuses the text. */
int bz_py_lex_next(struct bz_py_lex *l, struct bz_err *err) BZ_MUST_CHECK;

/* The line in which p lies, which is not before the last one asked for. */
uint32_t bz_py_lex_line(struct bz_py_lex *l, const char *p);

/* Makes err a BZ_E_INVAL, "FILE:LINE: SyntaxError: ...", about the place p, or without
 * the place if there is no file. */
void bz_py_lex_refuse(struct bz_py_lex *l, const char *p, const char *what,
                      struct bz_err *err);

/* ---- for f-strings ---- */

/* The piece of literal text at hand, up to a field's '{', the '}' that ends the format
 * of a field if `format`, or the closing quotes; none of these is taken. */
int bz_py_lex_piece(struct bz_py_lex *l, struct bz_py_quote q, bool format,
                    struct bz_str *piece, struct bz_err *err) BZ_MUST_CHECK;

/* Enters a field at its '{'; *outer is what to leave it with. */
int bz_py_lex_enter_field(struct bz_py_lex *l, uint16_t *outer,
                          struct bz_err *err) BZ_MUST_CHECK;
void bz_py_lex_leave_field(struct bz_py_lex *l, uint16_t outer);
/* Takes the '}' after the format of a field, which closes its bracket. */
void bz_py_lex_close_field(struct bz_py_lex *l);

#endif
