#include "cmd.h"
#include "cmd_open.h"
#include "cmd_open_cache.h"
#include "codec/jsonw.h"
#include "graph/plan.h"
#include "os/clock.h"
#include "os/fs.h"
#include "pipeline/signing.h"
#include "plan_cost.h"

struct plan_values {
    struct bz_opt_list targets;
    const char *task;
    bool all, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct plan_values, task, 'c', "task", "TASK",
                "The task of targets that name none"),
    BZ_OPT_FLAG(struct plan_values, all, 'a', "all",
                "List every task that is to run, however many there are"),
    BZ_OPT_FLAG(struct plan_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ANY(struct plan_values, targets, "TARGET",
               "A recipe, RECIPE:do_TASK, mc:CONFIGURATION:RECIPE, world; else what "
               "the kas file names"),
    BZ_OPT_END,
};

enum {
    LISTED = 40, /* tasks, unless all are asked for */
    CHAIN = 6,   /* tasks of the critical path in the summary */
    STORES = 16, /* directories that are looked at */
};

/* What a plan is made from. */
struct source {
    const struct bz_goal *goal;
    const struct bz_signing *signing;
    struct bz_cas *stores[STORES]; /* [nstores]: the local one and directories of others
                                    */
    size_t nstores;
    struct bz_plan_cost cost;
};

static bool is_empty(void *ctx, uint32_t task)
{
    const struct source *s = ctx;

    return s->goal->graph.tasks[task].facts->noexec;
}

/* A task that leaves no stamp runs whenever it is needed. */
static bool is_at_hand(void *ctx, uint32_t task)
{
    const struct source *s = ctx;

    if (s->goal->graph.tasks[task].facts->nostamp ||
        bz_bitset_test(&s->signing->unused, task))
        return false;
    for (size_t i = 0; i < s->nstores; i++)
        if (bz_action_has(s->stores[i], &s->signing->keys[task]))
            return true;
    return false;
}

static int64_t cost_of(void *ctx, uint32_t task)
{
    struct source *s = ctx;
    const struct bz_tgraph *g = &s->goal->graph;

    return bz_plan_cost_of(&s->cost, &s->signing->keys[task],
                           g->recipes[g->tasks[task].recipe].facts->pn,
                           g->tasks[task].facts->name);
}

/* ---- as text ---- */

static void add_path(const struct bz_goal *goal, const struct bz_dag_ids *path,
                     struct bz_buf *out)
{
    for (size_t i = 0; i < path->len; i++) {
        if (path->len > CHAIN && i == CHAIN / 2) { /* its middle is left out */
            i = path->len - CHAIN / 2;
            bz_buf_addf(out, " > ...");
        }
        bz_buf_addf(out, i > 0 ? " > " : "");
        bz_goal_task_name(goal, path->at[i], out);
    }
}

static void add_run(const struct bz_goal *goal, const struct bz_plan *plan,
                    struct bz_buf *out)
{
    uint32_t n = plan->count[BZ_PLAN_RUN];

    bz_buf_addf(out, ", %u run", n);
    if (n == 0)
        return;
    bz_buf_addf(out, " (");
    if (plan->unknown == n) {
        bz_buf_addf(out, "no earlier times, longest chain %zu: ", plan->path.len);
    } else {
        bz_buf_addf(out, "about ");
        bz_plan_cost_text(plan->work, out);
        if (plan->unknown > 0)
            bz_buf_addf(out, " and %u of unknown length", plan->unknown);
        bz_buf_addf(out, ", critical path ");
        bz_plan_cost_text(plan->critical, out);
        bz_buf_addf(out, ": ");
    }
    add_path(goal, &plan->path, out);
    bz_buf_add_char(out, ')');
}

static void add_summary(const struct bz_goal *goal, const struct bz_plan *plan,
                        struct bz_buf *out)
{
    bz_buf_addf(out, "%u task%s: %u restored, %u not needed", plan->n,
                plan->n == 1 ? "" : "s", plan->count[BZ_PLAN_RESTORE],
                plan->count[BZ_PLAN_UNNEEDED]);
    if (plan->count[BZ_PLAN_EMPTY] > 0)
        bz_buf_addf(out, ", %u without work", plan->count[BZ_PLAN_EMPTY]);
    add_run(goal, plan, out);
    bz_buf_add_char(out, '\n');
}

static void add_task(const struct bz_goal *goal, const struct bz_plan *plan,
                     uint32_t task, struct bz_buf *out)
{
    bz_buf_addf(out, "  ");
    bz_goal_task_name(goal, task, out);
    if (plan->cost[task] >= 0) {
        bz_buf_addf(out, "  ");
        bz_plan_cost_text(plan->cost[task], out);
    }
    bz_buf_add_char(out, '\n');
}

static void add_waves(const struct bz_goal *goal, const struct bz_plan *plan, bool all,
                      struct bz_buf *out)
{
    const struct bz_ready_waves *w = &plan->waves;
    uint32_t left = all ? UINT32_MAX : LISTED, shown = 0;

    for (uint32_t i = 0; i < w->n && shown < left; i++) {
        uint32_t n = w->start[i + 1] - w->start[i];

        bz_buf_addf(out, "wave %u: %u task%s\n", i + 1, n, n == 1 ? "" : "s");
        for (uint32_t k = w->start[i]; k < w->start[i + 1] && shown < left; k++) {
            add_task(goal, plan, w->nodes[k], out);
            shown++;
        }
    }
    if (shown < w->start[w->n])
        bz_buf_addf(out, "and %u more, %u waves in all; --all lists them\n",
                    w->start[w->n] - shown, w->n);
}

/* ---- as JSON ---- */

static void json_time(struct bz_jsonw *j, const char *key, int64_t ns)
{
    bz_jsonw_key(j, key);
    if (ns < 0)
        bz_jsonw_null(j);
    else
        bz_jsonw_real(j, (double)ns / BZ_CLOCK_S);
}

static void json_name(const struct bz_goal *goal, uint32_t task, struct bz_jsonw *j)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    bz_goal_task_name(goal, task, &name);
    bz_jsonw_str(j, bz_buf_str(&name));
}

static void json_task(const struct source *s, const struct bz_plan *plan, uint32_t task,
                      struct bz_jsonw *j)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(&s->signing->keys[task], hex);
    bz_jsonw_map(j);
    json_name(s->goal, task, bz_jsonw_key(j, "name"));
    bz_jsonw_cstr(bz_jsonw_key(j, "signature"), hex);
    json_time(j, "seconds", plan->cost[task]);
    bz_jsonw_map_end(j);
}

static void json_counts(const struct bz_plan *plan, struct bz_jsonw *j)
{
    static const char *const names[] = {
        [BZ_PLAN_UNNEEDED] = "not_needed",
        [BZ_PLAN_RESTORE] = "restored",
        [BZ_PLAN_RUN] = "run",
        [BZ_PLAN_EMPTY] = "without_work",
    };

    bz_jsonw_int(bz_jsonw_key(j, "tasks"), plan->n);
    for (int i = 0; i < BZ_PLAN_STATES; i++)
        bz_jsonw_int(bz_jsonw_key(j, names[i]), plan->count[i]);
    json_time(j, "work_seconds", plan->work);
    bz_jsonw_int(bz_jsonw_key(j, "unknown"), plan->unknown);
    json_time(j, "critical_seconds", plan->critical);
}

static void add_json(const struct source *s, const struct bz_plan *plan,
                     struct bz_buf *out)
{
    struct bz_jsonw j = bz_jsonw_to(out, 2);

    bz_jsonw_map(&j);
    json_counts(plan, &j);
    bz_jsonw_list(bz_jsonw_key(&j, "critical_path"));
    for (size_t i = 0; i < plan->path.len; i++)
        json_name(s->goal, plan->path.at[i], &j);
    bz_jsonw_list_end(&j);
    bz_jsonw_list(bz_jsonw_key(&j, "waves"));
    for (uint32_t i = 0; i < plan->waves.n; i++) {
        bz_jsonw_list(&j);
        for (uint32_t k = plan->waves.start[i]; k < plan->waves.start[i + 1]; k++)
            json_task(s, plan, plan->waves.nodes[k], &j);
        bz_jsonw_list_end(&j);
    }
    bz_jsonw_list_end(&j);
    bz_jsonw_list(bz_jsonw_key(&j, "restored_tasks"));
    for (uint32_t i = 0; i < plan->n; i++)
        if (plan->state[i] == BZ_PLAN_RESTORE)
            json_name(s->goal, i, &j);
    bz_jsonw_list_end(&j);
    bz_jsonw_map_end(&j);
    bz_buf_add_char(out, '\n');
}

/* ---- the command ---- */

/* Tiers that are directories are looked at as the store is. A plan asks nobody over a
 * network, and says so. */
static void open_tiers(struct bz_cmd_env *env, const struct bz_cache_opts *o,
                       struct source *s)
{
    for (size_t i = 0; i < o->tiers.n && s->nstores < STORES; i++) {
        const struct bz_tier_spec *t = &o->tiers.specs[i];
        struct bz_err lost;

        if (t->kind == BZ_TIER_SPEC_DIR &&
            bz_cas_open(t->place.p, &o->store, &s->stores[s->nstores], &lost) == 0)
            s->nstores++;
        else
            bz_out_print(&env->log, "note: the tier %s is not asked\n", t->name.p);
    }
}

/* The store is looked at, not opened: that would read the index, and perhaps make it.
 */
static int open_store(struct bz_cmd_env *env, struct bz_arena *a, struct source *s,
                      struct bz_err *err)
{
    struct bz_cache_opts o;
    int rc = bz_cmd_open_cache_opts(env, a, &o, err);

    if (rc < 0)
        return rc;
    s->cost.path = o.index;
    o.store.access = BZ_SHELF_READ;
    if (!bz_fs_exists(AT_FDCWD, o.root)) {
        bz_out_print(&env->log, "note: there is no store at %s yet\n", o.root);
    } else {
        rc = bz_cas_open(o.root, &o.store, &s->stores[0], err);
        s->nstores = rc == 0;
    }
    if (rc == 0)
        open_tiers(env, &o, s);
    return rc;
}

static void close_stores(struct source *s)
{
    for (size_t i = 0; i < s->nstores; i++)
        bz_cas_close(s->stores[i]);
}

static int show(struct bz_cmd_env *env, const struct plan_values *v,
                const struct bz_goal *goal, const struct bz_signing *signing,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct source s = {.goal = goal, .signing = signing};
    const struct bz_tgraph *g = &goal->graph;
    const struct bz_plan_in in = {&g->dag,  &g->order,  &g->targets, &s,
                                  is_empty, is_at_hand, cost_of};
    struct bz_plan plan;
    int rc = open_store(env, &arena, &s, err);

    if (rc < 0) {
        close_stores(&s);
        return rc;
    }
    bz_plan_make(&plan, &in);
    if (v->json) {
        add_json(&s, &plan, &text);
    } else {
        add_summary(goal, &plan, &text);
        add_waves(goal, &plan, v->all, &text);
    }
    bz_out_put(&env->out, bz_buf_text(&text), text.len);
    bz_plan_release(&plan);
    bz_plan_cost_release(&s.cost);
    close_stores(&s);
    return 0;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct plan_values *v = values;
    BZ_CLEANUP(bz_pipeline_close) struct bz_pipeline p = {0};
    BZ_CLEANUP(bz_goal_close) struct bz_goal goal = {0};
    BZ_CLEANUP(bz_signing_release) struct bz_signing signing = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_opt_list targets = v->targets;
    struct bz_goal_opts o = {.task = v->task};
    int rc = bz_cmd_open_defaults(env, &arena, &targets, &o.task, err);

    o.targets = targets.word;
    o.n = targets.n;
    if (rc == 0)
        rc = bz_cmd_open_goal(env, &o, &p, &goal, err);
    if (rc == 0)
        rc = bz_signing_run(&signing, &p, &goal, NULL, NULL, err);
    bz_cmd_open_diags(env, &p);
    return rc < 0 ? rc : show(env, v, &goal, &signing, err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel plan core-image-minimal",       "See what building it would run"},
    {"bitzel plan --all -c compile busybox",
     "List each task that do_compile of a recipe makes run"                  },
    {NULL,                                   NULL                            },
};

const struct bz_cmd bz_cmd_plan = {
    .name = "plan",
    .summary = "Show what a build would restore and run, and how long",
    .detail =
        "Signs all tasks that the targets need and looks for their results in the "
        "store. What is there would be restored; what only serves restored tasks "
        "is not needed; the rest would run, in waves of tasks that wait only for "
        "earlier waves. Times are those of earlier runs. Nothing is executed.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct plan_values),
    .run = run,
};
