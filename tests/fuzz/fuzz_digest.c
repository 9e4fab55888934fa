#include "tests/fuzz/fuzz.h"

#include "codec/digest.h"

/* A text is accepted only if it is the one that its digest would be written as. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str in = bz_str_of((const char *)data, size);
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_digest d;
    struct bz_err err;
    int rc = bz_digest_parse(in, &d, &err);

    BZ_ASSERT(rc == 0 || (rc == BZ_E_INVAL && err.msg[0] != '\0'));
    if (rc == 0) {
        bz_digest_hex(&d, hex);
        BZ_ASSERT(bz_str_eq(in, bz_str_from(hex)));
    }
    return 0;
}
