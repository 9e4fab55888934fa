#include "survey/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "project/buildconf.h"

/* Reads one configuration and collects its recipes. */
static int open_mc(struct bz_catalog *p, struct bz_config_opts *opts,
                   struct bz_str name, struct bz_err *err)
{
    struct bz_catalog_mc *mc;
    int rc;

    BZ_VEC_PUSH(&p->mcs, (struct bz_catalog_mc){.name = name});
    mc = &BZ_VEC_LAST(&p->mcs);
    opts->mc = name;
    rc = bz_config_load(p->library, opts, &mc->config, err);
    if (rc == 0 && name.n == 0)
        rc = bz_layer_read(&p->layers, mc->config, err);
    if (rc == 0)
        rc = bz_collect_read(&mc->recipes, mc->config, &p->layers, p->library, err);
    return rc < 0 && name.n > 0
               ? bz_err_wrap(err, "configuration %.*s", BZ_STR_ARG(name))
               : rc;
}

static int open_mcs(struct bz_catalog *p, struct bz_config_opts *opts,
                    struct bz_err *err)
{
    struct bz_catalog_mc *mc;
    struct bz_str list, name;
    int rc = open_mc(p, opts, BZ_STR(""), err);

    if (rc == 0)
        rc = bz_config_multi(p->mcs.at[0].config, &list, err);
    while (rc == 0 && bz_str_next_word(&list, &name)) {
        struct bz_err unused;

        if (bz_catalog_find_mc(p, name, &mc, &unused) < 0)
            rc = open_mc(p, opts, name, err);
    }
    return rc;
}

/* What kas passes into a build besides the variables that its files name. */
static const struct bz_str kas_passes[] = {
    BZ_STR("SSTATE_DIR"),
    BZ_STR("SSTATE_MIRRORS"),
    BZ_STR("DL_DIR"),
    BZ_STR("TMPDIR"),
};

static void read_environment(struct bz_catalog *p, const char *const *env)
{
    BZ_CLEANUP(bz_vec_release) struct bz_environ_vars more = {0};

    for (size_t i = 0; p->kas && i < BZ_COUNTOF(kas_passes); i++)
        BZ_VEC_PUSH(&more, (struct bz_environ_var){.name = kas_passes[i]});
    for (size_t i = 0; p->kas && i < p->kas->nenv; i++)
        BZ_VEC_PUSH(&more, (struct bz_environ_var){p->kas->env[i].name,
                                                   p->kas->env[i].value.text});
    bz_environ_release(&p->env);
    bz_environ_read(&p->env, env, more.at, more.len);
}

static const char *const *keep_files(struct bz_arena *arena, const char *const *files,
                                     size_t n)
{
    const char **kept = BZ_ARENA_ARRAY(arena, const char *, n);

    for (size_t i = 0; i < n; i++)
        kept[i] = bz_arena_dup(arena, bz_str_from(files[i])).p;
    return kept;
}

static void keep_opts(struct bz_catalog *p, const struct bz_catalog_opts *opts)
{
    p->opts = *opts;
    p->opts.cwd = bz_arena_dup(&p->arena, bz_str_from(opts->cwd)).p;
    p->opts.first = keep_files(&p->arena, opts->first, opts->nfirst);
    p->opts.last = keep_files(&p->arena, opts->last, opts->nlast);
    if (opts->sample) {
        struct bz_sample *sample = BZ_ARENA_NEW(&p->arena, struct bz_sample);

        sample->layer = bz_arena_dup(&p->arena, bz_str_from(opts->sample->layer)).p;
        sample->build_dir =
            bz_arena_dup(&p->arena, bz_str_from(opts->sample->build_dir)).p;
        sample->links = bz_arena_dup(&p->arena, bz_str_from(opts->sample->links)).p;
        p->opts.sample = sample;
    }
    p->opts.notes = NULL;
}

int bz_catalog_find(struct bz_catalog *p, const struct bz_catalog_opts *opts,
                    struct bz_err *err)
{
    struct bz_locate_hints hints = {.cwd = opts->cwd, .option = opts->project};
    struct bz_kas_options kas = {.cwd = opts->cwd,
                                 .env = opts->env,
                                 .ignore_locks = opts->ignore_locks,
                                 .notes = opts->notes};
    int rc = bz_environ_check(opts->env, err);

    keep_opts(p, opts);
    if (rc < 0)
        return rc;
    read_environment(p, opts->env);
    hints.variable = bz_environ_find(opts->env, "BITZEL_PROJECT");
    hints.builddir = bz_environ_find(opts->env, "BUILDDIR");
    hints.bbpath = bz_environ_get(&p->env, BZ_STR("BBPATH")).p;
    hints.sample = opts->sample ? opts->sample->build_dir : NULL;
    rc = bz_locate_find(&p->arena, &hints, &p->found, err);
    if (rc == 0 && p->found.files)
        rc = bz_kas_load(p->found.files, &kas, &p->kas, err);
    if (rc < 0)
        return rc;
    p->build_dir = p->kas ? p->kas->build_dir : p->found.build_dir;
    if (p->kas)
        read_environment(p, opts->env);
    return 0;
}

/* What kas files say goes to the build directory, which is all the rest knows of; so
 * does where the sample layer is. */
static int prepare(struct bz_catalog *p, struct bz_err *err)
{
    int rc = 0;

    if (p->library)
        return 0;
    if (p->kas)
        rc = bz_kas_require(p->kas, err);
    if (rc == 0 && p->kas)
        rc = bz_buildconf_write(p->kas, err);
    if (rc == 0 && p->found.by == BZ_LOCATE_SAMPLE)
        rc = bz_sample_write(p->opts.sample, err);
    if (rc < 0)
        return rc;
    p->library = bz_library_new();
    bz_library_set_hash(p->library, bz_hashing_bytes, &p->hashing);
    return 0;
}

int bz_catalog_load(struct bz_catalog *p, struct bz_err *err)
{
    struct bz_config_opts config = {.env = &p->env,
                                    .build_dir = bz_str_from(p->build_dir),
                                    .cwd = bz_str_from(p->opts.cwd),
                                    .first = p->opts.first,
                                    .nfirst = p->opts.nfirst,
                                    .last = p->opts.last,
                                    .nlast = p->opts.nlast};
    int rc = prepare(p, err);

    return rc < 0 || p->mcs.len > 0 ? rc : open_mcs(p, &config, err);
}

int bz_catalog_open(struct bz_catalog *p, const struct bz_catalog_opts *opts,
                    struct bz_err *err)
{
    int rc = bz_catalog_find(p, opts, err);

    return rc < 0 ? rc : bz_catalog_load(p, err);
}

void bz_catalog_close(struct bz_catalog *p)
{
    bz_survey_release(&p->survey);
    for (size_t i = 0; i < p->mcs.len; i++) {
        bz_collect_release(&p->mcs.at[i].recipes);
        bz_meta_free(p->mcs.at[i].config);
    }
    bz_vec_release(&p->mcs);
    bz_layer_release(&p->layers);
    bz_library_free(p->library);
    bz_hashing_release(&p->hashing);
    bz_environ_release(&p->env);
    bz_kas_free(p->kas);
    bz_revision_close(p->revisions);
    bz_entries_close(&p->entries);
    bz_arena_release(&p->arena);
    *p = (struct bz_catalog){0};
}

int bz_catalog_revisions(struct bz_catalog *p, struct bz_revisions **out,
                         struct bz_err *err)
{
    struct bz_path path;
    int rc = p->revisions ? 0
                          : bz_path_join(bz_str_from(p->build_dir),
                                         BZ_STR("cache/bitzel.revisions"), &path, err);

    if (rc < 0)
        return rc;
    if (!p->revisions)
        p->revisions = bz_revision_open(path.s, p->refresh);
    *out = p->revisions;
    return 0;
}

struct bz_str bz_catalog_path(const struct bz_catalog *p)
{
    const char *path = bz_environ_find(p->opts.env, "PATH");

    return path ? bz_str_from(path) : BZ_STR("");
}

struct bz_entries *bz_catalog_entries(struct bz_catalog *p)
{
    const char *path = NULL;

    if (p->entries_open)
        return &p->entries;
    if (!p->forget)
        path = bz_arena_printf(&p->arena, "%s/cache/bitzel.catalog", p->build_dir).p;
    bz_entries_open(&p->entries, path, p->opts.format ? p->opts.format : "");
    p->entries_open = true;
    return &p->entries;
}

int bz_catalog_find_mc(struct bz_catalog *p, struct bz_str name,
                       struct bz_catalog_mc **out, struct bz_err *err)
{
    for (size_t i = 0; i < p->mcs.len; i++) {
        *out = &p->mcs.at[i];
        if (bz_str_eq((*out)->name, name))
            return 0;
    }
    return bz_fail(err, BZ_E_NOENT,
                   "no configuration is called '%.*s'; BBMULTICONFIG lists them",
                   BZ_STR_ARG(name));
}

static void add_files(struct bz_buf *key, const char *const *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bz_buf_add(key, files[i], strlen(files[i]) + 1);
    bz_buf_add_char(key, '\0');
}

/* All that the configurations are made from but files: what bz_config_opts has. */
static void make_key(const struct bz_catalog *p, struct bz_buf *key)
{
    bz_buf_add(key, p->build_dir, strlen(p->build_dir) + 1);
    bz_buf_add(key, p->opts.cwd, strlen(p->opts.cwd) + 1);
    add_files(key, p->opts.first, p->opts.nfirst);
    add_files(key, p->opts.last, p->opts.nlast);
    for (size_t i = 0; i < p->env.vars.len; i++) {
        const struct bz_environ_var *var = &p->env.vars.at[i];

        bz_buf_add_str(key, var->name);
        bz_buf_add_char(key, var->value.p ? '=' : '\0');
        bz_buf_add_str(key, var->value);
        bz_buf_add_char(key, '\0');
    }
}

/* Evaluates what has changed. */
static int run_survey(struct bz_catalog *p, const struct bz_survey_memory *memory,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release)
    struct BZ_VEC(struct bz_survey_source) sources = {0};
    struct bz_survey_opts survey = {.sweep = p->sweep, .memory = *memory};
    int rc = bz_catalog_load(p, err);

    for (size_t i = 0; i < p->mcs.len && rc == 0; i++)
        BZ_VEC_PUSH(&sources,
                    (struct bz_survey_source){.mc = p->mcs.at[i].name,
                                              .config = p->mcs.at[i].config,
                                              .layers = &p->layers,
                                              .recipes = &p->mcs.at[i].recipes});
    survey.sources = sources.at;
    survey.nsources = sources.len;
    survey.sweep.library = p->library;
    return rc < 0 ? rc : bz_survey_run(&p->survey, &survey, err);
}

/* The files in which earlier versions remembered the same. */
static void remove_old(const struct bz_catalog *p)
{
    static const struct bz_str names[] = {BZ_STR("cache/bitzel.snapshot"),
                                          BZ_STR("cache/bitzel.idle")};
    struct bz_err err;
    struct bz_path path;

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        if (bz_path_join(bz_str_from(p->build_dir), names[i], &path, &err) < 0 ||
            bz_fs_remove(AT_FDCWD, path.s, &err) < 0)
            bz_log_debug("catalog", "%s", err.msg);
}

int bz_catalog_read(struct bz_catalog *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf key = {0};
    struct bz_survey_memory memory = {.hashing = &p->hashing};
    int rc = prepare(p, err);

    if (rc < 0)
        return rc;
    make_key(p, &key);
    memory.key = bz_buf_str(&key);
    memory.catalog = p->forget ? NULL : bz_catalog_entries(p);
    if (bz_survey_recall(&p->survey, &memory))
        return 0;
    if (!p->forget && !bz_recall_is_open(&p->survey.recall))
        remove_old(p);
    return run_survey(p, &memory, err);
}
