#include "exec/running.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "exec/failed.h"
#include "exec/filling.h"
#include "exec/launch.h"
#include "exec/printed.h"
#include "exec/remark.h"
#include "exec/urgency.h"
#include "exec/workplace.h"
#include "os/clock.h"
#include "plan/handing.h"

/* One task that runs. */
struct bz_running {
    struct bz_running *prev, *next; /* of all that run */
    struct bz_exec *x;
    uint32_t task;
    struct bz_step step;
    struct bz_output handed;
    struct bz_digest content; /* its second key */
    int64_t began;
    struct bz_job job;
    bool joined;              /* it uses the jobserver */
    bool inside;              /* its script runs in a sandbox */
    struct bz_running *later; /* of x->ended */
    struct bz_event end;      /* how it ended, if it is one of these */
    int64_t cpu;              /* what its scripts have taken so far */
    uint64_t memory;
    struct bz_proc_id proc;    /* then */
    const char *stopped;       /* why, or NULL */
    struct bz_arena arena;     /* of its job */
    struct bz_filling filling; /* what bitzel does of it by itself */
    struct bz_launch launch;   /* how its sandbox comes to be */
};

static void release_ready(struct bz_exec *x, uint32_t t)
{
    for (uint32_t e = x->plan.dependents.start[t]; e < x->plan.dependents.start[t + 1];
         e++) {
        uint32_t w = x->plan.dependents.to[e];

        if (x->tasks[w].state == BZ_EXEC_WAITING && --x->tasks[w].pending == 0)
            bz_urgency_ready(x, w);
    }
}

static void block(struct bz_exec *x, uint32_t t)
{
    BZ_CLEANUP(bz_vec_release) struct bz_exec_ids todo = {0};

    BZ_VEC_PUSH(&todo, t);
    while (todo.len > 0) {
        t = BZ_VEC_POP(&todo);
        for (uint32_t e = x->plan.dependents.start[t];
             e < x->plan.dependents.start[t + 1]; e++) {
            struct bz_exec_task *w = &x->tasks[x->plan.dependents.to[e]];

            if (w->state != BZ_EXEC_WAITING)
                continue;
            w->state = BZ_EXEC_FAILED;
            bz_urgency_settle(x, x->plan.dependents.to[e]);
            x->counts->blocked++;
            BZ_VEC_PUSH(&todo, x->plan.dependents.to[e]);
        }
    }
}

static void fail_task(struct bz_exec *x, const struct bz_event *e)
{
    x->tasks[e->task].state = BZ_EXEC_FAILED;
    x->counts->failed++;
    block(x, e->task);
    if (!x->o->keep_going)
        x->stop = true;
    bz_exec_tell(x, e);
}

static struct bz_reapi_time time_of(int64_t wall)
{
    return (struct bz_reapi_time){wall / BZ_CLOCK_S, (int32_t)(wall % BZ_CLOCK_S),
                                  true};
}

static int put_by(struct bz_exec *x, uint32_t t, const struct bz_digest *key,
                  const struct bz_reapi_result *result, enum bz_action_put *how,
                  struct bz_err *err)
{
    const struct bz_tgraph *g = x->o->plan.graph;
    const struct bz_cache_labels labels = {g->recipes[g->tasks[t].recipe].facts->pn,
                                           g->tasks[t].facts->name};

    return bz_cache_put(x->o->cache, x->hasher, key, result, &labels, how, err);
}

static int put_result(struct bz_exec *x, uint32_t t, const struct bz_digest *content,
                      const struct bz_reapi_result *result, struct bz_err *err)
{
    enum bz_action_put how, by_key;
    int rc = put_by(x, t, content, result, &how, err);

    if (rc == 0)
        rc = put_by(x, t, &x->o->plan.keys[t], result, &by_key, err);
    /* By its signature it may differ since what it was handed does: then that is told
     * of who made it. */
    if (rc == 0 && how == BZ_ACTION_DIFFERENT)
        bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_DIFFERS, .task = t});
    return rc;
}

static void push_layers(struct bz_output_layers *to,
                        const struct bz_output_layers *from)
{
    for (size_t i = 0; i < from->len; i++)
        BZ_VEC_PUSH(to, from->at[i]);
}

/* Files the result: what it was handed on, with what it wrote on top. */
static int keep_result(struct bz_running *r, int64_t ns, struct bz_err *err)
{
    struct bz_exec *x = r->x;
    struct bz_output *out = &x->plan.tasks[r->task].output;
    struct bz_str name = x->o->plan.names[r->task];
    struct bz_reapi_digest own, shared;
    struct bz_reapi_result result = {0};
    int64_t now = bz_clock_wall();
    int rc = bz_step_finish(&x->shop, &r->step, &own, &shared, err);

    if (rc < 0)
        return rc;
    if (!bz_reapi_digest_none(&own))
        BZ_VEC_PUSH(&out->own, (struct bz_output_layer){name, own});
    if (!bz_reapi_digest_none(&shared))
        BZ_VEC_PUSH(&out->shared, (struct bz_output_layer){name, shared});
    push_layers(&out->own, &r->handed.own);
    push_layers(&out->shared, &r->handed.shared);
    x->plan.tasks[r->task].known = true;
    if (x->plan.tasks[r->task].fleeting)
        return 0;
    bz_output_write(out, &r->arena, &result);
    result.when[BZ_REAPI_RUN_START] = time_of(now - ns);
    result.when[BZ_REAPI_RUN_DONE] = time_of(now);
    bz_printed_add(x->o->cache, x->hasher, r->job.log, &r->arena, &result);
    return put_result(x, r->task, &r->content, &result, err);
}

/* Whether what the task was made from is still what was signed. */
static int check_inputs(const struct bz_running *r, struct bz_err *err)
{
    const struct bz_exec_opts *o = r->x->o;
    struct bz_err why;
    int rc = o->signing && !r->x->plan.tasks[r->task].fleeting
                 ? bz_signing_recheck(o->signing, o->plan.graph, r->task, &why)
                 : 0;

    if (rc == BZ_E_BUSY)
        return bz_fail(err, rc, "%s while it was built; try again", why.msg);
    if (rc < 0)
        *err = why;
    return rc;
}

static void run_free(struct bz_running *r)
{
    if (r->prev)
        r->prev->next = r->next;
    else if (r->x->all == r)
        r->x->all = r->next;
    if (r->next)
        r->next->prev = r->prev;
    if (r->job.fill.release)
        r->job.fill.release(r->job.fill.ctx);
    bz_step_release(&r->step);
    bz_output_release(&r->handed);
    bz_arena_release(&r->arena);
    free(r);
}

static void leave_queue(struct bz_running *r)
{
    struct bz_exec *x = r->x;
    struct bz_exec_queue *q = bz_exec_queue_of(x, r->task);

    q->running--;
    if (r->joined)
        bz_jobserver_leave(&x->shop.jobserver);
    if (q == &x->queues[BZ_EXEC_WORKS]) {
        bz_jobserver_give(&x->shop.jobserver);
        bz_admission_leave(&x->admission, x->tasks[r->task].cost.peak);
    }
}

/* Somebody looked around in it, and that is all. */
static void leave_task(struct bz_running *r, struct bz_event *e)
{
    struct bz_exec *x = r->x;

    e->kind = BZ_EVENT_DONE;
    x->tasks[r->task].state = BZ_EXEC_DONE;
    x->stop = true;
    bz_exec_tell(x, e);
    run_free(r);
}

/* It ran, and failed. What it left is told of, and kept if there is room for it. */
static void leave_failure(struct bz_running *r, struct bz_event *e)
{
    struct bz_exec *x = r->x;
    bool keep = !e->error && !x->shop.ground.bare;

    e->kind = BZ_EVENT_FAILED;
    if (!e->error && !e->timeout)
        e->oom_kills = bz_starved_since(&x->starved, r->began, bz_clock_now());
    bz_remark_tell(x, r->task, e->log, false); /* of errors the failure tells */
    if (keep)
        bz_failed_keep(x->o->store, x->o->plan.names[r->task],
                       &x->o->plan.keys[r->task], r->step.desk);
    fail_task(x, e);
    if (keep && bz_failed_crowds(x->o->store)) {
        bz_failed_drop(x->o->store, x->o->plan.names[r->task]);
        bz_log_warn("exec", "what %.*s has left is not kept: there is no room in %s",
                    BZ_STR_ARG(x->o->plan.names[r->task]), x->o->store);
    }
}

/* Files what has come of it. */
static void file_run(struct bz_running *r)
{
    struct bz_exec *x = r->x;
    struct bz_event e = r->end;
    bool good = e.exit_code == 0 && !e.error;
    struct bz_err err;

    bz_urgency_settle(x, r->task);
    if (r->job.enter && !e.error) {
        leave_task(r, &e);
        return;
    }
    if (good && (check_inputs(r, &err) < 0 || keep_result(r, e.ns, &err) < 0)) {
        e.error = err.msg;
        good = false;
    }
    if (good) {
        e.kind = BZ_EVENT_DONE;
        x->tasks[r->task].state = BZ_EXEC_DONE;
        x->counts->executed++;
        bz_bitset_set(&x->ran, r->task);
        if (x->failures)
            bz_failed_drop(x->o->store, x->o->plan.names[r->task]);
        bz_urgency_learn(x, r->task, &(struct bz_index_cost){e.ns, e.memory});
        bz_remark_tell(x, r->task, e.log, true);
        bz_exec_tell(x, &e);
        release_ready(x, r->task);
    } else if (x->interrupted) {
        x->tasks[r->task].state = BZ_EXEC_FAILED; /* not by its own fault */
        x->counts->blocked++;
    } else {
        leave_failure(r, &e);
    }
    run_free(r);
}

/* It ran to its end, which `end` tells of. */
static void leave_run(struct bz_running *r, const struct bz_event *end)
{
    r->end = *end;
    r->end.task = r->task;
    r->end.ns = bz_clock_now() - r->began;
    r->end.cpu = r->cpu;
    r->end.memory = r->memory;
    r->end.log = r->job.log;
    leave_queue(r);
}

static void end_run(struct bz_running *r, const struct bz_event *end)
{
    leave_run(r, end);
    file_run(r);
}

/* Whether another task may start before the result of one is filed: not if it failed,
 * since that may be the end of all, and not where tasks take turns or memory is short.
 */
static bool can_file_later(const struct bz_running *r, const struct bz_event *e)
{
    const struct bz_exec *x = r->x;

    return e->exit_code == 0 && !e->error && !r->job.enter && !x->shop.ground.bare &&
           x->o->jobs > 1 && !x->o->waves && !x->admission.full;
}

static void file_later(struct bz_running *r)
{
    struct bz_running **at = &r->x->ended;

    while (*at)
        at = &(*at)->later;
    *at = r;
}

bool bz_running_file(struct bz_exec *x)
{
    struct bz_running *r = x->ended;

    if (!r)
        return false;
    x->ended = r->later;
    file_run(r);
    return true;
}

/* Whether what runs now, or is to, goes before what bitzel does by itself. */
static bool goes_before(const struct bz_running *r)
{
    return r->job.before.n > 0 && !r->step.prepared;
}

/* It could not be run, for a reason that is not its own. */
static void abort_run(struct bz_running *r, const struct bz_err *err)
{
    struct bz_event e = {.exit_code = -1, .error = err->msg};

    if (r->x->nowhere.code) {
        r->x->tasks[r->task].state = BZ_EXEC_FAILED; /* not by its own fault */
        r->x->counts->blocked++;
        r->x->stop = true;
        leave_queue(r);
        run_free(r);
        return;
    }
    if (!bz_exec_lose(r->x, &r->step.lost, err)) {
        end_run(r, &e);
        return;
    }
    bz_log_warn("exec", "%s: it is made again", err->msg);
    leave_queue(r);
    run_free(r);
}

/* What bitzel does by itself, once it has the locks; of a task that something goes
 * before only the locks come first. */
static int start_filling(struct bz_running *r, struct bz_err *err)
{
    static const struct bz_job_fill nothing = {0};
    int64_t left = r->job.timeout;
    const char *top = r->step.top;
    int rc = goes_before(r) ? 0 : bz_step_fill(&r->step, &top, err);

    if (rc < 0)
        return rc;
    if (left && r->step.prepared) {
        left -= bz_clock_now() - r->began;
        left = left > 0 ? left : 1;
    }
    r->filling = (struct bz_filling){.x = r->x,
                                     .task = r->task,
                                     .fill = goes_before(r) ? &nothing : &r->job.fill,
                                     .timeout = left,
                                     .top = top,
                                     .step = &r->step,
                                     .log = r->step.log,
                                     .locks = &r->step.locks};
    bz_filling_start(&r->filling);
    return 0;
}

/* What went before has ended well. */
static void go_on(struct bz_running *r)
{
    struct bz_err err;

    if (r->joined)
        bz_jobserver_leave(&r->x->shop.jobserver);
    r->joined = false;
    bz_step_prepared(&r->step);
    if (start_filling(r, &err) < 0)
        abort_run(r, &err);
}

static void script_done(void *ctx, struct bz_proc_result *p)
{
    struct bz_running *r = ctx;
    struct bz_event e = {.exit_code = p->exit_code, .signal = p->signal};

    if (p->why == BZ_PROC_PUMP_TIMEOUT) {
        e.timeout = r->job.timeout;
        if (e.exit_code == 0) /* it ended well on being asked to; it was not done */
            e.exit_code = -1;
    }
    if (r->stopped) {
        e.error = r->stopped;
        e.exit_code = -1;
    }
    bz_sandbox_leave(r->x->shop.sandbox, &r->step.child);
    r->inside = false;
    if (r->step.child.tried[0])
        e.network = r->step.child.tried;
    r->cpu += p->user + p->sys;
    r->memory = p->max_rss > r->memory ? p->max_rss : r->memory;
    if (goes_before(r) && r->x->interrupted && e.exit_code == 0)
        e.exit_code = -1; /* that was not all of it */
    if (goes_before(r) && e.exit_code == 0)
        go_on(r);
    else if (!can_file_later(r, &e))
        end_run(r, &e);
    else {
        leave_run(r, &e);
        file_later(r);
    }
}

/* Its sandbox is there: has it looked after. */
static int adopt(struct bz_running *r, struct bz_err *err)
{
    struct bz_exec *x = r->x;
    struct bz_proc_handler handler = {.done = script_done, .ctx = r};
    struct bz_proc_spec limits = {.deadline = r->job.timeout ? r->began + r->job.timeout
                                                             : BZ_CLOCK_NEVER};
    int rc;

    r->joined = r->job.makes;
    if (r->joined)
        bz_jobserver_join(&x->shop.jobserver);
    rc = bz_proc_pump_adopt(x->pump, &r->step.child.proc, &limits, &handler, &r->proc,
                            err);
    r->inside = rc == 0;
    if (rc < 0)
        bz_sandbox_leave(x->shop.sandbox, &r->step.child);
    return rc;
}

static void launch_done(struct bz_launch *l)
{
    struct bz_running *r = BZ_CONTAINER(l, struct bz_running, launch);
    struct bz_err err = l->err;

    if (l->rc < 0 || adopt(r, &err) < 0)
        abort_run(r, &err);
    else if (r->x->interrupted) /* while it was made: nobody has asked it to end */
        bz_proc_pump_stop(r->x->pump, r->proc);
}

static int start_script(struct bz_running *r, struct bz_err *err)
{
    struct bz_exec *x = r->x;
    int rc = bz_step_plan(&x->shop, &r->job, &r->handed, &r->step, err);

    if (rc < 0)
        return rc;
    if (!x->shop.ground.bare && !r->job.enter) {
        r->launch = (struct bz_launch){.x = x, .step = &r->step};
        bz_launch_start(&r->launch);
        return 0;
    }
    rc = bz_step_launch(&x->shop, &r->step, err);
    return rc < 0 ? rc : adopt(r, err);
}

static void fill_done(struct bz_filling *f)
{
    struct bz_running *r = BZ_CONTAINER(f, struct bz_running, filling);
    struct bz_event e = {0};
    struct bz_err err;

    if (f->began && !r->step.prepared) /* what it waited for does not count */
        r->began = f->began;
    if (f->rc < 0) {
        e.exit_code = -1;
        e.error = f->late ? NULL : f->err.msg;
        e.timeout = f->late ? r->job.timeout : 0;
        end_run(r, &e);
    } else if (!goes_before(r) && r->job.script.n == 0 && !r->job.enter) {
        end_run(r, &e);
    } else if (start_script(r, &err) < 0) {
        abort_run(r, &err);
    }
}

void bz_running_take(struct bz_exec *x)
{
    bz_launch_take(x, launch_done);
    bz_filling_take(x, fill_done);
}

void bz_running_drop(struct bz_exec *x)
{
    while (x->all) {
        struct bz_running *r = x->all;

        if (r->inside)
            bz_sandbox_leave(x->shop.sandbox, &r->step.child);
        run_free(r);
    }
}

void bz_running_stop(struct bz_exec *x, const char *why)
{
    x->stop = true;
    for (struct bz_running *r = x->all; r; r = r->next) {
        if (!r->inside || r->stopped)
            continue;
        r->stopped = why;
        bz_proc_pump_stop(x->pump, r->proc);
    }
}

/* Children that are left do not count: they are killed with the pump. */
void bz_running_settle(struct bz_exec *x)
{
    struct bz_err err;

    if (x->filling + x->launching == 0)
        return;
    bz_cancel_now(&x->cancel);
    while (x->filling + x->launching > 0 &&
           bz_proc_pump_run_once(x->pump, BZ_CLOCK_NEVER, &err) == 0)
        bz_running_take(x);
}

static void tell_start(const struct bz_running *r)
{
    const struct bz_exec_task *task = &r->x->tasks[r->task];

    bz_exec_tell(r->x, &(struct bz_event){.kind = BZ_EVENT_STARTED,
                                          .task = r->task,
                                          .expect = task->cost.duration,
                                          .ahead = task->ahead,
                                          .log = r->job.log});
}

static int start_run(struct bz_running *r, struct bz_err *err)
{
    struct bz_exec *x = r->x;
    int rc = x->pump ? 0 : bz_workplace_open(x, err);

    if (rc < 0) {
        x->nowhere = *err;
        return rc;
    }
    rc = x->o->job(x->o->job_ctx, r->task, &r->arena, &r->job, err);
    tell_start(r);
    if (rc == 0)
        rc = bz_step_open(&x->shop, &r->job, &r->handed, &r->step, err);
    if (rc < 0)
        return rc;
    if (r->job.enter && bz_failed_find(x->o->store, x->o->plan.names[r->task],
                                       &x->o->plan.keys[r->task], &r->arena,
                                       &r->step.top, &r->step.tmp)) {
        r->job.fill.run = NULL; /* it has been filled */
        r->job.before = BZ_STR("");
    }
    if ((!r->job.fill.run || goes_before(r)) && bz_lockset_try(&r->step.locks)) {
        r->began = bz_clock_now();
        return start_script(r, err);
    }
    return start_filling(r, err);
}

void bz_running_keep_same(struct bz_exec *x, uint32_t t)
{
    const struct bz_plan_task *task = &x->plan.tasks[t];
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result result = {0};
    enum bz_action_put how;
    struct bz_err ignored;

    bz_output_write(&task->output, &a, &result);
    result.when[BZ_REAPI_RUN_START] = task->began;
    result.when[BZ_REAPI_RUN_DONE] = task->ended;
    result.out_raw = task->printed;
    result.out = task->log;
    if (put_by(x, t, &x->o->plan.keys[t], &result, &how, &ignored) < 0)
        return; /* to be found by its content next time, too */
}

/* False if there was no need to run it. */
static bool start_task(struct bz_exec *x, uint32_t t)
{
    struct bz_running *r = bz_mem_zalloc(sizeof(*r));
    struct bz_exec_queue *q = bz_exec_queue_of(x, t);
    struct bz_err err;

    r->x = x;
    r->task = t;
    r->began = bz_clock_now();
    bz_handing_collect(&x->plan, t, &r->handed);
    bz_handing_sign(&x->plan, t, &r->handed, &r->content);
    if (bz_plan_find_same(&x->plan, &x->results, t, &r->handed, &r->content)) {
        bz_urgency_settle(x, t);
        bz_exec_use(x, t);
        release_ready(x, t);
        run_free(r);
        return false;
    }
    bz_overlap_check(x, &r->handed);
    x->tasks[t].state = BZ_EXEC_RUNNING;
    r->next = x->all;
    if (r->next)
        r->next->prev = r;
    x->all = r;
    q->running++;
    if (q == &x->queues[BZ_EXEC_WORKS])
        bz_admission_enter(&x->admission, x->tasks[t].cost.peak);
    if (start_run(r, &err) < 0)
        abort_run(r, &err);
    return true;
}

/* Nothing to run: it hands on what it is handed. */
static void pass(struct bz_exec *x, uint32_t t)
{
    if (!x->plan.tasks[t].known)
        bz_handing_collect(&x->plan, t, &x->plan.tasks[t].output);
    x->plan.tasks[t].known = true;
    x->tasks[t].state = BZ_EXEC_DONE;
    x->counts->noexec++;
    release_ready(x, t);
}

/* A wave begins when the one before has ended. */
static bool is_in_turn(const struct bz_exec *x, const struct bz_queue_item *next)
{
    for (size_t k = 0; k < BZ_EXEC_KINDS; k++) {
        const struct bz_queue *other = &x->queues[k].ready;

        if (other->len > 0 && bz_queue_peek(other)->wave < next->wave)
            return false;
    }
    return next->wave == x->wave || bz_exec_running(x) == 0;
}

/* Whether the first of a queue, if there is one, can be started now. */
static bool can_start(struct bz_exec *x, const struct bz_exec_queue *q)
{
    const struct bz_queue_item *next;

    if (x->stop || bz_exec_is_held(x) || q->ready.len == 0)
        return false;
    next = bz_queue_peek(&q->ready);
    if (next->free)
        return true;
    if (x->shop.ground.bare && bz_exec_running(x) > 0)
        return false;
    return q->running < q->limit && is_in_turn(x, next) &&
           (q == &x->queues[BZ_EXEC_WAITS] ||
            bz_admission_ask(&x->admission, x->tasks[next->task].cost.peak));
}

static void start_queue(struct bz_exec *x, struct bz_exec_queue *q)
{
    const bool works = q == &x->queues[BZ_EXEC_WORKS];

    while (can_start(x, q)) {
        const struct bz_queue_item next = *bz_queue_peek(&q->ready);

        if (!next.free && works && !bz_jobserver_take(&x->shop.jobserver))
            return;
        bz_queue_pop(&q->ready);
        if (next.free) {
            pass(x, next.task);
            continue;
        }
        x->wave = next.wave;
        if (!start_task(x, next.task) && works)
            bz_jobserver_give(&x->shop.jobserver);
    }
}

void bz_running_start(struct bz_exec *x)
{
    bz_jobserver_rest(&x->shop.jobserver);
    x->admission.full = false;
    /* What is passed or found in one queue may make another's ready. */
    do {
        start_queue(x, &x->queues[BZ_EXEC_WAITS]);
        start_queue(x, &x->queues[BZ_EXEC_WORKS]);
    } while (can_start(x, &x->queues[BZ_EXEC_WAITS]));
}
