#include "codec/archive.h"

#include <errno.h>
#include <locale.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "codec/libarchive.h"
#include "os/fs.h"
#include "os/fs_below.h"

enum { BLOCK = 65536, SHOWN = 300 };

/* One archive being read, and where its members go. */
struct reader {
    struct bz_libarchive lib;
    struct archive *a;
    struct archive *outer; /* the archive that it is a member of, or NULL */
    const char *name;
    const char *member; /* the one at hand, or NULL */
    struct bz_archive_opts o;
    struct bz_archive_stats stats;
    struct bz_fs_below to;
    struct bz_map linked; /* normal name of a file with several names: its inode */
    struct bz_arena names;
    struct bz_err *err;
};

static struct bz_archive_opts with_defaults(const struct bz_archive_opts *opts)
{
    struct bz_archive_opts o = *opts;

    if (o.members == 0)
        o.members = BZ_ARCHIVE_MEMBERS;
    if (o.bytes == 0)
        o.bytes = BZ_ARCHIVE_BYTES;
    if (o.ratio == 0)
        o.ratio = BZ_ARCHIVE_RATIO;
    if (o.umask == 0)
        o.umask = BZ_ARCHIVE_UMASK;
    return o;
}

/* The message that r->err holds becomes one about this archive and member. */
static int place(const struct reader *r, int rc)
{
    if (rc < 0 && r->member)
        return bz_err_wrap(r->err, "%s: member %.*s", r->name, SHOWN, r->member);
    return rc < 0 ? bz_err_wrap(r->err, "%s", r->name) : 0;
}

/* What libarchive has to say. */
static int fail_read(const struct reader *r, struct archive *a)
{
    const char *text = r->lib.error_string(a);
    int code = r->lib.error_code(a) == EIO ? BZ_E_IO : BZ_E_CORRUPT;

    return bz_fail(r->err, code, "%s", text ? text : "cannot be read");
}

/* libarchive turns names from the archive's encoding to the thread's. In UTF-8 that
 * leaves them as they are. */
static locale_t enter_locale(void)
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);

    return utf8 ? uselocale(utf8) : (locale_t)0;
}

static void leave_locale(locale_t before)
{
    locale_t utf8;

    if (!before)
        return;
    utf8 = uselocale(before);
    freelocale(utf8);
}

/* Where this build of libarchive would have to start a program, it warns; such a
 * filter is not for us. */
static void add_filters(const struct bz_libarchive *lib, struct archive *a)
{
    int (*const filters[])(struct archive *) = {
        lib->read_support_filter_gzip, lib->read_support_filter_bzip2,
        lib->read_support_filter_xz,   lib->read_support_filter_lzma,
        lib->read_support_filter_lzip, lib->read_support_filter_zstd,
        lib->read_support_filter_lz4,  lib->read_support_filter_compress,
        lib->read_support_filter_rpm,
    };

    for (size_t i = 0; i < BZ_COUNTOF(filters); i++)
        (void)filters[i](a);
}

static struct archive *new_archive(const struct bz_libarchive *lib)
{
    struct archive *a = lib->read_new();

    BZ_ASSERT(a); /* out of memory */
    add_filters(lib, a);
    lib->read_support_format_tar(a);
    lib->read_support_format_zip(a);
    lib->read_support_format_cpio(a);
    lib->read_support_format_ar(a);
    return a;
}

static int check_bounds(struct reader *r)
{
    /* The innermost file is what came over the wire. */
    struct archive *file = r->outer ? r->outer : r->a;
    uint64_t raw = (uint64_t)r->lib.filter_bytes(file, -1);
    uint64_t plain = (uint64_t)r->lib.filter_bytes(r->a, 0);
    uint64_t most = r->stats.bytes > plain ? r->stats.bytes : plain;
    int rc = r->o.check ? r->o.check(r->o.arg) : 0;

    if (rc < 0)
        return bz_fail(r->err, rc, "stopped");
    if (r->stats.bytes > r->o.bytes || plain / 2 > r->o.bytes)
        return bz_fail(r->err, BZ_E_LIMIT, "it holds more than %llu bytes",
                       (unsigned long long)r->o.bytes);
    if (most > BZ_ARCHIVE_ALLOWED && most / r->o.ratio > raw)
        return bz_fail(r->err, BZ_E_LIMIT,
                       "it grows to more than %llu times its size, which no honest "
                       "archive does",
                       (unsigned long long)r->o.ratio);
    return 0;
}

static int write_block(int fd, const char *p, size_t n, uint64_t at, struct bz_err *err)
{
    while (n > 0) {
        ssize_t done = pwrite(fd, p, n, (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return bz_fail_sys(err, "write");
        p += done;
        at += (size_t)done;
        n -= (size_t)done;
    }
    return 0;
}

/* All data of the member, to fd, or to nowhere if that is negative. *end is where the
 * last byte was written. */
static int copy_data(struct reader *r, int fd, uint64_t *end)
{
    *end = 0;
    for (;;) {
        const void *p;
        size_t n;
        int64_t at;
        int rc = r->lib.read_data_block(r->a, &p, &n, &at);

        if (rc == ARCHIVE_EOF)
            return 0;
        if (rc == ARCHIVE_RETRY)
            continue;
        if (rc < ARCHIVE_WARN)
            return fail_read(r, r->a);
        if (at < 0 || (uint64_t)at > r->o.bytes || n > r->o.bytes)
            return bz_fail(r->err, BZ_E_LIMIT, "it is larger than %llu bytes",
                           (unsigned long long)r->o.bytes);
        if ((uint64_t)at + n > *end) {
            r->stats.bytes += (uint64_t)at + n - *end; /* holes count */
            *end = (uint64_t)at + n;
        }
        rc = check_bounds(r);
        if (rc == 0 && fd >= 0)
            rc = write_block(fd, p, n, (uint64_t)at, r->err);
        if (rc < 0)
            return rc;
    }
}

static struct timespec time_of(const struct reader *r, struct archive_entry *e)
{
    struct timespec t = {r->lib.entry_mtime(e), r->lib.entry_mtime_nsec(e)};

    if (!r->lib.entry_mtime_is_set(e) || t.tv_nsec < 0 || t.tv_nsec > 999999999)
        t.tv_nsec = 0;
    return t;
}

/* A file with a hole at its end is as long as it says. */
static int stretch(struct reader *r, struct archive_entry *e, int fd, uint64_t end)
{
    int64_t size = r->lib.entry_size_is_set(e) ? r->lib.entry_size(e) : 0;

    if (size <= (int64_t)end || r->lib.entry_sparse_count(e) == 0)
        return 0;
    r->stats.bytes += (uint64_t)size - end;
    if (check_bounds(r) < 0)
        return r->err->code;
    return ftruncate(fd, size) < 0 ? bz_fail_sys(r->err, "lengthen") : 0;
}

static int fill(struct reader *r, struct archive_entry *e, int fd)
{
    uint64_t end;
    int rc = copy_data(r, fd, &end);

    if (rc == 0)
        rc = stretch(r, e, fd, end);
    if (rc == 0)
        rc = bz_fs_below_seal(&r->to, fd, r->lib.entry_perm(e), time_of(r, e), r->err);
    return rc;
}

static int unpack_file(struct reader *r, struct archive_entry *e, struct bz_str name)
{
    struct stat st;
    int fd, rc = bz_fs_below_file(&r->to, name, &fd, r->err);

    if (rc < 0)
        return rc;
    if (r->lib.entry_nlink(e) > 1 && fstat(fd, &st) == 0)
        bz_map_put(&r->linked, bz_arena_dup(&r->names, name))->u = st.st_ino;
    rc = fill(r, e, fd);
    close(fd);
    return rc;
}

/* In cpio archives the last of several names brings the data. Only a file that this
 * archive made may get it: any other may have names elsewhere. */
static int unpack_link(struct reader *r, struct archive_entry *e, struct bz_str name)
{
    const char *old = r->lib.entry_hardlink(e);
    const struct bz_map_entry *made;
    struct bz_path target;
    uint64_t end;
    int fd, rc = bz_fs_below_name(bz_str_from(old), r->o.strip, &target, r->err);

    if (rc == 0 && target.n == 0)
        rc = bz_fail(r->err, BZ_E_INVAL, "it is a link to '%s', which is not unpacked",
                     old);
    if (rc == 0)
        rc = bz_fs_below_link(&r->to, name, bz_path_str(&target), r->err);
    if (rc < 0)
        return rc;
    made = bz_map_get(&r->linked, bz_path_str(&target));
    if (!made || !r->lib.entry_size_is_set(e) || r->lib.entry_size(e) == 0)
        return copy_data(r, -1, &end);
    rc = bz_fs_below_reopen(&r->to, bz_path_str(&target), made->u, &fd, r->err);
    if (rc < 0)
        return rc;
    rc = fill(r, e, fd);
    close(fd);
    return rc;
}

static int unpack_symlink(struct reader *r, struct archive_entry *e, struct bz_str name)
{
    const char *text = r->lib.entry_symlink(e);

    if (!text || text[0] == '\0')
        return bz_fail(r->err, BZ_E_CORRUPT, "it is a link to nothing");
    return bz_fs_below_symlink(&r->to, name, text, time_of(r, e), r->err);
}

static int unpack_member(struct reader *r, struct archive_entry *e)
{
    struct bz_path path;
    struct bz_str name;
    uint64_t end;
    int rc = bz_fs_below_name(bz_str_from(r->member), r->o.strip, &path, r->err);

    if (rc < 0)
        return rc;
    name = bz_path_str(&path);
    if (name.n == 0) /* the directory itself, or above what is wanted */
        return copy_data(r, -1, &end);
    if (r->lib.entry_hardlink(e))
        return unpack_link(r, e, name);
    switch (r->lib.entry_filetype(e)) {
    case AE_IFREG:
        return unpack_file(r, e, name);
    case AE_IFDIR:
        return bz_fs_below_dir(&r->to, name, r->lib.entry_perm(e), time_of(r, e),
                               r->err);
    case AE_IFLNK:
        return unpack_symlink(r, e, name);
    default:
        return bz_fail(
            r->err, BZ_E_INVAL,
            "it is a device, a pipe or a socket, and these are not unpacked");
    }
}

/* The next member, whose name becomes r->member. 1 if there is one. */
static int next_member(struct reader *r, struct archive *a, struct archive_entry **e)
{
    int rc;

    r->member = NULL;
    do
        rc = r->lib.read_next_header(a, e);
    while (rc == ARCHIVE_RETRY);
    if (rc == ARCHIVE_EOF)
        return 0;
    if (rc < ARCHIVE_WARN)
        return fail_read(r, a);
    r->member = r->lib.entry_pathname(*e);
    if (!r->member)
        return bz_fail(r->err, BZ_E_CORRUPT, "a member has no name");
    if (++r->stats.members > r->o.members)
        return bz_fail(r->err, BZ_E_LIMIT, "there are more than %llu members",
                       (unsigned long long)r->o.members);
    return 1;
}

static int unpack_all(struct reader *r)
{
    struct archive_entry *e;
    int rc;

    while ((rc = next_member(r, r->a, &e)) > 0) {
        rc = check_bounds(r);
        if (rc == 0)
            rc = unpack_member(r, e);
        if (rc < 0)
            break;
    }
    if (rc == 0)
        rc = bz_fs_below_finish(&r->to, r->err);
    return place(r, rc);
}

/* The bytes of the outer archive's member, for the inner one. */
static la_ssize_t read_inner(struct archive *a, void *arg, const void **p)
{
    struct reader *r = arg;
    size_t n = 0;
    int64_t at;
    int rc;

    do
        rc = r->lib.read_data_block(r->outer, p, &n, &at);
    while (rc == ARCHIVE_RETRY || (rc == ARCHIVE_OK && n == 0));
    if (rc == ARCHIVE_EOF)
        return 0;
    if (rc < ARCHIVE_WARN) {
        r->lib.set_error(a, r->lib.error_code(r->outer), "%s",
                         r->lib.error_string(r->outer));
        return -1;
    }
    return (la_ssize_t)n;
}

static bool is_inner(const char *member, const char *inner)
{
    while (strncmp(member, "./", 2) == 0)
        member += 2;
    return strncmp(member, inner, strlen(inner)) == 0;
}

/* r->a is the outer archive: moves to its member and opens that instead. */
static int open_inner(struct reader *r)
{
    struct archive_entry *e;
    int rc;

    r->outer = r->a;
    r->a = NULL;
    do {
        rc = next_member(r, r->outer, &e);
        if (rc == 0)
            return bz_fail(r->err, BZ_E_CORRUPT, "it has no member %s", r->o.inner);
        if (rc < 0)
            return rc;
    } while (!is_inner(r->member, r->o.inner));
    r->member = NULL;
    r->a = new_archive(&r->lib);
    if (r->lib.read_open(r->a, r, NULL, read_inner, NULL) != ARCHIVE_OK)
        return fail_read(r, r->a);
    return 0;
}

static int open_file(struct reader *r, int fd)
{
    if (lseek(fd, 0, SEEK_SET) < 0)
        return bz_fail_sys(r->err, "read");
    if (r->lib.read_open_fd(r->a, fd, BLOCK) != ARCHIVE_OK)
        return fail_read(r, r->a);
    return 0;
}

static void reader_release(struct reader *r)
{
    r->lib.read_free(r->a); /* NULL is fine */
    r->lib.read_free(r->outer);
    bz_fs_below_release(&r->to);
    bz_map_release(&r->linked);
    bz_arena_release(&r->names);
}

int bz_archive_unpack(int fd, const char *name, int dir,
                      const struct bz_archive_opts *opts,
                      struct bz_archive_stats *stats, struct bz_err *err)
{
    struct reader r = {.name = name, .o = with_defaults(opts), .err = err};
    int rc = bz_libarchive_load(&r.lib, err);
    locale_t before;

    if (rc < 0)
        return rc;
    before = enter_locale();
    r.a = new_archive(&r.lib);
    bz_fs_below_init(&r.to, dir, r.o.umask);
    rc = open_file(&r, fd);
    if (rc == 0 && r.o.inner)
        rc = open_inner(&r);
    rc = rc < 0 ? place(&r, rc) : unpack_all(&r);
    reader_release(&r);
    leave_locale(before);
    if (rc == 0 && stats)
        *stats = r.stats;
    return rc;
}

static int expand(struct reader *r, int fd, const char *to)
{
    struct archive_entry *e;
    struct stat st = {0};
    uint64_t end;
    int out, some, rc = open_file(r, fd);

    if (rc == 0 && fstat(fd, &st) < 0)
        rc = bz_fail_sys(r->err, "look at it");
    if (rc < 0)
        return rc;
    /* The last filter reads the file itself. */
    if (r->lib.filter_count(r->a) < 2)
        return bz_fail(r->err, BZ_E_CORRUPT, "it is not compressed");
    some = next_member(r, r->a, &e); /* 0: there are no bytes */
    r->member = NULL;                /* the format has no names */
    if (some < 0)
        return some;
    rc = bz_fs_below_file(&r->to, bz_str_from(to), &out, r->err);
    if (rc < 0)
        return rc;
    if (some > 0)
        rc = copy_data(r, out, &end);
    if (rc == 0)
        rc = bz_fs_below_seal(&r->to, out, 0666, st.st_mtim, r->err);
    close(out);
    return rc;
}

int bz_archive_expand(int fd, const char *name, int dir, const char *to,
                      const struct bz_archive_opts *opts, struct bz_err *err)
{
    struct reader r = {.name = name, .o = with_defaults(opts), .err = err};
    int rc = bz_libarchive_load(&r.lib, err);

    if (rc < 0)
        return rc;
    r.a = r.lib.read_new();
    BZ_ASSERT(r.a); /* out of memory */
    add_filters(&r.lib, r.a);
    r.lib.read_support_format_raw(r.a);
    r.lib.read_support_format_empty(r.a);
    bz_fs_below_init(&r.to, dir, r.o.umask);
    rc = place(&r, expand(&r, fd, to));
    reader_release(&r);
    return rc;
}
