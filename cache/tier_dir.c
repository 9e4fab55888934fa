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

static int get_action(struct bz_tier *t, struct bz_digest_hasher *h,
                      const struct bz_digest *key, struct bz_arena *a,
                      struct bz_reapi_result *out, struct bz_err *err)
{
    return bz_action_get(cas_of(t), h, key, BZ_ACTION_OURS, a, out, err);
}

static int put_action(struct bz_tier *t, struct bz_digest_hasher *h,
                      const struct bz_digest *key, const struct bz_reapi_result *r,
                      struct bz_err *err)
{
    enum bz_action_put how;

    return bz_action_put(cas_of(t), h, key, r, &how, err);
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

    if (bz_cas_has(into, d))
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

static int get_blob(struct bz_tier *t, struct bz_digest_hasher *h,
                    const struct bz_reapi_digest *d, struct bz_cas *into,
                    struct bz_err *err)
{
    return copy_blob(cas_of(t), into, h, d, err);
}

static int put_blob(struct bz_tier *t, struct bz_digest_hasher *h,
                    const struct bz_reapi_digest *d, struct bz_cas *from,
                    struct bz_err *err)
{
    return copy_blob(from, cas_of(t), h, d, err);
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
        "directory", get_action, put_action, get_blob, put_blob, close_tier,
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
