#include "cache/tier_watch.h"

#include "base/mem.h"
#include "base/sync.h"
#include "os/clock.h"

/* Threads start when they are needed. More than this many calls at a time are in a
 * queue. */
#define THREADS 64
#define POLL (50 * BZ_CLOCK_MS) /* how often a token is looked at while waiting */

struct bz_tier_watch {
    struct bz_sync_mutex making;
    struct bz_pool *pool; /* making; NULL until there is a call */
    struct bz_cancel stop;
    struct bz_sync_mutex mu;
    struct bz_sync_cond changed; /* a call has started or ended */
    size_t running;              /* mu; started and not ended */
};

struct bz_tier_watch_call {
    struct bz_pool_item item;
    struct bz_tier_watch *watch;
    struct bz_tier_watch_job job;
    struct bz_cancel cancel;
    int64_t begun;        /* watch->mu; when it got a thread, or 0 */
    bool ended, given_up; /* watch->mu */
};

struct bz_tier_watch *bz_tier_watch_new(void)
{
    struct bz_tier_watch *w = bz_mem_zalloc(sizeof(*w));

    bz_cancel_init(&w->stop, NULL, BZ_CLOCK_NEVER);
    return w;
}

/* Most runs of most commands need no tier: no thread before the first call. NULL if
 * there can be none. */
struct bz_pool *bz_tier_watch_pool(struct bz_tier_watch *w)
{
    static const struct bz_pool_opts opts = {.compute = 1, .io = THREADS};
    struct bz_pool *pool;
    struct bz_err err;

    bz_sync_lock(&w->making);
    if (!w->pool && bz_pool_new(&opts, &w->pool, &err) < 0)
        w->pool = NULL;
    pool = w->pool;
    bz_sync_unlock(&w->making);
    return pool;
}

bool bz_tier_watch_close(struct bz_tier_watch *w, int64_t deadline)
{
    bool idle;

    if (!w)
        return true;
    bz_cancel_now(&w->stop);
    bz_sync_lock(&w->mu);
    while (w->running > 0 && bz_sync_wait(&w->changed, &w->mu, deadline))
        ;
    idle = w->running == 0;
    bz_sync_unlock(&w->mu);
    if (!idle)
        return false;
    bz_pool_free(w->pool);
    free(w);
    return true;
}

static void run(struct bz_worker *worker, void *arg)
{
    struct bz_tier_watch_call *c = arg;

    bz_sync_lock(&c->watch->mu);
    c->begun = bz_clock_now();
    bz_sync_broadcast(&c->watch->changed);
    bz_sync_unlock(&c->watch->mu);
    c->job.body(worker, &c->cancel, c->job.ctx);
}

static void finish(struct bz_pool_item *item, int status)
{
    struct bz_tier_watch_call *c = BZ_CONTAINER(item, struct bz_tier_watch_call, item);
    struct bz_tier_watch *w = c->watch;
    bool orphan;

    (void)status; /* one whose token stops it never ran: its context says so */
    bz_sync_lock(&w->mu);
    orphan = c->given_up;
    c->ended = true;
    bz_sync_unlock(&w->mu);
    if (orphan) {
        c->job.free(c->job.ctx);
        free(c);
    }
    /* Last: after this the watch may be gone. */
    bz_sync_lock(&w->mu);
    w->running--;
    bz_sync_broadcast(&w->changed);
    bz_sync_unlock(&w->mu);
}

struct bz_tier_watch_call *bz_tier_watch_start(struct bz_tier_watch *w,
                                               const struct bz_tier_watch_job *job)
{
    struct bz_tier_watch_call *c = bz_mem_zalloc(sizeof(*c));
    struct bz_pool *pool = bz_tier_watch_pool(w);

    c->watch = w;
    c->job = *job;
    bz_cancel_init(&c->cancel, &w->stop, BZ_CLOCK_NEVER);
    c->item = (struct bz_pool_item){.body = run, .arg = c, .finish = finish};
    bz_sync_lock(&w->mu);
    w->running++;
    bz_sync_unlock(&w->mu);
    if (pool)
        bz_pool_submit(pool, NULL, BZ_LANE_IO, &c->item);
    else
        finish(&c->item, BZ_E_BUSY); /* its context says that it did not run */
    return c;
}

/* Waits a moment for the call to end; 0 while there is hope. */
static int wait_some(struct bz_tier_watch_call *c, int64_t since, int64_t silence,
                     struct bz_cancel *cancel) BZ_REQUIRES(c->watch->mu)
{
    int64_t now = bz_clock_now();
    int64_t until = silence == 0 ? 0 : (c->begun ? c->begun : since) + silence;
    int rc = bz_cancel_check(cancel);

    if (rc < 0)
        return BZ_E_CANCELED;
    if (until != 0 && now >= until)
        return c->begun ? BZ_E_TIMEOUT : BZ_E_BUSY;
    if (cancel && (until == 0 || now + POLL < until))
        until = now + POLL;
    (void)bz_sync_wait(&c->watch->changed, &c->watch->mu, until);
    return 0;
}

int bz_tier_watch_wait(struct bz_tier_watch_call *c, int64_t silence,
                       struct bz_cancel *cancel)
{
    int64_t since = bz_clock_now();
    int rc = 0;

    bz_sync_lock(&c->watch->mu);
    while (!c->ended && rc == 0)
        rc = wait_some(c, since, silence, cancel);
    if (c->ended) {
        rc = 0;
    } else {
        bz_cancel_now(&c->cancel);
        c->given_up = true; /* after the unlock finish() may free it */
    }
    bz_sync_unlock(&c->watch->mu);
    if (rc == 0)
        free(c);
    return rc;
}
