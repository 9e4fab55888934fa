/* sh_parse.h - tokens of a shell text to its commands.
 *
 * There is no tree: what a reader of commands wants to know is told in the order of the
 * text. The grammar is BitBake's. It takes "{ a }" and, at the outermost level,
 * commands with nothing between them; it refuses a "&" at the end of a list in
 * brackets, a "for" without "in", and a redirection behind the body of a function.
 */
#ifndef BZ_CODE_SH_PARSE_H
#define BZ_CODE_SH_PARSE_H

#include "code/sh_lex.h"

/* So deep may lists stand in lists. */
#define BZ_SH_PARSE_DEPTH 200

enum bz_sh_parse_kind {
    BZ_SH_PARSE_COMMAND, /* the first word of a command; only the first is one */
    BZ_SH_PARSE_ARGUMENT,
    BZ_SH_PARSE_VALUE, /* of an assignment in front of the command */
};

struct bz_sh_parse_word {
    enum bz_sh_parse_kind kind;
    uint32_t line;
    struct bz_str text;
};

struct bz_sh_parse_words BZ_VEC(struct bz_sh_parse_word);

/* Who is told. A negative return ends the parsing and is passed on. */
struct bz_sh_parse_fns {
    /* The words of a command; those of a "for"; the first pattern of a case. What a
     * redirection names is not among them, nor the word after "case". */
    int (*words)(void *ctx, const struct bz_sh_parse_words *words, struct bz_err *err);
    void (*function)(void *ctx, struct bz_str name); /* it is defined */
    void *ctx;
    unsigned *depth; /* of lists, those around the text included */
};

/* BZ_E_INVAL, with the line, where the grammar ends; BZ_E_NOSUP for what BitBake has no
 * code for; BZ_E_LIMIT beyond the depth. */
int bz_sh_parse_tokens(const struct bz_sh_lex_tokens *tokens,
                       const struct bz_sh_parse_fns *fns,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
