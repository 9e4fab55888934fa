#include "cache/remote_batch.h"

#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/follower.h"

/* One transfer at a time. */
struct lane {
    struct bz_http_request q; /* first, so that a request leads to its lane */
    struct lane *next;        /* of the free ones */
    struct bz_digest_hasher *h;
    struct bz_buf url;
    size_t i; /* which blob */
    /* getting */
    struct bz_cas_writer w;
    struct bz_follower *follower; /* of a large one, or NULL */
    struct bz_http_tap tap;
    /* putting */
    char *data;
    int fd;
};

#define UNSETTLED 1 /* the status of a blob of which nothing is known yet */

struct indices BZ_VEC(size_t);

struct batch {
    struct bz_remote *r;
    const struct bz_tier_call *call;
    struct bz_tier_blob *blobs;
    size_t n, next;
    struct bz_cas *cas;
    struct bz_pool *pool;
    struct lane *lanes, *vacant;
    size_t nlanes;
    struct indices absent; /* to be put: the server said that it has them not */
    struct bz_cancel stop; /* of this batch, below the call's */
    int rc;                /* of a server, or a store, that does not work */
    struct bz_err err;
};

static struct bz_tier_blob *blob_of(struct batch *b, const struct lane *l)
{
    return &b->blobs[l->i];
}

/* No use going on. */
static void give_up(struct batch *b, const struct bz_err *err)
{
    if (b->rc < 0)
        return;
    b->rc = err->code;
    b->err = *err;
    bz_cancel_now(&b->stop);
}

/* Whether a failure is about one blob alone. */
static bool is_single(int rc)
{
    return rc == BZ_E_NOENT || rc == BZ_E_LIMIT;
}

static void settle(struct batch *b, struct bz_tier_blob *blob, int rc,
                   const struct bz_err *err)
{
    blob->status = rc;
    if (rc < 0 && !is_single(rc))
        give_up(b, err);
}

static struct lane *lane_take(struct batch *b, size_t i, const char *kind)
{
    struct lane *l = b->vacant;

    if (!l)
        return NULL;
    if (!l->h) {
        l->h = bz_crew_take(&b->r->hashers);
        if (!l->h) {
            struct bz_err err = {.code = BZ_E_NOSUP};

            (void)!bz_crew_result(&b->r->hashers, &err);
            give_up(b, &err);
            return NULL;
        }
    }
    b->vacant = l->next;
    l->i = i;
    bz_remote_url(b->r, kind, &b->blobs[i].digest.hash, &l->url);
    l->q = (struct bz_http_request){.url = bz_buf_text(&l->url)};
    return l;
}

static void lane_give(struct batch *b, struct lane *l)
{
    bz_follower_free(l->follower);
    l->follower = NULL;
    bz_cas_abort(&l->w);
    free(l->data);
    bz_fs_closep(&l->fd);
    l->data = NULL;
    l->fd = -1;
    l->next = b->vacant;
    b->vacant = l;
}

static void batch_open(struct batch *b, struct bz_cancel *cancel)
{
    b->nlanes = b->n < b->r->concurrent ? b->n : b->r->concurrent;
    b->lanes = bz_mem_array(b->nlanes, sizeof(*b->lanes));
    for (size_t i = b->nlanes; i-- > 0;) {
        b->lanes[i].fd = b->lanes[i].w.temp.fd = -1;
        lane_give(b, &b->lanes[i]);
    }
    for (size_t i = 0; i < b->n; i++)
        b->blobs[i].status = UNSETTLED;
    bz_cancel_init(&b->stop, cancel, bz_cancel_deadline(cancel));
}

/* What the call comes to. Blobs that were not tried, or stopped half way, share the
 * failure that kept them from it. */
static int outcome(struct batch *b, struct bz_cancel *cancel, struct bz_err *err)
{
    struct bz_err why;

    for (size_t i = 0; i < b->n && b->rc == 0; i++) {
        if (b->blobs[i].status != UNSETTLED)
            continue;
        bz_fail(&why, bz_cancel_check(cancel), "%s: stopped", b->r->base);
        give_up(b, &why);
    }
    for (size_t i = 0; i < b->n; i++)
        if (b->blobs[i].status == UNSETTLED || b->blobs[i].status == BZ_E_CANCELED)
            b->blobs[i].status = b->rc;
    if (b->rc < 0) {
        *err = b->err;
        return b->rc;
    }
    for (size_t i = 0; i < b->n; i++)
        if (b->blobs[i].status < 0)
            return bz_fail(err, b->blobs[i].status, "%s: a blob is %s", b->r->base,
                           b->blobs[i].status == BZ_E_NOENT ? "missing" : "too large");
    return 0;
}

static int batch_close(struct batch *b, struct bz_cancel *cancel, struct bz_err *err)
{
    for (size_t i = 0; i < b->nlanes; i++) {
        if (b->lanes[i].h)
            bz_crew_give(&b->r->hashers, b->lanes[i].h);
        bz_buf_release(&b->lanes[i].url);
    }
    free(b->lanes);
    bz_vec_release(&b->absent);
    return outcome(b, cancel, err);
}

static bool too_large(const struct batch *b, const struct bz_reapi_digest *d)
{
    return d->size > atomic_load_explicit(&b->r->largest, memory_order_relaxed);
}

static void begin_following(void *arg)
{
    bz_follower_begin(arg);
}

static void follow(void *arg, uint64_t n)
{
    bz_follower_grow(arg, n);
}

/* Large ones are hashed beside receiving, if there is somebody to do it. */
static void prepare_sink(const struct batch *b, struct lane *l, uint64_t size)
{
    l->q.sink = (struct bz_http_sink){.fd = l->w.temp.fd, .limit = size};
    if (!b->pool || size < 2 * BZ_FOLLOWER_STEP) {
        l->q.sink.h = l->h;
        return;
    }
    l->follower = bz_follower_new(b->pool, l->h, l->w.temp.fd);
    l->tap = (struct bz_http_tap){begin_following, follow, l->follower};
    l->q.sink.tap = &l->tap;
}

static struct bz_http_request *next_get(void *arg)
{
    struct batch *b = arg;

    while (b->rc == 0 && b->next < b->n) {
        struct bz_tier_blob *blob = &b->blobs[b->next];
        struct bz_err err;
        struct lane *l;
        int rc;

        if (bz_cas_claim(b->cas, &blob->digest))
            blob->status = 0;
        else if (too_large(b, &blob->digest))
            blob->status = BZ_E_LIMIT;
        if (blob->status != UNSETTLED) {
            b->next++;
            continue;
        }
        l = lane_take(b, b->next, "cas");
        if (!l)
            return NULL;
        b->next++;
        rc = bz_cas_begin(b->cas, l->h, &l->w, &err);
        if (rc == 0) {
            prepare_sink(b, l, blob->digest.size);
            return &l->q;
        }
        lane_give(b, l);
        settle(b, blob, rc, &err);
    }
    return NULL;
}

/* Bytes came, but not those that were asked for. */
static int wrong_bytes(struct batch *b, const struct bz_reapi_digest *d,
                       struct bz_err *err)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(&d->hash, hex);
    bz_remote_note_bad(b->r, &d->hash);
    if (bz_remote_is_news(b->r, BZ_REMOTE_WRONG_BYTES))
        bz_log_warn("cache", "%s has wrong bytes for blob %s: it counts as missing",
                    b->r->base, hex);
    return bz_fail(err, BZ_E_NOENT, "blob %s: wrong bytes", hex);
}

static void done_get(void *arg, struct bz_http_request *q)
{
    struct lane *l = (struct lane *)q;
    struct batch *b = arg;
    struct bz_tier_blob *blob = blob_of(b, l);
    struct bz_reapi_digest got;
    struct bz_err err = {0};
    int rc = bz_remote_judge(b->r, q, &err);

    if (rc == 0 && l->follower)
        rc = bz_follower_finish(l->follower, &err);
    if (rc == 0) {
        l->w.size = q->n;
        rc = bz_cas_end(&l->w, &blob->digest, &got, &err);
    }
    /* Too many bytes, and too few or others. */
    if ((rc == BZ_E_LIMIT && q->rc < 0) || (rc == BZ_E_CORRUPT && q->rc == 0))
        rc = wrong_bytes(b, &blob->digest, &err);
    if (rc == 0)
        bz_tier_note_moved(b->call, &blob->digest);
    settle(b, blob, rc, &err);
    lane_give(b, l);
}

int bz_remote_batch_get(struct bz_remote *r, const struct bz_tier_call *call,
                        struct bz_tier_blob *blobs, size_t n, struct bz_cas *into,
                        struct bz_err *err)
{
    struct batch b = {
        .r = r, .call = call, .blobs = blobs, .n = n, .cas = into, .pool = call->pool};

    batch_open(&b, call->cancel);
    bz_http_run(r->http, &(struct bz_http_feed){next_get, done_get, &b, &b.stop});
    return batch_close(&b, call->cancel, err);
}

/* Small ones from memory; large ones from their file, checked on the way. */
static int open_source(struct batch *b, struct lane *l, struct bz_err *err)
{
    const struct bz_reapi_digest *d = &blob_of(b, l)->digest;
    int rc;

    l->q.method = BZ_HTTP_PUT;
    l->q.source.n = d->size;
    l->q.patience = (int64_t)(d->size / BZ_REMOTE_BATCH_FILES) * BZ_CLOCK_S;
    if (d->size <= BZ_REMOTE_BATCH_SMALL) {
        rc = bz_cas_read(b->cas, l->h, d, BZ_REMOTE_BATCH_SMALL, &l->data, err);
        l->q.source.p = l->data;
        return rc;
    }
    rc = bz_cas_fd(b->cas, NULL, d, &l->fd, err);
    l->q.source.fd = l->fd;
    l->q.source.h = l->h;
    l->q.source.want = &d->hash;
    return rc;
}

/* The next one that the server has not, or NULL. */
static struct bz_http_request *next_absent(struct batch *b)
{
    while (b->rc == 0 && b->absent.len > 0) {
        struct lane *l = lane_take(b, BZ_VEC_LAST(&b->absent), "cas");
        struct bz_err err;
        int rc;

        if (!l)
            return NULL;
        b->absent.len--;
        rc = open_source(b, l, &err);
        if (rc == 0)
            return &l->q;
        settle(b, blob_of(b, l), rc, &err);
        lane_give(b, l);
    }
    return NULL;
}

static struct bz_http_request *next_put(void *arg)
{
    struct batch *b = arg;
    struct bz_http_request *q = next_absent(b);

    while (!q && b->rc == 0 && b->next < b->n) {
        struct bz_tier_blob *blob = &b->blobs[b->next];
        struct lane *l;

        if (too_large(b, &blob->digest)) {
            blob->status = BZ_E_LIMIT;
            b->next++;
        } else if (atomic_load_explicit(&b->r->headless, memory_order_relaxed) ||
                   bz_remote_is_bad(b->r, &blob->digest.hash)) {
            BZ_VEC_PUSH(&b->absent, b->next);
            b->next++;
            q = next_absent(b);
            if (!q)
                return NULL;
        } else {
            l = lane_take(b, b->next, "cas");
            if (!l)
                return NULL;
            b->next++;
            l->q.method = BZ_HTTP_HEAD;
            q = &l->q;
        }
    }
    return q;
}

static void done_head(struct batch *b, struct lane *l)
{
    struct bz_tier_blob *blob = blob_of(b, l);
    struct bz_err err = {0};
    int rc;

    if (l->q.rc == 0 && (l->q.status == 405 || l->q.status == 501)) {
        atomic_store_explicit(&b->r->headless, true, memory_order_relaxed);
        rc = BZ_E_NOENT;
    } else {
        rc = bz_remote_judge(b->r, &l->q, &err);
    }
    if (rc == 0 && l->q.has_length && l->q.length != blob->digest.size)
        rc = BZ_E_NOENT; /* it has something else there */
    blob->found = rc == 0;
    if (rc == BZ_E_NOENT)
        BZ_VEC_PUSH(&b->absent, l->i);
    else
        settle(b, blob, rc, &err);
}

static void done_put(void *arg, struct bz_http_request *q)
{
    struct lane *l = (struct lane *)q;
    struct batch *b = arg;
    struct bz_tier_blob *blob = blob_of(b, l);
    struct bz_err err = {0};
    int rc;

    if (q->method == BZ_HTTP_HEAD) {
        done_head(b, l);
    } else if ((q->rc == BZ_E_CORRUPT || (q->rc < 0 && q->err.sys == EIO)) &&
               l->fd >= 0) {
        /* Ours is damaged or cannot be read: looking at it puts it aside. */
        BZ_CLEANUP(bz_fs_closep) int fd = -1;

        rc = bz_cas_fd(b->cas, l->h, &blob->digest, &fd, &err);
        if (rc == 0)
            rc = bz_remote_judge(b->r, q, &err); /* it is not: the answer was */
        settle(b, blob, rc, &err);
    } else {
        rc = bz_remote_judge(b->r, q, &err);
        if (rc == 0)
            bz_tier_note_moved(b->call, &blob->digest);
        settle(b, blob, rc, &err);
    }
    lane_give(b, l);
}

int bz_remote_batch_put(struct bz_remote *r, const struct bz_tier_call *call,
                        struct bz_tier_blob *blobs, size_t n, struct bz_cas *from,
                        struct bz_err *err)
{
    struct batch b = {.r = r, .call = call, .blobs = blobs, .n = n, .cas = from};
    struct bz_err why;

    batch_open(&b, call->cancel);
    if (atomic_load_explicit(&r->readonly, memory_order_relaxed)) {
        bz_fail(&why, BZ_E_NOSUP, "%s is only read from", r->base);
        give_up(&b, &why);
    } else {
        bz_http_run(r->http, &(struct bz_http_feed){next_put, done_put, &b, &b.stop});
    }
    return batch_close(&b, call->cancel, err);
}
