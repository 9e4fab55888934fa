#include "build/build.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "build/force.h"
#include "build/history.h"
#include "build/outdir.h"
#include "exec/outline.h"
#include "exec/trial_memory.h"
#include "os/fs.h"
#include "os/path.h"

/* ---- project, catalog ---- */

static int find_project(struct bz_build *b, struct bz_err *err)
{
    struct bz_catalog_opts opts = b->opts.project;

    opts.format = BZ_TASKSPEC_FORMAT;
    return bz_catalog_find(&b->catalog, &opts, err);
}

static struct bz_idle_about about_idle(struct bz_build *b)
{
    return (struct bz_idle_about){.survey = &b->catalog.survey,
                                  .catalog = bz_catalog_entries(&b->catalog),
                                  .build_dir = b->catalog.build_dir,
                                  .store = b->opts.cache.root,
                                  .goal = &b->opts.targets};
}

/* Whether a build that has nothing to do may say so without looking at all of it. */
static bool may_be_idle(const struct bz_build *b)
{
    return b->opts.shortcut && !b->exec.dry && !b->said && b->taint.values.len == 0;
}

static int read_catalog(struct bz_build *b, struct bz_err *err)
{
    struct bz_idle_about about;
    int rc = bz_catalog_read(&b->catalog, err);

    b->goal.survey = &b->catalog.survey;
    b->catalog.refresh = b->opts.refresh;
    b->catalog.resolve = b->opts.resolve;
    if (rc < 0)
        return rc;
    bz_taint_open(&b->taint, bz_catalog_entries(&b->catalog), b->catalog.build_dir);
    about = about_idle(b);
    return may_be_idle(b) && bz_idle_find(&b->idle, &about) ? BZ_BUILD_IDLE : 0;
}

/* ---- graph, keys ---- */

static int make_graph(struct bz_build *b, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    int rc;

    b->goal.tolerant = b->opts.tolerant;
    rc = bz_goal_open(&b->goal, &b->opts.targets, &b->notes, &b->why, err);
    b->said = b->notes.len + b->why.len > 0;
    if (rc < 0)
        return rc;
    b->names = BZ_ARENA_ARRAY(&b->arena, struct bz_str, b->goal.graph.dag.n);
    for (uint32_t t = 0; t < b->goal.graph.dag.n; t++) {
        bz_buf_truncate(&name, 0);
        bz_goal_task_name(&b->goal, t, &name);
        b->names[t] = bz_arena_dup(&b->arena, bz_buf_str(&name));
    }
    return 0;
}

/* A build that runs tasks tries sandboxes and keeps the outcome; a command that runs
 * none starts no process: it takes what the last build found, or assumes the best. */
static void find_ground(struct bz_build *b)
{
    struct bz_entries *entries = bz_catalog_entries(&b->catalog);
    const char *store = b->opts.cache.root;

    if (b->opts.required) {
        bz_ground_usual(&b->ground);
    } else if (b->opts.runs) {
        bz_ground_find(&b->ground, store);
        bz_trial_memory_keep(entries, store, &b->ground);
    } else if (!bz_trial_memory_find(entries, store, &b->ground)) {
        bz_ground_usual(&b->ground);
        b->assumed = true;
    }
}

/* The sandbox is a part of the keys: what tasks see of the host. */
static int find_policy(struct bz_build *b, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    int rc = bz_digest_hasher_new(&h, err);

    if (rc < 0)
        return rc;
    find_ground(b);
    bz_outline_describe(&b->policy, &b->ground, h, &b->arena);
    return 0;
}

static int sign_tasks(struct bz_build *b, struct bz_err *err)
{
    const struct bz_force force = {&b->taint, &b->goal, &b->forced, &b->notes};
    int rc = find_policy(b, err);

    if (rc == 0)
        rc = bz_force_mark(&force, b->opts.force, b->opts.clear, err);
    if (rc == 0 && (b->opts.force || b->opts.clear) && !b->exec.dry)
        rc = bz_taint_save(&b->taint, err);
    if (rc < 0)
        return rc;
    b->keys.policy = &b->policy;
    b->keys.taint = &b->taint;
    return bz_signing_run(&b->keys, &b->catalog, &b->goal, err);
}

/* ---- plan ---- */

static struct bz_plan_in ask_plan(struct bz_build *b)
{
    struct bz_plan_in in = b->exec.plan; /* the user's wishes */

    in.graph = &b->goal.graph;
    in.keys = b->keys.keys;
    in.bases = b->keys.base;
    in.names = b->names;
    in.project = bz_str_from(b->catalog.build_dir);
    in.machines = bz_goal_machines(&b->goal);
    in.unused = &b->keys.unused;
    in.forced = &b->forced;
    return in;
}

static int open_store(struct bz_build *b, struct bz_err *err)
{
    struct bz_cache_opts *o = &b->opts.cache;
    int rc = 0;

    if (!o->look || o->tiers.n > 0)
        rc = bz_pool_new(&(struct bz_pool_opts){0}, &b->pool, err);
    if (rc < 0)
        return rc;
    o->pool = b->pool;
    b->alone = o->tiers.n == 0 &&
               !bz_fs_exists(AT_FDCWD, bz_arena_printf(&b->arena, "%s/ac", o->root).p);
    if (o->index && !o->look) {
        struct bz_str dir = bz_path_dirname(bz_str_from(o->index));
        struct bz_err ignored; /* without it the index is in memory, and says so */

        (void)!bz_fs_mkdirs(AT_FDCWD, bz_arena_dup(&b->arena, dir).p, S_IRWXU,
                            &ignored);
    }
    return bz_cache_open(o, &b->cache, err);
}

/* Of a build that goes on the executor makes the plan: it hears the user while remote
 * caches are asked, and plans anew if a result is lost. */
static int plan_tasks(struct bz_build *b, struct bz_err *err)
{
    struct bz_plan_store store;
    int rc;

    b->exec.plan = ask_plan(b);
    if (b->goes_to > BZ_BUILD_PLAN)
        return 0;
    b->lookup.cache = b->cache;
    b->lookup.pool = b->pool;
    rc = bz_lookup_open(&b->lookup, err);
    if (rc == 0)
        rc = bz_plan_open(&b->plan, &b->exec.plan, err);
    if (rc < 0)
        return rc;
    store = bz_lookup_store(&b->lookup);
    bz_plan_make(&b->plan, &store);
    return 0;
}

/* ---- results ---- */

/* Notes what is made and found, and tells whoever shows it. */
struct hearing {
    struct bz_build *b;
    bz_event_fn event;
    void *ctx;
};

static void hear(void *ctx, const struct bz_event *e)
{
    struct hearing *h = ctx;
    struct bz_build *b = h->b;

    if (e->kind == BZ_EVENT_DONE || (e->kind == BZ_EVENT_CACHED && e->same))
        bz_bitset_set(&b->made, e->task);
    if (e->kind == BZ_EVENT_CACHED)
        BZ_VEC_PUSH(&b->found.used, (struct bz_idle_use){e->task, e->saved});
    if (e->kind == BZ_EVENT_PLANNED)
        b->found.spared = e->saved;
    if (h->event)
        h->event(h->ctx, e);
}

static int make_jobs(struct bz_build *b, struct bz_err *err)
{
    int rc = bz_jobs_open(&b->jobs, &b->catalog, &b->goal, &b->ground, err);

    b->jobs.timeout = b->opts.timeout;
    b->jobs.offline = b->opts.offline;
    b->jobs.signing = &b->keys;
    for (uint32_t t = 0; t < b->goal.graph.dag.n; t++)
        if (bz_str_eq(b->goal.graph.tasks[t].facts->name, BZ_STR("do_fetch")))
            bz_bitset_set(&b->waits, t);
    return rc;
}

/* Of the outputs that recipes share, what people are shown. */
static const struct bz_str *find_parts(struct bz_build *b)
{
    const struct bz_dag_ids *targets = &b->goal.graph.targets;
    struct bz_str *parts = BZ_ARENA_ARRAY(&b->arena, struct bz_str, targets->len);

    for (size_t i = 0; i < targets->len; i++)
        parts[i] = bz_outdir_part(&b->jobs, targets->at[i], &b->arena);
    return parts;
}

/* Where people find what was built. */
static void link_outputs(struct bz_build *b)
{
    for (size_t i = 0; i < b->outputs.list.len; i++) {
        const struct bz_exec_output *o = &b->outputs.list.at[i];
        struct bz_err err;
        int rc = bz_outdir_link(&b->jobs, o->task, o->own, o->shared, &err);

        if (rc < 0 && !b->is_hidden) {
            b->is_hidden = true;
            b->hidden = err;
        }
        if (rc > 0) {
            b->linked++;
            b->last = o->task;
        }
    }
}

static int run_tasks(struct bz_build *b, struct bz_err *err)
{
    struct bz_exec_opts o = b->exec;
    struct hearing hearing = {b, o.event, o.event_ctx};
    int rc = make_jobs(b, err);

    if (rc < 0)
        return rc;
    if (!o.job) {
        o.job = bz_jobs_make;
        o.job_ctx = &b->jobs;
    }
    o.cache = b->cache;
    o.store = b->opts.cache.root;
    o.pool = b->pool;
    o.ground = &b->ground;
    o.waits = &b->waits;
    o.signing = &b->keys;
    o.outputs = o.plan.enter ? NULL : &b->outputs; /* a visit leaves nothing */
    if (o.outputs && !o.dry)
        b->outputs.parts = find_parts(b);
    o.event = hear;
    o.event_ctx = &hearing;
    b->ran = bz_exec_run(&o, &b->counts, err);
    link_outputs(b);
    return b->ran;
}

/* ---- record ---- */

/* For the next build, which may have nothing to do either. Results that were made
 * without sandboxes count only as long as there are none. */
static void keep_idle(struct bz_build *b)
{
    struct bz_idle_about about = about_idle(b);
    struct bz_err err;

    b->found.counts = b->counts;
    if (b->ran == 0 && b->counts.executed == 0 && !b->ground.bare && !b->is_hidden &&
        b->goal.functions == 0 && may_be_idle(b) &&
        bz_idle_keep(&about, &b->goal, &b->keys, &b->found, &err) < 0)
        bz_log_debug("build", "%s", err.msg);
}

/* What cannot be recorded is a warning: the results are there. */
static int keep_record(struct bz_build *b, struct bz_err *err)
{
    const struct bz_history history = {.p = &b->catalog,
                                       .goal = &b->goal,
                                       .names = b->names,
                                       .made = &b->made,
                                       .store = &b->opts.cache,
                                       .cache = b->cache,
                                       .wall = b->wall,
                                       .whole = b->ran == 0,
                                       .alone = b->alone};
    struct bz_err e;

    (void)err;
    if (b->exec.dry)
        return 0;
    if (b->counts.executed + b->counts.failed > 0 &&
        (b->ran == 0 || b->ran == BZ_E_TASK) &&
        bz_history_keep(&history, &b->keys, &e) < 0)
        bz_buf_addf(&b->notes, "warning: the build is not recorded: %s\n", e.msg);
    if (b->ran == 0 && b->keys.pure &&
        bz_force_settle(&b->taint, &b->goal, &b->keys, b->cache,
                        b->opts.force || b->opts.clear ? &b->notes : NULL, &e) < 0)
        bz_buf_addf(&b->notes, "warning: %s\n", e.msg);
    keep_idle(b);
    return 0;
}

/* ---- all of it ---- */

int bz_build_to(struct bz_build *b, enum bz_build_stage last, struct bz_err *err)
{
    static int (*const stages[])(struct bz_build * b, struct bz_err * err) = {
        [BZ_BUILD_PROJECT] = find_project, [BZ_BUILD_CATALOG] = read_catalog,
        [BZ_BUILD_GRAPH] = make_graph,     [BZ_BUILD_KEYS] = sign_tasks,
        [BZ_BUILD_STORE] = open_store,     [BZ_BUILD_PLAN] = plan_tasks,
        [BZ_BUILD_RESULTS] = run_tasks,    [BZ_BUILD_RECORD] = keep_record,
    };
    int rc = 0;

    b->goes_to = last;
    while (rc == 0 && b->stage < last) {
        b->stage++;
        rc = stages[b->stage](b, err);
        if (b->opts.ended)
            b->opts.ended(b->opts.ended_ctx, b, rc);
        bz_buf_truncate(&b->notes, 0);
        bz_buf_truncate(&b->why, 0);
    }
    return rc;
}

void bz_build_close(struct bz_build *b)
{
    bz_exec_outputs_release(&b->outputs);
    bz_plan_release(&b->plan);
    bz_lookup_release(&b->lookup);
    bz_cache_close(b->cache);
    bz_pool_free(b->pool);
    if (b->jobs.p)
        bz_jobs_release(&b->jobs);
    bz_bitset_release(&b->waits);
    bz_bitset_release(&b->made);
    bz_bitset_release(&b->forced);
    bz_signing_release(&b->keys);
    bz_taint_release(&b->taint);
    bz_vec_release(&b->found.used);
    bz_idle_release(&b->idle);
    bz_goal_close(&b->goal);
    bz_catalog_close(&b->catalog);
    bz_buf_release(&b->notes);
    bz_buf_release(&b->why);
    bz_arena_release(&b->arena);
    *b = (struct bz_build){0};
}
