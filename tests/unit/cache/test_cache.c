#include "cache/cache.h"

#include "tests/unit/cache/forest.h"

static const struct bz_digest key = {{1}};
static const struct bz_cache_labels labels = {BZ_STR("busybox"), BZ_STR("do_install")};

static struct bz_cache *open_cache(struct grove *g, enum bz_cache_verify verify)
{
    char index[320];
    struct bz_cache_opts opts = {.root = g->s->root, .index = index, .verify = verify};
    struct bz_cache *c;

    snprintf(index, sizeof(index), "%s/state/index.db", g->s->scratch->path);
    assert_ok(bz_cache_open(&opts, &c, &g->s->err), &g->s->err);
    return c;
}

static struct bz_reapi_digest store_tree(struct grove *g, struct bz_cache *c)
{
    struct bz_reapi_digest d;

    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/f", "text");
    assert_ok(bz_cache_store(c, g->s->dir, "t", &g->in, &d, &g->stats, &g->s->err),
              &g->s->err);
    return d;
}

static int restore(struct grove *g, struct bz_cache *c, const struct bz_reapi_digest *d)
{
    struct bz_err err;

    if (bz_fs_exists(g->s->dir, "out"))
        assert_ok(bz_fs_remove(g->s->dir, "out", &err), &err);
    return bz_cache_restore(c, d, g->s->dir, "out", &g->out, &g->stats, &g->s->err);
}

static void a_result_is_filed_found_and_counted(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c = open_cache(g, BZ_CACHE_FIRST_USE);
    struct bz_reapi_result r = {.exit_code = 3}, got;
    struct bz_index_action known;
    enum bz_action_put how;
    struct bz_arena a = {0};

    assert_int_equal(bz_cache_get(c, g->s->h, &key, &a, &got, &g->s->err), BZ_E_NOENT);
    assert_ok(bz_cache_put(c, g->s->h, &key, &r, &labels, &how, &g->s->err),
              &g->s->err);
    assert_int_equal(how, BZ_ACTION_STORED);
    for (int i = 0; i < 2; i++) {
        assert_ok(bz_cache_get(c, g->s->h, &key, &a, &got, &g->s->err), &g->s->err);
        assert_int_equal(got.exit_code, 3);
    }
    bz_cache_close(c);
    c = open_cache(g, BZ_CACHE_FIRST_USE);
    assert_true(bz_index_get_action(bz_cache_index(c), &key, &a, &known));
    assert_int_equal(known.hits, 2);
    assert_true(bz_str_eq(known.task, labels.task));
    bz_cache_close(c);
    bz_arena_release(&a);
}

static void a_lost_index_is_made_anew_with_its_labels(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c = open_cache(g, BZ_CACHE_FIRST_USE);
    struct bz_reapi_result r = {.exit_code = 3};
    struct bz_index_action known;
    enum bz_action_put how;
    struct bz_arena a = {0};

    assert_ok(bz_cache_put(c, g->s->h, &key, &r, &labels, &how, &g->s->err),
              &g->s->err);
    bz_cache_close(c);
    assert_ok(bz_fs_remove(g->s->dir, "state", &g->s->err), &g->s->err);
    c = open_cache(g, BZ_CACHE_FIRST_USE);
    assert_true(bz_index_get_action(bz_cache_index(c), &key, &a, &known));
    assert_true(bz_str_eq(known.recipe, labels.recipe));
    bz_cache_close(c);
    bz_arena_release(&a);
}

/* Bytes that change without a trace: only hashing finds them. */
static void corrupt_silently(struct grove *g)
{
    const struct timespec times[2] = {
        {0,              UTIME_OMIT},
        {BZ_SHELF_MTIME, 0         }
    };

    damage(g->s->dir, "t/f", 1, false);
    assert_int_equal(utimensat(g->s->dir, "t/f", times, 0), 0);
}

static void the_policy_decides_what_is_hashed(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c = open_cache(g, BZ_CACHE_FIRST_USE);
    struct bz_reapi_digest d = store_tree(g, c);

    bz_cache_close(c);
    corrupt_silently(g);
    c = open_cache(g, BZ_CACHE_NEVER);
    assert_int_equal(restore(g, c, &d), 0);
    bz_cache_close(c);
    c = open_cache(g, BZ_CACHE_FIRST_USE); /* stored in this boot: known to be right */
    assert_int_equal(restore(g, c, &d), 0);
    bz_cache_close(c);
    assert_ok(bz_fs_remove(g->s->dir, "state", &g->s->err), &g->s->err);
    c = open_cache(g, BZ_CACHE_FIRST_USE); /* another machine, as it were */
    assert_int_equal(restore(g, c, &d), BZ_E_NOENT);
    bz_cache_close(c);
}

static void always_means_always(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c = open_cache(g, BZ_CACHE_ALWAYS);
    struct bz_reapi_digest d = store_tree(g, c);

    assert_int_equal(restore(g, c, &d), 0);
    corrupt_silently(g);
    assert_int_equal(restore(g, c, &d), BZ_E_NOENT);
    assert_false(bz_cas_has(bz_cache_cas(c), &d) && bz_fs_exists(g->s->dir, "out"));
    bz_cache_close(c);
}

static void a_first_use_is_remembered(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c;
    struct bz_reapi_digest d;

    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/f", "text");
    d = grove_store(g, "t"); /* by another */
    c = open_cache(g, BZ_CACHE_FIRST_USE);
    assert_false(bz_index_checked(bz_cache_index(c), &d.hash));
    assert_int_equal(restore(g, c, &d), 0);
    bz_cache_close(c);
    c = open_cache(g, BZ_CACHE_FIRST_USE);
    assert_true(bz_index_checked(bz_cache_index(c), &d.hash));
    bz_cache_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(a_result_is_filed_found_and_counted),
        grove_test(a_lost_index_is_made_anew_with_its_labels),
        grove_test(the_policy_decides_what_is_hashed),
        grove_test(always_means_always),
        grove_test(a_first_use_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
