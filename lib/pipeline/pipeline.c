#include "pipeline/pipeline.h"

#include <stdlib.h>

#include "graph/pick.h"
#include "project/buildconf.h"

/* Reads one configuration and collects its recipes. */
static int open_mc(struct bz_pipeline *p, struct bz_config_opts *opts,
                   struct bz_str name, struct bz_err *err)
{
    struct bz_pipeline_mc *mc;
    int rc;

    BZ_VEC_PUSH(&p->mcs, (struct bz_pipeline_mc){.name = name});
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

static int open_mcs(struct bz_pipeline *p, struct bz_config_opts *opts,
                    struct bz_err *err)
{
    struct bz_pipeline_mc *mc;
    struct bz_str list, name;
    int rc = open_mc(p, opts, BZ_STR(""), err);

    if (rc == 0)
        rc = bz_config_multi(p->mcs.at[0].config, &list, err);
    while (rc == 0 && bz_str_next_word(&list, &name)) {
        struct bz_err unused;

        if (bz_pipeline_find_mc(p, name, &mc, &unused) < 0)
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

static void read_environment(struct bz_pipeline *p, const char *const *env)
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

int bz_pipeline_find(struct bz_pipeline *p, const struct bz_pipeline_opts *opts,
                     struct bz_err *err)
{
    struct bz_locate_hints hints = {.cwd = opts->cwd, .option = opts->project};
    struct bz_kas_options kas = {.cwd = opts->cwd,
                                 .env = opts->env,
                                 .ignore_locks = opts->ignore_locks,
                                 .notes = opts->notes};
    int rc = bz_environ_check(opts->env, err);

    if (rc < 0)
        return rc;
    read_environment(p, opts->env);
    hints.variable = bz_environ_find(opts->env, "BITZEL_PROJECT");
    hints.builddir = bz_environ_find(opts->env, "BUILDDIR");
    hints.bbpath = bz_environ_get(&p->env, BZ_STR("BBPATH")).p;
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

int bz_pipeline_open(struct bz_pipeline *p, const struct bz_pipeline_opts *opts,
                     struct bz_err *err)
{
    struct bz_config_opts config = {.env = &p->env,
                                    .cwd = bz_str_from(opts->cwd),
                                    .first = opts->first,
                                    .nfirst = opts->nfirst,
                                    .last = opts->last,
                                    .nlast = opts->nlast};
    int rc = bz_pipeline_find(p, opts, err);

    if (rc == 0 && p->kas)
        rc = bz_kas_require(p->kas, err);
    if (rc == 0 && p->kas)
        rc = bz_buildconf_write(p->kas, err);
    if (rc < 0)
        return rc;
    config.build_dir = bz_str_from(p->build_dir);
    p->library = bz_library_new();
    return open_mcs(p, &config, err);
}

void bz_pipeline_close(struct bz_pipeline *p)
{
    for (size_t i = 0; i < p->mcs.len; i++) {
        bz_collect_release(&p->mcs.at[i].recipes);
        bz_meta_free(p->mcs.at[i].config);
    }
    bz_vec_release(&p->mcs);
    bz_layer_release(&p->layers);
    bz_library_free(p->library);
    bz_environ_release(&p->env);
    bz_kas_free(p->kas);
    bz_arena_release(&p->arena);
    *p = (struct bz_pipeline){0};
}

int bz_pipeline_find_mc(struct bz_pipeline *p, struct bz_str name,
                        struct bz_pipeline_mc **out, struct bz_err *err)
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

int bz_pipeline_recipe(struct bz_pipeline *p, struct bz_pipeline_mc *mc,
                       struct bz_str name, struct bz_finalize **out,
                       struct bz_meta **meta, struct bz_err *err)
{
    struct bz_pick_from from = {mc->config, p->library, &mc->recipes};

    return bz_pick_recipe(&from, name, out, meta, err);
}

int bz_pipeline_survey(struct bz_pipeline *p, struct bz_survey *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release)
    struct BZ_VEC(struct bz_survey_source) sources = {0};
    struct bz_survey_opts survey = {.sweep = p->sweep};

    for (size_t i = 0; i < p->mcs.len; i++)
        BZ_VEC_PUSH(&sources,
                    (struct bz_survey_source){.mc = p->mcs.at[i].name,
                                              .config = p->mcs.at[i].config,
                                              .layers = &p->layers,
                                              .recipes = &p->mcs.at[i].recipes});
    survey.sources = sources.at;
    survey.nsources = sources.len;
    survey.sweep.library = p->library;
    return bz_survey_run(out, &survey, err);
}
