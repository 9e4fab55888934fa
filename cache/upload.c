#include "cache/upload.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/closure.h"
#include "os/clock.h"

#define RUNNERS                                                                        \
    2 /* results on their way at a time; each moves many blobs at a time               \
       */

struct parcel {
    struct parcel *next;
    struct bz_digest key;
    struct bz_buf bytes; /* the result, encoded */
    size_t ntiers;
};

struct bz_upload {
    struct bz_tiers *tiers;
    struct bz_cas *from;
    struct bz_pool *pool; /* the caller's, or NULL */
    struct bz_sync_mutex making;
    struct bz_pool *own; /* making; or NULL */
    struct bz_cancel stop;
    struct bz_sync_mutex mu;
    struct bz_sync_cond idle;
    struct parcel *head, **tail; /* mu; what waits */
    size_t waiting, bytes;       /* mu; of them */
    unsigned runners;            /* mu; items on the pool */
    struct bz_upload_stats sum;  /* mu */
};

struct bz_upload *bz_upload_new(struct bz_tiers *tiers, struct bz_cas *from,
                                struct bz_pool *pool)
{
    struct bz_upload *u = bz_mem_zalloc(sizeof(*u));

    u->tiers = tiers;
    u->from = from;
    u->pool = pool;
    u->tail = &u->head;
    bz_cancel_init(&u->stop, NULL, BZ_CLOCK_NEVER);
    return u;
}

static void free_parcel(struct parcel *p)
{
    bz_buf_release(&p->bytes);
    free(p);
}

/* The blobs are looked up once for all tiers. */
static int send_all(struct bz_upload *u, const struct parcel *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result r;
    struct bz_tiers_load load;
    struct bz_err one;
    int rc = bz_digest_hasher_new(&h, err);

    if (rc == 0)
        rc = bz_reapi_result_decode(&a, bz_buf_str(&p->bytes), h, &r, err);
    if (rc == 0)
        rc = bz_closure_all(u->from, h, &r, &blobs, err);
    if (rc < 0)
        return rc;
    load = (struct bz_tiers_load){p->key, &r, blobs.at, blobs.len, u->from};
    for (size_t i = 0; i < p->ntiers; i++) {
        int got = bz_tiers_put(u->tiers, i, &load, &u->stop, &one);

        /* One that is only read was never meant. */
        if (got == 0 || (got == BZ_E_NOSUP && !bz_tiers_wants(u->tiers, i)))
            continue;
        *err = one;
        rc = got;
    }
    return rc;
}

/* Takes the next parcel, or NULL if there is none: then this runner is done. */
static struct parcel *take(struct bz_upload *u)
{
    struct parcel *p;

    bz_sync_lock(&u->mu);
    p = bz_cancel_check(&u->stop) == 0 ? u->head : NULL;
    if (p) {
        u->head = p->next;
        if (!u->head)
            u->tail = &u->head;
        u->waiting--;
        u->bytes -= p->bytes.len;
    }
    bz_sync_unlock(&u->mu);
    return p;
}

static void run(struct bz_worker *w, void *arg)
{
    struct bz_upload *u = arg;
    struct parcel *p;

    (void)w;
    while ((p = take(u))) {
        struct bz_err err;
        int rc = send_all(u, p, &err);

        free_parcel(p);
        bz_sync_lock(&u->mu);
        if (rc == 0)
            u->sum.done++;
        else
            u->sum.dropped++;
        bz_sync_unlock(&u->mu);
    }
}

static void start_runner(struct bz_upload *u);

static void finish(struct bz_pool_item *item, int status)
{
    struct bz_upload *u = item->arg;
    bool again;

    (void)status;
    free(item);
    bz_sync_lock(&u->mu);
    /* What came after the last look, and was left to this runner. */
    again = u->head && bz_cancel_check(&u->stop) == 0;
    if (!again) {
        u->runners--;
        bz_sync_broadcast(&u->idle);
    }
    bz_sync_unlock(&u->mu);
    if (again)
        start_runner(u);
}

/* That of the caller, or one of its own, made when something is to be uploaded. NULL if
 * there can be none. */
static struct bz_pool *pool_of(struct bz_upload *u)
{
    static const struct bz_pool_opts opts = {.compute = 1, .io = RUNNERS};
    struct bz_pool *pool = u->pool;
    struct bz_err err;

    bz_sync_lock(&u->making);
    if (!pool && !u->own && bz_pool_new(&opts, &u->own, &err) < 0)
        u->own = NULL;
    if (!pool)
        pool = u->own;
    bz_sync_unlock(&u->making);
    return pool;
}

static void start_runner(struct bz_upload *u)
{
    struct bz_pool *pool = pool_of(u);
    struct bz_pool_item *item;

    if (!pool) { /* what waits is dropped in the end */
        bz_sync_lock(&u->mu);
        u->runners--;
        bz_sync_unlock(&u->mu);
        return;
    }
    item = bz_mem_zalloc(sizeof(*item));
    item->body = run;
    item->arg = u;
    item->finish = finish;
    bz_pool_submit(pool, NULL, BZ_LANE_IO, item);
}

void bz_upload_add(struct bz_upload *u, struct bz_digest_hasher *h,
                   const struct bz_digest *key, const struct bz_reapi_result *r,
                   size_t n)
{
    struct parcel *p = bz_mem_zalloc(sizeof(*p));
    struct bz_err err;
    bool fits = bz_reapi_result_encode(r, h, &p->bytes, &err) == 0, more = false;

    p->key = *key;
    p->ntiers = n;
    bz_sync_lock(&u->mu);
    fits = fits && u->waiting < BZ_UPLOAD_MAX &&
           u->bytes + p->bytes.len <= BZ_UPLOAD_BYTES;
    if (fits) {
        *u->tail = p;
        u->tail = &p->next;
        u->waiting++;
        u->bytes += p->bytes.len;
        more = u->runners < RUNNERS;
        u->runners += more;
    } else {
        u->sum.dropped++;
    }
    bz_sync_unlock(&u->mu);
    if (!fits)
        free_parcel(p);
    if (more)
        start_runner(u);
}

bool bz_upload_flush(struct bz_upload *u, int64_t deadline)
{
    bool idle;

    bz_sync_lock(&u->mu);
    while (u->runners > 0 && bz_sync_wait(&u->idle, &u->mu, deadline))
        ;
    idle = u->runners == 0;
    bz_sync_unlock(&u->mu);
    return idle;
}

void bz_upload_stats(struct bz_upload *u, struct bz_upload_stats *out)
{
    bz_sync_lock(&u->mu);
    *out = u->sum;
    out->waiting = u->waiting;
    bz_sync_unlock(&u->mu);
}

void bz_upload_close(struct bz_upload *u, int64_t deadline)
{
    struct bz_upload_stats stats;

    if (!u)
        return;
    (void)bz_upload_flush(u, deadline);
    bz_cancel_now(&u->stop);
    (void)bz_upload_flush(u, BZ_CLOCK_NEVER); /* soon: calls are watched */
    bz_upload_stats(u, &stats);
    if (stats.waiting + stats.dropped > 0)
        bz_log_warn("cache", "%llu results were not uploaded",
                    (unsigned long long)stats.waiting + stats.dropped);
    while (u->head) {
        struct parcel *p = u->head;

        u->head = p->next;
        free_parcel(p);
    }
    bz_pool_free(u->own);
    free(u);
}
