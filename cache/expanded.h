/* expanded.h - what builds lay out in a store: trees as directories, and their work.
 *
 *     trees/<digest>         the files of a tree, hard links into cas/ where possible
 *     trees/merged-<digest>  several of them on each other
 *     trees/.old-*           on their way out; those on their way in are in work/
 *     out/...                the same for users, to which bitzel-out leads: plain.h
 *     work/<process>/        what a build that runs needs meanwhile
 *     failed/<task>/         what a task that failed has left, to be looked at
 *     failed/.old-*          on their way out
 *
 * What tasks wrote may be setuid: all but out/ can be entered by its owner alone.
 *
 * All of it can be made again. But it takes room, and a hard link keeps the bytes of a
 * blob on the disk when the blob is gone.
 *
 * The modification time of a tree's directory, or a failed task's, is when it was last
 * wanted, to an hour.
 * Who wants one claims it: touches it and then looks whether its name still leads to
 * it. A collector moves one away, looks at its time again, and puts it back if it was
 * touched: as with files (trash.h), and with the same limit (gc.h).
 */
#ifndef BZ_CACHE_EXPANDED_H
#define BZ_CACHE_EXPANDED_H

#include "base/arena.h"
#include "base/vec.h"
#include "cache/shelf.h"

enum bz_expanded_kind {
    BZ_EXPANDED_TREE,
    BZ_EXPANDED_MERGED,
    BZ_EXPANDED_LEFT, /* on the way in or out; if it is old, of a process long dead */
    BZ_EXPANDED_WORK,
    BZ_EXPANDED_FAILED,
};

struct bz_expanded_item {
    enum bz_expanded_kind kind;
    const char *name;      /* below the store */
    struct bz_digest tree; /* of BZ_EXPANDED_TREE */
    uint64_t bytes;        /* on the disk, without what has other names */
    int64_t used;          /* last, ns since 1970 on the file system's clock */
    bool running;          /* the work of a build that may still run */
    bool doomed;           /* to be removed */
};

struct bz_expanded_items BZ_VEC(struct bz_expanded_item);

/* A file that has other names, and whose it is. */
struct bz_expanded_link {
    uint64_t inode;
    uint32_t item;
};

struct bz_expanded_links BZ_VEC(struct bz_expanded_link);

struct bz_expanded {
    struct bz_expanded_items items; /* the longest unused first */
    struct bz_expanded_links links; /* by inode */
    uint64_t bytes;                 /* of those that are not doomed */
    struct bz_arena arena;
};

/* What there is; `now` is on the file system's clock. The caller releases *out. */
void bz_expanded_take(struct bz_shelf_root *root, int64_t now, struct bz_expanded *out);
void bz_expanded_release(struct bz_expanded *x);

/* Decides that it goes, unless somebody has wanted it since the limit. */
bool bz_expanded_doom(struct bz_expanded *x, struct bz_expanded_item *item,
                      int64_t limit);

/* How many names of a file go with what is doomed. */
uint32_t bz_expanded_names(const struct bz_expanded *x, uint64_t inode);

/* Removes what is doomed. False if it stays after all. To be called after blobs were
 * removed: losing a name is like a use to the time of a file. */
bool bz_expanded_remove(struct bz_shelf_root *root, struct bz_expanded *x,
                        struct bz_expanded_item *item, int64_t limit);

/* Makes the directory `path` of a store (trees, work or failed), or takes it from
 * others: an earlier version has let everybody in. BZ_E_IO if it is another user's;
 * root takes over those. */
int bz_expanded_close_off(const char *path, struct bz_err *err) BZ_MUST_CHECK;

/* Whether the directory at this path is there and no collector takes it as long as the
 * store is open. */
bool bz_expanded_claim(struct bz_shelf_root *root, const char *path);

/* Notes the use of a directory that is not under its name yet. */
int bz_expanded_touch(const char *path, struct bz_err *err) BZ_MUST_CHECK;

/* A directory remembers in which boot of the machine all its bytes were checked, if the
 * file system lets it: what is read from a disk after a power cut may be torn. */
void bz_expanded_note_checked(const struct bz_shelf_root *root, const char *path);
bool bz_expanded_checked(const struct bz_shelf_root *root, const char *path);

/* What a directory takes on the disk, without what has other names, to be added up
 * often: it is measured once and remembered, if the file system lets it. */
uint64_t bz_expanded_size(int dir, const char *path);
/* The same of all trees, and of what failed tasks have left. */
uint64_t bz_expanded_estimate(struct bz_shelf_root *root);

/* Takes a directory that is not what it should be out of the way, for good. Whoever
 * works in it may go on until the caller removes *old, which is the arena's; if it is
 * not removed, a collector does it. */
int bz_expanded_discard(struct bz_shelf_root *root, const char *path,
                        struct bz_arena *a, const char **old,
                        struct bz_err *err) BZ_MUST_CHECK;

/* Removes all trees that hold a file, whoever uses them. Returns how many. */
size_t bz_expanded_drop(struct bz_shelf_root *root, struct bz_expanded *x,
                        uint64_t inode);

#endif
