/* gang.h - workers that come when there is work, and leave when there is none.
 *
 * A gang has so many items for the pool; each, while it is there, calls `step` until
 * that finds nothing to do. Whoever makes work says so with bz_gang_more, after the
 * work can be found. A worker that is about to spend time on something (a handler) says
 * so with bz_gang_busy, so that another comes for what is left.
 *
 * A worker that does not come back, because its handler does not end, can be replaced:
 * a gang has a few spare ones. When it does come back, one leaves for good.
 */
#ifndef BZ_JOBS_GANG_H
#define BZ_JOBS_GANG_H

#include "jobs/ring.h"
#include "pool/pool.h"

struct bz_gang_item;

struct bz_gang {
    struct bz_pool *pool;
    bool (*step)(void *ctx); /* false: there was nothing to do */
    void *ctx;
    unsigned size;
    struct bz_gang_item *items;
    struct bz_ring idle;          /* items that are not there */
    struct bz_ring spare;         /* those that do not count at present */
    atomic_uint replaced;         /* how often one became idle that was spare */
    atomic_uint surplus;          /* workers that are to become spare again */
    BZ_PADDED atomic_size_t work; /* pieces that were made and not begun */
    atomic_uint searching;        /* workers that look for work */
    atomic_uint there;            /* workers in all */
    atomic_uint left;             /* changes when the last one leaves: a futex */
};

#define BZ_GANG_SPARE 8 /* they use the pool's io lane */

void bz_gang_init(struct bz_gang *g, struct bz_pool *pool, enum bz_lane_id lane,
                  unsigned size, bool (*step)(void *ctx), void *ctx);
/* Waits until all have left. There must be no work. */
void bz_gang_release(struct bz_gang *g);

void bz_gang_more(struct bz_gang *g); /* one piece of work was made */

/* From within `step` of one: a piece turned out to be for the other; or for nobody at
 * present. */
void bz_gang_pass(struct bz_gang *from, struct bz_gang *to);
void bz_gang_less(struct bz_gang *g);

/* From within `step`: a piece was begun, and takes its time; then, that it is done. */
void bz_gang_busy(struct bz_gang *g);
void bz_gang_back(struct bz_gang *g);

/* One that is busy does not come back: has another take its place. False if there is no
 * spare one. Then, that it came back after all. Any thread. */
bool bz_gang_replace(struct bz_gang *g);
void bz_gang_retire(struct bz_gang *g);

#endif
