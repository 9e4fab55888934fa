#include "os/fs_source.h"

#include <fcntl.h>
#include <limits.h>

struct visit {
    const char *root;
    struct bz_str excluded;
    bz_fs_walk_fn fn;
    void *ctx;
};

struct bz_str bz_fs_source_excluded(struct bz_str value)
{
    value = bz_str_trim(value);
    return value.n > 0 && value.n < PATH_MAX
               ? value
               : BZ_STR("CVS .bzr .git .hg .osc .p4 .repo .svn");
}

static bool is_left_out(const struct visit *v, struct bz_str name, mode_t mode)
{
    if (bz_str_eq(name, BZ_STR(".git")))
        return true;
    return S_ISDIR(mode) &&
           (bz_str_eq(name, BZ_STR(".svn")) || bz_str_eq(name, BZ_STR("CVS")) ||
            bz_str_has_word(v->excluded, name));
}

static int visit(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    const struct visit *v = ctx;
    mode_t mode = e->st->st_mode;

    if (is_left_out(v, bz_str_from(e->name), mode))
        return BZ_FS_WALK_SKIP;
    if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode))
        return bz_fail(err, BZ_E_INVAL,
                       "%s/%s is no file, directory or symbolic link: remove it",
                       v->root, e->path);
    return v->fn(v->ctx, e, err);
}

int bz_fs_source_walk(const char *path, struct bz_str excluded, bz_fs_walk_fn fn,
                      void *ctx, struct bz_err *err)
{
    struct visit v = {path, excluded, fn, ctx};

    return bz_fs_walk(AT_FDCWD, path, visit, &v, err);
}

mode_t bz_fs_source_mode(mode_t mode)
{
    return S_ISDIR(mode) || (mode & S_IXUSR) ? 0755 : 0644;
}
