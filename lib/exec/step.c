#include "exec/step.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"
#include "os/path.h"
#include "sandbox/host.h"

#define SCRIPT_INSIDE "/run/task"
#define LAYERS_MAX 24

static const char *below(struct bz_step *s, const char *name)
{
    return bz_arena_printf(&s->arena, "%s/%s", s->dir, name).p;
}

static int make_dirs(struct bz_step *s, struct bz_err *err)
{
    static const char *const names[] = {"upper", "work", "tmp", "own", "links"};
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(names) && rc == 0; i++)
        rc = bz_fs_mkdirs(AT_FDCWD, below(s, names[i]), 0755, err);
    return rc;
}

/* Links with numbers for names, which the options of a mount have room for. */
static int link_layer(struct bz_step *s, const char *path, uint32_t *n,
                      struct bz_err *err)
{
    struct bz_str link = bz_arena_printf(&s->arena, "%s/links/%u", s->dir, (*n)++);

    return symlink(path, link.p) < 0 ? bz_fail_sys(err, "link %s", link.p) : 0;
}

/* A name that is in none of many layers is looked up in all of them: beyond a number
 * one merged directory is quicker, and there is an end to what a mount takes. */
static int link_layers(struct bz_step_shop *shop, struct bz_step *s,
                       const struct bz_output_layers *list, uint32_t *n,
                       struct bz_err *err)
{
    const char *path;
    int rc = 0;

    bool merge = list->len > LAYERS_MAX;

    for (size_t i = 0; i < list->len && rc == 0; i++) {
        rc = bz_trees_get(shop->trees, &list->at[i].tree, &path, err);
        if (rc < 0) {
            s->lost = list->at[i].tree.hash;
            return bz_err_wrap(err, "output of %.*s", BZ_STR_ARG(list->at[i].task));
        }
        if (!merge)
            rc = link_layer(s, path, n, err);
    }
    if (rc == 0 && merge)
        rc = bz_trees_merge(shop->trees, list, &path, err);
    return rc == 0 && merge ? link_layer(s, path, n, err) : rc;
}

static int fill_spec(struct bz_step_shop *shop, struct bz_step *s,
                     const struct bz_job *job, const struct bz_output *handed,
                     struct bz_spec *spec, struct bz_err *err)
{
    struct bz_spec_layers layers = {below(s, "links"), 0, below(s, "upper"),
                                    below(s, "work")};
    int rc = link_layers(shop, s, &handed->own, &layers.n, err);

    spec->network = job->network;
    spec->root = job->root;
    bz_host_add(spec);
    if (rc == 0)
        rc = link_layers(shop, s, &handed->shared, &layers.n, err);
    if (rc == 0)
        rc = bz_spec_add(spec, BZ_SPEC_WORK, "/tmp", bz_str_from(below(s, "tmp")), err);
    for (size_t i = 0; i < shop->nviews && rc == 0; i++)
        rc = bz_spec_add(spec, BZ_SPEC_SHOW, shop->views[i].inside,
                         bz_str_from(shop->views[i].host), err);
    if (rc == 0)
        rc = bz_spec_add(spec, BZ_SPEC_FILE, SCRIPT_INSIDE, job->script, err);
    if (rc == 0)
        rc = bz_spec_overlay(spec, BZ_JOB_ROOT, &layers, err);
    spec->cwd = BZ_JOB_ROOT;
    bz_spec_arg(spec, "/bin/sh");
    bz_spec_arg(spec, SCRIPT_INSIDE);
    bz_spec_env(spec,
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    bz_spec_env(spec, "HOME=/tmp");
    bz_spec_env(spec, "TMPDIR=/tmp");
    bz_spec_env(spec, "LC_ALL=C.UTF-8");
    bz_spec_env(spec, "TZ=UTC");
    return rc;
}

/* The script, and an empty log to be filled. */
static int leave_files(const struct bz_job *job, int *log, struct bz_err *err)
{
    struct bz_path dir;
    int rc =
        bz_path_join(BZ_STR(""), bz_path_dirname(bz_str_from(job->log)), &dir, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0755, err);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD, job->run, job->script.p, job->script.n, 0755,
                         BZ_FS_NOSYNC, err);
    if (rc < 0)
        return rc;
    /* A log that somebody still reads stays whole. */
    unlink(job->log);
    *log = open(job->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    return *log < 0 ? bz_fail_sys(err, "open %s", job->log) : 0;
}

int bz_step_start(struct bz_step_shop *shop, const struct bz_job *job,
                  const struct bz_output *handed, struct bz_step *s, struct bz_err *err)
{
    BZ_CLEANUP(bz_spec_release) struct bz_spec spec;
    BZ_CLEANUP(bz_fs_closep) int log = -1;
    struct bz_proc_spec io = {.err.kind = BZ_PROC_MERGE};
    struct bz_str workdir = job->workdir;
    int rc;

    *s = (struct bz_step){0};
    bz_spec_init(&spec);
    s->dir = bz_arena_printf(&s->arena, "%s/%u", shop->scratch, shop->started++).p;
    if (bz_str_cut_prefix(&workdir, BZ_STR(BZ_JOB_ROOT "/")))
        s->workdir = bz_arena_dup(&s->arena, workdir);
    rc = make_dirs(s, err);
    if (rc == 0)
        rc = fill_spec(shop, s, job, handed, &spec, err);
    if (rc == 0)
        rc = leave_files(job, &log, err);
    io.out = (struct bz_proc_out){BZ_PROC_FD, log};
    if (rc == 0)
        rc = bz_sandbox_start(shop->sandbox, &spec, &io, &s->child, err);
    return rc;
}

static bool is_empty(const char *dir)
{
    /* Removing tells, and an empty one is not missed. */
    return rmdir(dir) == 0;
}

/* Moves what lies below the work directory over to `own`, with the same path, and takes
 * away the directories that are left empty by that. */
static int split(struct bz_step *s, struct bz_err *err)
{
    struct bz_str rel = s->workdir;
    const char *from, *to;
    struct bz_path parent;
    int rc;

    if (rel.n == 0)
        return 0;
    from = bz_arena_printf(&s->arena, "%s/upper/%s", s->dir, rel.p).p;
    to = bz_arena_printf(&s->arena, "%s/own/%s", s->dir, rel.p).p;
    if (!bz_fs_exists(AT_FDCWD, from))
        return 0;
    rc = bz_path_join(BZ_STR(""), bz_path_dirname(bz_str_from(to)), &parent, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, parent.s, 0755, err);
    if (rc < 0)
        return rc;
    if (rename(from, to) < 0)
        return bz_fail_sys(err, "move %s", from);
    for (rel = bz_path_dirname(rel); rel.n > 0 && !bz_str_eq(rel, BZ_STR("."));
         rel = bz_path_dirname(rel)) {
        struct bz_str dir =
            bz_arena_printf(&s->arena, "%s/upper/%.*s", s->dir, BZ_STR_ARG(rel));

        if (rmdir(dir.p) < 0)
            break;
    }
    return 0;
}

static int store(struct bz_step_shop *shop, const char *dir,
                 struct bz_reapi_digest *out, struct bz_err *err)
{
    const struct bz_tree_in how = {
        .threads = {shop->pool, NULL},
          .how = BZ_CAS_FILE_ADOPT
    };
    struct bz_tree_stats stats;

    *out = (struct bz_reapi_digest){0};
    if (is_empty(dir))
        return 0;
    return bz_cache_store(shop->cache, AT_FDCWD, dir, &how, out, &stats, err);
}

int bz_step_finish(struct bz_step_shop *shop, struct bz_step *s,
                   struct bz_reapi_digest *own, struct bz_reapi_digest *shared,
                   struct bz_err *err)
{
    int rc = split(s, err);

    if (rc == 0)
        rc = store(shop, below(s, "own"), own, err);
    if (rc == 0)
        rc = store(shop, below(s, "upper"), shared, err);
    return rc;
}

void bz_step_release(struct bz_step *s)
{
    struct bz_err ignored;

    /* What cannot be removed now is swept with the whole of scratch. */
    if (s->dir && bz_fs_remove(AT_FDCWD, s->dir, &ignored) < 0)
        errno = 0;
    bz_arena_release(&s->arena);
    *s = (struct bz_step){0};
}
