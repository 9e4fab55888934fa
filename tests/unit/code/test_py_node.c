#include "code/py_node.h"

#include "tests/unit/bz_test.h"

static void children_keep_the_order_in_which_they_are_added(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_node *parent = bz_py_node_new(&arena, BZ_PY_NODE_OTHER), *n;
    struct bz_py_nodes list = {0};
    struct bz_py_node *nodes[4];
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(nodes); i++)
        nodes[i] = bz_py_node_new(&arena, BZ_PY_NODE_NAME);
    bz_py_node_add(parent, nodes[0]);
    bz_py_node_add(parent, NULL);
    bz_py_node_push(&list, nodes[1]);
    bz_py_node_push(&list, NULL);
    bz_py_node_push(&list, nodes[2]);
    bz_py_node_add_all(parent, list);
    bz_py_node_add_all(parent, (struct bz_py_nodes){0});
    bz_py_node_add(parent, nodes[3]);
    for (n = parent->first, i = 0; n; n = n->next)
        assert_ptr_equal(n, nodes[i++]);
    assert_int_equal(i, BZ_COUNTOF(nodes));
}

static struct bz_py_node *above(struct bz_arena *arena, enum bz_py_node_kind kind,
                                enum bz_py_node_kind child)
{
    struct bz_py_node *n = bz_py_node_new(arena, kind);

    bz_py_node_add(n, bz_py_node_new(arena, child));
    return n;
}

static void names_and_lists_of_them_are_targets(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_node *name = bz_py_node_new(&arena, BZ_PY_NODE_NAME);
    struct bz_py_node *tuple = above(&arena, BZ_PY_NODE_TUPLE, BZ_PY_NODE_ATTR);
    struct bz_py_node *wrong = above(&arena, BZ_PY_NODE_LIST, BZ_PY_NODE_CALL);
    struct bz_py_node *star = above(&arena, BZ_PY_NODE_STARRED, BZ_PY_NODE_NAME);

    (void)state;
    assert_true(bz_py_node_is_target(name, true));
    assert_true(bz_py_node_is_target(tuple, false));
    assert_false(bz_py_node_is_target(tuple, true));
    assert_true(bz_py_node_is_target(star, false));
    assert_false(bz_py_node_is_target(star, true));
    assert_false(bz_py_node_is_target(wrong, false));
    assert_false(bz_py_node_is_target(bz_py_node_new(&arena, BZ_PY_NODE_STR), false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_keep_the_order_in_which_they_are_added),
        cmocka_unit_test(names_and_lists_of_them_are_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
