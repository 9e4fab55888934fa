/* desk.h - directories for one step after the other.
 *
 * On ext4 a file is made the more slowly the more were removed in the last minutes.
 * So what a step leaves as it found it is not removed but used by the next step:
 *
 *   DIR/upper  what the task writes; with nothing in it but perhaps a path of empty
 *              directories that bitzel made for it
 *   DIR/own    what was moved there from upper
 *   DIR/tmp    its /tmp
 *   DIR/work, DIR/links  if it has layers: for the overlay, and to name them
 *   DIR/fill   if something is to lie on what is in upper: what is filled in
 *
 * A directory is as it was found if it has the same mode, no attributes and no other
 * names in it. One thread.
 */
#ifndef BZ_EXEC_DESK_H
#define BZ_EXEC_DESK_H

#include <stdbool.h>

#include "base/arena.h"

struct bz_desk {
    struct bz_desk *next;
    const char *dir;
    const char *upper, *own, *tmp, *work, *links, *fill;
    char *empty;  /* the path in upper that bitzel made; NULL: none */
    bool layered; /* work and links are there */
    bool filled;  /* and fill */
    bool unused;  /* and found to be so */
};

/* All of a build. */
struct bz_desk_list {
    const char *scratch; /* where they lie */
    struct bz_desk *free;
    struct bz_arena arena;
    unsigned made;
};

/* Frees the memory. What is in the directory goes with the whole of scratch. */
void bz_desk_list_release(struct bz_desk_list *all);

/* A desk whose upper has nothing but the empty directories of `path`, if that is
 * not empty itself: plain names with slashes between them. */
int bz_desk_take(struct bz_desk_list *all, struct bz_str path, struct bz_desk **out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Makes what an overlay needs; one more on the same desk needs it again. */
int bz_desk_layer(struct bz_desk *p, struct bz_err *err) BZ_MUST_CHECK;

/* Makes the directory for what is filled in. */
int bz_desk_fill(struct bz_desk *p, struct bz_err *err) BZ_MUST_CHECK;

/* Whether upper has nothing in it but what it was taken with. If not, the part of the
 * path that is still empty is removed. */
bool bz_desk_unused(struct bz_desk *p);

/* Takes it back; what lies in it is removed. */
void bz_desk_give(struct bz_desk_list *all, struct bz_desk *p);

#endif
