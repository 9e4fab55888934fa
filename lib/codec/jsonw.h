/* jsonw.h - writes JSON, piece by piece, into a buffer.
 *
 *     bz_jsonw_map(&w);
 *     bz_jsonw_str(bz_jsonw_key(&w, "name"), name);
 *     bz_jsonw_int(bz_jsonw_key(&w, "size"), size);
 *     bz_jsonw_map_end(&w);
 *
 * The same calls give the same bytes on every machine and in every locale. Writing
 * cannot fail: the buffer has no limit. Calls in an order that no JSON text has (a
 * value without a key in a map, an end without a beginning) are bugs and assert. A
 * writer belongs to one thread at a time.
 */
#ifndef BZ_CODEC_JSONW_H
#define BZ_CODEC_JSONW_H

#include "base/buf.h"

enum {
    BZ_JSONW_DEPTH = 64, /* as deep as a list or map may be within others */
};

struct bz_jsonw {
    struct bz_buf *out;
    unsigned indent; /* spaces for each level; 0 writes it all in one line */
    /* The rest is the writer's own. */
    unsigned depth;
    uint64_t maps;  /* bit d is set if level d is a map */
    bool has_item;  /* the innermost level has one; a comma goes before the next */
    bool after_key; /* a value must follow */
};

/* Appends to `out`, which the caller keeps and reads; nothing needs to be released.
 * After the end of a text another may begin, as in a stream of lines. */
static inline struct bz_jsonw bz_jsonw_to(struct bz_buf *out, unsigned indent)
{
    return (struct bz_jsonw){.out = out, .indent = indent};
}

void bz_jsonw_map(struct bz_jsonw *w) BZ_NONNULL;
void bz_jsonw_map_end(struct bz_jsonw *w) BZ_NONNULL;
void bz_jsonw_list(struct bz_jsonw *w) BZ_NONNULL;
void bz_jsonw_list_end(struct bz_jsonw *w) BZ_NONNULL;

/* The key of the next value; that keys differ is the caller's care. Returns w. */
struct bz_jsonw *bz_jsonw_key(struct bz_jsonw *w, const char *key) BZ_NONNULL;
struct bz_jsonw *bz_jsonw_key_str(struct bz_jsonw *w, struct bz_str key) BZ_NONNULL;

/* Bytes that are not UTF-8 are each replaced by U+FFFD. */
void bz_jsonw_str(struct bz_jsonw *w, struct bz_str s) BZ_NONNULL;
void bz_jsonw_cstr(struct bz_jsonw *w, const char *s) BZ_NONNULL;
void bz_jsonw_int(struct bz_jsonw *w, int64_t i) BZ_NONNULL;
void bz_jsonw_uint(struct bz_jsonw *w, uint64_t u) BZ_NONNULL;
/* With as few digits as lead back to the same number, and always with a point or an
 * exponent, so that reading finds a real again. Infinities and NaN, which JSON cannot
 * say, become null. */
void bz_jsonw_real(struct bz_jsonw *w, double r) BZ_NONNULL;
/* A millionth of i as a real, for times and much faster: 1500000 is 1.5. */
void bz_jsonw_millionths(struct bz_jsonw *w, int64_t i) BZ_NONNULL;
void bz_jsonw_bool(struct bz_jsonw *w, bool b) BZ_NONNULL;
void bz_jsonw_null(struct bz_jsonw *w) BZ_NONNULL;

#endif
