/* roots.h - the directories of this host that texts may lead to.
 *
 * The build directory and the layers mean the same wherever they lie: in what is signed
 * a name stands for each of them, so that ${TOPDIR} or ${THISDIR} may be expanded at
 * any time and a moved checkout changes nothing. The user's home and whatever else is
 * in the checkout have no such name; a text with a path in there differs from host to
 * host. One thread.
 */
#ifndef BZ_SIG_ROOTS_H
#define BZ_SIG_ROOTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "vars/vars.h"

struct bz_roots_root {
    struct bz_str dir;    /* as it stands in texts, without a slash at its end */
    struct bz_str name;   /* what stands for it; p == NULL: nothing does */
    struct bz_str advice; /* what should be written in its place */
};

struct bz_roots {
    struct bz_arena arena;
    struct bz_roots_list BZ_VEC(struct bz_roots_root) list; /* the longest first */
};

/* What TOPDIR, BBLAYERS and HOME say. To be closed also if it fails. */
int bz_roots_open(struct bz_roots *r, struct bz_vars *v,
                  struct bz_err *err) BZ_MUST_CHECK;
void bz_roots_close(struct bz_roots *r);

/* The first path in the text, from `from` on, that leads to one of the directories or
 * below: which one, and where it begins. NULL if there is none. */
const struct bz_roots_root *bz_roots_find(const struct bz_roots *r, struct bz_str text,
                                          size_t from, size_t *at);

/* Puts names where directories are that have one. False if there are none, and then
 * nothing is written. `places` gets where in `out` names begin, so that a text which
 * has such a name itself can be told apart. */
bool bz_roots_name(const struct bz_roots *r, struct bz_str text, struct bz_buf *out,
                   struct bz_buf *places);

#endif
