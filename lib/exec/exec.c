#include "exec/exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "exec/choice.h"
#include "exec/lookup.h"
#include "exec/running.h"
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
    e.key = &x->o->keys[e.task];
    e.counts = *x->counts;
    e.work = x->guess ? -1 : x->work;
    if (x->o->event)
        x->o->event(x->o->event_ctx, &e);
}

void bz_exec_tell_time(struct bz_exec *x)
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
        bz_exec_tell_time(x);
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

/* Whether a tree cannot be had from the store, whatever is wrong with it there; to make
 * it again does not help against a full disk. */
static bool is_lost(int rc, const struct bz_err *err)
{
    return rc == BZ_E_NOENT || rc == BZ_E_CORRUPT || rc == BZ_E_LIMIT ||
           (rc < 0 && err->sys == EIO);
}

static int show_layers(struct bz_exec *x, const struct bz_output_layers *layers,
                       const char **path, struct bz_err *err)
{
    size_t lost;
    int rc;

    *path = NULL;
    if (layers->len == 0)
        return 0;
    rc = bz_trees_show(x->shop.trees, layers, path, &lost, err);
    if (rc == 0)
        return 0;
    if (is_lost(rc, err) && bz_choice_lose(x, &layers->at[lost].tree.hash))
        return BZ_E_NOENT;
    return bz_err_wrap(err, "output of %.*s", BZ_STR_ARG(layers->at[lost].task));
}

static int show_targets(struct bz_exec *x, struct bz_err *err)
{
    const struct bz_dag_ids *targets = &x->o->graph->targets;
    int rc = x->o->target ? bz_workplace_trees(x, err) : 0;

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

static void release(struct bz_exec *x)
{
    bz_workplace_close(x);
    bz_digest_hasher_free(x->hasher);
    for (uint32_t t = 0; t < x->n; t++)
        bz_output_release(&x->tasks[t].output);
    free(x->tasks);
    for (size_t k = 0; k < BZ_EXEC_KINDS; k++)
        bz_vec_release(&x->queues[k].ready);
    bz_dag_release(&x->waiting);
    bz_map_release(&x->ids);
    bz_overlap_release(&x->overlap);
    bz_starved_release(&x->starved);
    bz_map_release(&x->lost);
    bz_bitset_release(&x->ran);
    bz_lookup_release(x);
    bz_arena_release(&x->arena);
}

static void tell_wanted(struct bz_exec *x)
{
    for (size_t i = 0; i < x->o->graph->order.len; i++) {
        uint32_t t = x->o->graph->order.at[i];

        if (x->tasks[t].state != BZ_EXEC_WAITING)
            continue;
        if (bz_exec_is_noexec(x, t)) {
            x->counts->noexec++;
            continue;
        }
        x->counts->wanted++;
        bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_WANTED, .task = t});
    }
}

int bz_exec_run(const struct bz_exec_opts *opts, struct bz_event_counts *counts,
                struct bz_err *err)
{
    struct bz_exec x = {
        .o = opts, .counts = counts, .n = opts->graph->dag.n, .lock = -1};
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
    for (uint32_t t = 0; t < x.n; t++)
        bz_map_put(&x.ids, opts->names[t])->u = t + 1;
    bz_dag_reverse(&opts->graph->dag, &x.waiting);
    bz_choice_rank(&x);
    do {
        bz_choice_make(&x);
        if (opts->dry) {
            tell_wanted(&x);
            if (x.interrupted)
                rc = bz_fail(err, BZ_E_CANCELED, "interrupted");
            break;
        }
        if (rc == 0)
            rc = run_all(&x, err);
        if (rc == 0 && !x.again)
            rc = show_targets(&x, err);
        if (rc == BZ_E_NOENT && x.again)
            rc = 0;
    } while (rc == 0 && x.again);
    bz_exec_tell(
        &x, &(struct bz_event){.kind = BZ_EVENT_ENDED, .ns = bz_clock_now() - x.began});
    release(&x);
    return rc;
}
