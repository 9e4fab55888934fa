#include "graph/pick.h"

#include "base/log.h"
#include "base/near.h"
#include "graph/prefer.h"
#include "os/path.h"

/* An evaluated recipe, one of whose variants has the name. */
struct found {
    struct bz_finalize *f;
    struct bz_meta *meta;
};

struct picking {
    const struct bz_pick_from *from;
    struct bz_str name;
    struct bz_facts_keep keep;
    struct picking_facts BZ_VEC(struct bz_facts) facts;
    struct picking_found BZ_VEC(struct found) found; /* as facts */
    struct bz_err failure;                           /* of the strongest that failed */
    int failed;
};

/* What a recipe's file name says it is called: up to the first '_', or to ".bb". */
static struct bz_str stem(struct bz_str path)
{
    struct bz_str name = bz_path_basename(path), head, tail;

    bz_str_cut_suffix(&name, BZ_STR(".bb"));
    bz_str_cut(name, '_', &head, &tail);
    return head;
}

/* The last variant of that name counts, as the last file of a name does. */
static int find_variant(struct bz_finalize *f, struct bz_str name,
                        const struct bz_finalize_variant **out, struct bz_err *err)
{
    *out = NULL;
    for (size_t i = 0; i < f->variants.len; i++) {
        struct bz_str pn;
        int rc = bz_vars_get(f->variants.at[i].meta->vars, BZ_STR("PN"), 0, &pn, err);

        if (rc < 0)
            return rc;
        if (bz_str_eq(pn, name))
            *out = &f->variants.at[i];
    }
    return 0;
}

static int try_recipe(struct picking *p, const struct bz_collect_recipe *r,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = r->path, .appends = &appends};
    struct bz_facts facts = {.path = r->path};
    const struct bz_finalize_variant *variant = NULL;
    int rc;

    if (r->layer) {
        opts.layer = facts.layer = r->layer->name;
        facts.priority = r->layer->priority;
    }
    bz_collect_appends(p->from->recipes, r->path, &appends);
    rc = bz_finalize_recipe(p->from->config, p->from->library, &opts, &f, err);
    if (rc == 0)
        rc = find_variant(f, p->name, &variant, err);
    if (rc < 0 || !variant)
        return rc;
    facts.variant = variant->name;
    rc = bz_facts_of(&p->keep, variant->meta, &facts, err);
    if (rc < 0)
        return bz_err_wrap(err, "%.*s", BZ_STR_ARG(r->path));
    BZ_VEC_PUSH(&p->facts, facts);
    BZ_VEC_PUSH(&p->found, (struct found){f, variant->meta});
    f = NULL; /* it is kept */
    return 0;
}

/* Recipes whose file has the very name, or those whose file's name is a part of it, as
 * that of a variant is. */
static void try_recipes(struct picking *p, bool itself)
{
    for (size_t i = 0; i < p->from->recipes->recipes.len; i++) {
        const struct bz_collect_recipe *r = &p->from->recipes->recipes.at[i];
        struct bz_str s = stem(r->path);
        struct bz_err err;

        if (bz_str_eq(s, p->name) != itself || bz_str_find(p->name, s) == BZ_STR_NONE)
            continue;
        if (try_recipe(p, r, &err) < 0) {
            p->failure = err;
            p->failed = err.code;
        }
    }
}

static int no_recipe(const struct picking *p, struct bz_err *err)
{
    struct bz_near near;
    char hint[120];

    bz_near_init(&near, p->name);
    for (size_t i = 0; i < p->from->recipes->recipes.len; i++)
        bz_near_offer(&near, stem(p->from->recipes->recipes.at[i].path));
    return bz_fail(err, BZ_E_NOENT, "no recipe is called '%.*s'%s",
                   p->name.n > 60 ? 60 : bz_str_width(p->name), p->name.p,
                   bz_near_text(&near, "", hint, sizeof(hint)));
}

static void show_notes(const struct bz_provide *all)
{
    for (size_t i = 0; i < all->notes.len; i++)
        if (all->notes.at[i].warning)
            bz_log_warn("recipes", "%.*s", BZ_STR_ARG(all->notes.at[i].text));
}

static int choose(struct picking *p, struct bz_finalize **out, struct bz_meta **meta,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_provide_freep) struct bz_provide *all = NULL;
    struct bz_prefer_best best = {0};
    int rc =
        bz_provide_new(p->facts.at, p->facts.len, p->from->config->vars, &all, err);

    if (rc == 0)
        rc = bz_prefer_best(all, p->name, &best, err);
    if (all)
        show_notes(all);
    if (rc < 0)
        return rc;
    if (best.preferred == BZ_PREFER_NONE)
        return bz_fail(err, BZ_E_NOENT,
                       "no recipe called '%.*s' has the version that REQUIRED_VERSION "
                       "asks for",
                       BZ_STR_ARG(p->name));
    *out = p->found.at[best.preferred].f;
    *meta = p->found.at[best.preferred].meta;
    p->found.at[best.preferred].f = NULL; /* the caller owns it now */
    return 0;
}

int bz_pick_recipe(const struct bz_pick_from *from, struct bz_str name,
                   struct bz_finalize **out, struct bz_meta **meta, struct bz_err *err)
{
    struct picking p = {.from = from, .name = name};
    int rc;

    try_recipes(&p, true);
    if (p.facts.len == 0 && !p.failed)
        try_recipes(&p, false);
    if (p.facts.len > 0) {
        if (p.failed)
            bz_log_warn("recipes", "%s", p.failure.msg);
        rc = choose(&p, out, meta, err);
    } else if (p.failed) {
        *err = p.failure;
        rc = p.failed;
    } else {
        rc = no_recipe(&p, err);
    }
    for (size_t i = 0; i < p.found.len; i++)
        bz_finalize_free(p.found.at[i].f);
    bz_vec_release(&p.found);
    bz_vec_release(&p.facts);
    bz_facts_release(&p.keep);
    return rc;
}
