#include "pipeline/pipeline.h"

#include <stdlib.h>

#include "os/path.h"
#include "project/buildconf.h"

int bz_pipeline_open(struct bz_pipeline *p, const struct bz_pipeline_opts *opts,
                     struct bz_err *err)
{
    struct bz_path dir;
    struct bz_config_opts config = {0};
    struct bz_buildconf_hints hints = {opts->start, opts->builddir, opts->bbpath};
    int rc = bz_buildconf_find(&hints, &dir, err);

    if (rc < 0)
        return rc;
    config.build_dir = bz_path_str(&dir);
    config.bbpath = opts->bbpath ? bz_str_from(opts->bbpath) : (struct bz_str){0};
    p->library = bz_library_new();
    rc = bz_config_load(p->library, &config, &p->config, err);
    if (rc == 0)
        rc = bz_layer_read(&p->layers, p->config, err);
    if (rc == 0)
        rc = bz_collect_read(&p->recipes, p->config, &p->layers, err);
    return rc;
}

void bz_pipeline_close(struct bz_pipeline *p)
{
    bz_collect_release(&p->recipes);
    bz_layer_release(&p->layers);
    bz_meta_free(p->config);
    bz_library_free(p->library);
    *p = (struct bz_pipeline){0};
}

/* What a recipe's file name says it is called: up to the first '_', or to
 * ".bb". */
static struct bz_str stem(struct bz_str path)
{
    struct bz_str name = bz_path_basename(path), head, tail;

    bz_str_cut_suffix(&name, BZ_STR(".bb"));
    bz_str_cut(name, '_', &head, &tail);
    return head;
}

/* The variant of an evaluated recipe whose PN is `name`, or NULL. */
static int find_variant(struct bz_finalize *f, struct bz_str name, struct bz_meta **out,
                        struct bz_err *err)
{
    *out = NULL;
    for (size_t i = 0; i < f->variants.len; i++) {
        struct bz_str pn;
        int rc = bz_vars_get(f->variants.at[i].meta->vars, BZ_STR("PN"), 0, &pn, err);

        if (rc < 0)
            return rc;
        if (bz_str_eq(pn, name))
            *out = f->variants.at[i].meta;
    }
    return 0;
}

static int try_recipe(struct bz_pipeline *p, const struct bz_collect_recipe *r,
                      struct bz_str name, struct bz_finalize **out,
                      struct bz_meta **meta, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = r->path, .appends = &appends};
    int rc;

    if (r->layer)
        opts.layer = r->layer->name;
    bz_collect_appends(&p->recipes, r->path, &appends);
    rc = bz_finalize_recipe(p->config, p->library, &opts, &f, err);
    if (rc == 0)
        rc = find_variant(f, name, meta, err);
    if (rc == 0 && *meta) {
        *out = f;
        f = NULL; /* the caller owns it now */
    }
    return rc;
}

int bz_pipeline_recipe(struct bz_pipeline *p, struct bz_str name,
                       struct bz_finalize **out, struct bz_meta **meta,
                       struct bz_err *err)
{
    /* Recipes whose file names fit come first, the strongest layer's before the
     * others; a variant's name has the recipe's as a part. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = p->recipes.recipes.len; i-- > 0;) {
            const struct bz_collect_recipe *r = &p->recipes.recipes.at[i];
            struct bz_str s = stem(r->path);
            int rc;

            if (r->hidden || (pass == 0) != bz_str_eq(s, name))
                continue;
            if (pass == 1 && bz_str_find(name, s) == BZ_STR_NONE)
                continue;
            rc = try_recipe(p, r, name, out, meta, err);
            if (rc < 0 || *meta)
                return rc;
        }
    }
    return bz_fail(err, BZ_E_NOENT, "no recipe is called '%.*s'", BZ_STR_ARG(name));
}

int bz_pipeline_survey(struct bz_pipeline *p, struct bz_survey *out, struct bz_err *err)
{
    struct bz_survey_source source = {.mc = BZ_STR(""),
                                      .config = p->config,
                                      .layers = &p->layers,
                                      .recipes = &p->recipes};

    return bz_survey_run(out, &source, 1, p->library, err);
}
