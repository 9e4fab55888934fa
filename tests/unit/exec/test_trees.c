#include "exec/trees.h"

#include "tests/unit/exec/kitchen.h"

static void a_tree_is_made_once_and_found_again(void **state)
{
    struct kitchen *k = *state;
    struct bz_output_layer layer;
    struct bz_trees *t;
    const char *path, *again;

    kitchen_make(k, "mkdir -p a/d; echo x >a/d/f");
    layer = kitchen_store(k, "a", "t");
    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_ok(bz_trees_get(t, &layer.tree, &path, &k->err), &k->err);
    kitchen_make(k, "test \"$(cat store/trees/*/d/f)\" = x; for d in store/trees/*/d; "
                    "do touch $d/mark; done");
    bz_trees_close(t);
    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_ok(bz_trees_get(t, &layer.tree, &again, &k->err), &k->err);
    assert_ok(bz_trees_get(t, &layer.tree, &path, &k->err), &k->err);
    assert_string_equal(path, again);
    kitchen_make(k, "test -e store/trees/*/d/mark"); /* not made anew */
    bz_trees_close(t);
    bz_trees_close(NULL);
}

static void a_tree_that_is_not_stored_leaves_nothing(void **state)
{
    struct kitchen *k = *state;
    const struct bz_reapi_digest none = {.hash = {{1}}, .size = 9};
    struct bz_trees *t;
    const char *path;

    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_int_equal(bz_trees_get(t, &none, &path, &k->err), BZ_E_NOENT);
    kitchen_make(k, "test -z \"$(ls -A store/trees)\"");
    bz_trees_close(t);
}

static void layers_are_merged_by_their_digests(void **state)
{
    struct kitchen *k = *state;
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0};
    struct bz_trees *t;
    const char *path, *other;

    kitchen_make(k, "mkdir a b; echo top >a/f; echo low >b/f; echo b >b/g");
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "a", "a"));
    BZ_VEC_PUSH(&out.own, kitchen_store(k, "b", "b"));
    assert_ok(bz_trees_open(k->cache, k->pool, k->store, &t, &k->err), &k->err);
    assert_ok(bz_trees_merge(t, &out.own, &path, &k->err), &k->err);
    kitchen_make(k, "test \"$(cat store/trees/merged-*/f)\" = top; "
                    "test -e store/trees/merged-*/g");
    out.own.len = 1;
    assert_ok(bz_trees_merge(t, &out.own, &other, &k->err), &k->err);
    assert_string_not_equal(path, other);
    bz_trees_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, kitchen_setup, kitchen_teardown)
        TEST(a_tree_is_made_once_and_found_again),
        TEST(a_tree_that_is_not_stored_leaves_nothing),
        TEST(layers_are_merged_by_their_digests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
