#include "tests/fuzz/fuzz.h"

#include "query/query_eval.h"
#include "query/query_glob.h"
#include "query/query_parse.h"

enum { NODES = 9 };

/* Node i is called 'a' + i and waits for 2i + 1 and 2i + 2. */
static struct bz_str letter(uint32_t node)
{
    return bz_str_of(&"abcdefghi"[node], 1);
}

static int match(void *ctx, struct bz_str name, struct bz_bitset *out,
                 struct bz_err *err)
{
    bool found = bz_query_glob_is(name);

    (void)ctx;
    for (uint32_t i = 0; i < NODES; i++)
        if (bz_query_glob_match(name, letter(i))) {
            bz_bitset_set(out, i);
            found = true;
        }
    return found ? 0 : bz_fail(err, BZ_E_NOENT, "nothing");
}

static void name(void *ctx, uint32_t node, struct bz_buf *out)
{
    (void)ctx;
    BZ_ASSERT(node < NODES);
    bz_buf_add_str(out, letter(node));
}

static const char *kind(void *ctx, uint32_t node, struct bz_str *text)
{
    (void)ctx;
    BZ_ASSERT(node < NODES);
    *text = letter(node);
    return "task";
}

static int attr(void *ctx, uint32_t node, struct bz_str attribute, struct bz_str *value,
                struct bz_err *err)
{
    (void)ctx;
    (void)err;
    BZ_ASSERT(node < NODES);
    *value = attribute;
    return 0;
}

static int leaves(void *ctx, const struct bz_bitset *nodes, bz_query_leaf_fn leaf,
                  void *to, struct bz_err *err)
{
    (void)ctx;
    (void)err;
    for (uint32_t i = 0; i < NODES; i++)
        if (bz_bitset_test(nodes, i))
            leaf(to, "file", letter(i));
    BZ_ASSERT(bz_bitset_next(nodes, NODES) == BZ_BITSET_END);
    return 0;
}

static void check_answer(const struct bz_query_eval *e, const struct bz_query_answer *a)
{
    for (size_t i = bz_bitset_next(&a->nodes, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(&a->nodes, i + 1)) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

        BZ_ASSERT(bz_query_eval_describe(e, i, &text) && text.len == 1);
    }
    for (size_t i = 0; i < a->path.len; i++)
        BZ_ASSERT(bz_bitset_test(&a->nodes, a->path.at[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const kinds[] = {"task", "file", NULL};
    struct bz_dag_edge edges[] = {
        {0, 1},
        {0, 2},
        {1, 3},
        {1, 4},
        {2, 5},
        {2, 6},
        {3, 7},
        {3, 8}
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_dag dag;
    struct bz_query_world w = {&dag, kinds, NULL,   match, name,
                               kind, attr,  leaves, leaves};
    struct bz_query_answer a = {0};
    struct bz_query_eval e;
    const struct bz_query *q = NULL;
    struct bz_err err;
    uint32_t column;

    if (size > 4096)
        return 0;
    if (bz_query_parse(bz_str_of((const char *)data, size), &arena, &q, &column, &err) <
        0) {
        BZ_ASSERT(column >= 1 && column <= size + 1);
        return 0;
    }
    bz_dag_build(&dag, NODES, edges, BZ_COUNTOF(edges));
    bz_query_eval_init(&e, &w);
    if (bz_query_eval_run(&e, q, &a, &column, &err) == 0)
        check_answer(&e, &a);
    else
        BZ_ASSERT(column >= 1 && column <= size + 1);
    bz_query_eval_release_answer(&a);
    bz_query_eval_release(&e);
    bz_dag_release(&dag);
    return 0;
}
