#include "cache/cas_file.h"

#include <errno.h>
#include <unistd.h>

#include "cache/cas_copy.h"
#include "cache/closed.h"
#include "cache/plain.h"
#include "cache/shelf_dir.h"

#define MODE_BITS 07777
#define MODE_FOREIGN (07000 | 0022) /* special bits; others may write */
#define MODE_READ 0444

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
           same_time(a->st_ctim, b->st_ctim);
}

/* A second name elsewhere is a second way to write to it. */
static bool may_adopt(const struct stat *st)
{
    return st->st_uid == geteuid() && st->st_nlink == 1 &&
           (st->st_mode & MODE_FOREIGN) == 0 && (st->st_mode & MODE_READ) == MODE_READ;
}

static int changed(const char *name, struct bz_err *err)
{
    return bz_fail(err, BZ_E_BUSY, "%s changed while it was stored", name);
}

static int copy_in(struct bz_cas *cas, struct bz_digest_hasher *h, int fd,
                   const char *name, struct bz_cas_file *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_cas_abort) struct bz_cas_writer w = {.temp.fd = -1};
    uint64_t size = (uint64_t)out->st.st_size;
    struct stat after;
    int rc = bz_cas_begin(cas, h, &w, err);

    if (rc == 0)
        rc = bz_cas_copy(fd, w.temp.fd, size, h, err);
    if (rc < 0)
        return bz_err_wrap(err, "store %s", name);
    if (fstat(fd, &after) < 0)
        return bz_fail_sys(err, "store %s", name);
    if (!unchanged(&out->st, &after))
        return changed(name, err);
    w.size = size;
    rc = bz_cas_end(&w, NULL, &out->digest, err);
    out->existed = w.existed;
    return rc;
}

static int adopt(struct bz_cas *cas, struct bz_digest_hasher *h, int dir, int fd,
                 const char *name, struct bz_cas_file *out, struct bz_err *err)
{
    struct stat after;
    int rc = bz_digest_fd(h, fd, &out->digest.hash, &out->digest.size, err);

    if (rc < 0)
        return bz_err_wrap(err, "store %s", name);
    if (fstat(fd, &after) < 0)
        return bz_fail_sys(err, "store %s", name);
    if (!unchanged(&out->st, &after) || out->digest.size != (uint64_t)out->st.st_size)
        return changed(name, err);
    return bz_shelf_adopt(&cas->blobs, dir, name, fd, &out->digest.hash, &out->existed,
                          err);
}

int bz_cas_file_put(struct bz_cas *cas, struct bz_digest_hasher *h, int dir,
                    const char *name, enum bz_cas_file_in how, struct bz_cas_file *out,
                    struct bz_err *err)
{
    /* O_NONBLOCK: a named pipe must not hold us up. */
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    mode_t mode;
    int rc;

    if (fd < 0 && errno == EACCES)
        fd = bz_closed_file(dir, name, &mode);
    if (fd < 0 || fstat(fd, &out->st) < 0)
        return bz_fail_sys(err, "open %s", name);
    if (!S_ISREG(out->st.st_mode))
        return bz_fail(err, BZ_E_INVAL, "store %s: not a regular file", name);
    if (how == BZ_CAS_FILE_ADOPT && may_adopt(&out->st) && !bz_plain_capable(fd)) {
        rc = adopt(cas, h, dir, fd, name, out, err);
        if (rc != BZ_E_NOSUP)
            return rc;
        if (fstat(fd, &out->st) < 0) /* its time was set */
            return bz_fail_sys(err, "stat %s", name);
    }
    return copy_in(cas, h, fd, name, out, err);
}

static int miss(const char *why, struct bz_err *err)
{
    return bz_fail(err, BZ_E_NOENT, "%s", why);
}

/* Hashes a file that was made; a wrong one is the blob's fault. */
static int check_bytes(struct bz_cas *cas, struct bz_digest_hasher *h, int fd,
                       const struct bz_cas_file_want *want, const struct stat *blob,
                       struct bz_err *err)
{
    struct bz_digest got;
    uint64_t size;
    int rc;

    if (lseek(fd, 0, SEEK_SET) < 0)
        return bz_fail_sys(err, "rewind");
    rc = bz_digest_fd(h, fd, &got, &size, err);
    if (rc < 0)
        return rc;
    if (size == want->digest->size && bz_digest_eq(&got, &want->digest->hash))
        return 0;
    bz_shelf_quarantine(&cas->blobs, &want->digest->hash, blob, "wrong bytes");
    return miss("a blob with wrong bytes", err);
}

/* Whether nobody has written to it since it was stored. */
static bool stamped(const struct stat *st)
{
    return st->st_mtim.tv_sec == BZ_SHELF_MTIME && st->st_mtim.tv_nsec == 0;
}

static int set_time(int fd)
{
    const struct timespec times[2] = {
        {0,              UTIME_OMIT},
        {BZ_SHELF_MTIME, 0         }
    };

    return futimens(fd, times);
}

static int fill_copy(struct bz_cas *cas, struct bz_digest_hasher *h, int to,
                     const struct bz_cas_file_want *want, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int from = -1;
    struct stat blob;
    int rc;

    if (want->digest->size > 0) {
        rc = bz_cas_fd(cas, NULL, want->digest, &from, err);
        if (rc < 0)
            return rc;
        if (fstat(from, &blob) < 0)
            return bz_fail_sys(err, "stat a blob");
        rc = bz_cas_copy(from, to, want->digest->size, NULL, err);
        if (rc == BZ_E_BUSY)
            return miss("a blob that changed", err);
        if (rc < 0)
            return bz_cas_not_copied(cas, want->digest, from, err);
        if (want->check == BZ_CAS_FILE_CHECK ||
            (want->check == BZ_CAS_FILE_CHANGED && !stamped(&blob)))
            rc = check_bytes(cas, h, to, want, &blob, err);
        if (rc < 0)
            return rc;
    }
    if (fchmod(to, want->mode) < 0 || set_time(to) < 0)
        return bz_fail_sys(err, "set mode and time");
    return 0;
}

static int get_copy(struct bz_cas *cas, struct bz_digest_hasher *h, int dir,
                    const char *name, const struct bz_cas_file_want *want,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int to = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc;

    if (to < 0)
        return bz_fail_sys(err, "create %s", name);
    rc = fill_copy(cas, h, to, want, err);
    if (rc < 0)
        unlinkat(dir, name, 0);
    return rc < 0 ? bz_err_wrap(err, "restore %s", name) : 0;
}

/* Looks at what was linked. BZ_E_NOSUP if it takes a copy. */
static int check_link(struct bz_cas *cas, struct bz_digest_hasher *h, int dir,
                      const char *name, const struct bz_cas_file_want *want,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct stat st;
    int rc;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return bz_fail_sys(err, "stat %s", name);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != want->digest->size) {
        /* O_NONBLOCK: whatever it is, it must not hold us up. */
        fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        return bz_cas_wrong_size(cas, want->digest, fd, &st, err);
    }
    if ((st.st_mode & MODE_BITS) != want->mode)
        return bz_fail(err, BZ_E_NOSUP, "a blob of another mode");
    if (want->plain && bz_plain_capable_at(dir, name))
        return bz_fail(err, BZ_E_NOSUP, "a blob with capabilities");
    if (stamped(&st) && want->check != BZ_CAS_FILE_CHECK)
        return 0;
    /* To set the time of what nobody has hashed would hide that it was written to. */
    if (want->check == BZ_CAS_FILE_UNCHECKED)
        return bz_fail(err, BZ_E_NOSUP, "a blob with another time");
    fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    rc = fd < 0 ? bz_fail_sys(err, "open %s", name)
                : check_bytes(cas, h, fd, want, &st, err);
    if (rc < 0)
        return bz_cas_unreadable(cas, want->digest, &st, err);
    /* Another program's blob has its own time, which may not be ours to change. */
    if (!stamped(&st) && set_time(fd) < 0)
        return bz_fail(err, BZ_E_NOSUP, "a blob with another time");
    return 0;
}

static int link_blob(const struct bz_cas *cas, const char *blob, int dir,
                     const char *name)
{
    BZ_CLEANUP(bz_shelf_dir_leave) struct bz_shelf_dir_place at = {.own = -1};

    if (bz_shelf_dir_enter(&cas->blobs, blob, false, &at) < 0)
        return -1;
    return linkat(at.dir, at.name, dir, name, 0);
}

int bz_cas_file_get(struct bz_cas *cas, struct bz_digest_hasher *h, int dir,
                    const char *name, const struct bz_cas_file_want *want,
                    struct bz_err *err)
{
    char blob[BZ_SHELF_NAME];
    int rc;

    if (want->out == BZ_CAS_FILE_PRIVATE || cas->blobs.dir < 0)
        return get_copy(cas, h, dir, name, want, err);
    bz_shelf_name(&want->digest->hash, blob);
    if (link_blob(cas, blob, dir, name) < 0) {
        /* Whatever keeps it from being linked, a copy may do; a blob that is not there
         * is found out once more. */
        if (errno == EEXIST || errno == ENOSPC || errno == EDQUOT || errno == EROFS)
            return bz_fail_sys(err, "restore %s", name);
        return get_copy(cas, h, dir, name, want, err);
    }
    rc = check_link(cas, h, dir, name, want, err);
    if (rc == 0)
        return 0;
    unlinkat(dir, name, 0);
    if (rc == BZ_E_NOSUP)
        return get_copy(cas, h, dir, name, want, err);
    return bz_err_wrap(err, "restore %s", name);
}
