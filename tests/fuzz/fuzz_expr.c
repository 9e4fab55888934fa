#include "tests/fuzz/fuzz.h"

#include "vars/expr.h"
#include "vars/refs.h"

static void set(struct bz_vars *v, struct bz_str name, struct bz_str value)
{
    struct bz_err err;

    BZ_ASSERT(bz_vars_set(v, name, value, 0, NULL, &err) == 0);
}

/* A failure has a message and a code that expr.h names. */
static void check_failure(int rc, const struct bz_err *err)
{
    BZ_ASSERT(rc == BZ_E_INVAL || rc == BZ_E_NOSUP || rc == BZ_E_LIMIT ||
              rc == BZ_E_IO);
    BZ_ASSERT(err->msg[0] != '\0');
}

/* The same code is answered alike twice: reading changes nothing. */
static void check_eval(struct bz_vars *v, struct bz_str code, struct bz_refs *refs)
{
    struct bz_str first = {0}, second = {0};
    struct bz_err err;
    int rc = bz_expr_eval(v, code, refs, &first, &err);

    if (rc < 0)
        check_failure(rc, &err);
    else
        BZ_ASSERT(first.p);
    BZ_ASSERT(bz_expr_eval(v, code, refs, &second, &err) == rc);
    BZ_ASSERT(bz_str_eq(first, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str code = bz_str_of(data ? (const char *)data : "", size), out;
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(NULL);
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
    struct bz_err err;
    int rc;

    bz_refs_init(&refs, &arena);
    /* The clock goes on between two calls. */
    if (bz_str_find(code, BZ_STR("time")) != BZ_STR_NONE)
        return 0;
    set(v, BZ_STR("A"), BZ_STR("a b c"));
    set(v, BZ_STR("B"), BZ_STR("b"));
    set(v, BZ_STR("E"), BZ_STR(""));
    set(v, BZ_STR("PV"), BZ_STR("1.2.3"));
    set(v, BZ_STR("U"), BZ_STR("h\xc3\xa9"));
    check_eval(v, code, &refs);
    rc = bz_expr_filter(v, code, BZ_STR("2 1 3"), &out, &err);
    if (rc < 0)
        check_failure(rc, &err);
    return 0;
}
