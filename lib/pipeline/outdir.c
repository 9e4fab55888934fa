#include "pipeline/outdir.h"

#include <stdio.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/fs_remove.h"

static int link_one(const char *dir, const char *name, const char *target,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0}, temp = {0};

    bz_buf_addf(&path, "%s/%s", dir, name);
    bz_buf_addf(&temp, "%s/.%s-%d", dir, name, (int)getpid());
    unlink(bz_buf_text(&temp));
    if (symlink(target, bz_buf_text(&temp)) < 0 ||
        rename(bz_buf_text(&temp), bz_buf_text(&path)) < 0)
        return bz_fail_sys(err, "link %s", bz_buf_text(&path));
    return 0;
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
    value = bz_jobs_inside(j, &a, value);
    if (tree && bz_str_cut_prefix(&value, BZ_STR(BZ_JOB_ROOT "/"))) {
        bz_buf_addf(&path, "%s/%.*s", tree, BZ_STR_ARG(value));
        if (bz_fs_exists(AT_FDCWD, bz_buf_text(&path)))
            return link_one(dir, name, bz_buf_text(&path), err);
    }
    return bz_fs_remove(AT_FDCWD, bz_buf_text(&old), err);
}

int bz_outdir_link(struct bz_jobs *j, uint32_t task, const char *own,
                   const char *shared, struct bz_err *err)
{
    const struct bz_tgraph *g = &j->goal->graph;
    BZ_CLEANUP(bz_buf_release) struct bz_buf dir = {0};
    struct bz_vars *v;
    int rc = bz_jobs_vars(j, g->tasks[task].recipe, &v, err);

    if (rc < 0)
        return rc;
    bz_buf_addf(&dir, "%s/bitzel-out/", j->p->build_dir);
    bz_goal_name(j->goal, g->tasks[task].recipe, &dir);
    rc = bz_fs_mkdirs(AT_FDCWD, bz_buf_text(&dir), 0755, err);
    if (rc == 0)
        rc = link_variable(j, v, "D", own, bz_buf_text(&dir), "image", err);
    if (rc == 0)
        rc = link_variable(j, v, "WORKDIR", own, bz_buf_text(&dir), "work", err);
    if (rc == 0)
        rc =
            link_variable(j, v, "DEPLOY_DIR", shared, bz_buf_text(&dir), "deploy", err);
    return rc;
}
