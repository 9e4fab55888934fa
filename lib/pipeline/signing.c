#include "pipeline/signing.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/path.h"
#include "pipeline/evaluate.h"
#include "sig/files.h"
#include "sig/sign.h"

struct signer {
    struct bz_signing *s;
    struct bz_pipeline *p;
    const struct bz_goal *goal;
    struct bz_digest_hasher *hasher;
    bz_signing_fn fn;
    void *ctx;
    const struct bz_bitset *only; /* NULL: all tasks */
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
        if (!w->only || bz_bitset_test(w->only, t))
            rc = sign_task(w, b, v, t, err);
    return rc;
}

/* Whether any task of a recipe is to be signed. */
static bool wants(const struct signer *w, uint32_t recipe)
{
    const struct bz_tgraph *g = &w->goal->graph;

    return !w->only || bz_bitset_next(w->only, g->recipes[recipe].first) <
                           g->recipes[recipe + 1].first;
}

static int sign_recipe(struct signer *w, uint32_t recipe, struct bz_err *err)
{
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_vars *v;
    int rc;

    if (!wants(w, recipe))
        return 0;
    rc = bz_evaluate_recipe(w->p, w->goal, recipe, &f, &v, err);
    if (rc < 0)
        return rc;
    rc = sign_tasks(w, v, recipe, err);
    if (rc < 0)
        bz_err_wrap(err, "%.*s",
                    BZ_STR_ARG(w->goal->graph.recipes[recipe].facts->path));
    return rc;
}

static int sign_all(struct signer *w, struct bz_err *err)
{
    const struct bz_tgraph *g = &w->goal->graph;
    int rc = 0;

    for (uint32_t r = 0; r < g->nrecipes && rc == 0; r++)
        rc = sign_recipe(w, r, err);
    if (rc == 0 && !w->only)
        bz_sign_graph(&g->dag, &g->order, w->s->base, w->hasher, w->s->keys);
    return rc;
}

static int run(struct signer *w, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct bz_pipeline *p = w->p;
    struct bz_path sums;
    struct bz_err unsaved;
    int rc = bz_pipeline_load(p, err);

    w->s->base = bz_mem_array(w->goal->graph.dag.n, sizeof(*w->s->base));
    w->s->keys = bz_mem_array(w->goal->graph.dag.n, sizeof(*w->s->keys));
    if (rc == 0)
        rc = bz_digest_hasher_new(&hasher, err);
    if (rc == 0)
        rc = bz_path_join(bz_str_from(p->build_dir), BZ_STR("cache/bitzel.sums"), &sums,
                          err);
    if (rc < 0)
        return rc;
    w->hasher = hasher;
    bz_sums_open(&w->sums, p->forget ? NULL : sums.s, hasher);
    rc = sign_all(w, err);
    if (!p->forget && bz_sums_save(&w->sums, sums.s, &unsaved) < 0)
        bz_log_debug("signing", "digests of files are not remembered: %s", unsaved.msg);
    bz_sums_close(&w->sums);
    return rc;
}

int bz_signing_run(struct bz_signing *s, struct bz_pipeline *p,
                   const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                   struct bz_err *err)
{
    struct signer w = {.s = s, .p = p, .goal = goal, .fn = fn, .ctx = ctx};

    return run(&w, err);
}

int bz_signing_show(struct bz_pipeline *p, const struct bz_goal *goal,
                    const struct bz_bitset *tasks, bz_signing_fn fn, void *ctx,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_signing_release) struct bz_signing s = {0};
    struct signer w = {
        .s = &s, .p = p, .goal = goal, .only = tasks, .fn = fn, .ctx = ctx};

    return run(&w, err);
}

void bz_signing_release(struct bz_signing *s)
{
    free(s->base);
    free(s->keys);
    *s = (struct bz_signing){0};
}
