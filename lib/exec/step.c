#include "exec/step.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/outline.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/path.h"

#define JOBSERVER_INSIDE "/run/jobserver"
#define LAYERS_MAX 24

/* Links with numbers for names, which the options of a mount have room for. A tree that
 * two tasks have left is mounted once, where it lies highest: an overlay takes no
 * directory twice. */
static int link_layer(struct bz_step *s, const char *path, struct bz_map *linked,
                      struct bz_err *err)
{
    uint32_t before = linked->len;
    struct bz_str link;

    (void)bz_map_put(linked, bz_str_from(path));
    if (linked->len == before)
        return 0;
    link = bz_arena_printf(&s->arena, "%s/%u", s->desk->links, s->layers++);
    return symlink(path, link.p) < 0 ? bz_fail_sys(err, "link %s", link.p) : 0;
}

/* A name that is in none of many layers is looked up in all of them: beyond a number
 * one merged directory is quicker, and there is an end to what a mount takes. */
static int link_layers(struct bz_step_shop *shop, struct bz_step *s,
                       const struct bz_output_layers *list, struct bz_map *linked,
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
            rc = link_layer(s, path, linked, err);
    }
    if (rc == 0 && merge)
        rc = bz_trees_merge(shop->trees, list, &path, err);
    return rc == 0 && merge ? link_layer(s, path, linked, err) : rc;
}

/* The tokens that makes share; those before 4.4 want them as open descriptors. */
static int add_jobserver(struct bz_step_shop *shop, struct bz_spec *spec,
                         struct bz_err *err)
{
    const char *inside = shop->ground.bare ? shop->jobserver.path : JOBSERVER_INSIDE;
    BZ_CLEANUP(bz_buf_release) struct bz_buf flags = {0}, opened = {0};

    bz_buf_add_str(&flags, BZ_STR("MAKEFLAGS="));
    bz_jobserver_flags(&shop->jobserver, inside, &flags);
    bz_spec_env(spec, bz_buf_text(&flags));
    if (shop->jobserver.style == BZ_JOBSERVER_FDS) {
        bz_spec_arg(spec, "/bin/sh");
        bz_spec_arg(spec, "-c");
        bz_buf_add_str(&opened, BZ_STR("exec 8<>"));
        bz_buf_add_quoted(&opened, bz_str_from(inside));
        bz_buf_add_str(&opened, BZ_STR(" 9>&8; exec \"$@\""));
        bz_spec_arg(spec, bz_buf_text(&opened));
        bz_spec_arg(spec, "sh");
    }
    return bz_spec_add(spec, BZ_SPEC_WORK, inside, bz_str_from(shop->jobserver.path),
                       err);
}

static bool has_layers(const struct bz_output *handed)
{
    return handed->own.len + handed->shared.len > 0;
}

static int add_enter(const struct bz_job_enter *enter, struct bz_spec *spec,
                     struct bz_err *err)
{
    spec->terminal = true;
    for (const char *const *arg = enter->argv; *arg; arg++)
        bz_spec_arg(spec, *arg);
    return bz_spec_add(spec, BZ_SPEC_TEXT, BZ_JOB_SETUP, enter->setup, err);
}

/* Whether it is what goes before the fill that is to run. */
static bool goes_before(const struct bz_step *s, const struct bz_job *job)
{
    return job->before.n > 0 && !s->prepared;
}

/* Once for all that runs of the task. */
static int link_all(struct bz_step_shop *shop, struct bz_step *s,
                    const struct bz_output *handed, struct bz_err *err)
{
    BZ_CLEANUP(bz_map_release) struct bz_map linked = {0};
    int rc = has_layers(handed) ? bz_desk_layer(s->desk, err) : 0;

    if (s->linked)
        return 0;
    if (rc == 0)
        rc = link_layers(shop, s, &handed->own, &linked, err);
    if (rc == 0)
        rc = link_layers(shop, s, &handed->shared, &linked, err);
    s->linked = rc == 0;
    return rc;
}

static int fill_spec(struct bz_step_shop *shop, struct bz_step *s,
                     const struct bz_job *job, const struct bz_output *handed,
                     struct bz_spec *spec, struct bz_err *err)
{
    struct bz_spec_layers layers = {s->desk->links, 0, s->top, s->desk->work};
    struct bz_str script = goes_before(s, job) ? job->before : job->script;
    int rc = link_all(shop, s, handed, err);

    layers.n = s->layers;
    bz_outline_add(&shop->ground, job, spec);
    if (rc == 0)
        rc = bz_spec_add(spec, BZ_SPEC_WORK, "/tmp", bz_str_from(s->tmp), err);
    for (size_t i = 0; i < job->nviews && rc == 0; i++)
        rc = bz_spec_add(spec, BZ_SPEC_SHOW, job->views[i].inside,
                         bz_str_from(job->views[i].host), err);
    if (rc == 0)
        rc = bz_spec_add(spec, BZ_SPEC_TEXT, BZ_JOB_SCRIPT, script, err);
    if (rc == 0)
        rc = bz_spec_overlay(spec, BZ_JOB_ROOT, &layers, err);
    if (rc == 0 && job->makes && shop->jobserver.path)
        rc = add_jobserver(shop, spec, err);
    if (job->enter && !goes_before(s, job))
        return rc < 0 ? rc : add_enter(job->enter, spec, err);
    bz_spec_arg(spec, "/bin/sh");
    bz_spec_arg(spec, BZ_JOB_SCRIPT);
    return rc;
}

/* A path below the root, without a slash before it; empty if it is not one. */
static struct bz_str below_root(const struct bz_ground *g, struct bz_str path)
{
    return bz_str_cut_prefix(&path, bz_str_from(g->root)) &&
                   bz_str_cut_prefix(&path, BZ_STR("/"))
               ? path
               : BZ_STR("");
}

/* The directory that every task finds. Layers may have it, or something else in its
 * place: then the script makes it. */
static struct bz_str expected(const struct bz_ground *g, const struct bz_job *job,
                              const struct bz_output *handed)
{
    struct bz_path plain;
    struct bz_err ignored;

    if (has_layers(handed) || job->fill.run ||
        bz_path_normalise(job->temp, &plain, &ignored) < 0 ||
        !bz_str_eq(bz_path_str(&plain), job->temp))
        return BZ_STR("");
    return below_root(g, job->temp);
}

/* ---- on bare ground ---- */

struct paths BZ_VEC(const char *);

static int find_layers(struct bz_step_shop *shop, struct bz_step *s,
                       const struct bz_output_layers *list, struct paths *out,
                       struct bz_err *err)
{
    for (size_t i = 0; i < list->len; i++) {
        const char *path;

        if (bz_trees_get(shop->trees, &list->at[i].tree, &path, err) < 0) {
            s->lost = list->at[i].tree.hash;
            return bz_err_wrap(err, "output of %.*s", BZ_STR_ARG(list->at[i].task));
        }
        BZ_VEC_PUSH(out, path);
    }
    return 0;
}

static int copy_layers(struct bz_step_shop *shop, struct bz_step *s,
                       const struct bz_job *job, const struct bz_output *handed,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct paths layers = {0};
    int rc = find_layers(shop, s, &handed->own, &layers, err);

    if (rc == 0)
        rc = find_layers(shop, s, &handed->shared, &layers, err);
    if (rc < 0 || s->bare) /* it has them from what went before */
        return rc;
    s->bare = true;
    return bz_copied_make(&s->copied, shop->ground.root, layers.at, layers.len,
                          expected(&shop->ground, job, handed), s->desk->upper, err);
}

/* The temporary directory and the script, in place of the last task's. */
static int lay_out(const struct bz_ground *g, struct bz_str text, const char *script,
                   struct bz_err *err)
{
    int rc = bz_fs_remove(AT_FDCWD, g->tmp, err);

    if (rc == 0 && (mkdir(g->tmp, 0755) < 0 || chmod(g->tmp, 0755) < 0))
        rc = bz_fail_sys(err, "make %s", g->tmp);
    if (rc == 0)
        rc = bz_fs_write(AT_FDCWD, script, text.p, text.n, 0444, BZ_FS_NOSYNC, err);
    return rc;
}

static int fill_bare(struct bz_step_shop *shop, struct bz_step *s,
                     const struct bz_job *job, const struct bz_output *handed,
                     struct bz_spec *spec, struct bz_err *err)
{
    const struct bz_ground *g = &shop->ground;
    const char *script = bz_arena_printf(&s->arena, "%s/task", g->top).p;
    int rc = 0;

    if (job->enter)
        return bz_fail(err, BZ_E_NOSUP, "%s", g->why.msg);
    if (job->root)
        return bz_fail(err, BZ_E_NOSUP,
                       "a task that is [fakeroot] needs user namespaces, which do not "
                       "work here; 'bitzel doctor' says what to do");
    bz_outline_add(g, job, spec);
    rc = copy_layers(shop, s, job, handed, err);
    if (rc == 0)
        rc = lay_out(g, goes_before(s, job) ? job->before : job->script, script, err);
    if (rc == 0)
        rc = bz_spec_add(spec, BZ_SPEC_WORK, g->root, bz_str_from(g->root), err);
    if (rc == 0)
        rc = bz_spec_add(spec, BZ_SPEC_WORK, g->tmp, bz_str_from(g->tmp), err);
    if (rc == 0)
        rc = bz_spec_add(spec, BZ_SPEC_SHOW, script, bz_str_from(script), err);
    for (size_t i = 0; i < job->nviews && rc == 0; i++)
        rc = bz_spec_add(spec, BZ_SPEC_SHOW, job->views[i].inside,
                         bz_str_from(job->views[i].host), err);
    if (rc == 0 && job->makes && shop->jobserver.path)
        rc = add_jobserver(shop, spec, err);
    bz_spec_arg(spec, "/bin/sh");
    bz_spec_arg(spec, script);
    return rc;
}

/* ---- all of them ---- */

/* The script, after what goes before it, and an empty log to be filled. */
static int leave_files(const struct bz_job *job, int *log, struct bz_err *err)
{
    const struct bz_str scripts[] = {job->before, job->script};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_path dir;
    int rc =
        bz_path_join(BZ_STR(""), bz_path_dirname(bz_str_from(job->log)), &dir, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0755, err);
    for (size_t i = 0; i < BZ_COUNTOF(scripts); i++)
        bz_buf_add_str(&text, scripts[i]);
    if (rc == 0 && text.len > 0)
        rc = bz_fs_write(AT_FDCWD, job->run, text.data, text.len, 0755, BZ_FS_NOSYNC,
                         err);
    if (rc < 0)
        return rc;
    /* A log that somebody still reads stays whole. */
    unlink(job->log);
    *log = open(job->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    return *log < 0 ? bz_fail_sys(err, "open %s", job->log) : 0;
}

int bz_step_open(struct bz_step_shop *shop, const struct bz_job *job,
                 const struct bz_output *handed, struct bz_step *s, struct bz_err *err)
{
    const struct bz_ground *g = &shop->ground;
    int rc;

    *s = (struct bz_step){.log = -1, .desks = &shop->desks};
    rc = bz_desk_take(&shop->desks, g->bare ? BZ_STR("") : expected(g, job, handed),
                      &s->desk, err);
    if (rc < 0)
        return rc;
    s->top = s->desk->upper;
    s->tmp = s->desk->tmp;
    s->workdir = bz_arena_dup(&s->arena, below_root(g, job->workdir));
    rc = bz_lockset_open(&s->locks, job->locks, job->nlocks, err);
    if (rc < 0)
        return rc;
    if (!job->enter)
        return leave_files(job, &s->log, err);
    s->log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return s->log < 0 ? bz_fail_sys(err, "use standard error") : 0;
}

int bz_step_fill(struct bz_step *s, const char **top, struct bz_err *err)
{
    *top = s->prepared ? s->desk->fill : s->top;
    return s->prepared ? bz_desk_fill(s->desk, err) : 0;
}

int bz_step_filled(const struct bz_step_shop *shop, struct bz_step *s,
                   struct bz_err *err)
{
    if (!s->prepared)
        return 0;
    return bz_copied_lay(s->desk->fill, s->bare ? shop->ground.root : s->top, err);
}

void bz_step_prepared(struct bz_step *s)
{
    s->prepared = true;
}

int bz_step_plan(struct bz_step_shop *shop, const struct bz_job *job,
                 const struct bz_output *handed, struct bz_step *s, struct bz_err *err)
{
    bool before = goes_before(s, job);
    int rc;

    bz_spec_init(&s->spec);
    rc = shop->ground.bare ? fill_bare(shop, s, job, handed, &s->spec, err)
                           : fill_spec(shop, s, job, handed, &s->spec, err);
    if (rc == 0 && !before) /* else they are held until the script has them */
        rc = bz_lockset_give(&s->locks, &s->spec, err);
    s->io = (struct bz_proc_spec){
        .out = {BZ_PROC_FD, s->log},
          .err.kind = BZ_PROC_MERGE
    };
    if (job->enter && !before)
        s->io = (struct bz_proc_spec){
            .in = {BZ_PROC_IN_FD, STDIN_FILENO, {0}},
            .out = {BZ_PROC_FD,             STDOUT_FILENO               },
            .err = {BZ_PROC_FD,             STDERR_FILENO},
        };
    return rc;
}

int bz_step_launch(struct bz_step_shop *shop, struct bz_step *s, struct bz_err *err)
{
    int rc = bz_sandbox_start(shop->sandbox, &s->spec, &s->io, &s->child, err);

    /* With it go our copies of the locks: from now on the child alone holds them. */
    bz_spec_release(&s->spec);
    return rc;
}

/* Whether there is nothing in it, or no such directory. */
static bool is_empty(const char *dir)
{
    /* Removing tells, and an empty one is not missed. */
    return rmdir(dir) == 0 || errno == ENOENT;
}

/* Makes `own` and the directories above the work directory in it, which become a part
 * of the result: the umask does not count. */
static int make_parents(struct bz_step *s, struct bz_err *err)
{
    struct bz_str to = bz_arena_printf(&s->arena, "%s/%s", s->desk->own, s->workdir.p);
    char *path = memcpy(bz_arena_alloc(&s->arena, to.n + 1, 1), to.p, to.n + 1);

    for (size_t i = strlen(s->desk->own); path[i] != '\0'; i++) {
        if (path[i] != '/')
            continue;
        path[i] = '\0';
        if ((mkdir(path, 0755) < 0 && errno != EEXIST) || chmod(path, 0755) < 0)
            return bz_fail_sys(err, "make %s", path);
        path[i] = '/';
    }
    return 0;
}

/* Moves what lies below the work directory over to `own`, with the same path, and takes
 * away the directories that are left empty by that. */
static int split(struct bz_step *s, struct bz_err *err)
{
    struct bz_str rel = s->workdir;
    const char *from, *to;
    int rc;

    if (rel.n == 0)
        return 0;
    from = bz_arena_printf(&s->arena, "%s/%s", s->desk->upper, rel.p).p;
    to = bz_arena_printf(&s->arena, "%s/%s", s->desk->own, rel.p).p;
    if (!bz_fs_exists(AT_FDCWD, from))
        return 0;
    rc = make_parents(s, err);
    if (rc < 0)
        return rc;
    if (rename(from, to) < 0)
        return bz_fail_sys(err, "move %s", from);
    for (rel = bz_path_dirname(rel); rel.n > 0 && !bz_str_eq(rel, BZ_STR("."));
         rel = bz_path_dirname(rel)) {
        struct bz_str dir =
            bz_arena_printf(&s->arena, "%s/%.*s", s->desk->upper, BZ_STR_ARG(rel));

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

    if (is_empty(dir))
        return 0;
    return bz_cache_store(shop->cache, AT_FDCWD, dir, &how, out, &stats, err);
}

int bz_step_finish(struct bz_step_shop *shop, struct bz_step *s,
                   struct bz_reapi_digest *own, struct bz_reapi_digest *shared,
                   struct bz_err *err)
{
    int rc = s->bare ? bz_copied_capture(&s->copied, s->desk->upper, err) : 0;

    *own = *shared = (struct bz_reapi_digest){0};
    if (rc < 0)
        return rc;
    if (bz_desk_unused(s->desk))
        return 0;
    rc = split(s, err);
    if (rc == 0)
        rc = store(shop, s->desk->own, own, err);
    if (rc == 0)
        rc = store(shop, s->desk->upper, shared, err);
    return rc;
}

void bz_step_release(struct bz_step *s)
{
    if (s->desk) {
        bz_desk_give(s->desks, s->desk);
        bz_fs_closep(&s->log);
    }
    bz_lockset_release(&s->locks);
    bz_spec_release(&s->spec);
    bz_copied_release(&s->copied);
    bz_arena_release(&s->arena);
    *s = (struct bz_step){0};
}
