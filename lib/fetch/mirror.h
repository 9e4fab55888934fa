/* mirror.h - where else a source may be: PREMIRRORS and MIRRORS, as BitBake reads them.
 *
 * The text is pairs of words: an address whose parts are regular expressions, and what
 * replaces them. In a replacement TYPE, HOST, PATH, BASENAME and MIRRORNAME stand for
 * those of the source. What a pair makes of an address is looked up again in the
 * others. Pure; any thread.
 */
#ifndef BZ_FETCH_MIRROR_H
#define BZ_FETCH_MIRROR_H

#include "base/vec.h"
#include "fetch/uri.h"

#define BZ_MIRROR_MAX 64 /* places for one source */

struct bz_mirrors BZ_VEC(struct bz_str);

/* Appends the addresses, in the order in which to try them; at most BZ_MIRROR_MAX.
 * `file` is what the result is called, which a mirror has it under; `tarball`, if it is
 * not NULL, what it is called on a mirror of another kind. BZ_E_INVAL for words that do
 * not come in pairs and for wrong regular expressions. */
int bz_mirror_list(struct bz_arena *arena, struct bz_str pairs,
                   const struct bz_uri *uri, const char *file, const char *tarball,
                   struct bz_mirrors *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
