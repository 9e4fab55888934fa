#include "jobs/watchdog.h"

#include "os/clock.h"
#include "os/futex.h"

static void set_place(struct bz_watchdog *w, size_t at, struct bz_watchdog_entry *e)
    BZ_REQUIRES(w->mutex)
{
    w->heap.at[at - 1].entry = e;
    e->at = at;
}

static struct bz_watchdog_entry *entry_at(struct bz_watchdog *w, size_t at)
    BZ_REQUIRES(w->mutex)
{
    return w->heap.at[at - 1].entry;
}

/* Finds the place of an entry from `at` on, upwards and downwards. */
static void settle(struct bz_watchdog *w, size_t at, struct bz_watchdog_entry *e)
    BZ_REQUIRES(w->mutex)
{
    size_t n = w->heap.len;

    while (at > 1 && entry_at(w, at / 2)->due > e->due) {
        set_place(w, at, entry_at(w, at / 2));
        at /= 2;
    }
    while (2 * at <= n) {
        size_t below = 2 * at;

        if (below < n && entry_at(w, below + 1)->due < entry_at(w, below)->due)
            below++;
        if (entry_at(w, below)->due >= e->due)
            break;
        set_place(w, at, entry_at(w, below));
        at = below;
    }
    set_place(w, at, e);
}

static void take_out(struct bz_watchdog *w, struct bz_watchdog_entry *e)
    BZ_REQUIRES(w->mutex)
{
    struct bz_watchdog_entry *last = w->heap.at[--w->heap.len].entry;
    size_t at = e->at;

    e->at = 0;
    if (last != e)
        settle(w, at, last);
}

static void watch(struct bz_worker *worker, void *arg)
{
    struct bz_watchdog *w = arg;

    (void)worker;
    while (!atomic_load(&w->stop)) {
        unsigned seen = atomic_load(&w->changed);
        int64_t now = bz_clock_now(), due = BZ_CLOCK_NEVER;
        struct bz_watchdog_entry *e = NULL;

        bz_sync_lock(&w->mutex);
        if (w->heap.len > 0)
            due = entry_at(w, 1)->due;
        if (due != BZ_CLOCK_NEVER && due <= now) {
            e = entry_at(w, 1);
            take_out(w, e);
        }
        bz_sync_unlock(&w->mutex);
        if (e) {
            due = w->look(w->ctx, e, now);
            if (due != 0)
                bz_watchdog_add(w, e, due);
        } else if (!atomic_load(&w->stop)) {
            bz_futex_wait(&w->changed, seen, due);
        }
    }
}

void bz_watchdog_init(struct bz_watchdog *w, struct bz_pool *pool, bz_watchdog_fn look,
                      void *ctx)
{
    w->pool = pool;
    w->look = look;
    w->ctx = ctx;
    w->item = (struct bz_pool_item){.body = watch, .arg = w};
}

void bz_watchdog_release(struct bz_watchdog *w)
{
    bool there;

    bz_sync_lock(&w->mutex);
    there = w->there;
    bz_sync_unlock(&w->mutex);
    atomic_store(&w->stop, true);
    atomic_fetch_add(&w->changed, 1);
    bz_futex_wake(&w->changed, 1);
    /* Without a deadline it cannot but have ended. */
    if (there && bz_pool_wait(&w->item, BZ_CLOCK_NEVER) < 0)
        return;
    bz_vec_release(&w->heap);
}

void bz_watchdog_add(struct bz_watchdog *w, struct bz_watchdog_entry *e, int64_t due)
{
    bool first, come;

    bz_sync_lock(&w->mutex);
    e->due = due;
    BZ_VEC_PUSH(&w->heap, (struct bz_watchdog_place){e});
    settle(w, w->heap.len, e);
    first = e->at == 1;
    come = !w->there;
    w->there = true;
    bz_sync_unlock(&w->mutex);
    if (come)
        bz_pool_submit(w->pool, NULL, BZ_LANE_IO, &w->item);
    if (first && !come) {
        atomic_fetch_add(&w->changed, 1);
        bz_futex_wake(&w->changed, 1);
    }
}

bool bz_watchdog_remove(struct bz_watchdog *w, struct bz_watchdog_entry *e)
{
    bool there;

    bz_sync_lock(&w->mutex);
    there = e->at > 0;
    if (there)
        take_out(w, e);
    bz_sync_unlock(&w->mutex);
    return there;
}
