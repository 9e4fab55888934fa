#include "sig/sourcing.h"

#include "recipe/runscript.h"
#include "sig/signing.h"

static int read_var(void *ctx, struct bz_str name, struct bz_str flag,
                    struct bz_str *out, struct bz_err *err)
{
    struct bz_vars *vars = ctx;

    return flag.p ? bz_vars_get_flag(vars, name, flag, 0, out, err)
                  : bz_vars_get(vars, name, 0, out, err);
}

int bz_sourcing_read(struct bz_vars *vars, const struct bz_fetch_opts *opts,
                     struct bz_fetch **out, struct bz_err *err)
{
    struct bz_fetch_opts own = *opts;
    struct bz_str text = {0};
    int rc = bz_vars_get(vars, BZ_STR("SRC_URI"), 0, &text, err);

    own.vars = (struct bz_policy_vars){read_var, vars};
    return rc < 0 ? rc : bz_fetch_open(&own, text, out, err);
}

int bz_sourcing_open(struct bz_sourcing *s, struct bz_catalog *p,
                     const struct bz_goal *goal, uint32_t recipe, const char *task,
                     const struct bz_fetch_opts *opts, struct bz_err *err)
{
    struct bz_fetch_opts own = *opts;
    const struct bz_tgraph_recipe *r = &goal->graph.recipes[recipe];
    int rc = s->signing
                 ? bz_signing_recipe(s->signing, p, goal, recipe, &s->recipe, err)
                 : bz_evaluate_recipe(p, r->part, r->facts, &s->recipe, err);

    if (rc == 0) {
        s->vars = bz_vars_new(s->recipe.vars);
        rc = bz_runscript_enter(s->vars, bz_str_from(task), bz_catalog_path(p), err);
    }
    if (rc == 0)
        rc = bz_catalog_revisions(p, &own.revisions, err);
    if (rc == 0)
        rc = bz_sourcing_read(s->vars, &own, &s->fetch, err);
    return rc < 0 ? bz_err_wrap(err, "%.*s",
                                BZ_STR_ARG(goal->graph.recipes[recipe].facts->path))
                  : 0;
}

void bz_sourcing_close(struct bz_sourcing *s)
{
    bz_fetch_close(s->fetch);
    bz_vars_free(s->vars);
    bz_evaluate_release(&s->recipe);
    *s = (struct bz_sourcing){0};
}

void bz_sourcing_list(const struct bz_goal *goal, bool only, struct bz_dag_ids *out)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset wanted = {0};
    const struct bz_tgraph *g = &goal->graph;

    for (size_t i = 0; i < g->targets.len; i++)
        bz_bitset_set(&wanted, g->tasks[g->targets.at[i]].recipe);
    for (uint32_t r = 0; r < g->nrecipes; r++)
        if ((!only || bz_bitset_test(&wanted, r)) &&
            bz_tgraph_find(g, r, BZ_STR("do_fetch")) != BZ_NEED_NONE)
            BZ_VEC_PUSH(out, r);
}
