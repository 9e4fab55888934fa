#include "task/builtin_step.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "fetch/identity.h"
#include "os/fs.h"
#include "os/fs_below.h"
#include "recipe/runscript.h"
#include "sig/sourcing.h"

/* One recipe's sources for one task; on the thread that runs it nobody else's. */
struct filler {
    struct bz_sourcing sources;
    enum bz_builtin what;
    struct bz_arena arena;
    const char *place; /* below the top: the directory, or the file of the list */
    struct filler_dirs BZ_VEC(struct bz_str) dirs; /* likewise: to be made */
    mode_t mode;                                   /* theirs */
    int log;
    const struct bz_job_progress *progress;
};

static void note(void *ctx, const char *text)
{
    const struct filler *f = ctx;

    dprintf(f->log, "WARNING: %s\n", text);
    bz_log_warn("fetch", "%s", text);
}

static void progress(void *ctx, const char *shown, uint64_t n, uint64_t total)
{
    const struct filler *f = ctx;

    f->progress->tell(f->progress->ctx, shown, n, total);
}

static void fetched(void *ctx, const char *shown, uint64_t n, int64_t ns)
{
    const struct filler *f = ctx;

    f->progress->fetched(f->progress->ctx, shown, n, ns);
}

static int fetch_all(struct filler *f, struct bz_buf *list, struct bz_err *err)
{
    struct bz_fetch *fetch = f->sources.fetch;
    int rc = bz_fetch_resolve(fetch, err);

    if (rc < 0)
        dprintf(f->log, "NOTE: %s\n", err->msg);

    for (size_t i = 0; i < bz_fetch_count(fetch) && rc == 0; i++) {
        const char *shown = bz_fetch_shown(bz_fetch_source(fetch, i));
        enum bz_fetch_how how = BZ_FETCH_PRESENT;

        rc = bz_fetch_get(fetch, i, &how, err);
        dprintf(f->log, "NOTE: %s: %s\n", shown,
                rc < 0                       ? err->msg
                : how == BZ_FETCH_DOWNLOADED ? "downloaded"
                                             : "present");
        if (rc == 0 && list)
            rc = bz_identity_write(fetch, i, list, err);
    }
    return rc;
}

/* Directories on the way to a name, and that of the name; whatever the umask. */
static int make_dirs(const struct filler *f, int top, struct bz_str name,
                     struct bz_err *err)
{
    const struct timespec now = {0, UTIME_NOW};
    struct bz_fs_below to;
    int rc;

    bz_fs_below_init(&to, top, 0777 & ~f->mode);
    rc = bz_fs_below_dir(&to, name, f->mode, now, err);
    if (rc == 0)
        rc = bz_fs_below_finish(&to, err);
    bz_fs_below_release(&to);
    return rc;
}

/* All that the task finds, and has. */
static int make_places(const struct filler *f, const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bz_str place = bz_str_from(f->place);
    int rc;

    if (top < 0)
        return bz_fail_sys(err, "open %s", path);
    rc = make_dirs(f, top,
                   f->what == BZ_BUILTIN_UNPACK ? place : bz_path_dirname(place), err);
    for (size_t i = 0; i < f->dirs.len && rc == 0; i++)
        rc = make_dirs(f, top, f->dirs.at[i], err);
    return rc;
}

static int fill(void *ctx, const char *top, int log,
                const struct bz_job_progress *how_far, struct bz_cancel *cancel,
                struct bz_err *err)
{
    struct filler *f = ctx;
    const char *place = bz_arena_printf(&f->arena, "%s/%s", top, f->place).p;
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    struct bz_fetch_watch watch = {progress, fetched, note, f};
    int rc;

    f->log = log;
    f->progress = how_far;
    bz_fetch_attach(f->sources.fetch, &watch, cancel);
    rc = fetch_all(f, f->what == BZ_BUILTIN_FETCH ? &list : NULL, err);
    if (rc == 0)
        rc = make_places(f, top, err);
    if (rc < 0)
        return rc;
    return f->what == BZ_BUILTIN_UNPACK
               ? bz_fetch_unpack(f->sources.fetch, place, err)
               : bz_fs_write(AT_FDCWD, place, bz_buf_text(&list), list.len, 0644,
                             BZ_FS_NOSYNC, err);
}

static void release(void *ctx)
{
    struct filler *f = ctx;

    bz_sourcing_close(&f->sources);
    bz_vec_release(&f->dirs);
    bz_arena_release(&f->arena);
    free(f);
}

/* Where a variable's directory is below the root of the work. */
static int find_place(struct bz_jobs *j, struct filler *f, const char *name,
                      const char *end, struct bz_err *err)
{
    struct bz_str value, inside;
    int rc = bz_vars_get(f->sources.vars, bz_str_from(name), 0, &value, err);

    if (rc < 0)
        return rc;
    inside = bz_pathmap_inside(&j->paths, &f->arena, value);
    if (!bz_pathmap_cut_root(&j->paths, &inside) || !bz_path_is_safe(inside))
        return bz_fail(err, BZ_E_INVAL, "%s is '%.*s': it has to be below %s", name,
                       BZ_STR_ARG(value), j->p->build_dir);
    f->place = bz_arena_printf(&f->arena, "%.*s%s", BZ_STR_ARG(inside), end).p;
    return 0;
}

/* The task's [dirs]. DL_DIR, which every layer names there, is not a part of the work.
 */
static int find_dirs(struct bz_jobs *j, struct bz_vars *v, struct bz_str task,
                     struct filler *f, struct bz_err *err)
{
    struct bz_str words = {0}, top = {0}, downloads = {0}, word;
    int rc = bz_vars_get_flag(v, task, BZ_STR("dirs"), 0, &words, err);

    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("TOPDIR"), 0, &top, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("DL_DIR"), 0, &downloads, err);
    while (rc == 0 && bz_runscript_next_dir(&words, top, &word)) {
        struct bz_str inside = bz_pathmap_inside(&j->paths, &f->arena, word),
                      rest = word;
        struct bz_path plain;

        if (downloads.n > 0 && bz_str_cut_prefix(&rest, downloads) &&
            (rest.n == 0 || rest.p[0] == '/'))
            continue;
        rc = bz_path_normalise(inside, &plain, err);
        inside = bz_arena_dup(&f->arena, bz_path_str(&plain));
        if (rc == 0 && bz_str_eq(inside, j->paths.root))
            continue; /* which is always there */
        if (rc == 0 && !bz_pathmap_cut_root(&j->paths, &inside)) {
            (void)bz_fail(err, BZ_E_INVAL,
                          "%.*s[dirs] has '%.*s': it has to be below %s",
                          BZ_STR_ARG(task), BZ_STR_ARG(word), j->p->build_dir);
            return bz_runscript_blame(v, task, "dirs", err);
        }
        BZ_VEC_PUSH(&f->dirs, inside);
    }
    return rc;
}

static int open_sources(struct bz_jobs *j, uint32_t task, mode_t umask,
                        struct bz_sourcing *out, struct bz_err *err)
{
    /* What is unpacked goes to the store, and has to be whole. */
    struct bz_fetch_opts opts = {.offline = j->offline, .whole = true, .umask = umask};
    int rc = j->client ? 0 : bz_fetch_client_new(&j->client, err);

    out->signing = j->signing;
    opts.client = j->client;
    return rc < 0
               ? rc
               : bz_sourcing_open(out, j->p, j->goal, j->goal->graph.tasks[task].recipe,
                                  j->goal->graph.tasks[task].facts->name.p, &opts, err);
}

int bz_builtin_step_fill(struct bz_jobs *j, struct bz_vars *v, uint32_t task,
                         enum bz_builtin what, struct bz_job_fill *out,
                         struct bz_err *err)
{
    struct bz_str name = j->goal->graph.tasks[task].facts->name;
    struct filler *f = bz_mem_zalloc(sizeof(*f));
    unsigned mask = 0;
    int rc = bz_runscript_umask(v, name, &mask, err);

    f->what = what;
    f->mode = (0777 & ~mask) | S_IRWXU;
    *out = (struct bz_job_fill){fill, release, f};
    if (rc == 0)
        rc = open_sources(j, task, mask | BZ_FETCH_MASKED, &f->sources, err);
    if (rc == 0)
        rc = find_dirs(j, v, name, f, err);
    if (rc == 0 && what == BZ_BUILTIN_FETCH)
        rc = find_place(j, f, "WORKDIR", "/" BZ_BUILTIN_STEP_LIST, err);
    else if (rc == 0)
        rc = find_place(j, f,
                        bz_vars_exists(f->sources.vars, BZ_STR("UNPACKDIR"))
                            ? "UNPACKDIR"
                            : "WORKDIR",
                        "", err);
    return rc;
}

int bz_builtin_step_patch(struct bz_jobs *j, uint32_t task, struct bz_buf *body,
                          struct bz_err *err)
{
    BZ_CLEANUP(bz_sourcing_close) struct bz_sourcing s = {0};
    int rc = open_sources(j, task, 0, &s, err);

    return rc < 0 ? rc : bz_builtin_patches(s.fetch, s.vars, body, err);
}
