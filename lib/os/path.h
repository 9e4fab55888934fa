/* path.h - file names as text: nothing here looks at the disk.
 *
 * Inputs are slices and may hold any byte; what is written is terminated, has no NUL
 * inside and fits what the kernel takes. Otherwise the call fails with BZ_E_INVAL (a
 * NUL inside) or BZ_E_LIMIT. An output must not be the storage of an input. Pure: any
 * thread may call anything.
 *
 * Lexical means that "a/../b" is "b". That is wrong on disk when `a` is a symbolic
 * link, so names from foreign input go through bz_path_is_safe() instead.
 */
#ifndef BZ_OS_PATH_H
#define BZ_OS_PATH_H

#include <stdbool.h>

#include "base/str.h"

#define BZ_PATH_MAX 4096 /* with its NUL, as the kernel counts */

struct bz_path {
    size_t n;
    char s[BZ_PATH_MAX];
};

static inline struct bz_str bz_path_str(const struct bz_path *p)
{
    return bz_str_of(p->s, p->n);
}

bool bz_path_is_absolute(struct bz_str p);

/* As dirname(1) and basename(1) split: slashes at the end do not count, the directory
 * of "a" is ".", and both parts of "/" are "/". The base of "" is "". */
struct bz_str bz_path_dirname(struct bz_str p);
struct bz_str bz_path_basename(struct bz_str p);

/* base/p with one slash between them, or p alone when it is absolute. An empty part
 * adds nothing. Not normalised. */
int bz_path_join(struct bz_str base, struct bz_str p, struct bz_path *out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Resolves ".", ".." and repeated slashes; drops a slash at the end. ".." stays at the
 * start of a relative path and vanishes at the root. "" becomes ".". */
int bz_path_normalise(struct bz_str p, struct bz_path *out,
                      struct bz_err *err) BZ_MUST_CHECK;

/* The path that leads from the directory `from` to `to`, normalised. BZ_E_INVAL when
 * only one of them is absolute, or when `from` starts with a ".." that `to` does not
 * share: the name of the directory it left is not known. */
int bz_path_relative(struct bz_str from, struct bz_str to, struct bz_path *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Whether a name from foreign input stays below the directory it is used in: not
 * empty, not absolute, no NUL, no "..", each component and the whole of a length the
 * kernel takes. Links that lie on disk are the opener's concern. */
bool bz_path_is_safe(struct bz_str p);

#endif
