#include "tests/fuzz/fuzz.h"

#include "codec/json.h"
#include "codec/jsonw.h"
#include "codec/utf8.h"

/* Any bytes as a string and as a key: what is written can be read, and is what was
 * given if that was UTF-8. NUL is written but not read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str in = bz_str_of((const char *)data, size);
    struct bz_buf out = {0};
    struct bz_jsonw w = bz_jsonw_to(&out, 0);
    struct bz_arena arena = {0};
    const struct bz_doc *d;
    struct bz_err err;
    int rc;

    bz_jsonw_map(&w);
    bz_jsonw_str(bz_jsonw_key_str(&w, in), in);
    bz_jsonw_map_end(&w);
    rc = bz_json_parse(&arena, bz_buf_str(&out), NULL, &d, &err);
    if (size > 0 && memchr(data, '\0', size)) {
        BZ_ASSERT(rc == BZ_E_INVAL);
    } else {
        BZ_ASSERT(rc == 0);
        BZ_ASSERT(bz_str_eq(d->items[0].key, d->items[0].text));
        if (bz_utf8_valid(in) == in.n)
            BZ_ASSERT(bz_str_eq(d->items[0].text, in));
    }
    bz_arena_release(&arena);
    bz_buf_release(&out);
    return 0;
}
