#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "build/builds.h"
#include "cmd.h"
#include "cmd_open.h"
#include "complete.h"
#include "graph/provide.h"
#include "os/path.h"
#include "survey/deltas.h"
#include "survey/recall.h"

struct complete_values {
    struct bz_opt_list words;
};

static const struct bz_opt opts[] = {BZ_OPT_END};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ANY(struct complete_values, words, "WORD",
               "The words of a line after 'bitzel'; the last one is being typed"),
    BZ_OPT_END,
};

/* What is known of the recipes, be it out of date: nothing is evaluated here. */
struct known {
    struct bz_cmd_env *env;
    struct bz_build build;
    struct bz_deltas survey;
};

static bool find_project(struct known *k, const struct bz_complete *c)
{
    struct bz_err err;

    if (c->directory && chdir(c->directory) != 0)
        return false;
    if (c->project)
        k->env->global.project = c->project;
    return bz_cmd_open_build(k->env, &k->build, BZ_BUILD_PROJECT, &err) == 0;
}

static bool open_survey(struct known *k)
{
    struct bz_err err;

    return bz_deltas_open(&k->survey, bz_catalog_entries(&k->build.catalog), &err) == 0;
}

/* ---- the recipes of one configuration ---- */

struct part {
    struct known *known;
    const struct bz_snapshot_part *part;
};

typedef void (*fact_fn)(void *ctx, const struct bz_facts *f);

static void each_fact(const struct part *at, fact_fn fn, void *ctx)
{
    struct bz_snapshot_range in = at->part->recipes;

    for (uint32_t i = 0; i < in.n; i++) {
        struct bz_deltas_place r;

        if (!bz_deltas_recipe(&at->known->survey, (size_t)in.first + i, &r) ||
            !bz_snapshot_has(r.image, BZ_SNAPSHOT_FACTS, r.record->facts))
            return;
        for (uint32_t j = 0; j < r.record->facts.n; j++) {
            struct bz_facts f;
            struct bz_err err;

            if (bz_snapshot_fact(r.image, r.record->facts.first + j, &f, &err) == 0 &&
                bz_provide_usable(&f))
                fn(ctx, &f);
        }
    }
}

static bool find_part(struct known *k, struct bz_str mc, struct part *out)
{
    const struct bz_snapshot *base = bz_deltas_base(&k->survey);
    uint32_t n = bz_snapshot_count(base, BZ_SNAPSHOT_PARTS);

    for (uint32_t i = 0; i < n; i++) {
        const struct bz_snapshot_part *part =
            bz_snapshot_at(base, BZ_SNAPSHOT_PARTS, i);
        struct bz_str name;

        if (bz_snapshot_text(base, part->mc, &name) && bz_str_eq(name, mc)) {
            *out = (struct part){k, part};
            return true;
        }
    }
    return false;
}

/* ---- offers ---- */

struct offers {
    struct bz_complete *c;
    struct bz_str typed;
    struct bz_str recipe; /* whose tasks are offered; p == NULL: of all */
    bool bare;            /* tasks without do_ */
    struct bz_map seen;   /* versions of a recipe have one name */
};

static void offer_once(struct offers *o, struct bz_str word, struct bz_str help)
{
    if (!bz_str_starts(word, o->typed) || bz_map_get(&o->seen, word))
        return;
    bz_map_put(&o->seen, word)->p = o;
    bz_complete_offer(o->c, o->typed, word, help);
}

static void offer_recipe(void *ctx, const struct bz_facts *f)
{
    offer_once(ctx, f->pn, f->summary);
}

static void offer_tasks(void *ctx, const struct bz_facts *f)
{
    struct offers *o = ctx;

    if (o->recipe.p && !bz_str_eq(o->recipe, f->pn))
        return;
    for (size_t i = 0; i < f->ntasks; i++) {
        struct bz_str name = f->tasks[i].name;

        if (o->bare)
            bz_str_cut_prefix(&name, BZ_STR("do_"));
        offer_once(o, name, BZ_STR(""));
    }
}

/* "mc:NAME:" for each configuration but the default one. */
static void offer_configurations(struct known *k, struct bz_complete *c,
                                 struct bz_str typed)
{
    const struct bz_snapshot *base = bz_deltas_base(&k->survey);
    uint32_t n = bz_snapshot_count(base, BZ_SNAPSHOT_PARTS);

    for (uint32_t i = 0; i < n; i++) {
        const struct bz_snapshot_part *part =
            bz_snapshot_at(base, BZ_SNAPSHOT_PARTS, i);
        BZ_CLEANUP(bz_buf_release) struct bz_buf word = {0};
        struct bz_str name;

        if (!bz_snapshot_text(base, part->mc, &name) || name.n == 0)
            continue;
        bz_buf_addf(&word, "mc:%.*s:", BZ_STR_ARG(name));
        bz_complete_offer(c, typed, bz_buf_str(&word), BZ_STR("a configuration"));
    }
}

/* Leaves the first n bytes of what is typed as they are. */
static void keep(struct bz_complete *c, struct bz_buf *before, struct bz_str *typed,
                 size_t n)
{
    bz_buf_add_str(before, c->before);
    bz_buf_add(before, typed->p, n);
    c->before = bz_buf_str(before);
    *typed = bz_str_drop(*typed, n);
}

static void offer_targets(struct known *k, struct bz_complete *c,
                          enum bz_complete_kind kind, struct bz_str typed)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf mc = {0}, recipe = {0};
    struct offers o = {.c = c};
    struct bz_str name = BZ_STR(""), head, tail;
    struct part part;

    if (bz_str_starts(typed, BZ_STR("mc:")) &&
        bz_str_cut(bz_str_drop(typed, 3), ':', &name, &tail))
        keep(c, &mc, &typed, typed.n - tail.n);
    else
        offer_configurations(k, c, typed);
    if (!find_part(k, name, &part))
        return;
    if (kind == BZ_COMPLETE_TARGETS && bz_str_cut(typed, ':', &head, &tail)) {
        o.recipe = head;
        keep(c, &recipe, &typed, typed.n - tail.n);
        o.typed = typed;
        each_fact(&part, offer_tasks, &o);
    } else {
        o.typed = typed;
        if (kind == BZ_COMPLETE_TARGETS)
            offer_once(&o, BZ_STR("world"),
                       BZ_STR("all recipes but those that say no"));
        each_fact(&part, offer_recipe, &o);
    }
    bz_map_release(&o.seen);
}

static void offer_all_tasks(struct known *k, struct bz_complete *c, struct bz_str typed)
{
    struct offers o = {
        .c = c, .typed = typed, .bare = !bz_str_starts(typed, BZ_STR("do_"))};
    struct part part;

    if (find_part(k, BZ_STR(""), &part))
        each_fact(&part, offer_tasks, &o);
    bz_map_release(&o.seen);
}

/* The last one first. */
static void offer_builds(struct known *k, struct bz_complete *c, struct bz_str typed)
{
    BZ_CLEANUP(bz_vec_release) struct bz_builds_list list = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_err err;

    if (bz_builds_list(&arena, k->build.catalog.build_dir, BZ_BUILDS_ANY, &list, &err) <
        0)
        return;
    for (size_t i = list.len; i-- > 0;)
        bz_complete_offer(c, typed, list.at[i].id, BZ_STR(""));
}

/* Those of the configuration that are no functions. */
static void offer_variables(struct known *k, struct bz_complete *c, struct bz_str typed)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = NULL;
    const struct bz_str *names;
    struct bz_str settings;
    struct part part;
    struct bz_err err;
    size_t n = 0;

    if (!find_part(k, BZ_STR(""), &part) ||
        !bz_snapshot_text(bz_deltas_base(&k->survey), part.part->settings, &settings) ||
        bz_recall_settings(settings, &v, &err) < 0 ||
        bz_vars_names(v, &names, &n, &err) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        bool function = false;

        if (bz_str_starts(names[i], typed) &&
            bz_vars_flag_true(v, names[i], BZ_STR("func"), &function, &err) == 0 &&
            !function)
            bz_complete_offer(c, typed, names[i], BZ_STR(""));
    }
}

static void offer_names(struct bz_complete *c, enum bz_complete_kind kind,
                        struct bz_str typed)
{
    struct known k = {.env = c->ctx};
    struct bz_str before = c->before;

    if (!find_project(&k, c)) {
        bz_build_close(&k.build);
        return;
    }
    if (kind == BZ_COMPLETE_BUILDS)
        offer_builds(&k, c, typed);
    else if (!open_survey(&k))
        ;
    else if (kind == BZ_COMPLETE_TASKS)
        offer_all_tasks(&k, c, typed);
    else if (kind == BZ_COMPLETE_VARIABLES)
        offer_variables(&k, c, typed);
    else
        offer_targets(&k, c, kind, typed);
    c->before = before;
    bz_deltas_close(&k.survey);
    bz_build_close(&k.build);
}

/* Whoever presses a key wants no error messages. */
static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct complete_values *v = values;
    struct bz_complete c = {.commands = env->commands,
                            .globals = env->global_rows,
                            .names = offer_names,
                            .ctx = env};

    (void)err;
    bz_complete_line(&c, v->words.word, v->words.n);
    if (c.out.len > 0)
        bz_out_put(&env->out, c.out.data, c.out.len);
    bz_complete_release(&c);
    bz_buf_truncate(&env->log.buf, 0);
    return BZ_CMD_EXIT_SUCCESS;
}

const struct bz_cmd bz_cmd_complete = {
    .name = "complete",
    .hidden = true,
    .summary = "Print what may come next on a line",
    .detail = "Prints the words that may end a line, for the scripts of 'bitzel "
              "completion': a word, a tab and what it is; ':files' or ':dirs' if any "
              "of these may. Names of recipes are those that the last command here "
              "found.",
    .opts = opts,
    .args = args,
    .size = sizeof(struct complete_values),
    .run = run,
};
