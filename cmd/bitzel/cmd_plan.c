#include <stdlib.h>

#include "base/mem.h"
#include "cmd.h"
#include "cmd_open.h"
#include "cmd_open_cache.h"
#include "codec/jsonw.h"
#include "os/clock.h"
#include "os/fs.h"
#include "plan/cost.h"
#include "plan/forecast.h"
#include "plan/lookup.h"
#include "plan_cost.h"
#include "sig/signing.h"

struct plan_values {
    struct bz_opt_list targets;
    const char *task, *clear;
    bool all, json, local, offline, keep_going, force, no_cache;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct plan_values, task, 'c', "task", "TASK",
                "The task of targets that name none"),
    BZ_OPT_FLAG(struct plan_values, all, 'a', "all",
                "List every task that is to run, however many there are"),
    BZ_OPT_FLAG(struct plan_values, keep_going, 'k', "continue",
                "After a failure go on with all that does not depend on it"),
    BZ_OPT_FLAG(struct plan_values, force, 'f', "force",
                "Run the tasks of the targets, although their results are stored"),
    BZ_OPT_TEXT(struct plan_values, clear, 'C', "clear-stamp", "TASK",
                "Force TASK of each target's recipe, then build the target"),
    BZ_OPT_FLAG(struct plan_values, no_cache, 0, "no-cache",
                "Run all tasks, whatever results are stored"),
    BZ_OPT_FLAG(struct plan_values, local, 0, "force-local",
                "Do not ask the tiers of the cache"),
    BZ_OPT_FLAG(struct plan_values, offline, 0, "offline", "Ask no server for results"),
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
};

/* What is shown. */
struct shown {
    const struct bz_goal *goal;
    const struct bz_plan *plan;
    int64_t *cost; /* [tasks]: ns, of those that run */
    struct bz_forecast forecast;
    bool assumed; /* that sandboxes work here */
};

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

static void add_run(const struct shown *s, struct bz_buf *out)
{
    const struct bz_forecast *plan = &s->forecast;
    uint32_t unless = s->plan->count[BZ_PLAN_UNLESS];
    uint32_t n = s->plan->count[BZ_PLAN_RUN] + unless;

    bz_buf_addf(out, ", %u run", n - unless);
    if (unless > 0)
        bz_buf_addf(out, ", %u run unless unchanged", unless);
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
    add_path(s->goal, &plan->path, out);
    bz_buf_add_char(out, ')');
}

static void add_summary(const struct shown *s, struct bz_buf *out)
{
    const struct bz_plan *plan = s->plan;

    bz_buf_addf(out, "%u task%s: %u restored, %u not needed", plan->n,
                plan->n == 1 ? "" : "s", plan->count[BZ_PLAN_RESTORE],
                plan->count[BZ_PLAN_UNNEEDED]);
    if (plan->count[BZ_PLAN_EMPTY] > 0)
        bz_buf_addf(out, ", %u without work", plan->count[BZ_PLAN_EMPTY]);
    add_run(s, out);
    bz_buf_add_char(out, '\n');
}

static void add_task(const struct shown *s, uint32_t task, struct bz_buf *out)
{
    bz_buf_addf(out, "  ");
    bz_goal_task_name(s->goal, task, out);
    if (s->cost[task] >= 0) {
        bz_buf_addf(out, "  ");
        bz_plan_cost_text(s->cost[task], out);
    }
    if (s->plan->tasks[task].fate == BZ_PLAN_UNLESS)
        bz_buf_addf(out, "  unless unchanged");
    bz_buf_add_char(out, '\n');
}

static void add_waves(const struct shown *s, bool all, struct bz_buf *out)
{
    const struct bz_ready_waves *w = &s->forecast.waves;
    uint32_t left = all ? UINT32_MAX : LISTED, shown = 0;

    for (uint32_t i = 0; i < w->n && shown < left; i++) {
        uint32_t n = w->start[i + 1] - w->start[i];

        bz_buf_addf(out, "wave %u: %u task%s\n", i + 1, n, n == 1 ? "" : "s");
        for (uint32_t k = w->start[i]; k < w->start[i + 1] && shown < left; k++) {
            add_task(s, w->nodes[k], out);
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

static void json_task(const struct shown *s, uint32_t task, struct bz_jsonw *j)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(&s->plan->in.keys[task], hex);
    bz_jsonw_map(j);
    json_name(s->goal, task, bz_jsonw_key(j, "name"));
    bz_jsonw_cstr(bz_jsonw_key(j, "signature"), hex);
    json_time(j, "seconds", s->cost[task]);
    bz_jsonw_bool(bz_jsonw_key(j, "unless"),
                  s->plan->tasks[task].fate == BZ_PLAN_UNLESS);
    bz_jsonw_map_end(j);
}

static void json_counts(const struct shown *s, struct bz_jsonw *j)
{
    static const char *const names[] = {
        [BZ_PLAN_UNNEEDED] = "not_needed",
        [BZ_PLAN_RESTORE] = "restored",
        [BZ_PLAN_RUN] = "run",
        [BZ_PLAN_UNLESS] = "unless",
        [BZ_PLAN_EMPTY] = "without_work",
    };

    bz_jsonw_int(bz_jsonw_key(j, "tasks"), s->plan->n);
    for (int i = 0; i < BZ_PLAN_FATES; i++)
        bz_jsonw_int(bz_jsonw_key(j, names[i]), s->plan->count[i]);
    json_time(j, "work_seconds", s->forecast.work);
    bz_jsonw_int(bz_jsonw_key(j, "unknown"), s->forecast.unknown);
    json_time(j, "critical_seconds", s->forecast.critical);
}

static void add_json(const struct shown *s, struct bz_buf *out)
{
    const struct bz_ready_waves *w = &s->forecast.waves;
    struct bz_jsonw j = bz_jsonw_to(out, 2);

    bz_jsonw_map(&j);
    json_counts(s, &j);
    bz_jsonw_list(bz_jsonw_key(&j, "critical_path"));
    for (size_t i = 0; i < s->forecast.path.len; i++)
        json_name(s->goal, s->forecast.path.at[i], &j);
    bz_jsonw_list_end(&j);
    bz_jsonw_list(bz_jsonw_key(&j, "waves"));
    for (uint32_t i = 0; i < w->n; i++) {
        bz_jsonw_list(&j);
        for (uint32_t k = w->start[i]; k < w->start[i + 1]; k++)
            json_task(s, w->nodes[k], &j);
        bz_jsonw_list_end(&j);
    }
    bz_jsonw_list_end(&j);
    bz_jsonw_list(bz_jsonw_key(&j, "restored_tasks"));
    for (uint32_t i = 0; i < s->plan->n; i++)
        if (s->plan->tasks[i].fate == BZ_PLAN_RESTORE)
            json_name(s->goal, i, &j);
    bz_jsonw_list_end(&j);
    bz_jsonw_bool(bz_jsonw_key(&j, "sandbox_assumed"), s->assumed);
    bz_jsonw_map_end(&j);
    bz_buf_add_char(out, '\n');
}

/* ---- the command ---- */

static void shown_release(struct shown *s)
{
    bz_forecast_release(&s->forecast);
    free(s->cost);
}

/* The store is looked at, not opened: that would read the index, and perhaps make it.
 */
static int find_store(struct bz_cmd_env *env, const struct plan_values *v,
                      struct bz_build *b, struct bz_err *err)
{
    struct bz_cache_opts *o = &b->opts.cache;
    int rc = bz_cmd_open_cache_opts(env, &b->arena, o, err);

    if (rc < 0)
        return rc;
    o->look = true;
    if (v->local || v->offline)
        bz_cmd_open_cache_near(o, &b->arena, v->local);
    if (!bz_fs_exists(AT_FDCWD, o->root))
        bz_out_print(&env->log, "note: there is no store at %s yet\n", o->root);
    return 0;
}

/* A remote cache that does not answer counts as empty: then more would run than with
 * it. */
static void tell_silent(struct bz_cmd_env *env, const struct bz_build *b)
{
    struct bz_tiers *tiers = bz_cache_tiers(b->cache);

    for (size_t i = 0; tiers && i < bz_tiers_count(tiers); i++) {
        struct bz_tiers_stats stats;

        bz_tiers_stats(tiers, i, &stats);
        if (!stats.works)
            bz_out_print(&env->log,
                         "note: the tier %s does not answer: the plan is without it\n",
                         stats.name);
    }
}

/* Without an index nothing is known, which is no failure; none is made. */
static void find_costs(const char *path, struct shown *shown)
{
    const struct bz_plan *plan = shown->plan;
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset which = {0};
    BZ_CLEANUP(bz_mem_freep)
    struct bz_index_cost *costs = bz_mem_array(plan->n, sizeof(*costs));
    struct bz_index *index = NULL;
    enum bz_index_state state;
    struct bz_err ignored;

    shown->cost = bz_mem_array(plan->n, sizeof(*shown->cost));
    for (uint32_t t = 0; t < plan->n; t++) {
        shown->cost[t] = BZ_FORECAST_UNKNOWN;
        if (bz_plan_may_run(plan, t))
            bz_bitset_set(&which, t);
    }
    if (bz_bitset_count(&which) == 0 || !path || !bz_fs_exists(AT_FDCWD, path) ||
        bz_index_open(path, NULL, &index, &state, &ignored) < 0)
        return;
    bz_cost_find(plan, index, &which, costs);
    for (uint32_t t = 0; t < plan->n; t++)
        shown->cost[t] = costs[t].duration;
    bz_index_close(index);
}

static void show(struct bz_cmd_env *env, const struct plan_values *v,
                 const struct shown *shown)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    if (v->json) {
        add_json(shown, &text);
    } else {
        add_summary(shown, &text);
        add_waves(shown, v->all, &text);
    }
    bz_out_put(&env->out, bz_buf_text(&text), text.len);
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct plan_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    BZ_CLEANUP(shown_release) struct shown shown = {.goal = &b.goal, .plan = &b.plan};
    struct bz_opt_list targets = v->targets;
    const char *task = v->task;
    int rc = bz_cmd_open_defaults(env, &b.arena, &targets, &task, err);

    b.opts.targets = (struct bz_goal_opts){
        .targets = targets.word,
        .n = targets.n,
        .task = task,
        .python = v->keep_going ? BZ_GOAL_PRUNE_PYTHON : BZ_GOAL_REFUSE_PYTHON};
    b.opts.force = v->force;
    b.opts.clear = v->clear;
    b.exec.dry = true; /* no taint is saved */
    b.exec.plan.no_cache = v->no_cache;
    if (rc == 0)
        rc = bz_cmd_open_build(env, &b, BZ_BUILD_KEYS, err);
    if (rc == 0)
        rc = find_store(env, v, &b, err);
    if (rc == 0)
        rc = bz_cmd_open_build(env, &b, BZ_BUILD_PLAN, err);
    if (rc < 0)
        return rc;
    shown.assumed = b.assumed;
    tell_silent(env, &b);
    find_costs(b.opts.cache.index, &shown);
    bz_forecast_make(&shown.forecast, &b.plan, shown.cost);
    show(env, v, &shown);
    return b.goal.functions > 0 ? bz_goal_fail_pruned(&b.goal, err)
                                : BZ_CMD_EXIT_SUCCESS;
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
        "store and its tiers. What is there would be restored; what only serves "
        "restored tasks is not needed; the rest would run, in waves of tasks that wait "
        "only for earlier waves. A task behind one that runs may still be restored if "
        "what it needs comes out unchanged: it runs 'unless unchanged'. Times are "
        "those "
        "of earlier runs. Nothing is executed. Options that 'build' has as well mean "
        "the "
        "same here.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct plan_values),
    .run = run,
};
