#include "cache/tier_dir.h"

#include "base/mem.h"
#include "cache/cas_copy.h"

struct dir_tier {
    struct bz_tier tier;
    struct bz_cas *cas;
};

static struct bz_cas *cas_of(struct bz_tier *t)
{
    return BZ_CONTAINER(t, struct dir_tier, tier)->cas;
}

static int get_action(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, struct bz_arena *a,
                      struct bz_reapi_result *out, struct bz_err *err)
{
    return bz_action_get(cas_of(t), call->h, key, BZ_ACTION_OURS, a, out, err);
}

static int put_action(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, const struct bz_reapi_result *r,
                      struct bz_err *err)
{
    enum bz_action_put how;

    return bz_action_put(cas_of(t), call->h, key, r, &how, err);
}

/* Hashed as it is copied: what arrives is the blob or nothing. A source that is wrong
 * is put aside in its own store. */
static int copy_blob(struct bz_cas *from, struct bz_cas *into,
                     struct bz_digest_hasher *h, const struct bz_reapi_digest *d,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    BZ_CLEANUP(bz_cas_abort) struct bz_cas_writer w = {.temp.fd = -1};
    struct bz_reapi_digest got;
    struct stat st;
    int rc;

    /* What is relied on is claimed, or a collector could take it. */
    if (bz_shelf_claim(&into->blobs, &d->hash) == BZ_SHELF_CLAIMED)
        return 0;
    rc = bz_cas_fd(from, NULL, d, &fd, err);
    if (rc == 0)
        rc = bz_cas_begin(into, h, &w, err);
    if (rc == 0)
        rc = bz_cas_copy(fd, w.temp.fd, d->size, h, err);
    if (rc < 0)
        return rc;
    w.size = d->size;
    rc = bz_cas_end(&w, d, &got, err);
    if (rc != BZ_E_CORRUPT)
        return rc;
    if (fstat(fd, &st) == 0)
        bz_shelf_quarantine(&from->blobs, &d->hash, &st, "wrong bytes");
    return bz_fail(err, BZ_E_NOENT, "a blob with wrong bytes");
}

/* Whether there is no point in going on with a batch: neither a blob that is missing
 * nor one that is bad says anything about the next. */
static bool fatal(int rc)
{
    return rc < 0 && rc != BZ_E_NOENT;
}

static int copy_blobs(struct bz_cas *from, struct bz_cas *into,
                      const struct bz_tier_call *call, struct bz_tier_blob *blobs,
                      size_t n, struct bz_err *err)
{
    struct bz_err one;
    int rc = 0;

    for (size_t i = 0; i < n; i++) {
        int status = fatal(rc) ? rc : bz_cancel_check(call->cancel);

        if (fatal(status) && !fatal(rc))
            rc = bz_fail(err, status, "stopped");
        if (!fatal(status)) {
            status = copy_blob(from, into, call->h, &blobs[i].digest, &one);
            if (fatal(status) || (status < 0 && rc == 0)) {
                *err = one;
                rc = status;
            }
        }
        blobs[i].status = status;
    }
    return rc;
}

static int get_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *into,
                     struct bz_err *err)
{
    return copy_blobs(cas_of(t), into, call, blobs, n, err);
}

static int put_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *from,
                     struct bz_err *err)
{
    return copy_blobs(from, cas_of(t), call, blobs, n, err);
}

static void close_tier(struct bz_tier *t)
{
    struct dir_tier *own = BZ_CONTAINER(t, struct dir_tier, tier);

    bz_cas_close(own->cas);
    free(own);
}

int bz_tier_dir_open(const char *root, const struct bz_cas_opts *opts,
                     struct bz_tier **out, struct bz_err *err)
{
    static const struct bz_tier_ops ops = {
        "directory", get_action, put_action, get_blobs, put_blobs, close_tier,
    };
    struct bz_cas *cas;
    struct dir_tier *own;
    int rc = bz_cas_open(root, opts, &cas, err);

    if (rc < 0)
        return rc;
    own = bz_mem_zalloc(sizeof(*own));
    own->tier.ops = &ops;
    own->cas = cas;
    *out = &own->tier;
    return 0;
}
