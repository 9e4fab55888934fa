#include "build/filing.h"

#include "tests/unit/build/larder.h"

static struct bz_reapi_result get(struct larder *l, const char *task,
                                  struct bz_arena *a)
{
    struct bz_digest_hasher *h;
    struct bz_reapi_result r;
    struct bz_digest key;
    struct bz_err err;

    assert_true(larder_has(l, task, &key));
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    assert_ok(bz_cache_get(l->cache, h, &key, a, &r, &err), &err);
    bz_digest_hasher_free(h);
    return r;
}

static void tasks_of_a_recipe_share_one_blob(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct world *w = *state;
    struct bz_reapi_result make, build, other;
    struct larder l;

    put_files(w, larder_files, BZ_COUNTOF(larder_files));
    larder_open(&l, w);
    larder_file(&l, w);
    make = get(&l, "app:do_make", &a);
    build = get(&l, "app:do_build", &a); /* it is noexec */
    other = get(&l, "lib:do_make", &a);
    assert_int_equal(make.nfiles, 1);
    assert_true(bz_digest_eq(&make.files[0].digest.hash, &build.files[0].digest.hash));
    assert_false(bz_digest_eq(&make.files[0].digest.hash, &other.files[0].digest.hash));
    larder_file(&l, w); /* there is nothing left to do */
    larder_close(&l);
}

static void only_what_was_made_is_filed(void **state)
{
    struct world *w = *state;
    struct bz_digest key;
    struct larder l;

    put_files(w, larder_files, BZ_COUNTOF(larder_files));
    larder_open(&l, w);
    bz_bitset_release(&l.made);
    for (uint32_t t = 0; t < l.g.graph.dag.n; t++)
        if (bz_str_eq(l.names[t], BZ_STR("lib:do_make")))
            bz_bitset_set(&l.made, t);
    larder_file(&l, w);
    assert_true(larder_has(&l, "lib:do_make", &key));
    assert_false(larder_has(&l, "app:do_make", &key));
    larder_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
        TEST(tasks_of_a_recipe_share_one_blob),
        TEST(only_what_was_made_is_filed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
