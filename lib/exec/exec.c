#include "exec/exec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "exec/step.h"
#include "graph/ready.h"
#include "os/alive.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/fs_remove.h"
#include "os/proc_pump.h"

enum state {
    UNNEEDED, /* nothing that runs waits for it */
    CACHED,   /* its output is known */
    WAITING,  /* to run */
    RUNNING,
    DONE,   /* ran */
    FAILED, /* or waits for one that did */
};

struct task {
    enum state state;
    bool fleeting; /* its result is never used again */
    uint32_t rank; /* its place in the order */
    uint32_t pending;
    struct bz_output output;
};

struct ids BZ_VEC(uint32_t);

struct exec {
    const struct bz_exec_opts *o;
    struct bz_event_counts *counts;
    struct task *tasks; /* [n] */
    uint32_t n;
    struct bz_dag waiting; /* who waits for a task */
    struct bz_map ids;     /* name -> number, from 1 */
    struct ids ready;
    size_t next; /* of ready, to be started */
    unsigned running;
    bool stop;
    struct bz_step_shop shop;
    struct bz_digest_hasher *hasher;
    struct bz_proc_pump *pump;
    struct bz_arena arena; /* of outputs that were read */
    int64_t began;
    bool interrupted;
    bool killed; /* interrupted twice */

    /* Results whose trees turned out to be gone count as none: then all is planned
     * anew, and what has run since is in the store. */
    struct bz_map lost; /* digests of trees */
    struct bz_bitset ran;
    bool again;
};

/* One task that runs. */
struct run {
    struct exec *x;
    uint32_t task;
    struct bz_step step;
    struct bz_output handed;
    struct bz_digest content; /* its second key */
    int64_t began;
    const char *log;
    struct bz_arena arena; /* of its job */
};

static bool is_noexec(const struct exec *x, uint32_t t)
{
    return x->o->graph->tasks[t].facts->noexec;
}

static void tell(struct exec *x, const struct bz_event *about)
{
    struct bz_event e = *about;

    e.key = &x->o->keys[e.task];
    e.counts = *x->counts;
    if (x->o->event)
        x->o->event(x->o->event_ctx, &e);
}

/* ---- what to do about each task ---- */

static bool is_lost(const struct exec *x, const struct bz_output_layers *layers)
{
    for (size_t i = 0; x->lost.len > 0 && i < layers->len; i++)
        if (bz_map_get(&x->lost, bz_str_of((const char *)layers->at[i].tree.hash.b,
                                           BZ_DIGEST_LEN)))
            return true;
    return false;
}

static bool find_result(struct exec *x, uint32_t t, const struct bz_digest *key)
{
    struct bz_output *out = &x->tasks[t].output;
    struct bz_reapi_result result;
    struct bz_err ignored;

    if ((x->o->no_cache && !bz_bitset_test(&x->ran, t)) || x->tasks[t].fleeting)
        return false;
    if (bz_cache_get(x->o->cache, x->hasher, key, &x->arena, &result, &ignored) < 0 ||
        bz_cache_fetch(x->o->cache, x->hasher, key, &result, NULL, &ignored) < 0 ||
        bz_output_read(out, &result, &ignored) < 0)
        return false;
    if (!is_lost(x, &out->own) && !is_lost(x, &out->shared))
        return true;
    bz_output_release(out);
    return false;
}

static void use_result(struct exec *x, uint32_t t, bool same)
{
    x->tasks[t].state = CACHED;
    if (bz_bitset_test(&x->ran, t))
        return; /* by this very build */
    x->counts->cached++;
    tell(x, &(struct bz_event){.kind = BZ_EVENT_CACHED, .task = t, .same = same});
}

static void mark_fleeting(struct exec *x)
{
    const struct bz_tgraph *g = x->o->graph;

    for (size_t i = 0; i < g->order.len; i++) {
        uint32_t t = g->order.at[i];

        x->tasks[t].rank = (uint32_t)i;
        x->tasks[t].fleeting = g->tasks[t].facts->nostamp;
        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++)
            if (x->tasks[g->dag.to[e]].fleeting)
                x->tasks[t].fleeting = true;
    }
}

/* From the targets down to what is stored. */
static void decide(struct exec *x)
{
    const struct bz_dag *dag = &x->o->graph->dag;
    BZ_CLEANUP(bz_vec_release) struct ids todo = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset seen = {0};

    for (size_t i = 0; i < x->o->graph->targets.len; i++)
        if (!bz_bitset_test(&seen, x->o->graph->targets.at[i])) {
            bz_bitset_set(&seen, x->o->graph->targets.at[i]);
            BZ_VEC_PUSH(&todo, x->o->graph->targets.at[i]);
        }
    while (todo.len > 0) {
        uint32_t t = BZ_VEC_POP(&todo);

        if (!is_noexec(x, t) && find_result(x, t, &x->o->keys[t])) {
            use_result(x, t, false);
            continue;
        }
        x->tasks[t].state = WAITING;
        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
            if (!bz_bitset_test(&seen, dag->to[e])) {
                bz_bitset_set(&seen, dag->to[e]);
                BZ_VEC_PUSH(&todo, dag->to[e]);
            }
    }
    for (uint32_t t = 0; t < x->n; t++)
        x->counts->unneeded += x->tasks[t].state == UNNEEDED;
}

static void find_ready(struct exec *x)
{
    const struct bz_dag *dag = &x->o->graph->dag;

    for (size_t i = 0; i < x->o->graph->order.len; i++) {
        uint32_t t = x->o->graph->order.at[i];

        if (x->tasks[t].state != WAITING)
            continue;
        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
            x->tasks[t].pending += x->tasks[dag->to[e]].state == WAITING;
        if (x->tasks[t].pending == 0)
            BZ_VEC_PUSH(&x->ready, t);
    }
}

/* ---- what a task is handed on ---- */

struct placed {
    uint32_t rank;
    struct bz_output_layer layer;
};

struct placed_list BZ_VEC(struct placed);

static int by_rank_down(const void *a, const void *b)
{
    uint32_t x = ((const struct placed *)a)->rank, y = ((const struct placed *)b)->rank;

    return x < y ? 1 : x > y ? -1 : 0;
}

static void collect(const struct exec *x, const struct bz_output_layers *from,
                    struct bz_bitset *seen, struct placed_list *out)
{
    for (size_t i = 0; i < from->len; i++) {
        const struct bz_map_entry *e = bz_map_get(&x->ids, from->at[i].task);
        uint32_t rank = e ? x->tasks[e->u - 1].rank : 0;

        /* A result may come from a graph with other tasks; they lie below all. */
        if (e && bz_bitset_test(seen, e->u))
            continue;
        if (e)
            bz_bitset_set(seen, e->u);
        BZ_VEC_PUSH(out, (struct placed){rank, from->at[i]});
    }
}

static void take_list(struct placed_list *from, struct bz_output_layers *to)
{
    BZ_VEC_SORT(from, by_rank_down);
    for (size_t i = 0; i < from->len; i++)
        BZ_VEC_PUSH(to, from->at[i].layer);
}

static void hand_on(const struct exec *x, uint32_t t, struct bz_output *out)
{
    const struct bz_tgraph *g = x->o->graph;
    BZ_CLEANUP(bz_vec_release) struct placed_list own = {0}, shared = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset own_seen = {0}, shared_seen = {0};

    *out = (struct bz_output){0};
    for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++) {
        const struct task *d = &x->tasks[g->dag.to[e]];

        if (g->tasks[g->dag.to[e]].recipe == g->tasks[t].recipe)
            collect(x, &d->output.own, &own_seen, &own);
        collect(x, &d->output.shared, &shared_seen, &shared);
    }
    take_list(&own, &out->own);
    take_list(&shared, &out->shared);
}

/* ---- running ---- */

static void release_ready(struct exec *x, uint32_t t)
{
    for (uint32_t e = x->waiting.start[t]; e < x->waiting.start[t + 1]; e++) {
        uint32_t w = x->waiting.to[e];

        if (x->tasks[w].state == WAITING && --x->tasks[w].pending == 0)
            BZ_VEC_PUSH(&x->ready, w);
    }
}

static void block(struct exec *x, uint32_t t)
{
    BZ_CLEANUP(bz_vec_release) struct ids todo = {0};

    BZ_VEC_PUSH(&todo, t);
    while (todo.len > 0) {
        t = BZ_VEC_POP(&todo);
        for (uint32_t e = x->waiting.start[t]; e < x->waiting.start[t + 1]; e++) {
            struct task *w = &x->tasks[x->waiting.to[e]];

            if (w->state != WAITING)
                continue;
            w->state = FAILED;
            x->counts->blocked++;
            BZ_VEC_PUSH(&todo, x->waiting.to[e]);
        }
    }
}

static void fail_task(struct exec *x, const struct bz_event *e)
{
    x->tasks[e->task].state = FAILED;
    x->counts->failed++;
    block(x, e->task);
    if (!x->o->keep_going)
        x->stop = true;
    tell(x, e);
}

static struct bz_reapi_time time_of(int64_t wall)
{
    return (struct bz_reapi_time){wall / BZ_CLOCK_S, (int32_t)(wall % BZ_CLOCK_S),
                                  true};
}

static int put_result(struct exec *x, uint32_t t, const struct bz_digest *content,
                      const struct bz_reapi_result *result, struct bz_err *err)
{
    const struct bz_tgraph *g = x->o->graph;
    const struct bz_cache_labels labels = {g->recipes[g->tasks[t].recipe].facts->pn,
                                           g->tasks[t].facts->name};
    enum bz_action_put how;
    int rc = bz_cache_put(x->o->cache, x->hasher, content, result, &labels, &how, err);

    if (rc == 0)
        rc = bz_cache_put(x->o->cache, x->hasher, &x->o->keys[t], result, &labels, &how,
                          err);
    return rc;
}

static void push_layers(struct bz_output_layers *to,
                        const struct bz_output_layers *from)
{
    for (size_t i = 0; i < from->len; i++)
        BZ_VEC_PUSH(to, from->at[i]);
}

/* Files the result: what it was handed on, with what it wrote on top. */
static int keep_result(struct run *r, int64_t ns, struct bz_err *err)
{
    struct exec *x = r->x;
    struct bz_output *out = &x->tasks[r->task].output;
    struct bz_str name = x->o->names[r->task];
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
    if (x->tasks[r->task].fleeting)
        return 0;
    bz_output_write(out, &r->arena, &result);
    result.when[BZ_REAPI_RUN_START] = time_of(now - ns);
    result.when[BZ_REAPI_RUN_DONE] = time_of(now);
    return put_result(x, r->task, &r->content, &result, err);
}

static void run_free(struct run *r)
{
    bz_step_release(&r->step);
    bz_output_release(&r->handed);
    bz_arena_release(&r->arena);
    free(r);
}

static void run_done(void *ctx, struct bz_proc_result *p)
{
    struct run *r = ctx;
    struct exec *x = r->x;
    struct bz_event e = {.kind = BZ_EVENT_DONE,
                         .task = r->task,
                         .ns = bz_clock_now() - r->began,
                         .exit_code = p->exit_code,
                         .signal = p->signal,
                         .log = r->log};
    struct bz_err err;

    bz_sandbox_leave(x->shop.sandbox, &r->step.child);
    x->running--;
    if (p->exit_code != 0 && x->interrupted) {
        x->tasks[r->task].state = FAILED; /* not by its own fault */
        x->counts->blocked++;
    } else if (p->exit_code != 0) {
        e.kind = BZ_EVENT_FAILED;
        fail_task(x, &e);
    } else if (keep_result(r, e.ns, &err) < 0) {
        e.kind = BZ_EVENT_FAILED;
        e.error = err.msg;
        fail_task(x, &e);
    } else {
        x->tasks[r->task].state = DONE;
        x->counts->executed++;
        bz_bitset_set(&x->ran, r->task);
        tell(x, &e);
        release_ready(x, r->task);
    }
    run_free(r);
}

static void interrupted(void *ctx)
{
    struct exec *x = ctx;

    x->o->interrupt(x->o->interrupt_ctx);
    x->killed = x->interrupted;
    x->stop = x->interrupted = true;
    bz_proc_pump_stop_all(x->pump);
}

static int open_trees(struct exec *x, struct bz_err *err)
{
    return x->shop.trees ? 0
                         : bz_trees_open(x->o->cache, x->o->pool, x->o->store,
                                         &x->shop.trees, err);
}

/* Removes what builds that were killed have left. */
static void sweep(const char *all, const struct bz_alive *self)
{
    BZ_CLEANUP(bz_fs_list_release) struct bz_fs_list names = {0};
    struct bz_err ignored;

    if (bz_fs_list_dir(AT_FDCWD, all, &names, &ignored) < 0)
        return;
    for (size_t i = 0; i < names.n; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};

        if (bz_alive_check(self, bz_str_from(names.names[i])) != BZ_ALIVE_GONE)
            continue;
        bz_buf_addf(&path, "%s/%s", all, names.names[i]);
        if (bz_fs_remove(AT_FDCWD, bz_buf_text(&path), &ignored) < 0)
            bz_log_warn("exec", "%s", ignored.msg);
    }
}

/* What it takes to run anything; a build that runs nothing does without. */
static int open_shop(struct exec *x, struct bz_err *err)
{
    const char *all = bz_arena_printf(&x->arena, "%s/work", x->o->store).p;
    struct bz_alive self;
    const char *scratch, *anchor;
    int rc;

    bz_alive_self(&self);
    scratch = bz_arena_printf(&x->arena, "%s/%s", all, self.name).p;
    anchor = bz_arena_printf(&x->arena, "%s/root", scratch).p;
    sweep(all, &self);
    rc = bz_fs_remove(AT_FDCWD, scratch, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, anchor, 0755, err);
    x->shop.cache = x->o->cache;
    x->shop.pool = x->o->pool;
    x->shop.scratch = scratch;
    x->shop.views = x->o->views;
    x->shop.nviews = x->o->nviews;
    if (rc == 0)
        rc = open_trees(x, err);
    if (rc == 0)
        rc = bz_sandbox_open(anchor, &x->shop.sandbox, err);
    if (rc == 0)
        rc = bz_proc_pump_open(&x->pump, err);
    if (rc == 0 && x->o->interrupt_fd >= 0)
        rc = bz_proc_pump_watch(x->pump, x->o->interrupt_fd, interrupted, x, err);
    return rc;
}

static int start_run(struct run *r, struct bz_err *err)
{
    struct exec *x = r->x;
    struct bz_proc_handler handler = {.done = run_done, .ctx = r};
    struct bz_proc_spec limits = {0};
    struct bz_job job = {0};
    int rc = x->pump ? 0 : open_shop(x, err);

    if (rc == 0)
        rc = x->o->job(x->o->job_ctx, r->task, &r->arena, &job, err);
    if (rc < 0)
        return rc;
    r->log = job.log;
    rc = bz_step_start(&x->shop, &job, &r->handed, &r->step, err);
    if (rc < 0)
        return rc;
    rc = bz_proc_pump_adopt(x->pump, &r->step.child.proc, &limits, &handler, NULL, err);
    if (rc < 0)
        bz_sandbox_leave(x->shop.sandbox, &r->step.child);
    return rc;
}

/* What decides the result, if the signatures before it are left aside: the task's own
 * part, and the bytes it sees. */
static void sign_content(struct exec *x, uint32_t t, const struct bz_output *handed,
                         struct bz_digest *out)
{
    enum { TAG_KIND = 1, TAG_BASE, TAG_OWN, TAG_SHARED };
    static const char kind[] = "content";

    bz_digest_begin(x->hasher);
    bz_digest_add_field(x->hasher, TAG_KIND, kind, sizeof(kind) - 1);
    bz_digest_add_field(x->hasher, TAG_BASE, x->o->bases[t].b, BZ_DIGEST_LEN);
    for (size_t i = 0; i < handed->own.len; i++)
        bz_digest_add_field(x->hasher, TAG_OWN, handed->own.at[i].tree.hash.b,
                            BZ_DIGEST_LEN);
    for (size_t i = 0; i < handed->shared.len; i++)
        bz_digest_add_field(x->hasher, TAG_SHARED, handed->shared.at[i].tree.hash.b,
                            BZ_DIGEST_LEN);
    bz_digest_end(x->hasher, out);
}

/* What it waits for was made anew, but came out the same: then so would this one. */
static bool cut_off(struct run *r)
{
    struct exec *x = r->x;
    struct bz_reapi_result result = {0};
    struct bz_err ignored;

    if (!find_result(x, r->task, &r->content))
        return false;
    bz_output_write(&x->tasks[r->task].output, &r->arena, &result);
    if (put_result(x, r->task, &r->content, &result, &ignored) < 0)
        return true; /* to be found by its content next time, too */
    return true;
}

/* Notes a tree that is gone. False if there is none, or if it was known: then another
 * round would not help. */
static bool lose(struct exec *x, const struct bz_digest *tree)
{
    struct bz_str key = bz_str_of((const char *)tree->b, BZ_DIGEST_LEN);

    if (bz_digest_is_zero(tree) || bz_map_get(&x->lost, key))
        return false;
    bz_map_put(&x->lost, bz_arena_dup(&x->arena, key));
    x->stop = x->again = true;
    return true;
}

static void start_task(struct exec *x, uint32_t t)
{
    struct run *r = bz_mem_zalloc(sizeof(*r));
    struct bz_err err;

    r->x = x;
    r->task = t;
    r->began = bz_clock_now();
    hand_on(x, t, &r->handed);
    sign_content(x, t, &r->handed, &r->content);
    if (cut_off(r)) {
        use_result(x, t, true);
        release_ready(x, t);
        run_free(r);
        return;
    }
    x->tasks[t].state = RUNNING;
    x->running++;
    tell(x, &(struct bz_event){.kind = BZ_EVENT_STARTED, .task = t});
    if (start_run(r, &err) == 0)
        return;
    x->running--;
    if (lose(x, &r->step.lost)) {
        bz_log_warn("exec", "%s: it is made again", err.msg);
        run_free(r);
        return;
    }
    fail_task(
        x, &(struct bz_event){
               .kind = BZ_EVENT_FAILED, .task = t, .exit_code = -1, .error = err.msg});
    run_free(r);
}

/* Nothing to run: it hands on what it is handed. */
static void pass(struct exec *x, uint32_t t)
{
    hand_on(x, t, &x->tasks[t].output);
    x->tasks[t].state = DONE;
    x->counts->noexec++;
    release_ready(x, t);
}

static void start_ready(struct exec *x)
{
    while (!x->stop && x->next < x->ready.len) {
        uint32_t t = x->ready.at[x->next];

        if (x->tasks[t].state != WAITING)
            x->next++;
        else if (is_noexec(x, t)) {
            x->next++;
            pass(x, t);
        } else if (x->running < x->o->jobs) {
            x->next++;
            start_task(x, t);
        } else {
            return;
        }
    }
}

static int run_all(struct exec *x, struct bz_err *err)
{
    int rc = 0;

    while (rc == 0) {
        start_ready(x);
        if (x->running == 0 || x->killed)
            break;
        rc = bz_proc_pump_run_once(x->pump, BZ_CLOCK_NEVER, err);
    }
    if (rc < 0)
        return rc;
    if (x->interrupted)
        return bz_fail(err, BZ_E_CANCELED, "interrupted");
    if (x->counts->failed > 0)
        return bz_fail(err, BZ_E_TASK, "%u task%s failed", x->counts->failed,
                       x->counts->failed == 1 ? "" : "s");
    return 0;
}

static int show_layers(struct exec *x, const struct bz_output_layers *layers,
                       const char **path, struct bz_err *err)
{
    *path = NULL;
    for (size_t i = 0; i < layers->len; i++) {
        int rc = bz_trees_get(x->shop.trees, &layers->at[i].tree, path, err);

        if (rc == BZ_E_NOENT && lose(x, &layers->at[i].tree.hash))
            return rc;
        if (rc < 0)
            return bz_err_wrap(err, "output of %.*s", BZ_STR_ARG(layers->at[i].task));
    }
    return layers->len ? bz_trees_merge(x->shop.trees, layers, path, err) : 0;
}

static int show_targets(struct exec *x, struct bz_err *err)
{
    const struct bz_dag_ids *targets = &x->o->graph->targets;
    int rc = x->o->target ? open_trees(x, err) : 0;

    for (size_t i = 0; x->o->target && i < targets->len && rc == 0; i++) {
        const struct bz_output *out = &x->tasks[targets->at[i]].output;
        const char *own, *shared;

        rc = show_layers(x, &out->own, &own, err);
        if (rc == 0)
            rc = show_layers(x, &out->shared, &shared, err);
        if (rc == 0)
            x->o->target(x->o->target_ctx, targets->at[i], own, shared);
    }
    return rc;
}

static void release(struct exec *x)
{
    struct bz_err ignored;

    if (x->pump)
        bz_proc_pump_close(x->pump);
    bz_sandbox_close(x->shop.sandbox);
    bz_trees_close(x->shop.trees);
    if (x->shop.scratch && bz_fs_remove(AT_FDCWD, x->shop.scratch, &ignored) < 0)
        errno = 0; /* a later build sweeps it */
    bz_digest_hasher_free(x->hasher);
    for (uint32_t t = 0; t < x->n; t++)
        bz_output_release(&x->tasks[t].output);
    free(x->tasks);
    bz_vec_release(&x->ready);
    bz_dag_release(&x->waiting);
    bz_map_release(&x->ids);
    bz_map_release(&x->lost);
    bz_bitset_release(&x->ran);
    bz_arena_release(&x->arena);
}

/* Plans, from what is stored now. */
static void begin(struct exec *x)
{
    for (uint32_t t = 0; t < x->n; t++) {
        bz_output_release(&x->tasks[t].output);
        x->tasks[t].state = UNNEEDED;
        x->tasks[t].pending = 0;
    }
    BZ_VEC_CLEAR(&x->ready);
    x->next = 0;
    x->stop = x->again = false;
    x->counts->unneeded = x->counts->noexec = x->counts->blocked = 0;
    decide(x);
    find_ready(x);
    tell(x, &(struct bz_event){.kind = BZ_EVENT_PLANNED});
}

int bz_exec_run(const struct bz_exec_opts *opts, struct bz_event_counts *counts,
                struct bz_err *err)
{
    struct exec x = {.o = opts, .counts = counts, .n = opts->graph->dag.n};
    int rc = bz_digest_hasher_new(&x.hasher, err);

    x.began = bz_clock_now();
    *counts = (struct bz_event_counts){.tasks = x.n};
    x.tasks = bz_mem_array(x.n, sizeof(*x.tasks));
    for (uint32_t t = 0; t < x.n; t++)
        bz_map_put(&x.ids, opts->names[t])->u = t + 1;
    bz_dag_reverse(&opts->graph->dag, &x.waiting);
    mark_fleeting(&x);
    do {
        begin(&x);
        if (rc == 0)
            rc = run_all(&x, err);
        if (rc == 0 && !x.again)
            rc = show_targets(&x, err);
        if (rc == BZ_E_NOENT && x.again)
            rc = 0;
    } while (rc == 0 && x.again);
    tell(&x,
         &(struct bz_event){.kind = BZ_EVENT_ENDED, .ns = bz_clock_now() - x.began});
    release(&x);
    return rc;
}
