#include "graph/need.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void bz_need_init(struct bz_need *n, struct bz_provide **provide, size_t nparts)
{
    *n = (struct bz_need){.nparts = nparts};
    n->parts = bz_mem_array(nparts, sizeof(*n->parts));
    for (size_t i = 0; i < nparts; i++) {
        size_t nfacts = provide[i]->nfacts;

        n->parts[i].provide = provide[i];
        n->parts[i].recipe_of = bz_mem_array(nfacts, sizeof(uint32_t));
        for (size_t k = 0; k < nfacts; k++)
            n->parts[i].recipe_of[k] = BZ_NEED_NONE;
    }
}

void bz_need_release(struct bz_need *n)
{
    for (size_t i = 0; i < n->nparts; i++) {
        for (int kind = 0; kind < 2; kind++)
            bz_map_release(&n->parts[i].names[kind]);
        free(n->parts[i].recipe_of);
    }
    for (size_t i = 0; i < n->names.len; i++) {
        bz_vec_release(&n->names.at[i].needers);
        bz_prefer_release(&n->names.at[i].choice);
    }
    free(n->parts);
    bz_vec_release(&n->recipes);
    bz_vec_release(&n->names);
    bz_arena_release(&n->arena);
    *n = (struct bz_need){0};
}

/* ---- what a recipe asks for ---- */

typedef int (*need_fn)(void *ctx, struct bz_str name, enum bz_provide_kind kind,
                       const char *where, struct bz_err *err);

static int each_word(struct bz_str words, enum bz_provide_kind kind, const char *where,
                     need_fn fn, void *ctx, struct bz_err *err)
{
    struct bz_str word;
    int rc = 0;

    while (rc == 0 && bz_str_next_word(&words, &word))
        rc = fn(ctx, word, kind, where, err);
    return rc;
}

/* The names in "recipe:task recipe:task". */
static int each_pair(const struct bz_facts *facts, const struct bz_facts_task *task,
                     enum bz_provide_kind kind, need_fn fn, void *ctx,
                     struct bz_err *err)
{
    const char *flag = kind == BZ_PROVIDE_BUILD ? "depends" : "rdepends";
    struct bz_str words = kind == BZ_PROVIDE_BUILD ? task->depends : task->rdepends;
    struct bz_str word, name, rest;
    int rc = 0;

    while (rc == 0 && bz_str_next_word(&words, &word)) {
        char where[80];

        if (!bz_str_cut(word, ':', &name, &rest) ||
            bz_str_find_byte(rest, ':') != BZ_STR_NONE)
            return bz_fail(err, BZ_E_INVAL,
                           "%.*s: %.*s[%s]: '%.*s' is not of the form RECIPE:TASK",
                           BZ_STR_ARG(facts->path), BZ_STR_ARG(task->name), flag,
                           BZ_STR_ARG(word));
        (void)snprintf(where, sizeof(where), "%.*s[%s]", BZ_STR_ARG(task->name), flag);
        rc = fn(ctx, name, kind, where, err);
    }
    return rc;
}

/* Calls fn for each name that a recipe asks for, with where it says so: "DEPENDS",
 * "RDEPENDS", "do_x[depends]"... */
static int each_need(const struct bz_facts *facts, need_fn fn, void *ctx,
                     struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < facts->ntasks && rc == 0; i++) {
        rc = each_pair(facts, &facts->tasks[i], BZ_PROVIDE_BUILD, fn, ctx, err);
        if (rc == 0)
            rc = each_pair(facts, &facts->tasks[i], BZ_PROVIDE_RUNTIME, fn, ctx, err);
    }
    if (rc == 0)
        rc = each_word(facts->depends, BZ_PROVIDE_BUILD, "DEPENDS", fn, ctx, err);
    /* What a recipe says of all its packages counts if it has any. */
    if (rc == 0 && facts->npackages > 0)
        rc = each_word(facts->rdepends, BZ_PROVIDE_RUNTIME, "RDEPENDS", fn, ctx, err);
    if (rc == 0 && facts->npackages > 0)
        rc = each_word(facts->rrecommends, BZ_PROVIDE_RUNTIME, "RRECOMMENDS", fn, ctx,
                       err);
    for (size_t i = 0; i < facts->npackages && rc == 0; i++) {
        const struct bz_facts_package *p = &facts->packages[i];

        rc = each_word(p->rdepends, BZ_PROVIDE_RUNTIME, "RDEPENDS", fn, ctx, err);
        if (rc == 0)
            rc = each_word(p->rrecommends, BZ_PROVIDE_RUNTIME, "RRECOMMENDS", fn, ctx,
                           err);
    }
    return rc;
}

/* ---- names ---- */

static uint32_t look_up(const struct bz_need *n, uint32_t part, struct bz_str name,
                        enum bz_provide_kind kind)
{
    const struct bz_map_entry *e = bz_map_get(&n->parts[part].names[kind], name);

    return e ? (uint32_t)e->u - 1 : BZ_NEED_NONE;
}

const struct bz_need_name *bz_need_find(const struct bz_need *n, uint32_t part,
                                        struct bz_str name, enum bz_provide_kind kind)
{
    uint32_t i = look_up(n, part, name, kind);

    return i == BZ_NEED_NONE ? NULL : &n->names.at[i];
}

uint32_t bz_need_provider(const struct bz_need *n, uint32_t part, struct bz_str name,
                          enum bz_provide_kind kind)
{
    const struct bz_need_name *x = bz_need_find(n, part, name, kind);

    if (!x || x->assumed || x->failed || x->current >= x->choice.eligible.len)
        return BZ_NEED_NONE;
    return n->parts[part].recipe_of[x->choice.eligible.at[x->current]];
}

/* What is still to be done; recursion would be as deep as the longest chain. */
struct work {
    struct bz_need *n;
    struct bz_need_ids recipes; /* taken, but not asked for their needs */
    struct bz_need_ids failed;  /* names */
    uint32_t asking;            /* the recipe whose needs are being read */
};

/* The provider that a name has now is needed. */
static void take_provider(struct work *w, uint32_t name)
{
    struct bz_need_name *x = &w->n->names.at[name];
    uint32_t fact = x->choice.eligible.at[x->current];
    uint32_t *recipe = &w->n->parts[x->part].recipe_of[fact];

    if (*recipe != BZ_NEED_NONE)
        return;
    *recipe = (uint32_t)w->n->recipes.len;
    BZ_VEC_PUSH(&w->n->recipes,
                (struct bz_need_recipe){
                    x->part, &w->n->parts[x->part].provide->facts[fact], BZ_NEED_NONE});
    BZ_VEC_PUSH(&w->recipes, *recipe);
}

static bool has_failed(const struct bz_need *n, const struct bz_need_name *x, size_t i)
{
    uint32_t recipe = n->parts[x->part].recipe_of[x->choice.eligible.at[i]];

    return recipe != BZ_NEED_NONE && n->recipes.at[recipe].failed_for != BZ_NEED_NONE;
}

/* Goes on to the first provider that has not failed. */
static void settle_name(struct work *w, uint32_t name)
{
    struct bz_need_name *x = &w->n->names.at[name];

    if (x->assumed || x->failed)
        return;
    while (x->current < x->choice.eligible.len && has_failed(w->n, x, x->current))
        x->current++;
    if (x->current < x->choice.eligible.len) {
        take_provider(w, name);
        return;
    }
    x->failed = true;
    BZ_VEC_PUSH(&w->failed, name);
}

static int new_name(struct work *w, uint32_t part, struct bz_str text,
                    enum bz_provide_kind kind, uint32_t *out, struct bz_err *err)
{
    struct bz_need *n = w->n;
    struct bz_need_name x = {.text = bz_arena_dup(&n->arena, text), .part = part};
    int rc;

    x.kind = kind;
    x.assumed = bz_provide_assumed(n->parts[part].provide, text);
    if (!x.assumed) {
        rc = bz_prefer_choose(n->parts[part].provide, kind, text, &x.choice, err);
        /* Settings that contradict each other about a run time name leave it without a
         * provider, as they do in BitBake. */
        if (rc < 0) {
            bz_prefer_release(&x.choice);
            if (rc != BZ_E_NOENT && (rc != BZ_E_INVAL || kind == BZ_PROVIDE_BUILD))
                return rc;
            x.problem = bz_arena_dup(&n->arena, bz_str_from(err->msg));
        }
    }
    *out = (uint32_t)n->names.len;
    BZ_VEC_PUSH(&n->names, x);
    bz_map_put(&n->parts[part].names[kind], x.text)->u = n->names.len;
    settle_name(w, *out);
    return 0;
}

static int ask(void *ctx, struct bz_str text, enum bz_provide_kind kind,
               const char *where, struct bz_err *err)
{
    struct work *w = ctx;
    uint32_t part = w->n->recipes.at[w->asking].part;
    uint32_t name = look_up(w->n, part, text, kind);
    struct bz_need_name *x;
    int rc = 0;

    (void)where;
    if (name == BZ_NEED_NONE)
        rc = new_name(w, part, text, kind, &name, err);
    if (rc < 0)
        return rc;
    x = &w->n->names.at[name];
    if (x->needers.len == 0 || BZ_VEC_LAST(&x->needers) != w->asking)
        BZ_VEC_PUSH(&x->needers, w->asking);
    if (x->failed)
        BZ_VEC_PUSH(&w->failed, name); /* the newcomer has to hear of it */
    return 0;
}

static void fail_recipe(struct work *w, uint32_t recipe, uint32_t for_name)
{
    struct bz_need *n = w->n;

    if (n->recipes.at[recipe].failed_for != BZ_NEED_NONE)
        return;
    n->recipes.at[recipe].failed_for = for_name;
    /* Every name that it was taken for needs another provider. */
    for (uint32_t i = 0; i < n->names.len; i++) {
        const struct bz_need_name *x = &n->names.at[i];

        if (!x->failed && !x->assumed && x->part == n->recipes.at[recipe].part &&
            x->current < x->choice.eligible.len && has_failed(n, x, x->current))
            settle_name(w, i);
    }
}

static void fail_needers(struct work *w, uint32_t name)
{
    struct bz_need *n = w->n;

    for (size_t i = 0; i < n->names.at[name].needers.len; i++)
        fail_recipe(w, n->names.at[name].needers.at[i], name);
}

static int work_off(struct work *w, struct bz_err *err)
{
    struct bz_need *n = w->n;
    uint32_t name;
    int rc = 0;

    while (rc == 0 && (w->recipes.len > 0 || w->failed.len > 0)) {
        if (w->recipes.len > 0) {
            w->asking = BZ_VEC_POP(&w->recipes);
            rc = each_need(n->recipes.at[w->asking].facts, ask, w, err);
            continue;
        }
        name = BZ_VEC_POP(&w->failed);
        if (!n->incomplete || n->names.at[name].kind == BZ_PROVIDE_RUNTIME)
            fail_needers(w, name);
    }
    return rc;
}

int bz_need_add(struct bz_need *n, uint32_t part, struct bz_str name,
                enum bz_provide_kind kind, struct bz_err *err)
{
    struct work w = {.n = n};
    uint32_t i = look_up(n, part, name, kind);
    int rc = 0;

    if (i == BZ_NEED_NONE)
        rc = new_name(&w, part, name, kind, &i, err);
    if (rc == 0)
        n->names.at[i].target = true;
    if (rc == 0)
        rc = work_off(&w, err);
    bz_vec_release(&w.recipes);
    bz_vec_release(&w.failed);
    return rc;
}

/* Where a recipe asks for a name. */
struct asked {
    struct bz_str name;
    enum bz_provide_kind kind;
    char where[80];
};

static int note_where(void *ctx, struct bz_str name, enum bz_provide_kind kind,
                      const char *where, struct bz_err *err)
{
    struct asked *a = ctx;

    (void)err;
    if (kind == a->kind && a->where[0] == '\0' && bz_str_eq(name, a->name))
        (void)snprintf(a->where, sizeof(a->where), "%s", where);
    return 0;
}

struct bz_str bz_need_explain(const struct bz_need *n,
                              const struct bz_need_name *target, struct bz_buf *out)
{
    const struct bz_need_name *x = target;

    /* The last provider that was tried failed for another name, and so on; a name
     * fails after those it fails for, so this ends. */
    while (x->choice.eligible.len > 0) {
        size_t last = x->choice.eligible.len - 1;
        uint32_t recipe = n->parts[x->part].recipe_of[x->choice.eligible.at[last]];
        const struct bz_need_recipe *r = &n->recipes.at[recipe];
        struct asked a;
        struct bz_err err;

        x = &n->names.at[r->failed_for];
        a = (struct asked){.name = x->text, .kind = x->kind};
        if (each_need(r->facts, note_where, &a, &err) < 0)
            a.where[0] = '\0'; /* it went well before */
        bz_buf_addf(out, "  %.*s needs %.*s: %s in %.*s\n", BZ_STR_ARG(r->facts->pn),
                    BZ_STR_ARG(x->text), a.where, BZ_STR_ARG(r->facts->path));
    }
    return x->problem;
}
