#include "sig/sign.h"

#include "sig/leftout.h"

enum tag { TAG_BASE = 1, TAG_DEPENDENCY };

struct digests BZ_VEC(struct bz_digest);

static int by_bytes(const void *a, const void *b)
{
    return bz_digest_cmp(a, b);
}

void bz_sign_graph(const struct bz_dag *dag, const struct bz_dag_ids *order,
                   const struct bz_digest *base, struct bz_digest_hasher *hasher,
                   struct bz_digest *out)
{
    BZ_CLEANUP(bz_vec_release) struct digests before = {0};

    for (size_t i = 0; i < order->len; i++) {
        uint32_t task = order->at[i];

        BZ_VEC_CLEAR(&before);
        for (uint32_t e = dag->start[task]; e < dag->start[task + 1]; e++)
            BZ_VEC_PUSH(&before, out[dag->to[e]]);
        BZ_VEC_SORT(&before, by_bytes);
        bz_digest_begin(hasher);
        bz_digest_add_field(hasher, TAG_BASE, base[task].b, BZ_DIGEST_LEN);
        for (size_t k = 0; k < before.len && !bz_leftout("dependency"); k++)
            bz_digest_add_field(hasher, TAG_DEPENDENCY, before.at[k].b, BZ_DIGEST_LEN);
        bz_digest_end(hasher, &out[task]);
    }
}

void bz_sign_taint(struct bz_digest_hasher *hasher, struct bz_str taint,
                   struct bz_digest *base)
{
    enum { TAG_TAINT_KIND = 1, TAG_TAINTED, TAG_TAINT };
    static const char kind[] = "taint";

    bz_digest_begin(hasher);
    bz_digest_add_field(hasher, TAG_TAINT_KIND, kind, sizeof(kind) - 1);
    bz_digest_add_field(hasher, TAG_TAINTED, base->b, BZ_DIGEST_LEN);
    bz_digest_add_field(hasher, TAG_TAINT, taint.p, taint.n);
    bz_digest_end(hasher, base);
}
