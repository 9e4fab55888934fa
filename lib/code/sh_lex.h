/* sh_lex.h - shell text to tokens.
 *
 * Reserved words are tokens of their own wherever they stand, also among arguments; the
 * parser gives them their meaning back. The text of a here-document follows its name as
 * a word; an empty one does not. An assignment is a token of its own only at the end of
 * the text, elsewhere it is a word. All of that is how BitBake does it.
 */
#ifndef BZ_CODE_SH_LEX_H
#define BZ_CODE_SH_LEX_H

#include "base/arena.h"
#include "base/vec.h"

enum bz_sh_lex_type {
    BZ_SH_LEX_END, /* there is one, after the last token */
    BZ_SH_LEX_WORD,
    BZ_SH_LEX_ASSIGNMENT,
    BZ_SH_LEX_NEWLINE,
    BZ_SH_LEX_NUMBER,    /* of a descriptor, in front of a redirection */
    BZ_SH_LEX_REDIRECT,  /* all but here-documents */
    BZ_SH_LEX_HERE,      /* << or <<- */
    BZ_SH_LEX_HERE_NAME, /* what ends it */
    BZ_SH_LEX_AND,
    BZ_SH_LEX_OR,
    BZ_SH_LEX_PIPE,
    BZ_SH_LEX_AMP,
    BZ_SH_LEX_SEMI,
    BZ_SH_LEX_DSEMI,
    BZ_SH_LEX_LPAREN,
    BZ_SH_LEX_RPAREN,
    BZ_SH_LEX_IF,
    BZ_SH_LEX_THEN,
    BZ_SH_LEX_ELSE,
    BZ_SH_LEX_ELIF,
    BZ_SH_LEX_FI,
    BZ_SH_LEX_DO,
    BZ_SH_LEX_DONE,
    BZ_SH_LEX_CASE,
    BZ_SH_LEX_ESAC,
    BZ_SH_LEX_WHILE,
    BZ_SH_LEX_UNTIL,
    BZ_SH_LEX_FOR,
    BZ_SH_LEX_IN, /* only as the third token from "for" or "case" on */
    BZ_SH_LEX_LBRACE,
    BZ_SH_LEX_RBRACE,
    BZ_SH_LEX_BANG,
};

struct bz_sh_lex_token {
    enum bz_sh_lex_type type;
    uint32_t line;      /* where it begins */
    struct bz_str text; /* quotes and all, without line continuations */
};

struct bz_sh_lex_tokens BZ_VEC(struct bz_sh_lex_token);

/* Adds the tokens of `text`, whose first line has the number `line`; their texts are
 * copied to the arena. BZ_E_INVAL or BZ_E_NOSUP, with the line, if it is not shell. */
int bz_sh_lex_text(struct bz_str text, uint32_t line, struct bz_arena *arena,
                   struct bz_sh_lex_tokens *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
