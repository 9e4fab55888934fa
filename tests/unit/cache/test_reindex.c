#include "cache/reindex.h"

#include "cache/action.h"
#include "os/clock.h"
#include "tests/unit/cache/forest.h"

static void an_index_is_made_of_what_lies_in_the_store(void **state)
{
    static const struct bz_digest key = {{1}};
    static const char *const files[] = {"1", "22"};
    struct grove *g = *state;
    struct bz_reapi_aux aux[] = {
        {BZ_STR(BZ_ACTION_RECIPE), BZ_STR("busybox")   },
        {BZ_STR(BZ_ACTION_TASK),   BZ_STR("do_install")}
    };
    struct bz_reapi_outdir dir = {.path = BZ_STR("")};
    struct bz_reapi_result r = {
        .dirs = &dir,
        .ndirs = 1,
        .aux = aux,
        .naux = 2,
        .when[BZ_REAPI_RUN_START] = {.set = true, .s = 10, .ns = 900},
        .when[BZ_REAPI_RUN_DONE] = {.set = true, .s = 12, .ns = 400}
    };
    struct bz_reindex_stats stats;
    struct bz_index_action a;
    struct bz_index_blob blob;
    struct bz_arena arena = {0};
    enum bz_index_state how;
    enum bz_action_put put_how;
    struct bz_index *x;

    make_dirs(g->s->dir, "t/d");
    put(g->s->dir, "t/one", files[0]);
    put(g->s->dir, "t/d/two", files[1]);
    dir.tree = grove_store(g, "t");
    assert_ok(bz_action_put(g->s->cas, g->s->h, &key, &r, &put_how, &g->s->err),
              &g->s->err);
    put(g->s->dir, "s/cas/junk", "not a blob");
    assert_ok(bz_index_open(NULL, NULL, &x, &how, &g->s->err), &g->s->err);
    for (int i = 0; i < 2; i++) {
        assert_ok(bz_reindex(g->s->cas, x, &stats, &g->s->err), &g->s->err);
        assert_int_equal(stats.blobs, 3);
        assert_int_equal(stats.actions, 1);
        assert_true(bz_index_get_action(x, &key, &arena, &a));
        assert_true(bz_str_eq(a.recipe, BZ_STR("busybox")));
        assert_true(bz_str_eq(a.task, BZ_STR("do_install")));
        assert_int_equal(a.duration, 2000000000 - 500);
        assert_int_equal(a.bytes, dir.tree.size);
        for (size_t k = 0; k < BZ_COUNTOF(files); k++) {
            struct bz_digest hash;

            bz_digest_bytes(g->s->h, files[k], strlen(files[k]), &hash);
            assert_true(bz_index_get_blob(x, &hash, &blob));
            assert_int_equal(blob.size, strlen(files[k]));
            assert_int_equal(blob.refs, 1); /* the tree */
        }
    }
    bz_index_close(x);
    bz_arena_release(&arena);
}

static void what_is_damaged_is_passed_over(void **state)
{
    static const struct bz_digest key = {{1}};
    struct grove *g = *state;
    struct bz_reindex_stats stats;
    enum bz_index_state how;
    struct bz_index *x;
    char path[128];

    make_dirs(g->s->dir, "s/ac/01");
    put(g->s->dir, store_path("ac", &key, path), "garbage");
    assert_ok(bz_index_open(NULL, NULL, &x, &how, &g->s->err), &g->s->err);
    assert_ok(bz_reindex(g->s->cas, x, &stats, &g->s->err), &g->s->err);
    assert_int_equal(stats.actions, 0);
    bz_index_close(x);
}

/* Stopped at once, stopped on the way, and gone on with: nothing is lost, and what is
 * done is not done again. */
static void who_is_stopped_goes_on_the_next_time(void **state)
{
    struct grove *g = *state;
    struct bz_reindex_stats stats;
    struct bz_index_totals totals;
    enum bz_index_state how;
    struct bz_cancel cancel;
    struct bz_index *x;
    char path[320], text[16];

    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "%d", i);
        store_text(g->s, text);
    }
    snprintf(path, sizeof(path), "%s/index.db", g->s->scratch->path);
    assert_ok(bz_index_open(path, NULL, &x, &how, &g->s->err), &g->s->err);
    assert_int_equal(bz_index_next_part(x), 0);
    bz_cancel_init(&cancel, NULL, BZ_CLOCK_NEVER);
    bz_cancel_now(&cancel);
    assert_ok(bz_reindex_fill(g->s->cas, x, &cancel, &stats, &g->s->err), &g->s->err);
    assert_int_equal(stats.blobs, 0);
    assert_int_equal(bz_index_next_part(x), 0);
    bz_index_set_next_part(x, 128);
    bz_index_close(x);
    assert_ok(bz_index_open(path, NULL, &x, &how, &g->s->err), &g->s->err);
    assert_int_equal(how, BZ_INDEX_KEPT);
    assert_int_equal(bz_index_next_part(x), 128);
    assert_ok(bz_reindex_fill(g->s->cas, x, NULL, &stats, &g->s->err), &g->s->err);
    assert_in_range(stats.blobs, 20, 80); /* of half of the names */
    assert_int_equal(bz_index_next_part(x), BZ_INDEX_FILLED);
    bz_index_get_totals(x, &totals);
    assert_int_equal(totals.blobs, stats.blobs);
    assert_ok(bz_reindex_fill(g->s->cas, x, NULL, &stats, &g->s->err), &g->s->err);
    assert_int_equal(stats.blobs, 0); /* there is nothing left to do */
    assert_ok(bz_reindex(g->s->cas, x, &stats, &g->s->err), &g->s->err);
    assert_int_equal(stats.blobs, 100);
    bz_index_close(x);
}

static void looking_is_no_use(void **state)
{
    static const struct bz_digest key = {{1}};
    static const struct timespec long_ago[2] = {
        {1000000000, 0},
        {946684800,  0}
    };
    struct grove *g = *state;
    struct bz_reapi_result r = {.exit_code = 0};
    struct bz_reindex_stats stats;
    enum bz_index_state how;
    enum bz_action_put put_how;
    struct bz_index *x;
    struct stat st;
    char path[128];

    assert_ok(bz_action_put(g->s->cas, g->s->h, &key, &r, &put_how, &g->s->err),
              &g->s->err);
    store_path("ac", &key, path);
    assert_int_equal(utimensat(g->s->dir, path, long_ago, 0), 0);
    assert_ok(bz_index_open(NULL, NULL, &x, &how, &g->s->err), &g->s->err);
    assert_ok(bz_reindex(g->s->cas, x, &stats, &g->s->err), &g->s->err);
    assert_int_equal(stats.actions, 1);
    assert_int_equal(fstatat(g->s->dir, path, &st, 0), 0);
    assert_int_equal(st.st_atim.tv_sec, 1000000000);
    bz_index_close(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(an_index_is_made_of_what_lies_in_the_store),
        grove_test(what_is_damaged_is_passed_over),
        grove_test(who_is_stopped_goes_on_the_next_time),
        grove_test(looking_is_no_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
