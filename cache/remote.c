#include "cache/remote.h"

#include "base/log.h"
#include "base/mem.h"

/* The address without what has a place of its own in the options. */
static int parse_base(struct bz_remote *r, const char *url, struct bz_buf *user,
                      struct bz_buf *password, struct bz_err *err)
{
    struct bz_buf base = {0};
    struct bz_url u;
    int rc = bz_url_parse(bz_str_from(url), &u, err);

    if (rc == 0 && !bz_url_is(&u, BZ_STR("http")) && !bz_url_is(&u, BZ_STR("https")))
        rc = bz_fail(err, BZ_E_INVAL, "it begins neither with http: nor with https:");
    if (rc == 0 && u.query.p)
        rc = bz_fail(err, BZ_E_INVAL,
                     "it has a query ('?'), to which nothing can be added");
    if (rc == 0 && u.user.p)
        rc = bz_url_decode(u.user, user, err);
    if (rc == 0 && u.user.p)
        rc = bz_url_decode(u.password, password, err);
    if (rc < 0)
        return rc;
    while (bz_str_cut_suffix(&u.path, BZ_STR("/")))
        ;
    bz_url_add(&u, &base);
    r->base = bz_buf_detach(&base);
    return 0;
}

int bz_remote_open(struct bz_remote *r, const struct bz_remote_opts *opts,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf user = {0}, password = {0}, shown = {0};
    struct bz_http_opts http = opts->http;
    int rc;

    *r = (struct bz_remote){0};
    bz_crew_init(&r->hashers, NULL);
    rc = parse_base(r, opts->url, &user, &password, err);
    if (rc == 0) {
        if (user.data) {
            http.auth.user = user.data;
            http.auth.password = bz_buf_text(&password);
        }
        if (http.concurrent == 0)
            http.concurrent = BZ_HTTP_CONCURRENT;
        rc = bz_http_new(&http, &r->http, err);
    }
    if (rc < 0) {
        bz_remote_close(r);
        bz_url_redact(bz_str_from(opts->url), &shown);
        return bz_err_wrap(err, "cache %s", bz_buf_text(&shown));
    }
    r->concurrent = http.concurrent;
    atomic_init(&r->readonly, opts->readonly);
    atomic_init(&r->largest, opts->max_blob ? opts->max_blob : BZ_REAPI_SIZE_MAX);
    return 0;
}

void bz_remote_close(struct bz_remote *r)
{
    bz_http_free(r->http);
    bz_crew_release(&r->hashers);
    free(r->base);
    r->http = NULL;
    r->base = NULL;
}

void bz_remote_url(const struct bz_remote *r, const char *kind,
                   const struct bz_digest *d, struct bz_buf *out)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(d, hex);
    bz_buf_truncate(out, 0);
    bz_buf_addf(out, "%s/%s/%s", r->base, kind, hex);
}

bool bz_remote_is_news(struct bz_remote *r, enum bz_remote_news what)
{
    unsigned bit = 1U << what;

    /* relaxed: nothing else depends on it */
    return !(atomic_fetch_or_explicit(&r->said, bit, memory_order_relaxed) & bit);
}

bool bz_remote_is_bad(struct bz_remote *r, const struct bz_digest *d)
{
    bool found = false;

    bz_sync_lock(&r->mu);
    for (size_t i = 0; !found && i < r->nbad && i < BZ_REMOTE_BAD; i++)
        found = bz_digest_eq(&r->bad[i], d);
    bz_sync_unlock(&r->mu);
    return found;
}

void bz_remote_note_bad(struct bz_remote *r, const struct bz_digest *d)
{
    if (bz_remote_is_bad(r, d))
        return;
    bz_sync_lock(&r->mu);
    r->bad[r->nbad++ % BZ_REMOTE_BAD] = *d;
    bz_sync_unlock(&r->mu);
}

/* It stores nothing: what we were not allowed to once we do not try again. */
static int refused(struct bz_remote *r, unsigned status, const char *why,
                   struct bz_err *err)
{
    /* relaxed: whoever tries once more is told the same */
    atomic_store_explicit(&r->readonly, true, memory_order_relaxed);
    if (bz_remote_is_news(r, BZ_REMOTE_READONLY))
        bz_log_warn("cache", "%s %s (%u): it is only read from here on", r->base, why,
                    status);
    return bz_fail(err, BZ_E_NOSUP, "%s %s (%u)", r->base, why, status);
}

static int judge_put(struct bz_remote *r, const struct bz_http_request *q,
                     struct bz_err *err)
{
    unsigned long long n = q->source.n, largest;

    switch (q->status) {
    case 401:
    case 403:
        return refused(r, q->status, "does not allow us to store", err);
    case 405:
    case 501:
        return refused(r, q->status, "does not store", err);
    case 507:
        return refused(r, q->status, "is full", err);
    case 413:
        largest = atomic_load_explicit(&r->largest, memory_order_relaxed);
        while (n <= largest && !atomic_compare_exchange_weak_explicit(
                                   &r->largest, &largest, n - 1, memory_order_relaxed,
                                   memory_order_relaxed))
            ;
        if (bz_remote_is_news(r, BZ_REMOTE_TOO_LARGE))
            bz_log_warn("cache",
                        "%s takes no %llu bytes (413): what is that large is left out",
                        r->base, n);
        return bz_fail(err, BZ_E_LIMIT, "%s takes no %llu bytes", r->base, n);
    default:
        return bz_fail(err, BZ_E_IO,
                       "%s: status %u when storing: is it the address of a cache?",
                       r->base, q->status);
    }
}

int bz_remote_judge(struct bz_remote *r, const struct bz_http_request *q,
                    struct bz_err *err)
{
    if (q->rc < 0) {
        *err = q->err;
        return q->rc;
    }
    if (q->status == 200)
        return 0;
    if (q->method == BZ_HTTP_PUT)
        return q->status == 201 || q->status == 202 || q->status == 204
                   ? 0
                   : judge_put(r, q, err);
    if (q->status == 404 || q->status == 410)
        return bz_fail(err, BZ_E_NOENT, "not there");
    if (q->status == 401 || q->status == 403)
        return bz_fail(err, BZ_E_IO,
                       "%s does not let us in (%u): check user, password or token",
                       r->base, q->status);
    return bz_fail(err, BZ_E_IO, "%s: status %u", r->base, q->status);
}
