#include "tests/fuzz/fuzz.h"

#include "report/tally.h"

/* Whatever the log says, its sums agree with its tasks. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};
    struct bz_tally recipes = {0};
    struct bz_err err;
    int rc = bz_account_read(&a, bz_str_of((const char *)data, size), "fuzz", &err);

    BZ_ASSERT(rc == 0 || rc == BZ_E_INVAL || rc == BZ_E_LIMIT);
    if (rc == 0)
        rc = bz_shape_make(&s, &a, &err);
    if (rc == 0) {
        size_t tasks = 0;

        bz_tally_recipes(&recipes, &a);
        for (size_t i = 0; i < recipes.len; i++)
            for (size_t k = 0; k < BZ_ACCOUNT_STATES; k++)
                tasks += recipes.at[i].n[k];
        BZ_ASSERT(tasks == a.tasks.len);
        BZ_ASSERT(s.nslots <= s.by_start.len && s.chain.len <= s.by_start.len);
        BZ_ASSERT(s.chain_took <= s.busy);
    }
    bz_vec_release(&recipes);
    bz_shape_release(&s);
    bz_account_release(&a);
    return 0;
}
