#include "pipeline/builtin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "fetch/identity.h"
#include "fetch/patch.h"
#include "os/fs.h"
#include "os/fs_below.h"
#include "pipeline/sourcing.h"
#include "recipe/runscript.h"
#include "sig/files.h"

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

int bz_builtin_of(struct bz_vars *v, struct bz_str task, enum bz_builtin *out,
                  struct bz_err *err)
{
    static const struct {
        struct bz_str task;
        enum bz_builtin what;
    } rows[] = {
        {BZ_STR("do_fetch"),  BZ_BUILTIN_FETCH },
        {BZ_STR("do_unpack"), BZ_BUILTIN_UNPACK},
        {BZ_STR("do_patch"),  BZ_BUILTIN_PATCH },
    };
    bool python = false;
    int rc = bz_vars_flag_true(v, task, BZ_STR("python"), &python, err);

    *out = BZ_BUILTIN_NONE;
    for (size_t i = 0; i < BZ_COUNTOF(rows) && python; i++)
        if (bz_str_eq(rows[i].task, task))
            *out = rows[i].what;
    return rc;
}

bool bz_builtin_waits(struct bz_str task)
{
    return bz_str_eq(task, BZ_STR("do_fetch"));
}

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
    inside = bz_jobs_inside(j, &f->arena, value);
    if (!bz_jobs_cut_root(j, &inside) || !bz_path_is_safe(inside))
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
        struct bz_str inside = bz_jobs_inside(j, &f->arena, word), rest = word;
        struct bz_path plain;

        if (downloads.n > 0 && bz_str_cut_prefix(&rest, downloads) &&
            (rest.n == 0 || rest.p[0] == '/'))
            continue;
        rc = bz_path_normalise(inside, &plain, err);
        inside = bz_arena_dup(&f->arena, bz_path_str(&plain));
        if (rc == 0 && bz_str_eq(inside, bz_str_from(j->ground->root)))
            continue; /* which is always there */
        if (rc == 0 && !bz_jobs_cut_root(j, &inside)) {
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

    opts.client = j->client;
    return rc < 0
               ? rc
               : bz_sourcing_open(out, j->p, j->goal, j->goal->graph.tasks[task].recipe,
                                  j->goal->graph.tasks[task].facts->name.p, &opts, err);
}

int bz_builtin_fill(struct bz_jobs *j, struct bz_vars *v, uint32_t task,
                    enum bz_builtin what, struct bz_job_fill *out, struct bz_err *err)
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
        rc = find_place(j, f, "WORKDIR", "/" BZ_BUILTIN_LIST, err);
    else if (rc == 0)
        rc = find_place(j, f,
                        bz_vars_exists(f->sources.vars, BZ_STR("UNPACKDIR"))
                            ? "UNPACKDIR"
                            : "WORKDIR",
                        "", err);
    return rc;
}

static int write_patches(struct bz_fetch *fetch, struct bz_vars *v, struct bz_buf *body,
                         struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_patches all = {0};
    struct bz_str source = {0}, unpacked = {0}, tool = {0};
    int rc = bz_patch_list(fetch, &all, err);

    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("S"), 0, &source, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("UNPACKDIR"), 0, &unpacked, err);
    if (rc == 0 && !unpacked.p)
        rc = bz_vars_get(v, BZ_STR("WORKDIR"), 0, &unpacked, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("PATCHTOOL"), 0, &tool, err);
    if (rc == 0)
        bz_patch_script(&all,
                        bz_str_eq(tool, BZ_STR("git")) ? BZ_PATCH_GIT : BZ_PATCH_PATCH,
                        source, unpacked, body);
    return rc;
}

int bz_builtin_patch(struct bz_jobs *j, uint32_t task, struct bz_buf *body,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_sourcing_close) struct bz_sourcing s = {0};
    int rc = open_sources(j, task, 0, &s, err);

    return rc < 0 ? rc : write_patches(s.fetch, s.vars, body, err);
}

/* ---- keys ---- */

/* A recipe whose sources cannot be read has a task that fails when it runs; until then
 * what the recipe says of them counts. */
struct flags {
    struct bz_taskspec *spec;
    struct bz_taskspec_inputs *inputs;
};

static void add_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct flags *f = ctx;
    struct bz_str name = bz_arena_printf(&bz_taskspec_store(f->spec, NULL)->arena,
                                         "SRC_URI[%.*s]", BZ_STR_ARG(flag));

    bz_taskspec_add(f->spec, BZ_TASKSPEC_SOURCE, name, value, f->inputs);
}

static void add_unread(struct bz_taskspec *spec, struct bz_str text,
                       struct bz_taskspec_inputs *inputs)
{
    struct flags f = {spec, inputs};

    bz_taskspec_add(spec, BZ_TASKSPEC_SOURCE, BZ_STR("SRC_URI"), text, inputs);
    bz_vars_flags(bz_taskspec_store(spec, NULL)->plain, BZ_STR("SRC_URI"), add_flag,
                  &f);
}

/* One entry: what is known of it besides its text, each on a line. A revision that is a
 * name counts by what it is resolved to, which is looked up each time. */
static int describe(struct bz_fetch *fetch, size_t i, struct bz_buf *out,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_identity_fields fields = {0};
    int rc = bz_identity_fields(fetch, i, &fields, err);

    for (size_t k = 0; k < fields.len && rc == 0; k++)
        if (!bz_str_eq(fields.at[k].name, BZ_STR("uri")) &&
            fields.at[k].name.p[0] != ';')
            bz_buf_addf(out, "%.*s=%.*s\n", BZ_STR_ARG(fields.at[k].name),
                        BZ_STR_ARG(fields.at[k].value));
    return rc;
}

/* The entries as they are written, where the metadata excludes a variable: a mirror
 * that it names, say. */
static int add_entries(struct bz_taskspec *spec, struct bz_taskspec_inputs *inputs,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str words = {0}, word;
    int rc =
        bz_keystore_get(bz_taskspec_store(spec, NULL), BZ_STR("SRC_URI"), &words, err);

    while (rc == 0 && bz_str_next_word(&words, &word))
        bz_buf_addf(&text, "%.*s\n", BZ_STR_ARG(word));
    bz_taskspec_add(spec, BZ_TASKSPEC_SOURCE, BZ_STR("SRC_URI"), bz_buf_str(&text),
                    inputs);
    return rc;
}

static int add_sources(struct bz_taskspec *spec, struct bz_fetch *fetch,
                       struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                       struct bz_err *err)
{
    int rc = add_entries(spec, inputs, err);

    for (size_t i = 0; i < bz_fetch_count(fetch) && rc == 0; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
        struct bz_str name = bz_arena_printf(&bz_taskspec_store(spec, NULL)->arena,
                                             "SRC_URI %03zu", i + 1);
        struct bz_str question = bz_fetch_question(bz_fetch_source(fetch, i));

        rc = describe(fetch, i, &text, err);
        if (rc == 0)
            bz_taskspec_add(spec, BZ_TASKSPEC_SOURCE, name, bz_buf_str(&text), inputs);
        if (rc == 0 && question.n > 0)
            bz_files_add_question(list, question);
    }
    return rc;
}

/* The variables that decide how it is done. */
static int add_variables(struct bz_taskspec *spec, enum bz_builtin what,
                         struct bz_taskspec_inputs *inputs, struct bz_err *err)
{
    static const struct {
        const char *name;
        bool fetch;
    } rows[] = {
        {"BB_STRICT_CHECKSUM", true },
        {"UNPACKDIR",          false},
    };
    int rc = 0;

    for (size_t i = 0; i < BZ_COUNTOF(rows) && rc == 0; i++) {
        struct bz_str value = {0}, name = bz_str_from(rows[i].name);

        if (rows[i].fetch != (what == BZ_BUILTIN_FETCH))
            continue;
        rc = bz_vars_get(bz_taskspec_store(spec, NULL)->plain, name, 0, &value, err);
        if (rc == 0 && value.p)
            bz_taskspec_add(spec, BZ_TASKSPEC_STEP, name, value, inputs);
    }
    return rc;
}

int bz_builtin_inputs(struct bz_taskspec *spec, enum bz_builtin what,
                      struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                      struct bz_err *err)
{
    struct bz_vars *v = bz_taskspec_store(spec, NULL)->plain;
    BZ_CLEANUP(bz_buf_release) struct bz_buf body = {0};
    struct bz_fetch *fetch = NULL;
    struct bz_str text = {0};
    struct bz_err unread;
    int rc = bz_vars_get(v, BZ_STR("SRC_URI"), 0, &text, err);

    if (rc == 0)
        rc = add_variables(spec, what, inputs, err);
    if (rc < 0)
        return rc;
    if (bz_sourcing_read(v, &(struct bz_fetch_opts){.offline = true}, &fetch, &unread) <
        0) {
        add_unread(spec, text, inputs);
        return 0;
    }
    if (what == BZ_BUILTIN_PATCH) {
        rc = write_patches(fetch, v, &body, err);
        bz_taskspec_add(spec, BZ_TASKSPEC_STEP, BZ_STR("SRC_URI patches"),
                        bz_buf_str(&body), inputs);
    } else {
        rc = add_sources(spec, fetch, inputs, list, err);
    }
    bz_fetch_close(fetch);
    return rc;
}
