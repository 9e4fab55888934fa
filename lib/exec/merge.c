#include "exec/merge.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cache/closed.h"
#include "cache/opaque.h"
#include "cache/plain.h"
#include "exec/transfer.h"
#include "os/fs.h"
#include "os/fs_walk.h"

/* What the layers so far say of a path: a directory that those below may add to, or,
 * with the number of the layer, counted from one, something that hides theirs. */
#define OPEN 0
#define ENTER (S_IRUSR | S_IXUSR)

#define MANY_NAMES 1000 /* fewer than any file system gives one file at most */

/* A directory that is to look like its layer's when all is in it. */
struct later {
    const char *path;
    mode_t mode;
    struct timespec time;
};

/* A directory of a layer that is closed otherwise. */
struct opened {
    int fd;
    mode_t mode;
};

struct merging {
    const struct bz_merge_in *in;
    int out;
    enum bz_merge_how how;
    bool check;                        /* whether it was made */
    size_t found;                      /* then: entries of it that are right */
    struct BZ_VEC(struct later) later; /* of copies */
    struct BZ_VEC(struct opened) opened;
    uint64_t layer; /* from 1 */
    struct bz_map paths;
    struct bz_arena arena;
};

static bool is_whiteout(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}

static bool is_opaque(const struct bz_fs_walk_entry *e)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(e->dir, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && bz_opaque_is(fd);
}

static int make_link(struct merging *m, const struct bz_fs_walk_entry *e,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *target = NULL;
    int rc = bz_fs_readlink(e->dir, e->name, &target, err);

    const struct timespec times[2] = {e->st->st_mtim, e->st->st_mtim};

    if (rc == 0 && (symlinkat(target, m->out, e->path) < 0 ||
                    utimensat(m->out, e->path, times, AT_SYMLINK_NOFOLLOW) < 0))
        return bz_fail_sys(err, "link %s", e->path);
    return rc;
}

static mode_t wanted_mode(const struct merging *m, const struct stat *st)
{
    return m->how == BZ_MERGE_PLAIN ? bz_plain_mode(st->st_mode) : st->st_mode;
}

/* A merged directory can be written by its owner. */
static mode_t open_mode(const struct merging *m, const struct stat *st)
{
    return (wanted_mode(m, st) & 07777) | S_IRWXU;
}

/* Whether an entry needs an inode of its own. */
static bool must_copy(const struct merging *m)
{
    return m->how != BZ_MERGE_LINK;
}

static int copy_entry(struct merging *m, const struct bz_fs_walk_entry *e,
                      struct bz_err *err)
{
    struct bz_fs_walk_entry wanted = *e;
    struct stat st = *e->st;

    st.st_mode = wanted_mode(m, e->st);
    wanted.st = &st;
    return bz_transfer_copy(&wanted, m->out, e->path, err);
}

static int make_dir(struct merging *m, const struct bz_fs_walk_entry *e,
                    struct bz_err *err)
{
    /* Its files must get in, whatever its mode; a merged directory is for looking
     * at and for lower layers, which modes do not keep out. */
    if (mkdirat(m->out, e->path, 0700) < 0 ||
        fchmodat(m->out, e->path, open_mode(m, e->st), 0) < 0) /* whatever the umask */
        return bz_fail_sys(err, "make %s", e->path);
    BZ_VEC_PUSH(&m->later,
                (struct later){bz_arena_dup(&m->arena, bz_str_from(e->path)).p,
                               e->st->st_mode & 07777, e->st->st_mtim});
    return 0;
}

/* The innermost first: a directory may be closed to us then. */
static int finish_dirs(struct merging *m, struct bz_err *err)
{
    while (m->later.len > 0) {
        const struct later d = BZ_VEC_POP(&m->later);
        const struct timespec times[2] = {d.time, d.time};

        if (utimensat(m->out, d.path, times, 0) < 0 ||
            (m->how == BZ_MERGE_COPY && fchmodat(m->out, d.path, d.mode, 0) < 0))
            return bz_fail_sys(err, "change %s", d.path);
    }
    return 0;
}

static int make_entry(struct merging *m, const struct bz_fs_walk_entry *e,
                      struct bz_err *err)
{
    if (is_whiteout(e->st))
        return 0;
    if (S_ISDIR(e->st->st_mode))
        return make_dir(m, e, err);
    if (must_copy(m))
        return copy_entry(m, e, err);
    if (S_ISLNK(e->st->st_mode))
        return make_link(m, e, err);
    if (linkat(e->dir, e->name, m->out, e->path, 0) == 0)
        return 0;
    return errno == EMLINK ? copy_entry(m, e, err)
                           : bz_fail_sys(err, "link %s", e->path);
}

static bool same_bytes(const struct merging *m, const struct bz_fs_walk_entry *e)
{
    BZ_CLEANUP(bz_fs_closep)
    int want = openat(e->dir, e->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    BZ_CLEANUP(bz_fs_closep)
    int got = openat(m->out, e->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    mode_t mode;

    if (want < 0 && errno == EACCES)
        want = bz_closed_file(e->dir, e->name, &mode);
    if (got < 0 && errno == EACCES)
        got = bz_closed_file(m->out, e->path, &mode);
    return want >= 0 && got >= 0 && bz_transfer_same(want, got);
}

/* The file itself, or what make_entry() makes of one that has too many names or is for
 * users. */
static bool same_file(const struct merging *m, const struct bz_fs_walk_entry *e,
                      const struct stat *got)
{
    const struct stat *want = e->st;

    if (got->st_ino == want->st_ino && got->st_dev == want->st_dev)
        return !must_copy(m);
    return S_ISREG(want->st_mode) && got->st_nlink == 1 &&
           got->st_mode == wanted_mode(m, want) && got->st_size == want->st_size &&
           got->st_mtim.tv_sec == want->st_mtim.tv_sec &&
           got->st_mtim.tv_nsec == want->st_mtim.tv_nsec &&
           (want->st_nlink > MANY_NAMES || must_copy(m)) && same_bytes(m, e);
}

static bool same_link(struct merging *m, const struct bz_fs_walk_entry *e,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *want = NULL, *got = NULL;

    return bz_fs_readlink(e->dir, e->name, &want, err) == 0 &&
           bz_fs_readlink(m->out, e->path, &got, err) == 0 && strcmp(want, got) == 0;
}

static int check_entry(struct merging *m, const struct bz_fs_walk_entry *e,
                       struct bz_err *err)
{
    struct stat st;
    bool same = false;

    if (is_whiteout(e->st))
        return 0;
    if (fstatat(m->out, e->path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return bz_fail(err, BZ_E_CORRUPT, "%s is missing", e->path);
    if (S_ISDIR(e->st->st_mode))
        same = S_ISDIR(st.st_mode) && (st.st_mode & 07777) == open_mode(m, e->st);
    else if (S_ISLNK(e->st->st_mode))
        same = S_ISLNK(st.st_mode) && same_link(m, e, err);
    else
        same = same_file(m, e, &st);
    if (!same)
        return bz_fail(err, BZ_E_CORRUPT, "%s is another one", e->path);
    m->found++;
    return 0;
}

/* Lets the walk into a directory that is closed to us, until all is done. */
static int let_in(struct merging *m, const struct bz_fs_walk_entry *e,
                  struct bz_err *err)
{
    struct opened o;

    if ((e->st->st_mode & ENTER) == ENTER || geteuid() == 0)
        return 0;
    o.fd = bz_closed_dir(e->dir, e->name, &o.mode);
    if (o.fd < 0)
        return bz_fail_sys(err, "open %s", e->path);
    BZ_VEC_PUSH(&m->opened, o);
    return 0;
}

static void close_again(struct merging *m)
{
    while (m->opened.len > 0) {
        struct opened o = BZ_VEC_POP(&m->opened);

        bz_closed_again(o.fd, o.mode);
        bz_fs_closep(&o.fd);
    }
    bz_vec_release(&m->opened);
}

/* Whether a path begins with the steps of another. */
static bool leads_to(struct bz_str path, struct bz_str below)
{
    return bz_str_cut_prefix(&below, path) && (below.n == 0 || below.p[0] == '/');
}

/* Whether an entry is in the part that is wanted, or one of the directories above. */
static bool is_wanted(const struct merging *m, struct bz_str path)
{
    return m->in->part.n == 0 || leads_to(path, m->in->part) ||
           leads_to(m->in->part, path);
}

static int visit(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct merging *m = ctx;
    bool dir = S_ISDIR(e->st->st_mode);
    struct bz_map_entry *known = bz_map_get(&m->paths, bz_str_from(e->path));
    int rc;

    if (!is_wanted(m, bz_str_from(e->path)))
        return BZ_FS_WALK_SKIP;
    if (known) {
        if (!dir || (known->u != OPEN && known->u != m->layer))
            return BZ_FS_WALK_SKIP;
        rc = let_in(m, e, err);
        if (rc < 0)
            return rc;
        if (known->u == OPEN && is_opaque(e))
            known->u = m->layer;
        return BZ_FS_WALK_ON;
    }
    rc = m->check ? check_entry(m, e, err) : make_entry(m, e, err);
    if (rc == 0 && dir)
        rc = let_in(m, e, err);
    if (rc < 0)
        return rc;
    known = bz_map_put(&m->paths, bz_arena_dup(&m->arena, bz_str_from(e->path)));
    known->u = dir && !is_opaque(e) ? OPEN : m->layer;
    return BZ_FS_WALK_ON;
}

/* Makes, or checks, what an overlay of the layers would show. */
static int visit_layers(struct merging *m, const char *out, struct bz_err *err)
{
    int rc = 0;

    m->out = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m->out < 0)
        return bz_fail_sys(err, "open %s", out);
    for (size_t i = 0; i < m->in->n && rc == 0; i++) {
        m->layer = i + 1;
        rc = bz_fs_walk(AT_FDCWD, m->in->layers[i], visit, m, err);
    }
    return rc;
}

static void release(struct merging *m)
{
    close_again(m);
    bz_fs_closep(&m->out);
    bz_vec_release(&m->later);
    bz_map_release(&m->paths);
    bz_arena_release(&m->arena);
}

int bz_merge_layers(const struct bz_merge_in *in, const char *out,
                    enum bz_merge_how how, struct bz_err *err)
{
    struct merging m = {.in = in, .out = -1, .how = how};
    int rc;

    if (mkdir(out, 0755) < 0)
        return bz_fail_sys(err, "make %s", out);
    rc = visit_layers(&m, out, err);
    if (rc == 0)
        rc = finish_dirs(&m, err);
    release(&m);
    return rc;
}

static int count(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct merging *m = ctx;

    if (m->found-- == 0)
        return bz_fail(err, BZ_E_CORRUPT, "there is more in it than %s", e->path);
    return BZ_FS_WALK_ON;
}

int bz_merge_check(const struct bz_merge_in *in, const char *out, enum bz_merge_how how,
                   struct bz_err *err)
{
    struct merging m = {.in = in, .out = -1, .how = how, .check = true};
    int rc = visit_layers(&m, out, err);

    if (rc == 0) /* all that should be there is: their number tells the rest */
        rc = bz_fs_walk(AT_FDCWD, out, count, &m, err);
    release(&m);
    return rc;
}
