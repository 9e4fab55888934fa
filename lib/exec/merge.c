#include "exec/merge.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "os/fs.h"
#include "os/fs_walk.h"

/* What the layers so far say of a path: a directory that those below may add to, or,
 * with the number of the layer, counted from one, something that hides theirs. */
#define OPEN 0

struct merging {
    int out;
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
    char value[4] = "";
    int fd = openat(e->dir, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = -1;

    if (fd >= 0)
        n = fgetxattr(fd, "user.overlay.opaque", value, sizeof(value));
    bz_fs_closep(&fd);
    return n == 1 && value[0] == 'y';
}

static int make_link(struct merging *m, const struct bz_fs_walk_entry *e,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *target = NULL;
    int rc = bz_fs_readlink(e->dir, e->name, &target, err);

    if (rc == 0 && symlinkat(target, m->out, e->path) < 0)
        return bz_fail_sys(err, "link %s", e->path);
    return rc;
}

static int make_entry(struct merging *m, const struct bz_fs_walk_entry *e,
                      struct bz_err *err)
{
    if (is_whiteout(e->st))
        return 0;
    if (S_ISLNK(e->st->st_mode))
        return make_link(m, e, err);
    if (S_ISDIR(e->st->st_mode)) {
        /* Its files must get in, whatever its mode; a merged directory is for looking
         * at and for lower layers, which modes do not keep out. */
        if (mkdirat(m->out, e->path, (e->st->st_mode & 07777) | S_IRWXU) < 0)
            return bz_fail_sys(err, "make %s", e->path);
        return 0;
    }
    if (linkat(e->dir, e->name, m->out, e->path, 0) < 0)
        return bz_fail_sys(err, "link %s", e->path);
    return 0;
}

static int visit(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct merging *m = ctx;
    bool dir = S_ISDIR(e->st->st_mode);
    struct bz_map_entry *known = bz_map_get(&m->paths, bz_str_from(e->path));
    int rc;

    if (known) {
        if (!dir || (known->u != OPEN && known->u != m->layer))
            return BZ_FS_WALK_SKIP;
        if (known->u == OPEN && is_opaque(e))
            known->u = m->layer;
        return BZ_FS_WALK_ON;
    }
    rc = make_entry(m, e, err);
    if (rc < 0)
        return rc;
    known = bz_map_put(&m->paths, bz_arena_dup(&m->arena, bz_str_from(e->path)));
    known->u = dir && !is_opaque(e) ? OPEN : m->layer;
    return BZ_FS_WALK_ON;
}

int bz_merge_layers(const char *const *layers, size_t n, const char *out,
                    struct bz_err *err)
{
    struct merging m = {.out = -1};
    int rc = 0;

    if (mkdir(out, 0755) < 0)
        return bz_fail_sys(err, "make %s", out);
    m.out = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m.out < 0)
        return bz_fail_sys(err, "open %s", out);
    for (size_t i = 0; i < n && rc == 0; i++) {
        m.layer = i + 1;
        rc = bz_fs_walk(AT_FDCWD, layers[i], visit, &m, err);
    }
    bz_fs_closep(&m.out);
    bz_map_release(&m.paths);
    bz_arena_release(&m.arena);
    return rc;
}
