#include "build/outdir.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/tree_stamp.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/path.h"

/* The directory of a variable, in the tree that is a recipe's own or the one that all
 * share, and what the link to it is called. */
static const struct {
    const char *variable, *name;
    bool shared;
} links[] = {
    {"D",          "image",  false},
    {"WORKDIR",    "work",   false},
    {"DEPLOY_DIR", "deploy", true },
};

static bool leads_to(const char *path, const char *target)
{
    BZ_CLEANUP(bz_mem_freep) char *now = NULL;
    struct bz_err ignored;

    return bz_fs_readlink(AT_FDCWD, path, &now, &ignored) == 0 &&
           strcmp(now, target) == 0;
}

/* 1 if it was not there before. */
static int link_one(const char *dir, const char *name, const char *target,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0}, temp = {0};

    bz_buf_addf(&path, "%s/%s", dir, name);
    if (leads_to(bz_buf_text(&path), target))
        return 0;
    bz_buf_addf(&temp, "%s/.%s-%d", dir, name, (int)getpid());
    unlink(bz_buf_text(&temp));
    if (symlink(target, bz_buf_text(&temp)) < 0 ||
        rename(bz_buf_text(&temp), bz_buf_text(&path)) < 0)
        return bz_fail_sys(err, "link %s", bz_buf_text(&path));
    return 1;
}

/* The place of a variable's directory below one of the two trees. */
static int link_variable(struct bz_jobs *j, struct bz_vars *v, const char *variable,
                         const char *tree, const char *dir, const char *name,
                         struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0}, old = {0};
    struct bz_str value;
    int rc = bz_vars_get(v, bz_str_from(variable), 0, &value, err);

    if (rc < 0)
        return rc;
    bz_buf_addf(&old, "%s/%s", dir, name);
    value = bz_pathmap_inside(&j->paths, &a, value);
    if (tree && bz_pathmap_cut_root(&j->paths, &value)) {
        bz_buf_addf(&path, "%s/%.*s", tree, BZ_STR_ARG(value));
        if (bz_fs_exists(AT_FDCWD, bz_buf_text(&path)))
            return link_one(dir, name, bz_buf_text(&path), err);
    }
    return bz_fs_remove(AT_FDCWD, bz_buf_text(&old), err);
}

struct bz_str bz_outdir_part(struct bz_jobs *j, uint32_t task, struct bz_arena *a)
{
    struct bz_vars *v;
    struct bz_err ignored; /* bz_outdir_link finds it again, and tells */
    struct bz_path plain;
    struct bz_str value;

    for (size_t i = 0; i < BZ_COUNTOF(links); i++) {
        if (!links[i].shared)
            continue;
        if (bz_jobs_vars(j, j->goal->graph.tasks[task].recipe, &v, &ignored) < 0 ||
            bz_vars_get(v, bz_str_from(links[i].variable), 0, &value, &ignored) < 0)
            break;
        value = bz_pathmap_inside(&j->paths, a, value);
        if (bz_pathmap_cut_root(&j->paths, &value) &&
            bz_path_normalise(value, &plain, &ignored) == 0 &&
            bz_path_is_safe(bz_path_str(&plain)))
            return bz_arena_dup(a, bz_path_str(&plain));
    }
    return BZ_STR("");
}

bool bz_outdir_is_untouched(int dir, const char *path, const char *store,
                            struct bz_buf *tree)
{
    BZ_CLEANUP(bz_mem_freep) char *target = NULL;
    struct bz_err ignored;
    struct bz_str rest, name;
    size_t n;

    if (bz_fs_readlink(dir, path, &target, &ignored) < 0)
        return true;
    rest = bz_str_from(target);
    if (!bz_str_cut_prefix(&rest, bz_str_from(store)) ||
        !bz_str_cut_prefix(&rest, BZ_STR("/out/")))
        return false;
    bz_str_cut(rest, '/', &name, &rest);
    n = (size_t)(name.p + name.n - target);
    if (bz_str_eq(bz_buf_str(tree), bz_str_of(target, n)))
        return true;
    bz_buf_truncate(tree, 0);
    bz_buf_add(tree, target, n);
    return bz_tree_stamp_check(bz_buf_text(tree)) == BZ_TREE_STAMP_SAME;
}

void bz_outdir_name(const struct bz_goal *goal, uint32_t recipe, struct bz_buf *out)
{
    bz_buf_add_str(out, BZ_STR("bitzel-out/"));
    bz_goal_name(goal, recipe, out);
}

/* There is no output any more, or there never was. */
static int unlink_all(const char *dir, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(links) && rc == 0; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};

        bz_buf_addf(&path, "%s/%s", dir, links[i].name);
        rc = bz_fs_remove(AT_FDCWD, bz_buf_text(&path), err);
    }
    return rc;
}

int bz_outdir_link(struct bz_jobs *j, uint32_t task, const char *own,
                   const char *shared, struct bz_err *err)
{
    const struct bz_tgraph *g = &j->goal->graph;
    BZ_CLEANUP(bz_buf_release) struct bz_buf dir = {0};
    struct bz_vars *v;
    int rc, made = 0;

    bz_buf_addf(&dir, "%s/", j->p->build_dir);
    bz_outdir_name(j->goal, g->tasks[task].recipe, &dir);
    if (!own && !shared)
        return bz_fs_exists(AT_FDCWD, bz_buf_text(&dir))
                   ? unlink_all(bz_buf_text(&dir), err)
                   : 0;
    rc = bz_jobs_vars(j, g->tasks[task].recipe, &v, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, bz_buf_text(&dir), 0755, err);
    for (size_t i = 0; i < BZ_COUNTOF(links) && rc >= 0; i++) {
        rc = link_variable(j, v, links[i].variable, links[i].shared ? shared : own,
                           bz_buf_text(&dir), links[i].name, err);
        made |= rc > 0;
    }
    return rc < 0 ? rc : made;
}
