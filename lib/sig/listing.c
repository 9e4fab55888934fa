#include "sig/listing.h"

#include "base/log.h"

struct lister {
    const struct bz_signing *s;
    struct bz_catalog *p;
    const struct bz_goal *goal;
    const struct bz_bitset *tasks;
    bz_listing_fn fn;
    void *ctx;
    struct bz_digest_hasher *hasher;
};

/* One recipe under way. */
struct recipe {
    struct lister *l;
    uint32_t number;
    struct bz_vars *vars;
    struct bz_taskspec *spec;
    struct bz_base *base; /* NULL: there is none yet */
    unsigned turn;        /* of the variables that it is for */
    struct bz_arena arena;
    const struct bz_digesting_own *own;
};

static bool is_wanted(const struct lister *l, uint32_t task)
{
    return !l->tasks || bz_bitset_test(l->tasks, task);
}

/* ---- the variables that inputs are made from ---- */

struct names BZ_VEC(struct bz_str);

struct checksums {
    struct bz_arena *arena;
    struct names *names;
};

static void add_checksum(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct checksums *c = ctx;

    (void)value;
    BZ_VEC_PUSH(c->names, bz_arena_printf(c->arena, "SRC_URI[%.*s]", BZ_STR_ARG(flag)));
}

static void add_source_names(struct recipe *r, const struct bz_keystore *store,
                             struct names *names)
{
    struct checksums c = {&r->arena, names};

    BZ_VEC_PUSH(names, BZ_STR("SRC_URI"));
    BZ_VEC_PUSH(names, BZ_STR("SRCREV"));
    BZ_VEC_PUSH(names, BZ_STR("S")); /* where patches are applied */
    bz_vars_flags(store->plain, BZ_STR("SRC_URI"), add_checksum, &c);
}

static int open_base(struct recipe *r, const struct bz_keystore *store, unsigned turn,
                     struct bz_err *err)
{
    if (r->base && r->turn == turn)
        return 0;
    bz_base_free(r->base);
    r->base = NULL;
    r->turn = turn;
    return bz_base_new(store->key, r->l->hasher, &r->base, err);
}

/* The task was listed last. */
static int list_origins(struct recipe *r, struct bz_str task,
                        const struct bz_taskspec_inputs *inputs,
                        struct bz_base_inputs *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct names names = {0};
    static const struct bz_str mask = BZ_STR("BB_DEFAULT_UMASK");
    bool sources = false, exports = false;
    struct bz_str unset;
    size_t next = 0;
    unsigned turn;
    const struct bz_keystore *store = bz_taskspec_store(r->spec, &turn);
    int rc = open_base(r, store, turn, err);

    BZ_VEC_PUSH(&names, task);
    for (size_t i = 0; i < inputs->len; i++) {
        enum bz_taskspec_kind kind = inputs->at[i].kind;

        exports |= kind == BZ_TASKSPEC_EXPORT;
        if (kind == BZ_TASKSPEC_UMASK && bz_vars_exists(store->plain, mask))
            BZ_VEC_PUSH(&names, mask);
        if (bz_str_starts(inputs->at[i].name, BZ_STR("SRC_URI"))) {
            sources = true;
        } else if (kind != BZ_TASKSPEC_TASK && kind != BZ_TASKSPEC_ORDER &&
                   kind != BZ_TASKSPEC_UMASK &&
                   bz_str_find_byte(inputs->at[i].name, ' ') == BZ_STR_NONE) {
            BZ_VEC_PUSH(&names, inputs->at[i].name);
        }
    }
    while (exports && bz_taskspec_next_unset(r->spec, &next, &unset))
        BZ_VEC_PUSH(&names, unset);
    if (sources)
        add_source_names(r, store, &names);
    return rc < 0 ? rc : bz_base_list(r->base, names.at, names.len, out, err);
}

/* ---- one recipe ---- */

static const struct bz_facts_task *facts_of(const struct recipe *r, uint32_t t)
{
    return r->l->goal->graph.tasks[t].facts;
}

/* Lists the inputs; false if they are not what the key was made from. */
static bool list_task(struct recipe *r, uint32_t t, struct bz_taskspec_inputs *out)
{
    const struct bz_facts_task *facts = facts_of(r, t);
    struct bz_err err = {.msg = "its inputs have changed"};
    struct bz_digest digest;
    int rc = bz_digesting_inputs(r->spec, r->vars, facts, out, NULL, &err);

    if (rc == 0 && r->own->inputs)
        return true;
    if (rc == 0) {
        bz_taskspec_digest(r->spec, out, &digest);
        if (bz_digest_eq(&digest, &r->l->s->inputs[t]))
            return true;
    }
    bz_log_debug("signing", "%.*s is not listed: %s", BZ_STR_ARG(facts->name), err.msg);
    return false;
}

static int show_task(struct recipe *r, uint32_t t, struct bz_err *err)
{
    static const struct bz_signing_seen none;
    BZ_CLEANUP(bz_vec_release) struct bz_base_inputs origins = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_taskspec_inputs inputs = {0};
    const struct lister *l = r->l;
    const struct bz_signing_seen *seen = l->s->seen[t] ? l->s->seen[t] : &none;
    struct bz_listing_view view = {.inputs = &inputs,
                                   .origins = &origins,
                                   .vars = r->vars,
                                   .files = &seen->files,
                                   .policy = bz_signing_policy_of(l->s, l->goal, t),
                                   .commits = &seen->commits};
    int rc;

    if (!list_task(r, t, &inputs))
        return 0;
    rc = list_origins(r, facts_of(r, t)->name, &inputs, &origins, err);
    if (r->own->inputs)
        view.inputs = &r->own->inputs[t - l->goal->graph.recipes[r->number].first];
    if (rc == 0)
        l->fn(l->ctx, t, &view);
    return rc;
}

static int show_recipe(struct recipe *r, struct bz_err *err)
{
    const struct bz_tgraph_recipe *of = &r->l->goal->graph.recipes[r->number];
    BZ_CLEANUP(bz_evaluate_release) struct bz_evaluated read = {0};
    BZ_CLEANUP(bz_taskspec_freep) struct bz_taskspec *spec = NULL;
    struct bz_taskspec_opts opts = {bz_catalog_path(r->l->p)};
    int rc = bz_signing_recipe(r->l->s, r->l->p, r->l->goal, r->number, &read, err);

    if (rc == 0)
        rc = bz_taskspec_new(read.vars, &opts, r->l->hasher, &spec, err);
    if (rc < 0)
        return rc;
    bz_taskspec_set_clock(spec, BZ_DIGESTING_CLOCK);
    r->vars = read.vars;
    r->spec = spec;
    for (uint32_t t = of->first; t < of[1].first && rc == 0; t++)
        if (is_wanted(r->l, t))
            rc = show_task(r, t, err);
    bz_base_free(r->base);
    bz_arena_release(&r->arena);
    return rc < 0 ? bz_err_wrap(err, "%.*s", BZ_STR_ARG(of->facts->path)) : rc;
}

static bool has_wanted(const struct lister *l, uint32_t recipe)
{
    const struct bz_tgraph_recipe *r = &l->goal->graph.recipes[recipe];

    for (uint32_t t = r->first; t < r[1].first; t++)
        if (is_wanted(l, t))
            return true;
    return false;
}

int bz_listing_run(const struct bz_signing *s, struct bz_catalog *p,
                   const struct bz_goal *goal, const struct bz_bitset *tasks,
                   bz_listing_fn fn, void *ctx, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct lister l = {
        .s = s, .p = p, .goal = goal, .tasks = tasks, .fn = fn, .ctx = ctx};
    int rc = bz_digest_hasher_new(&hasher, err);

    if (rc == 0)
        rc = bz_catalog_load(p, err);
    l.hasher = hasher;
    for (uint32_t i = 0; i < goal->graph.nrecipes && rc == 0; i++) {
        struct recipe r = {.l = &l, .number = i, .own = bz_signing_own(s, i)};

        if (has_wanted(&l, i))
            rc = show_recipe(&r, err);
    }
    return rc;
}
