#include "tests/fuzz/fuzz.h"

#include "codec/reapi.h"
#include "codec/reapi_name.h"

/* What was read as a directory has safe names, can be written, and what is written is
 * read as the same and written as the same. */
static void dir(struct bz_arena *a, struct bz_str in)
{
    struct bz_buf one = {0}, two = {0};
    struct bz_reapi_dir d, again;
    struct bz_err err;
    int rc = bz_reapi_dir_decode(a, in, &d, &err);

    BZ_ASSERT(rc == 0 || ((rc == BZ_E_CORRUPT || rc == BZ_E_LIMIT) && err.msg[0]));
    if (rc < 0)
        return;
    for (size_t i = 0; i < d.nfiles; i++)
        BZ_ASSERT(bz_reapi_name_ok(d.files[i].name) &&
                  d.files[i].digest.size <= BZ_REAPI_SIZE_MAX);
    for (size_t i = 0; i < d.ndirs; i++)
        BZ_ASSERT(bz_reapi_name_ok(d.dirs[i].name));
    for (size_t i = 0; i < d.nlinks; i++)
        BZ_ASSERT(bz_reapi_name_ok(d.links[i].name) &&
                  bz_reapi_name_target_ok(d.links[i].target));
    for (size_t i = 0; i < d.nwhiteouts; i++)
        BZ_ASSERT(bz_reapi_name_ok(d.whiteouts[i]));
    rc = bz_reapi_dir_encode(&d, &one, &err);
    BZ_ASSERT(rc == 0);
    rc = bz_reapi_dir_decode(a, bz_buf_str(&one), &again, &err);
    BZ_ASSERT(rc == 0);
    BZ_ASSERT(again.nfiles == d.nfiles && again.ndirs == d.ndirs &&
              again.nlinks == d.nlinks && again.nwhiteouts == d.nwhiteouts);
    rc = bz_reapi_dir_encode(&again, &two, &err);
    BZ_ASSERT(rc == 0 && bz_str_eq(bz_buf_str(&one), bz_buf_str(&two)));
    bz_buf_release(&one);
    bz_buf_release(&two);
}

static void tree(struct bz_arena *a, struct bz_str in)
{
    struct bz_reapi_tree t;
    struct bz_err err;
    int rc = bz_reapi_tree_decode(a, in, &t, &err);
    size_t sum = 0;

    BZ_ASSERT(rc == 0 || ((rc == BZ_E_CORRUPT || rc == BZ_E_LIMIT) && err.msg[0]));
    for (size_t i = 0; rc == 0 && i < t.ndirs; i++)
        sum += t.dirs[i].n;
    BZ_ASSERT(sum <= in.n);
}

static void result(struct bz_arena *a, struct bz_str in)
{
    struct bz_digest_hasher *h = NULL;
    struct bz_reapi_result r, again;
    struct bz_buf out = {0};
    struct bz_err err;
    int rc = bz_digest_hasher_new(&h, &err);

    BZ_ASSERT(rc == 0);
    rc = bz_reapi_result_decode(a, in, h, &r, &err);
    BZ_ASSERT(rc == 0 || ((rc == BZ_E_CORRUPT || rc == BZ_E_LIMIT) && err.msg[0]));
    if (rc == 0) {
        rc = bz_reapi_result_encode(&r, h, &out, &err);
        BZ_ASSERT(rc == 0);
        rc = bz_reapi_result_decode(a, bz_buf_str(&out), h, &again, &err);
        BZ_ASSERT(rc == 0 && again.sealed && again.nfiles == r.nfiles &&
                  again.ndirs == r.ndirs && again.nlinks == r.nlinks &&
                  again.naux == r.naux);
    }
    bz_buf_release(&out);
    bz_digest_hasher_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str in = bz_str_of((const char *)data, size);
    struct bz_arena a = {0};

    dir(&a, in);
    tree(&a, in);
    result(&a, in);
    bz_arena_release(&a);
    return 0;
}
