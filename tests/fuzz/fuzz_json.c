#include "tests/fuzz/fuzz.h"

#include "codec/json.h"
#include "tests/fuzz/doc_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bz_doc_limits limits = {.bytes = 1 << 20, .nodes = 10000, .depth = 60};
    struct bz_arena arena = {0};
    const struct bz_doc *d;
    struct bz_err err;
    int rc =
        bz_json_parse(&arena, bz_str_of((const char *)data, size), &limits, &d, &err);

    if (rc < 0)
        doc_check_failure(rc, &err);
    else
        doc_check(&arena, d, &limits);
    bz_arena_release(&arena);
    return 0;
}
