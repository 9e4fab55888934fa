#include "tests/fuzz/fuzz.h"

#include "base/buf.h"
#include "tools/dpkg.h"

static void note(void *ctx, struct bz_str name, struct bz_str link)
{
    bz_buf_add_str(ctx, name);
    bz_buf_add_str(ctx, link);
}

/* The bytes are read as all files of the database. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str text = bz_str_of((const char *)data, size), line, rest = text;
    BZ_CLEANUP(bz_buf_release) struct bz_buf seen = {0};
    struct bz_bitset set = {0};
    struct bz_dpkg d;
    struct bz_err err;

    if (bz_dpkg_read(&d, text, &err) == 0 && d.packages.len > 0) {
        uint32_t i = 0;

        bz_dpkg_read_diversions(&d, text);
        bz_bitset_set(&set, d.packages.len - 1);
        bz_dpkg_close(&d, &set);
        BZ_ASSERT(bz_bitset_next(&set, d.packages.len) == BZ_BITSET_END);
        while (bz_str_next_part(&rest, '\n', &line)) {
            (void)bz_dpkg_find(&d, line, &i);
            bz_buf_add_str(&seen, bz_dpkg_place(&d, i, line));
        }
    }
    bz_dpkg_links(BZ_STR("x"), text, note, &seen);
    bz_bitset_release(&set);
    bz_dpkg_release(&d);
    return 0;
}
