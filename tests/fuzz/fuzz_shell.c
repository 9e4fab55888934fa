#include "tests/fuzz/fuzz.h"

#include "code/sh_execs.h"

/* A name is not empty and has no '=' in it, or it would be an assignment; what fails
 * has found nothing and says where. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str text = bz_str_of(data ? (const char *)data : "", size);
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
    const struct bz_map_entry *e;
    struct bz_err err;
    int rc;

    bz_refs_init(&refs, &arena);
    rc = bz_sh_execs_find(text, &refs, &err);
    BZ_ASSERT(rc == 0 || rc == BZ_E_INVAL || rc == BZ_E_NOSUP || rc == BZ_E_LIMIT);
    BZ_ASSERT(rc == 0 || strncmp(err.msg, "line ", 5) == 0);
    BZ_ASSERT(rc == 0 || refs.execs.len == 0);
    BZ_ASSERT(refs.reads.len == 0 && refs.contains.len == 0);
    for (e = bz_map_next(&refs.execs, NULL); e; e = bz_map_next(&refs.execs, e)) {
        BZ_ASSERT(e->key.n > 0 && e->key.p[0] != '$');
        BZ_ASSERT(bz_str_find_byte(e->key, '=') == BZ_STR_NONE);
    }
    return 0;
}
