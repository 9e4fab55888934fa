#include "cache/tier_http.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/action.h"
#include "cache/remote_batch.h"

struct http_tier {
    struct bz_tier tier;
    struct bz_remote remote;
};

static struct bz_remote *remote_of(struct bz_tier *t)
{
    return &BZ_CONTAINER(t, struct http_tier, tier)->remote;
}

int bz_tier_http_decode(struct bz_arena *a, struct bz_str bytes,
                        struct bz_digest_hasher *h, const struct bz_digest *key,
                        struct bz_reapi_result *out, struct bz_err *err)
{
    if (bz_reapi_result_decode(a, bytes, h, out, err) < 0)
        return bz_fail(err, BZ_E_NOENT, "no result, or a wrong seal: %s", err->msg);
    if (!out->sealed)
        return bz_fail(err, BZ_E_NOENT, "a result without a seal");
    switch (bz_action_bound(out, key)) {
    case BZ_ACTION_ELSEWHERE:
        return bz_fail(err, BZ_E_NOENT, BZ_ACTION_MISFILED);
    case BZ_ACTION_UNBOUND:
        return bz_fail(err, BZ_E_NOENT, BZ_ACTION_OLD);
    case BZ_ACTION_BOUND:
        break;
    }
    return 0;
}

static int get_action(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, struct bz_arena *a,
                      struct bz_reapi_result *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf url = {0}, body = {0};
    struct bz_remote *r = remote_of(t);
    struct bz_http_request q = {
        .sink = {.mem = &body, .limit = BZ_REAPI_MESSAGE_MAX}
    };
    int rc;

    bz_remote_url(r, "ac", key, &url);
    q.url = bz_buf_text(&url);
    rc = bz_http_one(r->http, &q, call->cancel, err);
    if (rc == 0)
        rc = bz_remote_judge(r, &q, err);
    if (rc == 0)
        rc = bz_tier_http_decode(a, bz_buf_str(&body), call->h, key, out, err);
    else if (rc == BZ_E_LIMIT)
        rc = bz_fail(err, BZ_E_NOENT, "a result that is too large");
    else
        return rc;
    if (rc == BZ_E_NOENT) {
        bz_remote_note_bad(r, key);
        if (bz_remote_is_news(r, BZ_REMOTE_WRONG_RESULT))
            bz_log_warn("cache", "%s: %s: it counts as missing", q.url, err->msg);
    }
    return rc;
}

/* Whether the server has a result already; then it stays. */
static int has_action(struct bz_remote *r, struct bz_cancel *cancel,
                      const struct bz_digest *key, const char *url, struct bz_err *err)
{
    struct bz_http_request q = {.method = BZ_HTTP_HEAD, .url = url};
    int rc;

    if (atomic_load_explicit(&r->headless, memory_order_relaxed) ||
        bz_remote_is_bad(r, key))
        return bz_fail(err, BZ_E_NOENT, "not known");
    rc = bz_http_one(r->http, &q, cancel, err);
    if (rc < 0)
        return rc;
    if (q.status != 405 && q.status != 501)
        return bz_remote_judge(r, &q, err);
    atomic_store_explicit(&r->headless, true, memory_order_relaxed);
    return bz_fail(err, BZ_E_NOENT, "not known");
}

static int put_action(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, const struct bz_reapi_result *result,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf url = {0}, body = {0};
    struct bz_remote *r = remote_of(t);
    struct bz_http_request q = {.method = BZ_HTTP_PUT};
    struct bz_reapi_result bound;
    int rc;

    if (atomic_load_explicit(&r->readonly, memory_order_relaxed))
        return bz_fail(err, BZ_E_NOSUP, "%s is only read from", r->base);
    bz_remote_url(r, "ac", key, &url);
    rc = has_action(r, call->cancel, key, bz_buf_text(&url), err);
    if (rc != BZ_E_NOENT)
        return rc;
    bound = bz_action_bind(&a, result, key);
    rc = bz_reapi_result_encode(&bound, call->h, &body, err);
    if (rc < 0)
        return rc;
    q.url = bz_buf_text(&url);
    q.source = (struct bz_http_source){.p = bz_buf_text(&body), .n = body.len};
    rc = bz_http_one(r->http, &q, call->cancel, err);
    return rc < 0 ? rc : bz_remote_judge(r, &q, err);
}

static int get_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *into,
                     struct bz_err *err)
{
    return bz_remote_batch_get(remote_of(t), call, blobs, n, into, err);
}

static int put_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *from,
                     struct bz_err *err)
{
    return bz_remote_batch_put(remote_of(t), call, blobs, n, from, err);
}

static void close_tier(struct bz_tier *t)
{
    struct http_tier *own = BZ_CONTAINER(t, struct http_tier, tier);

    bz_remote_close(&own->remote);
    free(own);
}

int bz_tier_http_open(const struct bz_remote_opts *opts, struct bz_tier **out,
                      struct bz_err *err)
{
    static const struct bz_tier_ops ops = {
        "http", get_action, put_action, get_blobs, put_blobs, close_tier,
    };
    struct http_tier *own = bz_mem_zalloc(sizeof(*own));
    int rc = bz_remote_open(&own->remote, opts, err);

    if (rc < 0) {
        free(own);
        return rc;
    }
    own->tier.ops = &ops;
    *out = &own->tier;
    return 0;
}
