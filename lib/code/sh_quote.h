/* sh_quote.h - the quoted and substituted parts of shell words.
 *
 * A part begins with one of ' " \ ` $ and may have others inside. It is copied as it
 * is, but for line continuations, which vanish. The rules are those that BitBake's
 * parser has, which is what signatures depend on, not those of a shell: within $( )
 * brackets are not counted, and $(( )) is refused.
 */
#ifndef BZ_CODE_SH_QUOTE_H
#define BZ_CODE_SH_QUOTE_H

#include "base/buf.h"
#include "base/vec.h"

/* The text between $( and ), or between backquotes, as a part of `out`. */
struct bz_sh_quote_span {
    size_t from, to;
};

struct bz_sh_quote_spans BZ_VEC(struct bz_sh_quote_span);

struct bz_sh_quote_frame {
    char kind;   /* one of " ` and, for $( and ${, ( { */
    size_t from; /* where in `out` its inside begins */
};

/* Where text goes; {.out = ...} and the rest zero. */
struct bz_sh_quote {
    struct bz_buf *out;                 /* no limit */
    struct bz_sh_quote_spans *commands; /* of the outermost level and of that inside of
                                         * double quotes; NULL: not wanted */
    bool strip;                         /* without the quotes */
    struct BZ_VEC(struct bz_sh_quote_frame) open;
};

/* True for the bytes with which a part begins. */
static inline bool bz_sh_quote_begins(char c)
{
    return c == '\'' || c == '"' || c == '\\' || c == '`' || c == '$';
}

/* Reads the part that begins at *pos and moves *pos behind it. BZ_E_INVAL if it has no
 * end, BZ_E_NOSUP for $((. */
int bz_sh_quote_part(struct bz_sh_quote *q, struct bz_str text, size_t *pos,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Reads a whole word, in which there may be any number of parts. */
int bz_sh_quote_word(struct bz_sh_quote *q, struct bz_str word,
                     struct bz_err *err) BZ_MUST_CHECK;

void bz_sh_quote_release(struct bz_sh_quote *q); /* not what it points to */

#endif
