#include "tests/fuzz/fuzz.h"

#include "base/buf.h"
#include "codec/json.h"
#include "jobs/request.h"

static bool within(struct bz_str whole, struct bz_str part)
{
    return part.n == 0 || (part.p >= whole.p && part.n <= whole.n &&
                           (size_t)(part.p - whole.p) <= whole.n - part.n);
}

/* The arguments are a value of their own: in another request they are the same. */
static void check_args(struct bz_str args)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_request again;
    struct bz_err err;

    BZ_ASSERT(args.p[0] == '{' && args.p[args.n - 1] == '}');
    bz_buf_add_str(&text, BZ_STR("{\"args\":"));
    bz_buf_add_str(&text, args);
    bz_buf_add_str(&text, BZ_STR(",\"opcode\":1}"));
    BZ_ASSERT(bz_request_parse(bz_buf_str(&text), &again, &err) == 0);
    BZ_ASSERT(bz_str_eq(again.args, args) && again.opcode == 1);
}

/* A reader that builds a tree takes less, but of what it takes it says the same. */
static void compare(struct bz_str text, const struct bz_request *r)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    const struct bz_doc *whole = NULL;
    struct bz_err err;
    int64_t n;

    if (bz_json_parse(&arena, text, NULL, &whole, &err) < 0)
        return;
    BZ_ASSERT((bz_doc_find(whole, "args") != NULL) == (r->args.n > 0));
    if (bz_doc_find(whole, "task_id"))
        BZ_ASSERT(bz_doc_get_int(whole, "task_id", 1, INT64_MAX, &n, &err) == 0 &&
                  (uint64_t)n == r->id);
    if (r->opname.n == 0)
        BZ_ASSERT(
            bz_doc_get_int(whole, "opcode", 0, BZ_REQUEST_OPCODES - 1, &n, &err) == 0 &&
            (uint32_t)n == r->opcode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str text = bz_str_of((const char *)data, size);
    struct bz_request r;
    struct bz_err err = {0};
    int rc = bz_request_parse(text, &r, &err);

    BZ_ASSERT(rc == 0 || rc == BZ_E_INVAL || rc == BZ_E_LIMIT);
    BZ_ASSERT(rc == 0 || err.msg[0]);
    if (rc < 0)
        return 0;
    BZ_ASSERT(within(text, r.opname) && within(text, r.args));
    BZ_ASSERT(r.opname.n <= BZ_REQUEST_NAME && r.opcode < BZ_REQUEST_OPCODES);
    BZ_ASSERT(r.timeout <= BZ_REQUEST_TIMEOUT && r.priority < BZ_REQUEST_PRIORITIES);
    if (r.args.n > 0)
        check_args(r.args);
    compare(text, &r);
    return 0;
}
