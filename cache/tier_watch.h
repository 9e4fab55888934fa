/* tier_watch.h - calls that may hang, on threads of their own.
 *
 * A call to a tier can block in the kernel for as long as a file server is away, and
 * nothing can end that. So calls run on threads that belong to a watch, and whoever
 * waits for one gives up when it is silent for too long. What is given up goes on in
 * the background with what it needs: a call owns its context until it ends.
 *
 * Any thread may start and wait, workers of other pools too.
 */
#ifndef BZ_CACHE_TIER_WATCH_H
#define BZ_CACHE_TIER_WATCH_H

#include "base/err.h"
#include "pool/pool.h"

struct bz_tier_watch;
struct bz_tier_watch_call;

/* What to run. `cancel` is canceled when nobody waits any longer. */
typedef void (*bz_tier_watch_body)(struct bz_worker *w, struct bz_cancel *cancel,
                                   void *ctx);
struct bz_tier_watch_job {
    bz_tier_watch_body body;
    void (*free)(void *ctx);
    void *ctx;
};

/* Takes no thread before the first call. */
struct bz_tier_watch *bz_tier_watch_new(void);

/* Cancels what runs and waits for it until `deadline`. False if a call hangs even then:
 * it keeps its thread and its context, and the watch stays. NULL is fine. */
bool bz_tier_watch_close(struct bz_tier_watch *w, int64_t deadline);

/* The pool of its threads, whose compute lane has nothing else to do; or NULL. */
struct bz_pool *bz_tier_watch_pool(struct bz_tier_watch *w);

/* Starts a call, which the caller must wait for. The body may never run: the context
 * should say so unless the body changes it. */
struct bz_tier_watch_call *bz_tier_watch_start(struct bz_tier_watch *w,
                                               const struct bz_tier_watch_job *job);

/* 0 when the body has ended: the context is the caller's again. Otherwise the context
 * is gone: BZ_E_TIMEOUT if the body ran for `silence` ns without ending (0: for ever),
 * BZ_E_BUSY if it did not get a thread in that time, BZ_E_CANCELED if `cancel`, which
 * may be NULL, asked for it. */
int bz_tier_watch_wait(struct bz_tier_watch_call *call, int64_t silence,
                       struct bz_cancel *cancel) BZ_MUST_CHECK;

#endif
