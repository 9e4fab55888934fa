#include "jobs/gang.h"

#include <sched.h>

#include "base/mem.h"
#include "os/clock.h"
#include "os/futex.h"

#define LOOKS 64

enum state { HOME, LOOKING, BUSY, SPARE };

struct bz_gang_item {
    BZ_PADDED atomic_int state;
    unsigned number;
    enum bz_lane_id lane;
    struct bz_gang *gang;
    struct bz_pool_item item;
};

static unsigned size_of(const struct bz_gang *g)
{
    return g->o.size + BZ_GANG_SPARE;
}

/* Being called costs whoever calls more than most handlers take: work that comes in the
 * next moments finds somebody looking. */
static bool comes_soon(struct bz_gang *g)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        sched_yield();
        if (g->o.waits(g->o.ctx))
            return true;
    }
    return false;
}

static void work(struct bz_worker *w, void *arg)
{
    struct bz_gang_item *item = arg;
    struct bz_gang *g = item->gang;

    (void)w;
    do
        while (g->o.step(g->o.ctx, item->number))
            ;
    while (comes_soon(g));
}

static bool is_anybody(struct bz_gang *g, enum state state)
{
    for (unsigned i = 0; i < size_of(g); i++)
        if (atomic_load(&g->items[i].state) == (int)state)
            return true;
    return false;
}

/* One that was so is something else now, or NULL. */
static struct bz_gang_item *change(struct bz_gang *g, enum state from, enum state to)
{
    for (unsigned i = 0; i < size_of(g); i++) {
        int expected = (int)from;

        if (atomic_load_explicit(&g->items[i].state, memory_order_relaxed) ==
                expected &&
            atomic_compare_exchange_strong(&g->items[i].state, &expected, (int)to))
            return &g->items[i];
    }
    return NULL;
}

void bz_gang_call(struct bz_gang *g)
{
    struct bz_gang_item *item;

    if (atomic_load(&g->at_home) == 0 || is_anybody(g, LOOKING) ||
        !g->o.waits(g->o.ctx))
        return;
    item = change(g, HOME, LOOKING);
    if (!item)
        return; /* somebody else has called it */
    atomic_fetch_sub(&g->at_home, 1);
    atomic_fetch_add(&g->there, 1);
    bz_pool_submit(g->pool, NULL, item->lane, &item->item);
}

/* What an item is that is not there any more. */
static enum state place_of(struct bz_gang *g)
{
    unsigned n = atomic_load(&g->surplus);

    while (n > 0)
        if (atomic_compare_exchange_weak(&g->surplus, &n, n - 1))
            return SPARE;
    return HOME;
}

static void leave(struct bz_pool_item *pool_item, int status)
{
    struct bz_gang_item *item = pool_item->arg;
    struct bz_gang *g = item->gang;
    atomic_uint *left = &g->left;
    enum state place = place_of(g);

    (void)status;
    /* Before the item can be called again there is one more at home, or it would be
     * counted away first. */
    if (place == HOME)
        atomic_fetch_add(&g->at_home, 1);
    atomic_store(&item->state, (int)place);
    /* Work that was made while it was about to leave found somebody looking. */
    bz_gang_call(g);
    atomic_fetch_add(left, 1);
    if (atomic_fetch_sub(&g->there, 1) == 1)
        bz_futex_wake(left, 1);
}

void bz_gang_init(struct bz_gang *g, struct bz_pool *pool,
                  const struct bz_gang_opts *opts)
{
    g->pool = pool;
    g->o = *opts;
    g->items = bz_mem_padded(size_of(g) * sizeof(*g->items));
    for (unsigned i = 0; i < size_of(g); i++) {
        struct bz_gang_item *item = &g->items[i];
        bool spare = i >= opts->size;

        item->gang = g;
        item->number = i;
        item->lane = spare ? BZ_LANE_IO : opts->lane;
        atomic_init(&item->state, spare ? SPARE : HOME);
        item->item = (struct bz_pool_item){.body = work, .arg = item, .finish = leave};
    }
    atomic_store(&g->at_home, opts->size);
}

void bz_gang_release(struct bz_gang *g)
{
    for (;;) {
        unsigned seen = atomic_load(&g->left);

        if (atomic_load(&g->there) == 0)
            break;
        bz_futex_wait(&g->left, seen, BZ_CLOCK_NEVER);
    }
    free(g->items);
}

void bz_gang_busy(struct bz_gang *g, unsigned number)
{
    atomic_store(&g->items[number].state, BUSY);
    bz_gang_more(g);
}

void bz_gang_back(struct bz_gang *g, unsigned number)
{
    atomic_store_explicit(&g->items[number].state, LOOKING, memory_order_release);
}

bool bz_gang_replace(struct bz_gang *g)
{
    /* Called, and looking, or at home: as if it had just left. */
    struct bz_gang_item *item = change(g, SPARE, LOOKING);

    if (!item)
        return false;
    atomic_fetch_add(&g->at_home, 1);
    atomic_store(&item->state, HOME);
    bz_gang_call(g);
    return true;
}

void bz_gang_retire(struct bz_gang *g)
{
    atomic_fetch_add(&g->surplus, 1);
}

unsigned bz_gang_spares(const struct bz_gang *g)
{
    unsigned n = 0;

    for (unsigned i = 0; i < size_of(g); i++)
        n += atomic_load(&g->items[i].state) == SPARE;
    return n;
}
