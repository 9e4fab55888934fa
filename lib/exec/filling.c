#include "exec/filling.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/clock.h"

/* How often progress wakes the build. */
#define PAUSE (100 * BZ_CLOCK_MS)

static void tell_progress(void *ctx, const char *what, uint64_t bytes, uint64_t total)
{
    struct bz_filling *f = ctx;
    struct bz_exec *x = f->x;
    int64_t now = bz_clock_now();

    bz_sync_lock(&x->mutex);
    snprintf(f->what, sizeof(f->what), "%s", what);
    f->bytes = bytes;
    f->total = total;
    if (!f->moved) {
        f->moved = true;
        f->next_moved = x->moved;
        x->moved = f;
    }
    if (now >= x->move_next) {
        x->move_next = now + PAUSE;
        bz_proc_pump_wake(x->pump);
    }
    bz_sync_unlock(&x->mutex);
}

/* A download that has ended well. */
struct bz_filling_fetched {
    struct bz_filling_fetched *next;
    char what[BZ_FILLING_WHAT];
    uint64_t bytes;
    int64_t ns;
};

static void keep_fetched(void *ctx, const char *what, uint64_t bytes, int64_t ns)
{
    struct bz_filling *f = ctx;
    struct bz_filling_fetched *it = bz_mem_zalloc(sizeof(*it));

    snprintf(it->what, sizeof(it->what), "%s", what);
    it->bytes = bytes;
    it->ns = ns;
    *(f->fetched ? &f->last->next : &f->fetched) = it;
    f->last = it;
}

static void tell_fetched(struct bz_filling *f)
{
    struct bz_filling_fetched *it;

    while ((it = f->fetched)) {
        f->fetched = it->next;
        bz_exec_tell(f->x, &(struct bz_event){.kind = BZ_EVENT_FETCHED,
                                              .task = f->task,
                                              .what = it->what,
                                              .bytes = it->bytes,
                                              .ns = it->ns});
        free(it);
    }
}

static void fill(struct bz_worker *w, void *arg)
{
    struct bz_filling *f = arg;
    const struct bz_job_progress progress = {tell_progress, keep_fetched, f};
    struct bz_cancel cancel;

    (void)w;
    f->rc = bz_lockset_take(f->locks, f->log, &f->x->cancel, &f->err);
    if (f->rc < 0)
        return;
    f->began = bz_clock_now();
    bz_cancel_init(&cancel, &f->x->cancel,
                   f->timeout ? f->began + f->timeout : BZ_CLOCK_NEVER);
    if (f->fill->run)
        f->rc = f->fill->run(f->fill->ctx, f->top, f->log, &progress, &cancel, &f->err);
    if (f->fill->run && f->rc == 0 && f->step)
        f->rc = bz_step_filled(&f->x->shop, f->step, &f->err);
    f->late = f->rc < 0 && bz_cancel_check(&cancel) == BZ_E_TIMEOUT;
}

/* Hands it back to the thread that has the build. */
static void end(struct bz_pool_item *item, int status)
{
    struct bz_filling *f = item->arg;
    struct bz_exec *x = f->x;

    if (status < 0)
        f->rc = bz_fail(&f->err, status, "interrupted");
    bz_sync_lock(&x->mutex);
    f->next = x->filled;
    x->filled = f;
    /* While the lock is held nobody can take it and close the pump. */
    bz_proc_pump_wake(x->pump);
    bz_sync_unlock(&x->mutex);
}

void bz_filling_start(struct bz_filling *f)
{
    f->item = (struct bz_pool_item){
        .body = fill, .arg = f, .cancel = &f->x->cancel, .finish = end};
    f->x->filling++;
    bz_pool_submit(f->x->o->pool, NULL, BZ_LANE_IO, &f->item);
}

static bool take_moved(struct bz_exec *x, char what[BZ_FILLING_WHAT],
                       struct bz_event *e)
{
    struct bz_filling *f;

    bz_sync_lock(&x->mutex);
    f = x->moved;
    if (f) {
        x->moved = f->next_moved;
        f->moved = false;
        snprintf(what, BZ_FILLING_WHAT, "%s", f->what);
        *e = (struct bz_event){.kind = BZ_EVENT_PROGRESS,
                               .task = f->task,
                               .what = what,
                               .bytes = f->bytes,
                               .total = f->total};
    }
    bz_sync_unlock(&x->mutex);
    return f;
}

void bz_filling_take(struct bz_exec *x, void (*fn)(struct bz_filling *f))
{
    struct bz_filling *all, *next;
    char what[BZ_FILLING_WHAT];
    struct bz_event e;

    /* The ended ones first: of these all progress is known then. */
    bz_sync_lock(&x->mutex);
    all = x->filled;
    x->filled = NULL;
    bz_sync_unlock(&x->mutex);
    while (take_moved(x, what, &e))
        bz_exec_tell(x, &e);
    for (; all; all = next) {
        next = all->next;
        x->filling--;
        tell_fetched(all);
        fn(all);
    }
}
