#include "exec/exec.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "exec/running.h"
#include "exec/urgency.h"
#include "exec/workplace.h"
#include "os/clock.h"

#define WAITING_MAX 8
#define ASK_AGAIN BZ_CLOCK_S           /* for memory */
#define LOOK_AGAIN (500 * BZ_CLOCK_MS) /* at the room in the store */
#define ROOM_PART 256 /* of the store's file system, which tasks must leave */
#define ROOM_LEAST ((uint64_t)128 << 20) /* but no more than that */

void bz_exec_tell(struct bz_exec *x, const struct bz_event *about)
{
    struct bz_event e = *about;

    e.at = bz_clock_now() - x->began;
    e.key = &x->o->plan.keys[e.task];
    e.counts = *x->counts;
    e.work = x->guess ? -1 : x->work;
    if (x->o->event)
        x->o->event(x->o->event_ctx, &e);
}

/* Tells that time passes, if it is time to. */
static void tell_time(struct bz_exec *x)
{
    int64_t now = bz_clock_now();

    if (x->o->tick == 0 || now < x->tick)
        return;
    x->tick = now + x->o->tick;
    bz_exec_tell(x,
                 &(struct bz_event){.kind = BZ_EVENT_TICK,
                                    .slots_used = bz_jobserver_used(&x->shop.jobserver),
                                    .slots = x->o->jobs});
}

/* A task that writes and writes fills the disk of all others. What a build needs to end
 * well, and everybody else a little, must be left. */
static void look_at_room(struct bz_exec *x)
{
    int64_t now = bz_clock_now();
    struct statvfs st;
    uint64_t least, left;

    if (now < x->look || bz_exec_running(x) == 0)
        return;
    x->look = now + LOOK_AGAIN;
    if (statvfs(x->o->store, &st) < 0)
        return;
    least = (uint64_t)st.f_blocks * st.f_frsize / ROOM_PART;
    if (least > ROOM_LEAST)
        least = ROOM_LEAST;
    left = (uint64_t)st.f_bavail * st.f_frsize;
    if (left < least)
        bz_running_stop(x,
                        bz_arena_printf(&x->arena,
                                        "stopped: the file system at %s is full, but "
                                        "for %" PRIu64 " KiB",
                                        x->o->store, left >> 10)
                            .p);
}

/* Whether there is nothing to wait for: what is held will start some time. */
static bool is_over(const struct bz_exec *x)
{
    if (x->killed)
        return true;
    return bz_exec_running(x) == 0 &&
           !(x->pump && bz_exec_is_held(x) && bz_exec_has_ready(x));
}

/* Until when to wait for something to happen. Nobody tells when there is memory, or
 * no room in the store. */
static int64_t wait_until(const struct bz_exec *x)
{
    int64_t until = x->o->tick ? x->tick : BZ_CLOCK_NEVER;
    int64_t ask = bz_clock_in(x->admission.full ? ASK_AGAIN : LOOK_AGAIN);

    return until == BZ_CLOCK_NEVER || ask < until ? ask : until;
}

/* Somebody interrupted while there was no pump to tell of it. */
static void heed(struct bz_exec *x)
{
    if (x->interrupted || x->o->interrupt_fd < 0 ||
        bz_cancel_check(&x->cancel) != BZ_E_CANCELED)
        return;
    x->o->interrupt(x->o->interrupt_ctx);
    x->stop = x->interrupted = true;
}

static int run_all(struct bz_exec *x, struct bz_err *err)
{
    int rc = 0;

    heed(x);
    while (rc == 0) {
        bz_running_start(x);
        if (bz_running_file(x))
            continue;
        if (is_over(x))
            break;
        rc = bz_proc_pump_run_once(x->pump, wait_until(x), err);
        bz_running_take(x);
        tell_time(x);
        look_at_room(x);
    }
    bz_running_settle(x);
    if (rc < 0)
        return rc;
    heed(x);
    if (x->interrupted)
        return bz_fail(err, BZ_E_CANCELED, "interrupted");
    if (x->nowhere.code) {
        *err = x->nowhere;
        return err->code;
    }
    if (x->counts->failed > 0)
        return bz_fail(err, BZ_E_TASK, "%u task%s failed", x->counts->failed,
                       x->counts->failed == 1 ? "" : "s");
    return 0;
}

static int show_layers(struct bz_exec *x, const struct bz_output_layers *layers,
                       struct bz_str part, const char **path, struct bz_err *err)
{
    size_t lost;
    int rc;

    *path = NULL;
    if (layers->len == 0)
        return 0;
    rc = bz_trees_show(x->shop.trees, layers, part, path, &lost, err);
    if (rc == 0)
        return 0;
    if (bz_exec_lose(x, &layers->at[lost].tree.hash, err))
        return BZ_E_NOENT;
    return bz_err_wrap(err, "output of %.*s", BZ_STR_ARG(layers->at[lost].task));
}

static const char *keep_path(struct bz_arena *a, const char *path)
{
    return path ? bz_arena_dup(a, bz_str_from(path)).p : NULL;
}

void bz_exec_outputs_release(struct bz_exec_outputs *o)
{
    bz_vec_release(&o->list);
    bz_arena_release(&o->arena);
}

static int show_shared(struct bz_exec *x, size_t target, const char **path,
                       struct bz_err *err)
{
    uint32_t task = x->o->plan.graph->targets.at[target];
    const struct bz_str *parts = x->o->outputs->parts;

    *path = NULL;
    if (parts && parts[target].n == 0)
        return 0;
    return show_layers(x, &x->plan.tasks[task].output.shared,
                       parts ? parts[target] : BZ_STR(""), path, err);
}

static int show_targets(struct bz_exec *x, struct bz_err *err)
{
    const struct bz_dag_ids *targets = &x->o->plan.graph->targets;
    struct bz_exec_outputs *outputs = x->o->outputs;
    int rc = outputs ? bz_workplace_trees(x, err) : 0;

    if (outputs)
        BZ_VEC_CLEAR(&outputs->list);
    for (size_t i = 0; outputs && i < targets->len && rc == 0; i++) {
        const struct bz_output *out = &x->plan.tasks[targets->at[i]].output;
        const char *own, *shared;

        rc = show_layers(x, &out->own, BZ_STR(""), &own, err);
        if (rc == 0)
            rc = show_shared(x, i, &shared, err);
        if (rc == 0)
            BZ_VEC_PUSH(&outputs->list,
                        (struct bz_exec_output){targets->at[i],
                                                keep_path(&outputs->arena, own),
                                                keep_path(&outputs->arena, shared)});
    }
    return rc;
}

/* ---- the plan ---- */

/* How long nobody needs to be told that time passes. */
static int pause_of(const struct bz_exec *x)
{
    int64_t left = x->tick - bz_clock_now();

    if (x->o->tick == 0)
        return -1;
    return left > 0 ? (int)(left / BZ_CLOCK_MS) + 1 : 0;
}

/* While results are looked up: hears the user meanwhile. */
static void wait_for(void *ctx, int fd)
{
    struct bz_exec *x = ctx;
    struct pollfd fds[2] = {
        {.fd = fd,                 .events = POLLIN},
        {.fd = x->o->interrupt_fd, .events = POLLIN}
    };

    while (!(fds[0].revents & POLLIN)) {
        if (poll(fds, 2, pause_of(x)) < 0 && errno != EINTR)
            bz_cancel_now(&x->cancel); /* never seen; the lookup ends soon */
        if (fds[1].revents & POLLIN)
            bz_workplace_interrupt(x);
        tell_time(x);
    }
}

static void ask(void *ctx, struct bz_plan_ask *at, size_t n)
{
    struct bz_exec *x = ctx;

    tell_time(x);
    bz_lookup_ask(&x->lookup, at, n);
}

int bz_exec_open(struct bz_exec *x, struct bz_err *err)
{
    struct bz_plan_in in = x->o->plan;
    int rc;

    in.ran = &x->ran;
    in.lost = &x->lost;
    x->lookup = (struct bz_lookup){.cache = x->o->cache,
                                   .pool = x->o->pool,
                                   .fetch = !x->o->dry,
                                   .cancel = &x->cancel,
                                   .wait = wait_for,
                                   .wait_ctx = x};
    x->results = bz_lookup_store(&x->lookup);
    x->results.ask = ask;
    x->results.ctx = x;
    rc = bz_plan_open(&x->plan, &in, err);
    if (rc < 0)
        return rc;
    bz_plan_link(&x->plan);
    return bz_lookup_open(&x->lookup, err);
}

void bz_exec_use(struct bz_exec *x, uint32_t t)
{
    const struct bz_plan_task *task = &x->plan.tasks[t];

    x->tasks[t].state = BZ_EXEC_CACHED;
    if (bz_bitset_test(&x->ran, t))
        return; /* by this very build */
    if (task->same && !x->o->dry)
        bz_running_keep_same(x, t);
    if (task->saved > 0 && !x->o->dry)
        bz_urgency_hear(x, t, task->saved);
    x->counts->cached++;
    if (bz_bitset_test(&x->told, t))
        return;
    bz_bitset_set(&x->told, t);
    bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_CACHED,
                                       .task = t,
                                       .same = task->same,
                                       .saved = task->saved});
}

/* Whether a tree cannot be had from the store, whatever is wrong with it there; to make
 * it again does not help against a full disk. */
static bool is_lost(const struct bz_err *err)
{
    return err->code == BZ_E_NOENT || err->code == BZ_E_CORRUPT ||
           err->code == BZ_E_LIMIT || err->sys == EIO;
}

bool bz_exec_lose(struct bz_exec *x, const struct bz_digest *tree,
                  const struct bz_err *why)
{
    struct bz_str key = bz_str_of((const char *)tree->b, BZ_DIGEST_LEN);

    if (bz_digest_is_zero(tree) || !is_lost(why) || bz_map_get(&x->lost, key))
        return false;
    bz_map_put(&x->lost, bz_arena_dup(&x->arena, key));
    x->stop = x->again = true;
    return true;
}

static void find_ready(struct bz_exec *x)
{
    const struct bz_tgraph *g = x->o->plan.graph;

    for (size_t i = 0; i < g->order.len; i++) {
        uint32_t t = g->order.at[i];

        if (x->tasks[t].state != BZ_EXEC_WAITING)
            continue;
        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++)
            x->tasks[t].pending += x->tasks[g->dag.to[e]].state == BZ_EXEC_WAITING;
        if (x->tasks[t].pending == 0)
            bz_urgency_ready(x, t);
    }
}

static void tell_unneeded(struct bz_exec *x)
{
    for (uint32_t t = 0; t < x->n; t++)
        if (x->tasks[t].state == BZ_EXEC_UNNEEDED && !bz_bitset_test(&x->ran, t))
            bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_UNNEEDED,
                                               .task = t,
                                               .saved = bz_exec_is_noexec(x, t)
                                                            ? 0
                                                            : x->tasks[t].saved});
}

/* Begins as the plan says. */
static void adopt(struct bz_exec *x)
{
    const struct bz_dag_ids *order = &x->o->plan.graph->order;

    x->counts->cached = 0;
    for (size_t i = order->len; i > 0; i--) { /* what was asked for comes first */
        uint32_t t = order->at[i - 1];

        x->tasks[t].state = BZ_EXEC_WAITING;
        x->tasks[t].pending = 0;
        if (x->plan.tasks[t].fate == BZ_PLAN_UNNEEDED)
            x->tasks[t].state = BZ_EXEC_UNNEEDED;
        else if (x->plan.tasks[t].fate == BZ_PLAN_RESTORE)
            bz_exec_use(x, t);
    }
    x->counts->unneeded = x->plan.count[BZ_PLAN_UNNEEDED];
    x->counts->noexec = x->counts->blocked = 0;
}

void bz_exec_begin(struct bz_exec *x)
{
    for (size_t k = 0; k < BZ_EXEC_KINDS; k++)
        BZ_VEC_CLEAR(&x->queues[k].ready);
    if (x->again) /* by now there may be results of this build */
        x->results.empty = bz_cache_is_empty(x->o->cache);
    x->stop = x->again = false;
    bz_plan_make(&x->plan, &x->results);
    adopt(x);
    bz_urgency_make(x);
    find_ready(x);
    tell_unneeded(x);
    bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_PLANNED, .saved = x->spared});
}

/* ---- all of it ---- */

static void release(struct bz_exec *x)
{
    bz_workplace_close(x);
    bz_digest_hasher_free(x->hasher);
    free(x->tasks);
    for (size_t k = 0; k < BZ_EXEC_KINDS; k++)
        bz_vec_release(&x->queues[k].ready);
    bz_plan_release(&x->plan);
    bz_overlap_release(&x->overlap);
    bz_starved_release(&x->starved);
    bz_map_release(&x->lost);
    bz_bitset_release(&x->ran);
    bz_bitset_release(&x->told);
    bz_lookup_release(&x->lookup);
    bz_arena_release(&x->arena);
}

static void tell_wanted(struct bz_exec *x)
{
    for (size_t i = 0; i < x->o->plan.graph->order.len; i++) {
        uint32_t t = x->o->plan.graph->order.at[i];
        bool unless;

        if (x->tasks[t].state != BZ_EXEC_WAITING)
            continue;
        if (bz_exec_is_noexec(x, t)) {
            x->counts->noexec++;
            continue;
        }
        unless = x->plan.tasks[t].fate == BZ_PLAN_UNLESS;
        x->counts->wanted++;
        x->counts->unless += unless;
        bz_exec_tell(x, &(struct bz_event){
                            .kind = BZ_EVENT_WANTED, .task = t, .unless = unless});
    }
}

int bz_exec_run(const struct bz_exec_opts *opts, struct bz_event_counts *counts,
                struct bz_err *err)
{
    struct bz_exec x = {
        .o = opts, .counts = counts, .n = opts->plan.graph->dag.n, .lock = -1};
    int rc = bz_digest_hasher_new(&x.hasher, err);

    if (opts->ground)
        x.shop.ground = *opts->ground;
    else
        bz_ground_usual(&x.shop.ground);
    x.began = bz_clock_now();
    x.tick = x.began + opts->tick;
    x.queues[BZ_EXEC_WORKS].limit = opts->jobs;
    bz_starved_begin(&x.starved, x.began);
    x.admission.read = opts->memory;
    x.admission.ctx = opts->memory_ctx;
    x.queues[BZ_EXEC_WAITS].limit = WAITING_MAX;
    bz_cancel_init(&x.cancel, NULL, BZ_CLOCK_NEVER);
    if (opts->interrupt_fd >= 0)
        bz_cancel_watch(&x.cancel, opts->interrupt_fd);
    *counts = (struct bz_event_counts){.tasks = x.n};
    x.tasks = bz_mem_array(x.n, sizeof(*x.tasks));
    if (rc == 0)
        rc = bz_exec_open(&x, err);
    while (rc == 0) {
        bz_exec_begin(&x);
        if (opts->dry) {
            tell_wanted(&x);
            if (x.interrupted)
                rc = bz_fail(err, BZ_E_CANCELED, "interrupted");
            break;
        }
        rc = run_all(&x, err);
        if (rc == 0 && !x.again)
            rc = show_targets(&x, err);
        if (rc == BZ_E_NOENT && x.again)
            rc = 0;
        if (!x.again)
            break;
    }
    bz_exec_tell(
        &x, &(struct bz_event){.kind = BZ_EVENT_ENDED, .ns = bz_clock_now() - x.began});
    release(&x);
    return rc;
}
