#include "pipeline/signing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sig/sign.h"

struct signer {
    struct bz_signing *s;
    struct bz_pipeline *p;
    const struct bz_goal *goal;
    struct bz_digest_hasher *hasher;
    bz_signing_fn fn;
    void *ctx;
};

static int sign_tasks(struct signer *w, struct bz_vars *v, uint32_t recipe,
                      struct bz_err *err)
{
    const struct bz_tgraph *g = &w->goal->graph;
    BZ_CLEANUP(bz_base_freep) struct bz_base *b = NULL;
    int rc = bz_base_new(v, w->hasher, &b, err);

    for (uint32_t t = g->recipes[recipe].first;
         rc == 0 && t < g->recipes[recipe + 1].first; t++) {
        BZ_CLEANUP(bz_vec_release) struct bz_base_inputs inputs = {0};
        BZ_CLEANUP(bz_vec_release) struct bz_base_files files = {0};
        struct bz_signing_view view = {&inputs, v, &files};

        rc = bz_base_task(b, g->tasks[t].facts->name, &w->s->base[t],
                          w->fn ? &inputs : NULL, err);
        if (rc == 0 && w->fn)
            w->fn(w->ctx, t, &view);
    }
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

int bz_signing_run(struct bz_signing *s, struct bz_pipeline *p,
                   const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    const struct bz_tgraph *g = &goal->graph;
    struct signer w = {s, p, goal, NULL, fn, ctx};
    int rc = bz_pipeline_load(p, err);

    if (rc == 0)
        rc = bz_digest_hasher_new(&hasher, err);
    w.hasher = hasher;
    s->base = bz_mem_array(g->dag.n, sizeof(*s->base));
    s->keys = bz_mem_array(g->dag.n, sizeof(*s->keys));
    for (uint32_t r = 0; r < g->nrecipes && rc == 0; r++)
        rc = sign_recipe(&w, r, err);
    if (rc == 0)
        bz_sign_graph(&g->dag, &g->order, s->base, hasher, s->keys);
    return rc;
}

void bz_signing_release(struct bz_signing *s)
{
    free(s->base);
    free(s->keys);
    *s = (struct bz_signing){0};
}
