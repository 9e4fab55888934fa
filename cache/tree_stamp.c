#include "cache/tree_stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>

#include "codec/digest.h"
#include "os/clock.h"
#include "os/fs_walk.h"

#define STAMP "user.bitzel.stamp"

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

static int add_entry(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct stat *st = e->st;
    bool dir = S_ISDIR(st->st_mode), alone = !dir && st->st_nlink == 1;
    const int64_t facts[] = {
        (int64_t)st->st_ino,
        st->st_mode,
        (int64_t)st->st_rdev,
        alone,
        ns_of(st->st_mtim),
        alone ? ns_of(st->st_ctim) : 0,
        dir ? 0 : (int64_t)st->st_size,
    };

    (void)err;
    bz_digest_add(ctx, e->path, strlen(e->path) + 1);
    bz_digest_add(ctx, facts, sizeof(facts));
    return BZ_FS_WALK_ON;
}

static bool take(const char *path, struct bz_digest *out)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_err ignored;
    bool good;

    if (bz_digest_hasher_new(&h, &ignored) < 0)
        return false;
    bz_digest_begin(h);
    good = bz_fs_walk(AT_FDCWD, path, add_entry, h, &ignored) == 0;
    bz_digest_end(h, out);
    return good;
}

void bz_tree_stamp_set(const char *path)
{
    struct bz_digest now;

    /* A tree without a stamp is checked in full. */
    if (!take(path, &now) || setxattr(path, STAMP, now.b, sizeof(now.b), 0) < 0)
        (void)!removexattr(path, STAMP);
}

enum bz_tree_stamp bz_tree_stamp_check(const char *path)
{
    struct bz_digest was, now;

    if (getxattr(path, STAMP, was.b, sizeof(was.b)) != (ssize_t)sizeof(was.b))
        return BZ_TREE_STAMP_NONE;
    return take(path, &now) && bz_digest_eq(&was, &now) ? BZ_TREE_STAMP_SAME
                                                        : BZ_TREE_STAMP_CHANGED;
}
