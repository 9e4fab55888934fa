#include "cache/closure.h"

#include "tests/unit/cache/forest.h"

static struct bz_reapi_digest digest_of(uint8_t first)
{
    return (struct bz_reapi_digest){.hash = {{first}}, .size = first};
}

static void a_result_names_each_blob_once(void **state)
{
    struct bz_reapi_outfile files[] = {
        {.digest = digest_of(1)}, {.digest = digest_of(2)}, {.digest = digest_of(1)}};
    struct bz_reapi_outdir dirs[] = {
        {.tree = digest_of(3) },
        { .tree = digest_of(3), .root = digest_of(4)}
    };
    struct bz_reapi_result r = {
        .files = files, .nfiles = 3, .dirs = dirs, .ndirs = 2, .error = digest_of(5)};
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};

    (void)state;
    bz_closure_own(&r, &blobs);
    assert_int_equal(blobs.len, 5); /* and none for the output that is not there */
    for (size_t i = 0; i < blobs.len; i++)
        assert_int_equal(blobs.at[i].size, i + 1);
}

static void a_tree_adds_its_files_before_itself(void **state)
{
    struct grove *g = *state;
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};
    struct bz_reapi_outdir dir = {.path = BZ_STR("t")};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};

    make_dirs(g->s->dir, "t/a/b");
    put(g->s->dir, "t/one", "1");
    put(g->s->dir, "t/a/same", "1");
    put(g->s->dir, "t/a/b/two", "22");
    dir.tree = grove_store(g, "t");
    assert_ok(bz_closure_all(g->s->cas, g->s->h, &r, &blobs, &g->s->err), &g->s->err);
    assert_int_equal(blobs.len, 3);
    assert_true(bz_digest_eq(&blobs.at[2].hash, &dir.tree.hash));
    for (size_t i = 0; i < blobs.len; i++)
        assert_true(bz_cas_has(g->s->cas, &blobs.at[i]));
}

static void a_tree_that_is_not_there_or_none_fails(void **state)
{
    struct grove *g = *state;
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};
    struct bz_reapi_outdir dir = {.tree = digest_of(9)};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};

    assert_int_equal(bz_closure_all(g->s->cas, g->s->h, &r, &blobs, &g->s->err),
                     BZ_E_NOENT);
    dir.tree = store_text(g->s, "this is no tree");
    assert_int_equal(bz_closure_all(g->s->cas, g->s->h, &r, &blobs, &g->s->err),
                     BZ_E_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_names_each_blob_once),
        grove_test(a_tree_adds_its_files_before_itself),
        grove_test(a_tree_that_is_not_there_or_none_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
