#include "tests/fuzz/fuzz.h"

#include "sig/record_read.h"

/* What can be read is written so that reading finds the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_record r = {0}, again = {0};
    struct bz_buf once = {0}, twice = {0};
    struct bz_err err;
    int rc = bz_record_read(&r, bz_str_of((const char *)data, size), "fuzz", &err);

    if (rc < 0) {
        BZ_ASSERT(rc == BZ_E_INVAL || rc == BZ_E_LIMIT);
    } else {
        bz_record_pack(&r, 0, r.tasks.len, &once);
        BZ_ASSERT(bz_record_read(&again, bz_buf_str(&once), "once", &err) == 0);
        bz_record_pack(&again, 0, again.tasks.len, &twice);
        BZ_ASSERT(bz_str_eq(bz_buf_str(&once), bz_buf_str(&twice)));
    }
    bz_buf_release(&once);
    bz_buf_release(&twice);
    bz_record_release(&r);
    bz_record_release(&again);
    return 0;
}
