/* merge.h - layers that lie on each other, as one directory.
 *
 * What an overlay of them would show, made of hard links: the topmost layer wins, what
 * one deletes (a character device 0/0) the ones below do not show, and a directory that
 * is opaque hides theirs. One thread.
 */
#ifndef BZ_EXEC_MERGE_H
#define BZ_EXEC_MERGE_H

#include "base/err.h"

/* Makes the directory `out`, which must not exist, from directories, the topmost first.
 * On failure some of it may be there. */
int bz_merge_layers(const char *const *layers, size_t n, const char *out,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
