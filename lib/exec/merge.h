/* merge.h - layers that lie on each other, as one directory.
 *
 * What an overlay of them would show, made of hard links (a copy of what has as many
 * names as there can be), or of copies that may be written to, with their modes and
 * times: the topmost layer wins, what one deletes (a character device 0/0) the ones
 * below do not show, and a directory that is opaque hides theirs. One thread.
 */
#ifndef BZ_EXEC_MERGE_H
#define BZ_EXEC_MERGE_H

#include "base/err.h"
#include "base/str.h"

enum bz_merge_how {
    BZ_MERGE_LINK,
    BZ_MERGE_PLAIN, /* copies for users (cache/plain.h) */
    BZ_MERGE_COPY,  /* copies to work in */
};

/* Of which layers, the topmost first. */
struct bz_merge_in {
    const char *const *layers;
    size_t n;
    struct bz_str part; /* a path below them: all else is left out; empty: nothing is */
};

/* Makes the directory `out`, which must not exist. On failure some of it may be there.
 */
int bz_merge_layers(const struct bz_merge_in *in, const char *out,
                    enum bz_merge_how how, struct bz_err *err) BZ_MUST_CHECK;

/* Whether `out` is what BZ_MERGE_LINK or BZ_MERGE_PLAIN makes of these layers: each
 * file one of theirs, or a copy with the same bytes; BZ_E_CORRUPT if not. */
int bz_merge_check(const struct bz_merge_in *in, const char *out, enum bz_merge_how how,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
