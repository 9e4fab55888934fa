#include "cache/shelf.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/shelf_dir.h"
#include "os/clock.h"
#include "os/fs_list.h"

#define DIR_MODE 0777 /* the umask decides who shares the store */
#define BLOB_MODE 0444
#define ABANDONED 86400 /* seconds: a day */
#define TRIES 4
#define NO_DIR "something in %s of the store is no directory: nothing is stored there"

static const char cachedir_tag[] =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This directory is a cache of bitzel: backups may leave it out.\n"
    "# See https://bford.info/cachedir/\n";

static bool cannot_write(int sys)
{
    return sys == EROFS || sys == EACCES || sys == EPERM;
}

static int write_tag(const struct bz_shelf_root *r, struct bz_err *err)
{
    if (bz_fs_exists(r->top, "CACHEDIR.TAG"))
        return 0;
    return bz_fs_write(r->top, "CACHEDIR.TAG", cachedir_tag, sizeof(cachedir_tag) - 1,
                       BLOB_MODE, BZ_FS_NOSYNC, err);
}

static int prepare(struct bz_shelf_root *r, const char *path, struct bz_err *err)
{
    /* Those that are opened elsewhere, some by their paths. */
    static const char *const others[] = {"leases", "trash",  "bad",
                                         "trees",  "failed", "work"};

    if (r->readonly)
        return 0;
    for (size_t i = 0; r->mend && i < BZ_COUNTOF(others); i++)
        bz_shelf_dir_mend(r, others[i]);
    r->tmp = bz_shelf_dir_open(r, "tmp", true);
    if (r->tmp >= 0 && faccessat(r->tmp, ".", W_OK, AT_EACCESS) == 0) {
        int64_t before = bz_clock_wall();

        bz_lease_open(&r->lease, r->top, &r->self);
        r->skew = r->lease.begun - before;
        return write_tag(r, err);
    }
    if (!cannot_write(errno) && errno != ENOTDIR)
        return bz_fail_sys(err, "open store %s", path);
    r->readonly = true;
    return 0;
}

int bz_shelf_root_open(struct bz_shelf_root *r, const char *path,
                       enum bz_shelf_access access, enum bz_fs_sync sync,
                       struct bz_err *err)
{
    int rc = 0;

    r->top = r->tmp = r->lease.fd = r->lease.dir = -1;
    r->path = bz_mem_dup(path, strlen(path));
    r->readonly = access == BZ_SHELF_READ || access == BZ_SHELF_READ_AGAIN;
    r->mend = access == BZ_SHELF_MEND;
    atomic_init(&r->told, access == BZ_SHELF_READ_AGAIN);
    atomic_init(&r->told_key, access == BZ_SHELF_READ_AGAIN);
    atomic_init(&r->doubt, false);
    memset(r->known, 0, sizeof(r->known));
    r->sync = sync;
    r->skew = 0;
    r->touch = BZ_SHELF_TOUCH * BZ_CLOCK_S;
    atomic_init(&r->temps, 0);
    bz_alive_self(&r->self);
    if (!r->readonly && bz_fs_mkdirs(AT_FDCWD, path, DIR_MODE, err) < 0 &&
        !cannot_write(err->sys))
        rc = bz_err_wrap(err, "open store %s", path);
    else
        r->top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (rc == 0)
        rc = r->top < 0 ? bz_fail_sys(err, "open store %s", path)
                        : prepare(r, path, err);
    if (rc < 0)
        bz_shelf_root_close(r);
    return rc;
}

void bz_shelf_root_close(struct bz_shelf_root *r)
{
    bz_lease_close(&r->lease);
    bz_fs_closep(&r->tmp);
    bz_fs_closep(&r->top);
    r->tmp = r->top = -1;
    free(r->path);
    r->path = NULL;
}

int bz_shelf_open(struct bz_shelf *s, struct bz_shelf_root *root, const char *kind,
                  struct bz_err *err)
{
    s->root = root;
    s->kind = kind;
    s->dir = bz_shelf_dir_open(root, kind, !root->readonly);
    /* One that is refused is empty, and stays so. */
    if (s->dir < 0 && errno != ENOTDIR && (errno != ENOENT || !root->readonly))
        return bz_fail_sys(err, "open %s of the store", kind);
    s->ours = s->dir >= 0 && bz_shelf_dir_is_ours(s->dir);
    /* What is on a shelf survives if the shelf does, and all that was in it before. */
    if (root->sync == BZ_FS_SYNC && !root->readonly && s->dir >= 0 &&
        (fsync(root->top) < 0 || fsync(s->dir) < 0))
        return bz_fail_sys(err, "sync %s of the store", kind);
    return 0; /* a store that is only read may have no such shelf: it is empty */
}

void bz_shelf_close(struct bz_shelf *s)
{
    bz_fs_closep(&s->dir);
    s->dir = -1;
}

void bz_shelf_name(const struct bz_digest *key, char out[BZ_SHELF_NAME])
{
    bz_digest_hex(key, out + 3);
    out[0] = out[3];
    out[1] = out[4];
    out[2] = '/';
}

void bz_shelf_aside(const struct bz_shelf *s, const struct bz_digest *key,
                    char out[BZ_SHELF_ASIDE])
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(key, hex);
    snprintf(out, BZ_SHELF_ASIDE, "%.3s-%s", s->kind, hex);
}

bool bz_shelf_has(const struct bz_shelf *s, const struct bz_digest *key)
{
    char name[BZ_SHELF_NAME];
    struct stat st;

    bz_shelf_name(key, name);
    return bz_shelf_dir_stat(s, name, &st) == 0 && S_ISREG(st.st_mode);
}

bool bz_shelf_in_trash(const struct bz_shelf *s, const struct bz_digest *key)
{
    BZ_CLEANUP(bz_fs_closep) int trash = bz_shelf_dir_open(s->root, "trash", false);
    char aside[BZ_SHELF_ASIDE];

    bz_shelf_aside(s, key, aside);
    return trash >= 0 && bz_fs_exists(trash, aside);
}

int64_t bz_shelf_now(const struct bz_shelf_root *r)
{
    return bz_clock_wall() + r->skew;
}

/* Makes collectors see that the file is wanted. The modification time stays, which
 * means something else. */
static enum bz_shelf_claim claim(const struct bz_shelf *s,
                                 const struct bz_shelf_dir_place *at,
                                 const struct stat *st)
{
    const struct timespec times[2] = {
        {0, UTIME_NOW },
        {0, UTIME_OMIT}
    };
    int64_t used = st->st_atim.tv_sec * BZ_CLOCK_S + st->st_atim.tv_nsec;

    bz_lease_renew(&s->root->lease);
    if (bz_shelf_now(s->root) - used <= s->root->touch)
        return BZ_SHELF_CLAIMED;
    if (s->root->readonly)
        return BZ_SHELF_FOREIGN;
    if (utimensat(at->dir, at->name, times, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? BZ_SHELF_ABSENT : BZ_SHELF_FOREIGN;
    /* The touch may have reached it in the trash: what counts is the key now. */
    return bz_fs_exists(at->dir, at->name) ? BZ_SHELF_CLAIMED : BZ_SHELF_ABSENT;
}

/* `size` is NULL if any will do. */
static enum bz_shelf_claim claim_key(const struct bz_shelf *s,
                                     const struct bz_digest *key, const uint64_t *size)
{
    BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};
    char name[BZ_SHELF_NAME];
    struct stat st;

    bz_shelf_name(key, name);
    if (bz_shelf_dir_enter(s, name, false, &at) < 0 ||
        fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(st.st_mode) || (size && (uint64_t)st.st_size != *size))
        return BZ_SHELF_ABSENT;
    return claim(s, &at, &st);
}

enum bz_shelf_claim bz_shelf_claim(const struct bz_shelf *s,
                                   const struct bz_digest *key)
{
    return claim_key(s, key, NULL);
}

enum bz_shelf_claim bz_shelf_claim_sized(const struct bz_shelf *s,
                                         const struct bz_digest *key, uint64_t size)
{
    return claim_key(s, key, &size);
}

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)

/* A stale handle is looked up anew once; then the file is gone. */
static int open_key(const struct bz_shelf *s, const char *name, int flags)
{
    for (int i = 0; i < 2; i++) {
        BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};
        int fd = bz_shelf_dir_enter(s, name, false, &at) < 0
                     ? -1
                     : openat(at.dir, at.name, OPEN_FLAGS | flags);

        if (fd >= 0 || errno != ESTALE)
            return fd;
    }
    return -1;
}

/* What a collector was about to remove when it was killed is still there. */
static int open_in_trash(const struct bz_shelf *s, const struct bz_digest *key)
{
    BZ_CLEANUP(bz_fs_closep) int trash = bz_shelf_dir_open(s->root, "trash", false);
    char aside[BZ_SHELF_ASIDE];
    int fd;

    bz_shelf_aside(s, key, aside);
    fd = trash < 0 ? -1 : openat(trash, aside, OPEN_FLAGS);
    if (fd < 0)
        errno = ENOENT;
    return fd;
}

/* A link under a key is as bad as wrong bytes. Keeps errno. */
static void put_link_aside(const struct bz_shelf *s, const struct bz_digest *key,
                           const char *name)
{
    int sys = errno;
    struct stat st;

    if (bz_shelf_dir_stat(s, name, &st) == 0 && S_ISLNK(st.st_mode))
        bz_shelf_quarantine(s, key, &st, "a symbolic link");
    errno = sys;
}

static int open_file(const struct bz_shelf *s, const struct bz_digest *key, int flags,
                     int *fd, struct bz_err *err)
{
    char name[BZ_SHELF_NAME];
    bool stale;

    bz_shelf_name(key, name);
    if (s->dir < 0)
        return bz_fail(err, BZ_E_NOENT, "%s/%s: the store has no such shelf", s->kind,
                       name);
    *fd = open_key(s, name, flags);
    if (*fd < 0 && errno == EPERM && flags)
        *fd = open_key(s, name, 0); /* only the owner may read unseen */
    if (*fd < 0 && errno == ELOOP)
        put_link_aside(s, key, name);
    if (*fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        errno = ENOENT; /* what is refused is not there */
    stale = *fd < 0 && errno == ESTALE;
    if (*fd < 0 && (errno == ENOENT || stale) && s->by_content)
        *fd = open_in_trash(s, key);
    if (*fd < 0 && stale) {
        (void)bz_fail(err, BZ_E_NOENT, "open %s/%s: the handle is stale", s->kind,
                      name);
        err->sys = ESTALE; /* for who can open the directory anew */
        return BZ_E_NOENT;
    }
    return *fd < 0 ? bz_fail_sys(err, "open %s/%s", s->kind, name) : 0;
}

int bz_shelf_fd(const struct bz_shelf *s, const struct bz_digest *key, int *fd,
                struct bz_err *err)
{
    return open_file(s, key, 0, fd, err);
}

int bz_shelf_peek(const struct bz_shelf *s, const struct bz_digest *key, int *fd,
                  struct bz_err *err)
{
    return open_file(s, key, O_NOATIME, fd, err);
}

/* A name in tmp/ that this opening of the store has not used yet. Another one of the
 * same process may have: whoever finds it taken takes the next. */
static void next_name(struct bz_shelf_root *r, char out[BZ_SHELF_TEMP])
{
    /* relaxed: the number only has to differ from the others */
    snprintf(out, BZ_SHELF_TEMP, "%s.%llx", r->self.name,
             atomic_fetch_add_explicit(&r->temps, 1, memory_order_relaxed));
}

int bz_shelf_temp_open(struct bz_shelf_root *r, struct bz_shelf_temp *t,
                       struct bz_err *err)
{
    *t = (struct bz_shelf_temp){.fd = -1};
    if (r->readonly) {
        errno = EROFS;
        return bz_fail_sys(err, "the store is for reading only");
    }
    do {
        next_name(r, t->name);
        t->fd = openat(r->tmp, t->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR);
    } while (t->fd < 0 && errno == EEXIST);
    if (t->fd < 0)
        return bz_fail_sys(err, "create tmp/%s in the store", t->name);
    t->root = r;
    return 0;
}

void bz_shelf_temp_release(struct bz_shelf_temp *t)
{
    if (!t->root)
        return;
    unlinkat(t->root->tmp, t->name, 0);
    bz_fs_closep(&t->fd);
    *t = (struct bz_shelf_temp){.fd = -1};
}

/* A file that another process stored, perhaps without syncing it. */
static int sync_file(const struct bz_shelf *s, const char *name)
{
    BZ_CLEANUP(bz_fs_closep) int fd = open_key(s, name, 0);

    return fd < 0 ? -1 : fsync(fd);
}

static int sync_fan(const struct bz_shelf *s, const char *name)
{
    BZ_CLEANUP(bz_fs_closep) int fd = bz_shelf_dir_fan(s, name);

    return fd < 0 ? -1 : fsync(fd);
}

typedef int (*name_fn)(int dir, const char *from, int to_dir, const char *to);

static int link_name(int dir, const char *from, int to_dir, const char *to)
{
    return linkat(dir, from, to_dir, to, 0);
}

/* Gives a file its name on the shelf. The directory for the first byte of the keys is
 * made when it is first needed. */
static int name_it(const struct bz_shelf *s, name_fn fn, int dir, const char *from,
                   const char *to)
{
    for (int make = 0; make < 2; make++) {
        BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};

        if (bz_shelf_dir_enter(s, to, make, &at) == 0 &&
            fn(dir, from, at.dir, at.name) == 0)
            return 0;
        if (errno != ENOENT)
            break;
    }
    return -1;
}

static bool cannot_link(int sys)
{
    return sys == EPERM || sys == EOPNOTSUPP || sys == ENOSYS || sys == EMLINK ||
           sys == EXDEV;
}

/* Whether a blob that exists has wrong bytes, if there is reason to ask. */
static bool is_wrong(const struct bz_shelf *s, const struct bz_shelf_dir_place *at,
                     const struct bz_digest *key)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_digest got;
    struct bz_err err;
    uint64_t size;

    /* relaxed: a flag that only rises; a blob that is missed once is found later */
    if (!s->by_content || !atomic_load_explicit(&s->root->doubt, memory_order_relaxed))
        return false;
    fd = openat(at->dir, at->name, OPEN_FLAGS);
    if (fd < 0 || bz_digest_hasher_new(&h, &err) < 0)
        return false;
    return bz_digest_fd(h, fd, &got, &size, &err) < 0 ? err.sys == EIO
                                                      : !bz_digest_eq(&got, key);
}

/* What the newcomer may make of the file under a key. */
static enum bz_shelf_claim judge(const struct bz_shelf *s, const struct bz_digest *key,
                                 const char *name, off_t size)
{
    BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};
    struct stat st;

    if (bz_shelf_dir_enter(s, name, false, &at) < 0 ||
        fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return BZ_SHELF_ABSENT;
    if (!S_ISREG(st.st_mode) || (s->by_content && st.st_size != size)) {
        bz_shelf_quarantine(s, key, &st,
                            S_ISLNK(st.st_mode) ? "a symbolic link" : "wrong size");
        return BZ_SHELF_ABSENT;
    }
    if (is_wrong(s, &at, key)) {
        bz_shelf_quarantine(s, key, &st, "wrong bytes");
        return BZ_SHELF_ABSENT;
    }
    return claim(s, &at, &st);
}

/* Another user's blob cannot be claimed: its like takes its place. */
static int replace(const struct bz_shelf *s, int dir, const char *from,
                   const char *name)
{
    struct bz_shelf_root *r = s->root;
    char own[BZ_SHELF_TEMP];
    int rc;

    do {
        next_name(r, own);
        rc = linkat(dir, from, r->tmp, own, 0);
    } while (rc < 0 && errno == EEXIST);
    if (rc < 0)
        return -1;
    if (name_it(s, renameat, r->tmp, own, name) == 0)
        return 0;
    unlinkat(r->tmp, own, 0);
    return -1;
}

/* 0 when the key is ours now, 1 when it leads to another's sound file, else -1 and
 * errno. */
static int publish(const struct bz_shelf *s, int dir, const char *from,
                   const struct bz_digest *key, off_t size)
{
    char name[BZ_SHELF_NAME];
    int existed = 0;

    bz_shelf_name(key, name);
    bz_lease_renew(&s->root->lease);
    /* Again after a damaged one was put aside or a collector took one away. */
    for (int tries = 0; name_it(s, link_name, dir, from, name) < 0; tries++) {
        enum bz_shelf_claim was;

        if (errno != EEXIST)
            return -1;
        was = judge(s, key, name, size);
        /* The first result stays; a directory that is not ours to rename in has a
         * collector who is not us either. */
        if ((was == BZ_SHELF_FOREIGN && s->by_content) || tries == TRIES)
            existed = replace(s, dir, from, name) < 0;
        else
            existed = was != BZ_SHELF_ABSENT;
        if (was != BZ_SHELF_ABSENT || tries == TRIES)
            break;
    }
    if (s->root->sync == BZ_FS_SYNC &&
        ((existed && sync_file(s, name) < 0) || sync_fan(s, name) < 0))
        return -1;
    return existed;
}

/* For file systems without hard links. */
static int publish_by_rename(const struct bz_shelf *s, const struct bz_shelf_temp *t,
                             const struct bz_digest *key)
{
    char name[BZ_SHELF_NAME];

    bz_shelf_name(key, name);
    return name_it(s, renameat, t->root->tmp, t->name, name);
}

static int set_time(int fd)
{
    const struct timespec times[2] = {
        {0,              UTIME_NOW},
        {BZ_SHELF_MTIME, 0        }
    };

    return futimens(fd, times);
}

static int publish_temp(const struct bz_shelf *s, const struct bz_shelf_temp *t,
                        const struct bz_digest *key)
{
    struct stat st;
    int rc;

    if (fchmod(t->fd, BLOB_MODE) < 0 || set_time(t->fd) < 0 || fstat(t->fd, &st) < 0 ||
        (s->root->sync == BZ_FS_SYNC && fsync(t->fd) < 0))
        return -1;
    rc = publish(s, t->root->tmp, t->name, key, st.st_size);
    return rc < 0 && cannot_link(errno) ? publish_by_rename(s, t, key) : rc;
}

int bz_shelf_publish(const struct bz_shelf *s, struct bz_shelf_temp *t,
                     const struct bz_digest *key, bool *existed, struct bz_err *err)
{
    int rc = publish_temp(s, t, key);

    *existed = rc == 1;
    if (rc < 0)
        rc = errno == ENOTDIR ? bz_fail(err, BZ_E_BUSY, NO_DIR, s->kind)
                              : bz_fail_sys(err, "publish in %s of the store", s->kind);
    bz_shelf_temp_release(t);
    return rc < 0 ? rc : 0;
}

int bz_shelf_adopt(const struct bz_shelf *s, int dir, const char *name, int fd,
                   const struct bz_digest *key, bool *existed, struct bz_err *err)
{
    struct stat before, after, now;
    int rc;

    *existed = false;
    if (s->root->readonly) {
        errno = EROFS;
        return bz_fail_sys(err, "the store is for reading only");
    }
    if (set_time(fd) < 0 || (s->root->sync == BZ_FS_SYNC && fsync(fd) < 0) ||
        fstat(fd, &before) < 0)
        return bz_fail_sys(err, "adopt %s", name);
    rc = publish(s, dir, name, key, before.st_size);
    *existed = rc == 1;
    if (rc < 0 && cannot_link(errno))
        return bz_fail(err, BZ_E_NOSUP, "%s cannot be linked to", name);
    if (rc < 0 && errno == ENOTDIR)
        return bz_fail(err, BZ_E_BUSY, NO_DIR, s->kind);
    if (rc < 0 || fstat(fd, &after) < 0)
        return bz_fail_sys(err, "adopt %s", name);
    /* Without one more link, another file had the name and got the key; or ours has
     * lost the key again, which is as if that had happened later. */
    if (rc == 0 && after.st_nlink <= before.st_nlink &&
        (fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
         now.st_ino != before.st_ino)) {
        char wrong[BZ_SHELF_NAME];

        bz_shelf_name(key, wrong);
        if (bz_shelf_dir_stat(s, wrong, &after) == 0)
            bz_shelf_quarantine(s, key, &after, "changed while it was stored");
        return bz_fail(err, BZ_E_BUSY, "%s changed while it was stored", name);
    }
    return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Between a look and a rename another may have put a good file there: whatever was not
 * the one that was seen gets its key back, unless there is one again. */
static bool gave_back(const struct bz_shelf_dir_place *at, int bad, const char *aside,
                      const struct stat *seen)
{
    struct stat st;

    if (fstatat(bad, aside, &st, AT_SYMLINK_NOFOLLOW) < 0 || same_file(&st, seen))
        return false;
    if (linkat(bad, aside, at->dir, at->name, 0) == 0 || errno == EEXIST)
        unlinkat(bad, aside, 0);
    else if (cannot_link(errno))
        renameat(bad, aside, at->dir, at->name);
    return true;
}

static void tell_damaged(const struct bz_shelf *s, const char *name, const char *why)
{
    if (why)
        bz_log_warn("cache", "%s/%s is damaged (%s): it is put aside and made anew",
                    s->kind, name, why);
}

void bz_shelf_quarantine(const struct bz_shelf *s, const struct bz_digest *key,
                         const struct stat *seen, const char *why)
{
    BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};
    BZ_CLEANUP(bz_fs_closep) int bad = -1;
    char name[BZ_SHELF_NAME], aside[BZ_SHELF_NAME + 64];
    struct stat st;

    bz_shelf_name(key, name);
    if (bz_shelf_dir_enter(s, name, false, &at) < 0 ||
        fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !same_file(&st, seen))
        return;
    if (s->by_content)
        atomic_store_explicit(&s->root->doubt, true, memory_order_relaxed);
    if (!s->root->readonly)
        bad = bz_shelf_dir_open(s->root, "bad", true);
    if (bad < 0) {
        tell_damaged(s, name, why);
        return;
    }
    snprintf(aside, sizeof(aside), "%s-%s-%llx", s->kind, name + 3,
             (unsigned long long)st.st_ino);
    if (renameat(at.dir, at.name, bad, aside) == 0) {
        if (gave_back(&at, bad, aside, seen))
            return;
        tell_damaged(s, name, why);
        /* its other names tell that it is not to be trusted, if it is ours */
        (void)!utimensat(bad, aside, NULL, AT_SYMLINK_NOFOLLOW);
    } else if (errno != ENOENT) { /* unless another thread was faster, and has told */
        tell_damaged(s, name, why);
        bz_log_warn("cache", "%s/%s cannot be put aside", s->kind, name);
    }
}

int bz_shelf_clock(struct bz_shelf_root *r, int64_t *now, struct bz_err *err)
{
    BZ_CLEANUP(bz_shelf_temp_release) struct bz_shelf_temp t = {0};
    struct stat st;
    int rc = 0;

    *now = bz_clock_wall();
    if (r->readonly)
        return 0;
    rc = bz_shelf_temp_open(r, &t, err);
    if (rc < 0)
        return rc;
    if (fstat(t.fd, &st) < 0)
        return bz_fail_sys(err, "ask for the time of the store");
    *now = st.st_mtim.tv_sec * BZ_CLOCK_S + st.st_mtim.tv_nsec;
    return 0;
}

static bool is_abandoned(const struct bz_shelf_root *r, const char *name, int64_t now)
{
    struct bz_str owner = bz_str_from(name);
    size_t dot = bz_str_rfind_byte(owner, '.');
    struct stat st;

    if (dot != BZ_STR_NONE)
        owner = bz_str_sub(owner, 0, dot);
    switch (bz_alive_check(&r->self, owner)) {
    case BZ_ALIVE_RUNNING:
        return false;
    case BZ_ALIVE_GONE:
        return true;
    case BZ_ALIVE_UNKNOWN:
        break;
    }
    return fstatat(r->tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           now / BZ_CLOCK_S - st.st_ctim.tv_sec > ABANDONED;
}

size_t bz_shelf_sweep(struct bz_shelf_root *r)
{
    struct bz_fs_list list;
    struct bz_err err;
    size_t n = 0;
    int64_t now;

    if (r->readonly || bz_shelf_clock(r, &now, &err) < 0 ||
        bz_fs_list_dir(r->tmp, ".", &list, &err) < 0)
        return 0;
    for (size_t i = 0; i < list.n; i++)
        if (is_abandoned(r, list.names[i], now) &&
            unlinkat(r->tmp, list.names[i], 0) == 0)
            n++;
    bz_fs_list_release(&list);
    return n;
}
