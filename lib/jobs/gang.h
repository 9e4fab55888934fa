/* gang.h - workers that come when there is work, and leave when there is none.
 *
 * A gang has so many items for the pool; each, while it is there, calls `step` until
 * that finds nothing to do. Whoever makes work says so with bz_gang_more, after the
 * work can be found. A worker that is about to spend time on something (a handler) says
 * so with bz_gang_busy, so that another comes for what is left.
 *
 * Each worker has a state in a line of its own: at home, looking, busy. Nobody counts
 * work, nor those who look: while all of a gang are there, which is when there is most
 * to do, nobody has to be called and nobody writes what others read.
 *
 * No work is left lying. Whoever makes it, is about to be busy, or has gone home, does
 * that first and then calls another, if there is one at home, nobody is looking, and
 * there is work. Who is seen looking will yet look, or be busy, or go home: and then
 * calls, and finds the work that was there before. All of these steps have one order
 * (seq_cst), and so has making work, to which that is left: a read-modify-write or a
 * seq_cst store that `waits` reads.
 *
 * A worker that does not come back, because its handler does not end, can be replaced:
 * a gang has a few spare ones. When it does come back, one leaves for good.
 */
#ifndef BZ_JOBS_GANG_H
#define BZ_JOBS_GANG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pool/pool.h"

struct bz_gang_item;

struct bz_gang_opts {
    unsigned size;
    enum bz_lane_id lane;
    /* What worker `number`, below size + BZ_GANG_SPARE, does; false: there was nothing
     * to do. */
    bool (*step)(void *ctx, unsigned number);
    bool (*waits)(void *ctx); /* whether there is something to do */
    void *ctx;
};

struct bz_gang {
    struct bz_pool *pool;
    struct bz_gang_opts o;
    struct bz_gang_item *items;
    BZ_PADDED atomic_uint at_home; /* workers that are */
    atomic_uint surplus;           /* workers that are to become spare again */
    atomic_uint there;             /* workers that the pool has */
    atomic_uint left;              /* changes when the last one leaves: a futex */
};

#define BZ_GANG_SPARE 8 /* they use the pool's io lane */

void bz_gang_init(struct bz_gang *g, struct bz_pool *pool,
                  const struct bz_gang_opts *opts);
/* Waits until all have left. There must be no work. */
void bz_gang_release(struct bz_gang *g);

void bz_gang_call(struct bz_gang *g);

static inline void bz_gang_more(struct bz_gang *g) /* work was made */
{
    if (atomic_load(&g->at_home) > 0)
        bz_gang_call(g);
}

/* From within `step`: a piece was begun, and takes its time; then, that it is done. */
void bz_gang_busy(struct bz_gang *g, unsigned number);
void bz_gang_back(struct bz_gang *g, unsigned number);

/* One that is busy does not come back: has another take its place. False if there is no
 * spare one. Then, that it came back after all. Any thread. */
bool bz_gang_replace(struct bz_gang *g);
void bz_gang_retire(struct bz_gang *g);

/* How many are spare. */
unsigned bz_gang_spares(const struct bz_gang *g);

#endif
