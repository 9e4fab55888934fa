#include "fetch/unpack.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/archive.h"
#include "os/fs.h"
#include "os/fs_below.h"
#include "os/fs_source.h"

enum kind { COPY, ARCHIVE, PACKAGE, EXPAND, UNKNOWN };

/* The first row whose end the name has. */
static const struct {
    const char *end;
    enum kind kind;
} kinds[] = {
    {".tar",     ARCHIVE},
    {".tgz",     ARCHIVE},
    {".tar.gz",  ARCHIVE},
    {".tar.Z",   ARCHIVE},
    {".tbz",     ARCHIVE},
    {".tbz2",    ARCHIVE},
    {".tar.bz2", ARCHIVE},
    {".txz",     ARCHIVE},
    {".tar.xz",  ARCHIVE},
    {".tar.lz",  ARCHIVE},
    {".tzst",    ARCHIVE},
    {".tar.zst", ARCHIVE},
    {".tar.lz4", ARCHIVE},
    {".zip",     ARCHIVE},
    {".jar",     ARCHIVE},
    {".rpm",     ARCHIVE},
    {".srpm",    ARCHIVE},
    {".crate",   ARCHIVE},
    {".deb",     PACKAGE},
    {".ipk",     PACKAGE},
    {".7z",      UNKNOWN},
    {".gz",      EXPAND },
    {".Z",       EXPAND },
    {".z",       EXPAND },
    {".bz2",     EXPAND },
    {".xz",      EXPAND },
    {".lz",      EXPAND },
    {".zst",     EXPAND },
};

static enum kind kind_of(struct bz_str name)
{
    for (size_t i = 0; i < BZ_COUNTOF(kinds); i++)
        if (bz_str_ends(name, bz_str_from(kinds[i].end)))
            return kinds[i].kind;
    return COPY;
}

static int check(void *arg)
{
    return bz_cancel_check(arg);
}

/* What a parameter names below dir; an absolute path must be in it. */
static int below(struct bz_str name, struct bz_str dir, struct bz_str *out,
                 struct bz_err *err)
{
    struct bz_str rest = name;

    if (bz_str_starts(rest, BZ_STR("/")) &&
        (!bz_str_cut_prefix(&rest, dir) || (rest.n > 0 && rest.p[0] != '/')))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is not in %.*s", BZ_STR_ARG(name),
                       BZ_STR_ARG(dir));
    while (bz_str_cut_prefix(&rest, BZ_STR("/")))
        ;
    while (bz_str_cut_suffix(&rest, BZ_STR("/")))
        ;
    if (rest.n > 0 && !bz_path_is_safe(rest))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' leads elsewhere", BZ_STR_ARG(name));
    *out = rest;
    return 0;
}

/* Makes dir/name and opens it, link by link. */
static int open_below(const char *dir, struct bz_str name, mode_t mask, int *fd,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bz_fs_below b;
    struct bz_path probe;
    int rc = 0;

    if (top < 0)
        return bz_fail_sys(err, "open %s", dir);
    if (name.n == 0) {
        *fd = bz_fs_detach(&top);
        return 0;
    }
    bz_fs_below_init(&b, top, mask);
    /* A name in it makes it the open directory. */
    rc = bz_path_join(name, BZ_STR("x"), &probe, err);
    if (rc == 0)
        rc = bz_fs_below_enter(&b, bz_path_str(&probe), err);
    if (rc == 0)
        *fd = bz_fs_detach(&b.dir);
    bz_fs_below_release(&b);
    return rc;
}

int bz_unpack_dest(struct bz_fetch *f, const struct bz_source *s, const char *dir,
                   struct bz_str suffix, const char **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_str subdir = bz_uri_param(&s->uri, "subdir"), place = {0};
    struct bz_str given = bz_uri_param(&s->uri, "destsuffix");
    int rc = below(subdir, bz_str_from(dir), &place, err);

    if (rc == 0 && given.p)
        suffix = given;
    if (rc == 0)
        rc = below(suffix, bz_str_from(dir), &suffix, err);
    if (rc < 0)
        return rc;
    place = bz_arena_printf(&f->arena, "%.*s%s%.*s", BZ_STR_ARG(place),
                            place.n > 0 && suffix.n > 0 ? "/" : "", BZ_STR_ARG(suffix));
    if (place.n == 0)
        return bz_fail(err, BZ_E_INVAL,
                       "it would replace the directory itself: give "
                       "another ;destsuffix=");
    *out = bz_fetch_below(f, bz_str_from(dir), place);
    rc = open_below(dir,
                    bz_str_eq(bz_path_dirname(place), BZ_STR("."))
                        ? BZ_STR("")
                        : bz_path_dirname(place),
                    bz_fetch_umask(f), &fd, err);
    return rc;
}

static int unpack_into(struct bz_fetch *f, int fd, const char *name, const char *dest,
                       unsigned strip, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int dir = open(dest, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bz_archive_opts opts = {.strip = strip,
                                   .check = check,
                                   .arg = f->opts.cancel,
                                   .umask = bz_fetch_umask(f)};

    if (dir < 0)
        return bz_fail_sys(err, "open %s", dest);
    return bz_archive_unpack(fd, name, dir, &opts, NULL, err);
}

int bz_unpack_tree(struct bz_fetch *f, int fd, const char *name, const char *dest,
                   struct bz_err *err)
{
    if (mkdir(dest, 0755) < 0)
        return bz_fail_sys(err, "make %s", dest);
    return unpack_into(f, fd, name, dest, 0, err);
}

int bz_unpack_strip(struct bz_fetch *f, int fd, const char *file, const char *dest,
                    unsigned strip, struct bz_err *err)
{
    const mode_t mode = (0755 & ~bz_fetch_umask(f)) | S_IRWXU;
    int rc = bz_fs_mkdirs(AT_FDCWD, dest, mode, err);

    if (rc == 0 && chmod(dest, mode) < 0) /* whatever the umask of the process */
        rc = bz_fail_sys(err, "change %s", dest);
    return rc < 0 ? rc : unpack_into(f, fd, file, dest, strip, err);
}

/* Copies are as old as the unpacking: times of a checkout or of DL_DIR are not the
 * source's. */
static const struct timespec now = {0, UTIME_NOW};

/* One file, which is open, to be copied below. Only the x bit of a local file is its
 * own. */
static int copy_open(struct bz_fs_below *to, struct bz_str name, int in,
                     const char *path, bool local, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int out = -1;
    struct stat st;
    int rc = fstat(in, &st) < 0 ? bz_fail_sys(err, "look at %s", path) : 0;

    if (rc == 0)
        rc = bz_fs_below_file(to, name, &out, err);
    if (rc == 0)
        rc = bz_fs_copy_fd(in, out, path, err);
    if (rc == 0)
        rc = bz_fs_below_seal(to, out, local ? bz_fs_source_mode(st.st_mode) : 0644,
                              now, err);
    return rc;
}

static int copy_file(struct bz_fs_below *to, struct bz_str name, int dir,
                     const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int in = -1;
    int rc = bz_fs_open_file(dir, path, &in, err);

    return rc < 0 ? rc : copy_open(to, name, in, path, true, err);
}

struct copy {
    struct bz_fs_below *to;
    struct bz_str at; /* where the tree goes */
};

static int copy_entry(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct copy *c = ctx;
    struct bz_path name;
    int rc = bz_path_join(c->at, bz_str_from(e->path), &name, err);

    if (rc < 0)
        return rc;
    if (S_ISDIR(e->st->st_mode)) {
        rc = bz_fs_below_dir(c->to, bz_path_str(&name),
                             bz_fs_source_mode(e->st->st_mode), now, err);
    } else if (S_ISLNK(e->st->st_mode)) {
        char *says = NULL;

        rc = bz_fs_readlink(e->dir, e->name, &says, err);
        if (rc == 0)
            rc = bz_fs_below_symlink(c->to, bz_path_str(&name), says, now, err);
        free(says);
    } else {
        rc = copy_file(c->to, bz_path_str(&name), e->dir, e->name, err);
    }
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

/* A local directory, as sig/files.h counts it. */
static int copy_tree(struct bz_fetch *f, const struct bz_source *s,
                     struct bz_fs_below *to, struct bz_str name, struct bz_err *err)
{
    struct copy c = {to, name};
    struct bz_str excluded;
    int rc =
        bz_policy_get(&f->policy, "BB_SIGNATURE_LOCAL_DIRS_EXCLUDE", &excluded, err);

    if (rc == 0)
        rc = bz_fs_below_dir(to, name, bz_fs_source_mode(S_IFDIR), now, err);
    return rc < 0 ? rc
                  : bz_fs_source_walk(s->path, bz_fs_source_excluded(excluded),
                                      copy_entry, &c, err);
}

/* Local files keep the directories in their names. */
static int copy(struct bz_fetch *f, struct bz_source *s, int dir, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_fs_below to;
    struct bz_path name;
    struct stat st;
    int rc = bz_fs_below_name(s->scheme->local ? s->uri.path
                                               : bz_path_basename(bz_str_from(s->path)),
                              0, &name, err);

    if (rc < 0 || name.n == 0)
        return rc < 0 ? rc : bz_fail(err, BZ_E_INVAL, "it has no name to copy it to");
    if (stat(s->path, &st) < 0)
        return bz_fail_sys(err, "look at %s", s->path);
    /* The modes of copies are fixed, whatever the task's mask. */
    bz_fs_below_init(&to, dir, BZ_ARCHIVE_UMASK);
    if (S_ISDIR(st.st_mode)) {
        rc = copy_tree(f, s, &to, bz_path_str(&name), err);
    } else {
        rc = bz_fetch_verified(f, s, &fd, err);
        if (rc == 0)
            rc = copy_open(&to, bz_path_str(&name), fd, s->path, s->scheme->local, err);
    }
    if (rc == 0)
        rc = bz_fs_below_finish(&to, err);
    bz_fs_below_release(&to);
    return rc;
}

/* The name without its last end: where a compressed file goes to, in the directory
 * itself whatever ;subdir= says, as in BitBake. */
static int expand(struct bz_fetch *f, struct bz_source *s, int fd, const char *dir,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bz_archive_opts opts = {
        .check = check, .arg = f->opts.cancel, .umask = bz_fetch_umask(f)};
    struct bz_str name = bz_path_basename(bz_str_from(s->path));
    int rc;

    if (top < 0)
        return bz_fail_sys(err, "open %s", dir);
    name = bz_arena_dup(&f->arena, bz_str_sub(name, 0, bz_str_rfind_byte(name, '.')));
    rc = bz_archive_expand(fd, s->path, top, name.p, &opts, err);
    if (rc == 0 && utimensat(top, name.p, NULL, AT_SYMLINK_NOFOLLOW) < 0)
        rc = bz_fail_sys(err, "set the time of %s", name.p);
    return rc;
}

static int unpack_archive(struct bz_fetch *f, struct bz_source *s, int fd, int dir,
                          enum kind kind, struct bz_err *err)
{
    struct bz_archive_opts opts = {
        .check = check, .arg = f->opts.cancel, .umask = bz_fetch_umask(f)};
    struct bz_str strip = bz_uri_param(&s->uri, "striplevel");
    uint64_t n = 0;
    int rc = strip.p ? bz_str_parse_u64(strip, 10, 64, &n, err) : 0;

    if (rc < 0)
        return bz_err_wrap(err, ";striplevel=");
    opts.strip = (unsigned)n;
    if (kind == PACKAGE)
        opts.inner = "data.tar";
    return bz_archive_unpack(fd, s->path, dir, &opts, NULL, err);
}

static int find_kind(struct bz_source *s, enum kind *out, struct bz_err *err)
{
    struct stat st;
    bool wanted;
    int rc = bz_uri_flag(&s->uri, "unpack", true, &wanted, err);

    if (rc < 0)
        return rc;
    *out = wanted ? kind_of(bz_str_from(s->path)) : COPY;
    if (stat(s->path, &st) == 0 && S_ISDIR(st.st_mode))
        *out = COPY;
    if (*out == UNKNOWN)
        return bz_fail(err, BZ_E_NOSUP,
                       "archives of this kind are not unpacked here: add ;unpack=0 and "
                       "unpack it in a task");
    return 0;
}

int bz_unpack_source(struct bz_fetch *f, struct bz_source *s, const char *dir,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1, to = -1;
    struct bz_str subdir = {0};
    enum kind kind;
    int rc = find_kind(s, &kind, err);

    if (rc == 0)
        rc = below(bz_uri_param(&s->uri, "subdir"), bz_str_from(dir), &subdir, err);
    if (rc == 0)
        rc = open_below(dir, subdir, bz_fetch_umask(f), &to, err);
    if (rc < 0)
        return rc;
    if (kind == COPY)
        return copy(f, s, to, err);
    rc = bz_fetch_verified(f, s, &fd, err);
    if (rc < 0)
        return rc;
    return kind == EXPAND ? expand(f, s, fd, dir, err)
                          : unpack_archive(f, s, fd, to, kind, err);
}
