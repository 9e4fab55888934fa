#include "cache/shelf_dir.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

#define DIR_MODE 0777                    /* the umask decides who shares the store */
#define OTHERS_WRITE (S_IWGRP | S_IWOTH) /* the first also tells of access lists */
#define TRIES 4                          /* of which others may spoil some */
#define OPEN_DIR (O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static const char *kind_of(const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return "a symbolic link";
    if (S_ISREG(st->st_mode))
        return "a file";
    return S_ISFIFO(st->st_mode)   ? "a fifo"
           : S_ISSOCK(st->st_mode) ? "a socket"
                                   : "a device";
}

static bool is_no_dir(int sys)
{
    return sys == ENOTDIR || sys == ELOOP;
}

/* Said once for each opening of the store: who plants one link plants many. */
static void tell(struct bz_shelf_root *r, const char *shown, const struct stat *st,
                 const char *aside)
{
    /* relaxed: nothing else depends on it */
    if (atomic_exchange_explicit(&r->told, true, memory_order_relaxed))
        return;
    if (aside)
        bz_log_warn("cache",
                    "%s/%s is %s, not a directory: it is put aside as %s. bitzel "
                    "follows no links inside a cache: remove it, and name the "
                    "directory that the cache shall be in as cache.dir. More like it "
                    "are not mentioned",
                    r->path, shown, kind_of(st), aside);
    else
        bz_log_warn("cache",
                    "%s/%s is %s, not a directory: nothing is read or stored there. "
                    "bitzel follows no links inside a cache: remove it. More like it "
                    "are not mentioned",
                    r->path, shown, kind_of(st));
}

/* Something in `dir` has the name of a directory and is none. True if the name is free
 * now, or leads to a directory. `shown` is the path below the root. */
static bool refuse(struct bz_shelf_root *r, int dir, const char *name,
                   const char *shown)
{
    char aside[sizeof(BZ_SHELF_DIR_REFUSED) + 64];
    struct stat st;
    bool gone;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT;
    if (S_ISDIR(st.st_mode))
        return true; /* by now */
    snprintf(aside, sizeof(aside), BZ_SHELF_DIR_REFUSED "%.20s-%llx", name,
             (unsigned long long)st.st_ino);
    gone = r->mend && !r->readonly && renameat(dir, name, r->top, aside) == 0;
    tell(r, shown, &st, gone ? aside : NULL);
    return gone;
}

/* Opens one directory in another; `flags` besides OPEN_DIR. */
static int open_in(struct bz_shelf_root *r, int dir, const char *name,
                   const char *shown, int flags, bool make)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = openat(dir, name, OPEN_DIR | flags);

        if (fd >= 0 || (errno != ENOENT && !is_no_dir(errno)))
            return fd;
        if (is_no_dir(errno) && !refuse(r, dir, name, shown))
            break;
        if (!make) {
            errno = ENOENT;
            return -1;
        }
        if (mkdirat(dir, name, DIR_MODE) < 0 && errno != EEXIST)
            return -1;
    }
    errno = ENOTDIR;
    return -1;
}

int bz_shelf_dir_open(struct bz_shelf_root *r, const char *name, bool make)
{
    return open_in(r, r->top, name, name, O_RDONLY, make);
}

void bz_shelf_dir_mend(struct bz_shelf_root *r, const char *name)
{
    struct stat st;

    if (fstatat(r->top, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode))
        (void)refuse(r, r->top, name, name);
}

static int open_fan(const struct bz_shelf *s, const char *name, int flags, bool make)
{
    const char fan[3] = {name[0], name[1]};
    char shown[16];

    if (s->dir < 0) {
        errno = make ? ENOTDIR : ENOENT;
        return -1;
    }
    snprintf(shown, sizeof(shown), "%.8s/%s", s->kind, fan);
    return open_in(s->root, s->dir, fan, shown, flags, make);
}

int bz_shelf_dir_fan(const struct bz_shelf *s, const char *name)
{
    return open_fan(s, name, O_RDONLY, false);
}

/* A number that the first two digits of a name are. */
static unsigned fan_of(const char *name)
{
    unsigned n = 0;

    for (int i = 0; i < 2; i++)
        n = n * 16 + (unsigned)(name[i] <= '9' ? name[i] - '0' : name[i] - 'a' + 10);
    return n % BZ_SHELF_FANS;
}

int bz_shelf_dir_enter(const struct bz_shelf *s, const char *name, bool make,
                       struct bz_shelf_dir_place *out)
{
    atomic_bool *known = &s->root->known[s->by_content][fan_of(name)];

    *out = (struct bz_shelf_dir_place){s->dir, name, -1};
    /* relaxed: what it stands for does not change, or only by our own doing */
    if (!make && s->ours && atomic_load_explicit(known, memory_order_relaxed))
        return 0;
    out->own = open_fan(s, name, O_PATH, make);
    if (out->own < 0)
        return -1;
    if (make && s->root->sync == BZ_FS_SYNC && fsync(s->dir) < 0) {
        bz_shelf_dir_leave(out);
        return -1;
    }
    if (s->ours)
        atomic_store_explicit(known, true, memory_order_relaxed);
    out->dir = out->own;
    out->name = name + 3;
    return 0;
}

void bz_shelf_dir_leave(struct bz_shelf_dir_place *at)
{
    bz_fs_closep(&at->own);
    at->own = -1;
}

int bz_shelf_dir_stat(const struct bz_shelf *s, const char *name, struct stat *st)
{
    BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};

    if (bz_shelf_dir_enter(s, name, false, &at) < 0)
        return -1;
    return fstatat(at.dir, at.name, st, AT_SYMLINK_NOFOLLOW);
}

bool bz_shelf_dir_is_ours(int dir)
{
    struct stat st;

    return fstat(dir, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) &&
           (st.st_mode & OTHERS_WRITE) == 0;
}
