#include "recipe/layer_depend.h"

#include "base/log.h"
#include "base/map.h"
#include "vars/constraint.h"
#include "vars/version.h"

enum { DEEP = 1000 }; /* where BitBake gives up too */

struct resolving {
    struct bz_layers *l;
    struct bz_map index; /* name to its place */
    struct bz_arena arena;
    struct bz_err *err;
    int rc; /* of the last problem */
};

/* Makes room for another problem: BitBake too shows all of them. */
static struct bz_err *next_problem(struct resolving *r)
{
    if (r->rc < 0)
        bz_log_error("layers", "%s", r->err->msg);
    r->rc = BZ_E_INVAL;
    return r->err;
}

static bool fits(struct resolving *r, const struct bz_layer *layer,
                 const struct bz_layer *other, const struct bz_constraint_version *v,
                 bool *wrong)
{
    struct bz_version have, want;
    struct bz_err err;
    bool holds, known = false;
    int rc = bz_version_split(other->version, &have, &err);

    *wrong = true;
    if (rc == 0)
        rc = bz_version_split(v->version, &want, &err);
    if (rc == 0 && bz_str_find_byte(v->version, ' ') != BZ_STR_NONE)
        rc = bz_fail(&err, BZ_E_INVAL, "'%.*s' is not one version",
                     BZ_STR_ARG(v->version));
    if (rc == 0) {
        holds = bz_version_holds(bz_version_compare(&have, &want), v->op, &known);
        *wrong = !known;
        if (known)
            return holds;
        rc = bz_fail(&err, BZ_E_INVAL, "'%.*s' is not an operator here",
                     BZ_STR_ARG(v->op));
    }
    rc =
        bz_fail(next_problem(r), rc, "layer '%.*s' wants a version of layer '%.*s': %s",
                BZ_STR_ARG(layer->name), BZ_STR_ARG(other->name), err.msg);
    (void)rc;
    return false;
}

static void check_version(struct resolving *r, const struct bz_layer *layer,
                          const struct bz_layer *other,
                          const struct bz_constraint_version *v)
{
    bool wrong;

    if (other->version.n == 0)
        (void)bz_fail(next_problem(r), BZ_E_INVAL,
                      "layer '%.*s' depends on layer '%.*s' (%.*s %.*s), which does "
                      "not say its version; use branches of the two that match",
                      BZ_STR_ARG(layer->name), BZ_STR_ARG(other->name),
                      BZ_STR_ARG(v->op), BZ_STR_ARG(v->version));
    else if (!fits(r, layer, other, v, &wrong) && !wrong)
        (void)bz_fail(next_problem(r), BZ_E_INVAL,
                      "layer '%.*s' depends on layer '%.*s' (%.*s %.*s), but that is "
                      "version %.*s; use branches of the two that match",
                      BZ_STR_ARG(layer->name), BZ_STR_ARG(other->name),
                      BZ_STR_ARG(v->op), BZ_STR_ARG(v->version),
                      BZ_STR_ARG(other->version));
}

static void add_needed(struct resolving *r, struct bz_layer *layer,
                       const struct bz_constraint *c)
{
    const struct bz_map_entry *e = bz_map_get(&r->index, c->name);

    if (!e) {
        (void)bz_fail(next_problem(r), BZ_E_INVAL,
                      "layer '%.*s' depends on layer '%.*s', which is not in BBLAYERS",
                      BZ_STR_ARG(layer->name), BZ_STR_ARG(c->name));
        return;
    }
    for (size_t i = 0; i < c->versions.len; i++)
        check_version(r, layer, &r->l->all.at[e->u], &c->versions.at[i]);
    BZ_VEC_PUSH(&layer->below, (size_t)e->u);
}

/* A recommendation is judged by its first version alone. */
static void add_recommended(struct resolving *r, struct bz_layer *layer,
                            const struct bz_constraint *c)
{
    const struct bz_map_entry *e = bz_map_get(&r->index, c->name);
    const struct bz_layer *other = e ? &r->l->all.at[e->u] : NULL;
    bool wrong = false;

    if (!other)
        bz_log_debug("layers", "'%.*s' recommends '%.*s', which is not in BBLAYERS",
                     BZ_STR_ARG(layer->name), BZ_STR_ARG(c->name));
    else if (c->versions.len > 0 &&
             (other->version.n == 0 ||
              !fits(r, layer, other, &c->versions.at[0], &wrong)))
        bz_log_debug("layers", "'%.*s' recommends another version of '%.*s'",
                     BZ_STR_ARG(layer->name), BZ_STR_ARG(c->name));
    else
        BZ_VEC_PUSH(&layer->below, (size_t)e->u);
}

typedef void (*add_fn)(struct resolving *r, struct bz_layer *layer,
                       const struct bz_constraint *c);

static void read_list(struct resolving *r, struct bz_layer *layer, const char *variable,
                      struct bz_str list, add_fn add)
{
    struct bz_constraints names = {0};
    struct bz_err err;

    if (bz_constraint_parse(&r->arena, list, &names, &err) < 0)
        (void)bz_fail(next_problem(r), BZ_E_INVAL, "%s_%.*s: %s", variable,
                      BZ_STR_ARG(layer->name), err.msg);
    else
        for (size_t i = 0; i < names.len; i++)
            add(r, layer, &names.at[i]);
    bz_constraint_release(&names);
}

/* One above the highest of the layers below it. `depth` bounds layers that depend on
 * each other in a circle. */
static int work_out_priority(struct bz_layers *l, struct bz_layer *layer, size_t depth,
                             struct bz_err *err)
{
    int64_t highest = l->least;
    int rc = 0;

    if (layer->has_priority)
        return 0;
    if (depth > l->all.len || depth > DEEP)
        return bz_fail(err, BZ_E_INVAL, "LAYERDEPENDS of layer '%.*s' go in a circle",
                       BZ_STR_ARG(layer->name));
    for (size_t i = 0; i < layer->below.len && rc == 0; i++) {
        struct bz_layer *other = &l->all.at[layer->below.at[i]];

        rc = work_out_priority(l, other, depth + 1, err);
        if (other->priority > highest)
            highest = other->priority;
    }
    layer->priority = highest + 1;
    layer->has_priority = true;
    return rc;
}

int bz_layer_depend_resolve(struct bz_layers *l, struct bz_err *err)
{
    struct resolving r = {.l = l, .err = err};

    for (size_t i = 0; i < l->all.len; i++) {
        struct bz_map_entry *e;
        size_t known = r.index.len;

        e = bz_map_put(&r.index, l->all.at[i].name);
        if (r.index.len == known)
            (void)bz_fail(next_problem(&r), BZ_E_INVAL,
                          "BBFILE_COLLECTIONS has '%.*s' twice; remove one of the two "
                          "layers from BBLAYERS",
                          BZ_STR_ARG(l->all.at[i].name));
        e->u = i;
    }
    for (size_t i = 0; i < l->all.len; i++) {
        struct bz_layer *layer = &l->all.at[i];

        read_list(&r, layer, "LAYERDEPENDS", layer->depends, add_needed);
        read_list(&r, layer, "LAYERRECOMMENDS", layer->recommends, add_recommended);
    }
    for (size_t i = 0; i < l->all.len && r.rc == 0; i++)
        r.rc = work_out_priority(l, &l->all.at[i], 0, err);
    bz_map_release(&r.index);
    bz_arena_release(&r.arena);
    return r.rc;
}
