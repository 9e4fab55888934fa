/* work.h - one item on the pool.
 *
 * Intrusive: whoever submits work embeds this in a struct of their own and gets it
 * back in `run`, so queueing never allocates. From the moment it is queued until
 * `run` is entered the item belongs to the pool; after that the pool does not touch
 * it again, and `run` may free it.
 */
#ifndef BZ_POOL_WORK_H
#define BZ_POOL_WORK_H

struct bz_worker;
struct bz_work;

typedef void (*bz_work_fn)(struct bz_worker *w, struct bz_work *work);

/* What users of the pool write: a body gets the worker it runs on, which is its key
 * to everything that must happen on that worker (join, spawn, wait). */
typedef void (*bz_work_body)(struct bz_worker *w, void *arg);

struct bz_work {
    bz_work_fn run;
    struct bz_work *next; /* link of the injector that holds it */
};

#endif
