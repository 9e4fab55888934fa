#include "jobs/gang.h"

#include "base/mem.h"
#include "os/clock.h"
#include "os/futex.h"

struct bz_gang_item {
    struct bz_gang *gang;
    enum bz_lane_id lane;
    struct bz_pool_item item;
};

static void work(struct bz_worker *w, void *arg)
{
    struct bz_gang *g = ((struct bz_gang_item *)arg)->gang;

    (void)w;
    while (g->step(g->ctx))
        ;
}

/* Has a worker come if there is work and nobody looks for it. */
static void call_one(struct bz_gang *g)
{
    struct bz_gang_item *item = NULL;
    unsigned seen, none;

    do {
        none = 0;
        seen = atomic_load(&g->replaced);

        if (atomic_load(&g->work) == 0 || atomic_load(&g->searching) > 0)
            return;
        /* Whoever sets it from none to one has to bring the one. */
        if (!atomic_compare_exchange_strong(&g->searching, &none, 1))
            return;
        item = bz_ring_pop(&g->idle);
        if (!item) /* all are there, and busy: one will look when it is back */
            atomic_fetch_sub(&g->searching, 1);
        /* Unless one more is there just now: who brought it saw somebody search. */
    } while (!item && atomic_load(&g->replaced) != seen);
    if (!item)
        return;
    atomic_fetch_add(&g->there, 1);
    bz_pool_submit(g->pool, NULL, item->lane, &item->item);
}

/* Where an item goes that is not there any more. */
static struct bz_ring *place_of(struct bz_gang *g)
{
    unsigned n = atomic_load(&g->surplus);

    while (n > 0)
        if (atomic_compare_exchange_weak(&g->surplus, &n, n - 1))
            return &g->spare;
    return &g->idle;
}

static void leave(struct bz_pool_item *pool_item, int status)
{
    struct bz_gang_item *item = pool_item->arg;
    struct bz_gang *g = item->gang;
    atomic_uint *left = &g->left;

    (void)status;
    bz_ring_push(place_of(g), item);
    atomic_fetch_sub(&g->searching, 1);
    /* Work that was made while it was about to leave found somebody searching. */
    call_one(g);
    atomic_fetch_add(left, 1);
    if (atomic_fetch_sub(&g->there, 1) == 1)
        bz_futex_wake(left, 1);
}

void bz_gang_init(struct bz_gang *g, struct bz_pool *pool, enum bz_lane_id lane,
                  unsigned size, bool (*step)(void *ctx), void *ctx)
{
    g->pool = pool;
    g->step = step;
    g->ctx = ctx;
    g->size = size;
    g->items = bz_mem_array(size + BZ_GANG_SPARE, sizeof(*g->items));
    bz_ring_init(&g->idle, size + BZ_GANG_SPARE);
    bz_ring_init(&g->spare, size + BZ_GANG_SPARE);
    for (unsigned i = 0; i < size + BZ_GANG_SPARE; i++) {
        bool spare = i >= size;

        g->items[i].gang = g;
        g->items[i].lane = spare ? BZ_LANE_IO : lane;
        g->items[i].item =
            (struct bz_pool_item){.body = work, .arg = &g->items[i], .finish = leave};
        bz_ring_push(spare ? &g->spare : &g->idle, &g->items[i]);
    }
}

void bz_gang_release(struct bz_gang *g)
{
    for (;;) {
        unsigned seen = atomic_load(&g->left);

        if (atomic_load(&g->there) == 0)
            break;
        bz_futex_wait(&g->left, seen, BZ_CLOCK_NEVER);
    }
    bz_ring_release(&g->idle);
    bz_ring_release(&g->spare);
    free(g->items);
}

void bz_gang_more(struct bz_gang *g)
{
    atomic_fetch_add(&g->work, 1);
    call_one(g);
}

void bz_gang_pass(struct bz_gang *from, struct bz_gang *to)
{
    bz_gang_more(to);
    atomic_fetch_sub(&from->work, 1);
}

void bz_gang_less(struct bz_gang *g)
{
    atomic_fetch_sub(&g->work, 1);
}

void bz_gang_busy(struct bz_gang *g)
{
    atomic_fetch_sub(&g->work, 1);
    atomic_fetch_sub(&g->searching, 1);
    call_one(g);
}

void bz_gang_back(struct bz_gang *g)
{
    atomic_fetch_add(&g->searching, 1);
}

bool bz_gang_replace(struct bz_gang *g)
{
    struct bz_gang_item *item = bz_ring_pop(&g->spare);

    if (!item)
        return false;
    bz_ring_push(&g->idle, item);
    atomic_fetch_add(&g->replaced, 1);
    call_one(g);
    return true;
}

void bz_gang_retire(struct bz_gang *g)
{
    atomic_fetch_add(&g->surplus, 1);
}
