#include "pipeline/signing.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/path.h"
#include "sig/files.h"
#include "sig/sign.h"

struct signer {
    struct bz_signing *s;
    struct bz_pipeline *p;
    const struct bz_goal *goal;
    struct bz_digest_hasher *hasher;
    bz_signing_fn fn;
    void *ctx;
    struct bz_sums sums;
};

static int sign_task(struct signer *w, struct bz_base *b, struct bz_vars *v, uint32_t t,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_base_inputs inputs = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    struct bz_signing_view view = {&inputs, v, &files};
    struct bz_str task = w->goal->graph.tasks[t].facts->name;
    int rc = bz_base_task(b, task, &w->s->base[t], w->fn ? &inputs : NULL, err);

    if (rc == 0)
        rc = bz_files_of(v, task, &list, err);
    if (rc == 0)
        rc = bz_files_read(bz_buf_str(&list), &w->sums, &arena, &files, err);
    if (rc < 0)
        return rc;
    bz_base_add_files(w->hasher, &files, &w->s->base[t]);
    if (w->fn)
        w->fn(w->ctx, t, &view);
    return 0;
}

static int sign_tasks(struct signer *w, struct bz_vars *v, uint32_t recipe,
                      struct bz_err *err)
{
    const struct bz_tgraph *g = &w->goal->graph;
    BZ_CLEANUP(bz_base_freep) struct bz_base *b = NULL;
    int rc = bz_base_new(v, w->hasher, &b, err);

    for (uint32_t t = g->recipes[recipe].first;
         rc == 0 && t < g->recipes[recipe + 1].first; t++)
        rc = sign_task(w, b, v, t, err);
    return rc;
}

static struct bz_vars *find_variant(const struct bz_finalize *f, struct bz_str name)
{
    for (size_t i = 0; i < f->variants.len; i++)
        if (bz_str_eq(f->variants.at[i].name, name))
            return f->variants.at[i].meta->vars;
    return NULL;
}

static int sign_recipe(struct signer *w, uint32_t recipe, struct bz_err *err)
{
    const struct bz_tgraph_recipe *r = &w->goal->graph.recipes[recipe];
    struct bz_pipeline_mc *mc = &w->p->mcs.at[r->part];
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    struct bz_finalize_opts opts = {.path = r->facts->path,
                                    .layer = r->facts->layer,
                                    .appends = &appends,
                                    .only = r->facts->variant};
    struct bz_vars *v;
    int rc;

    bz_collect_appends(&mc->recipes, r->facts->path, &appends);
    rc = bz_finalize_recipe(mc->config, w->p->library, &opts, &f, err);
    if (rc < 0)
        return rc;
    v = find_variant(f, r->facts->variant);
    if (!v)
        return bz_fail(err, BZ_E_BUSY, "%.*s changed while it was read; try again",
                       BZ_STR_ARG(r->facts->path));
    rc = sign_tasks(w, v, recipe, err);
    return rc < 0 ? bz_err_wrap(err, "%.*s", BZ_STR_ARG(r->facts->path)) : rc;
}

static int sign_all(struct signer *w, struct bz_err *err)
{
    const struct bz_tgraph *g = &w->goal->graph;
    int rc = 0;

    for (uint32_t r = 0; r < g->nrecipes && rc == 0; r++)
        rc = sign_recipe(w, r, err);
    if (rc == 0)
        bz_sign_graph(&g->dag, &g->order, w->s->base, w->hasher, w->s->keys);
    return rc;
}

int bz_signing_run(struct bz_signing *s, struct bz_pipeline *p,
                   const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct signer w = {.s = s, .p = p, .goal = goal, .fn = fn, .ctx = ctx};
    struct bz_path sums;
    struct bz_err unsaved;
    int rc = bz_pipeline_load(p, err);

    s->base = bz_mem_array(goal->graph.dag.n, sizeof(*s->base));
    s->keys = bz_mem_array(goal->graph.dag.n, sizeof(*s->keys));
    if (rc == 0)
        rc = bz_digest_hasher_new(&hasher, err);
    if (rc == 0)
        rc = bz_path_join(bz_str_from(p->build_dir), BZ_STR("cache/bitzel.sums"), &sums,
                          err);
    if (rc < 0)
        return rc;
    w.hasher = hasher;
    bz_sums_open(&w.sums, p->forget ? NULL : sums.s, hasher);
    rc = sign_all(&w, err);
    if (!p->forget && bz_sums_save(&w.sums, sums.s, &unsaved) < 0)
        bz_log_debug("signing", "digests of files are not remembered: %s", unsaved.msg);
    bz_sums_close(&w.sums);
    return rc;
}

void bz_signing_release(struct bz_signing *s)
{
    free(s->base);
    free(s->keys);
    *s = (struct bz_signing){0};
}
