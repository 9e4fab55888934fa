/* trash.h - taking a file off a shelf while others may be about to rely on it.
 *
 * No system call removes a file only if nobody has touched it since one looked. So a
 * file goes in steps:
 *
 *   1. look at its times under its key; used since the limit: it stays
 *   2. rename it to `trash/<shelf>-<key>`
 *   3. look at its access time there; since the limit: back under its key by link(2)
 *   4. unlink it
 *
 * Who wants to rely on a file (bz_shelf_claim, and whoever publishes and finds the key
 * taken) touches it and then looks whether the key still leads to it. If it does, step
 * 2 comes after the touch, so that step 3 sees it. If not, the claim fails, and there
 * is a miss or a new file. Either way nobody relies on what goes.
 *
 * A collector that is killed between 2 and 4 leaves a file in the trash. Blobs are read
 * from there if their key leads nowhere (bz_shelf_fd), so that it is lost to nobody,
 * and the next collector puts it back (bz_trash_restore) before it looks at anything.
 *
 * The time of a claim is the access time alone: link(2) and rename(2) move the change
 * time. Any number of collectors may do this at once.
 */
#ifndef BZ_CACHE_TRASH_H
#define BZ_CACHE_TRASH_H

#include "cache/shelf.h"

enum bz_trash_fate {
    BZ_TRASH_ABSENT,  /* there was none, or another collector has it */
    BZ_TRASH_KEPT,    /* used since the limit, or it could not be moved */
    BZ_TRASH_REMOVED, /* *st tells what it was */
};

/* `limit` is on the file system's clock, ns since 1970. */
enum bz_trash_fate bz_trash_remove(const struct bz_shelf *s,
                                   const struct bz_digest *key, int64_t limit,
                                   struct stat *st);

/* Puts back what killed collectors left. What others are removing just now may come
 * back too: it stays then. Returns how many files there were. */
size_t bz_trash_restore(struct bz_shelf *const *shelves, size_t n);

/* The later one of access and change: see the README about last use. ns since 1970. */
int64_t bz_trash_last_use(const struct stat *st);

#endif
