#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "fetch/uri.h"

static bool has(struct bz_str s, char c)
{
    return bz_str_find_byte(s, c) != BZ_STR_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf shown = {0}, quoted = {0};
    struct bz_uri u;
    struct bz_err err;
    struct bz_str text = bz_str_of((const char *)data, size);
    int rc = bz_uri_parse(&arena, text, &u, &err);

    bz_uri_redact(text, &shown);
    if (rc < 0)
        return 0;
    BZ_ASSERT(bz_str_eq(u.text, text) && u.scheme.n > 0 && u.path.n > 0);
    BZ_ASSERT(!has(u.host, '/') && !has(u.host, '@') && !has(u.path, '\0'));
    BZ_ASSERT(u.nparams <= BZ_URI_PARAMS && !has(bz_uri_basename(&u), '/'));
    for (size_t i = 0; i < u.nparams; i++)
        BZ_ASSERT(!has(u.params[i].name, '=') && !has(u.params[i].value, ';'));
    if (u.password.n > 0 && !bz_uri_param(&u, "pswd").p)
        BZ_ASSERT(bz_str_find(bz_uri_shown(&arena, &u), BZ_STR("***@")) != BZ_STR_NONE);
    bz_uri_quote(u.path, &quoted);
    BZ_ASSERT(!has(bz_buf_str(&quoted), ' ') && !has(bz_buf_str(&quoted), ';'));
    return 0;
}
