/* crew.h - what the parts of one parallel operation share: hashers, the first failure,
 * and the wish to stop.
 *
 * Any worker may call anything between init and release. When one part fails the others
 * stop soon; the failure that came first is the operation's.
 */
#ifndef BZ_CACHE_CREW_H
#define BZ_CACHE_CREW_H

#include <stdatomic.h>

#include "base/sync.h"
#include "base/vec.h"
#include "codec/digest.h"
#include "pool/pool.h"

struct bz_crew_idle {
    struct bz_digest_hasher *h;
};
struct bz_crew_hashers BZ_VEC(struct bz_crew_idle);

struct bz_crew {
    struct bz_cancel *cancel; /* or NULL */
    atomic_bool failed;
    struct bz_sync_mutex mu;
    struct bz_crew_hashers idle; /* mu */
    struct bz_err err;           /* mu; of the first failure */
};

/* The threads that do the work: the pool's, or, if called on one of its workers, those
 * of that worker. */
struct bz_crew_threads {
    struct bz_pool *pool;
    struct bz_worker *worker; /* or NULL: the caller is no worker */
};

void bz_crew_init(struct bz_crew *c, struct bz_cancel *cancel);
void bz_crew_release(struct bz_crew *c);

/* Runs the body, with all workers helping, and returns when it has. */
void bz_crew_run(const struct bz_crew_threads *threads, bz_work_body body, void *arg);

/* A hasher for the time being, or NULL: then the crew has failed. */
struct bz_digest_hasher *bz_crew_take(struct bz_crew *c) BZ_MUST_CHECK;
void bz_crew_give(struct bz_crew *c, struct bz_digest_hasher *h);

void bz_crew_fail(struct bz_crew *c, const struct bz_err *err);
/* Whether there is no point in going on. */
bool bz_crew_stopped(struct bz_crew *c);

/* 0, or the first failure. After all work is done. */
int bz_crew_result(struct bz_crew *c, struct bz_err *err) BZ_MUST_CHECK;

#endif
