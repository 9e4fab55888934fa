#include "survey/hashing.h"

void bz_hashing_release(struct bz_hashing *h)
{
    for (size_t i = 0; i < h->spare.len; i++)
        bz_digest_hasher_free(h->spare.at[i].hasher);
    bz_vec_release(&h->spare);
}

static struct bz_digest_hasher *take(struct bz_hashing *h)
{
    struct bz_digest_hasher *hasher = NULL;
    struct bz_err err;

    bz_sync_lock(&h->mu);
    if (h->spare.len > 0)
        hasher = BZ_VEC_POP(&h->spare).hasher;
    bz_sync_unlock(&h->mu);
    if (!hasher && bz_digest_hasher_new(&hasher, &err) < 0)
        return NULL;
    return hasher;
}

void bz_hashing_bytes(void *ctx, struct bz_str bytes, uint8_t out[32])
{
    struct bz_hashing *h = ctx;
    struct bz_digest_hasher *hasher = take(h);
    struct bz_digest digest = {{0}};

    _Static_assert(BZ_DIGEST_LEN == 32, "what library.h has room for");
    if (hasher) {
        bz_digest_bytes(hasher, bytes.p, bytes.n, &digest);
        bz_sync_lock(&h->mu);
        BZ_VEC_PUSH(&h->spare, (struct bz_hashing_spare){hasher});
        bz_sync_unlock(&h->mu);
    }
    memcpy(out, digest.b, sizeof(digest.b));
}
