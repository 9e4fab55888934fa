#include "cache/cache.h"

#include "tests/unit/cache/fake_tier.h"
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

static void assert_same_trees(struct grove *g)
{
    char *want = forest_describe(g->s->h, g->s->dir, "t");
    char *got = forest_describe(g->s->h, g->s->dir, "out");

    assert_string_equal(got, want);
    free(want);
    free(got);
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

static void what_goes_to_and_from_the_store_is_counted(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c = open_cache(g, BZ_CACHE_FIRST_USE);
    struct bz_reapi_digest tree = store_tree(g, c);
    struct bz_reapi_result r;
    struct bz_cache_traffic t;
    struct bz_arena a = {0};

    assert_int_equal(bz_cache_get(c, g->s->h, &key, &a, &r, &g->s->err), BZ_E_NOENT);
    for (int i = 0; i < 2; i++)
        assert_ok(restore(g, c, &tree), &g->s->err);
    assert_true(bz_cache_flush(c, 0)); /* nothing is on its way */
    assert_int_equal(bz_cache_places(c), 1);
    bz_cache_traffic(c, 0, &t);
    assert_string_equal(t.kind, "local");
    assert_string_equal(t.name, g->s->root);
    assert_int_equal(t.hits, 0);
    assert_int_equal(t.misses, 1);
    assert_int_equal(t.written.blobs, 1);
    assert_int_equal(t.written.bytes, strlen("text"));
    assert_int_equal(t.read.blobs, 2);
    assert_int_equal(t.read.bytes, 2 * strlen("text"));
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

/* With a pool nobody waits for it; what is not done when the cache is closed is done
 * the next time. */
static void a_lost_index_keeps_nobody_waiting(void **state)
{
    static const struct bz_pool_opts threads = {.compute = 1, .io = 1};
    struct grove *g = *state;
    struct bz_index_totals totals = {0};
    struct bz_pool *pool;
    struct bz_cache *c;
    char text[16];

    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof(text), "%d", i);
        store_text(g->s, text);
    }
    assert_ok(bz_pool_new(&threads, &pool, &g->s->err), &g->s->err);
    for (int i = 0; i < 1000 && totals.blobs < 300; i++) {
        char index[320];
        struct bz_cache_opts opts = {.root = g->s->root, .index = index, .pool = pool};

        snprintf(index, sizeof(index), "%s/state/index.db", g->s->scratch->path);
        assert_ok(bz_cache_open(&opts, &c, &g->s->err), &g->s->err);
        usleep(1000);
        bz_index_get_totals(bz_cache_index(c), &totals);
        bz_cache_close(c);
    }
    assert_int_equal(totals.blobs, 300);
    bz_pool_free(pool);
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

/* What a power cut leaves: the size and the time are right. Who stores the same bytes
 * has hashed theirs, not those. */
static void a_blob_that_was_there_is_not_taken_for_checked(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d, again;
    struct bz_cache *c;

    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/f", "text");
    d = grove_store(g, "t"); /* by another */
    corrupt_silently(g);
    assert_ok(bz_fs_remove(g->s->dir, "t", &g->s->err), &g->s->err);
    c = open_cache(g, BZ_CACHE_FIRST_USE);
    again = store_tree(g, c);
    assert_true(bz_digest_eq(&d.hash, &again.hash));
    bz_cache_close(c);
    c = open_cache(g, BZ_CACHE_FIRST_USE);
    assert_int_equal(restore(g, c, &d), BZ_E_NOENT);
    (void)store_tree(g, c); /* now it is ours */
    assert_int_equal(restore(g, c, &d), 0);
    assert_same_trees(g);
    bz_cache_close(c);
}

static void files_alike_in_a_new_tree_need_no_second_look(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c = open_cache(g, BZ_CACHE_FIRST_USE);
    struct bz_reapi_digest d;

    store_text(g->s, "");
    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/empty", "");
    put(g->s->dir, "t/one", "text");
    put(g->s->dir, "t/two", "text");
    d = store_tree(g, c);
    assert_int_equal(g->stats.unseen, 0);
    bz_cache_close(c);
    c = open_cache(g, BZ_CACHE_FIRST_USE);
    assert_true(bz_index_checked(bz_cache_index(c), &d.hash));
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

/* A cache of another machine, with a store `mN` of its own and these tiers. */
static struct bz_cache *open_slow_machine(struct grove *g, int n, size_t ntiers,
                                          int64_t timeout)
{
    struct bz_cache_opts opts = {
        .tiers = {.specs = fake_specs,
                  .n = ntiers,
                  .timeout = timeout,
                  .open = fake_open},
        .flush = timeout
    };
    struct bz_cache *c;
    char root[320];

    snprintf(root, sizeof(root), "%s/m%d", g->s->scratch->path, n);
    opts.root = root;
    assert_ok(bz_cache_open(&opts, &c, &g->s->err), &g->s->err);
    return c;
}

static struct bz_cache *open_machine(struct grove *g, int n, size_t ntiers)
{
    return open_slow_machine(g, n, ntiers, 60 * BZ_CLOCK_S);
}

static void make_result(struct grove *g, struct bz_cache *c)
{
    struct bz_reapi_outdir dir = {.path = BZ_STR("t")};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    enum bz_action_put how;

    if (!bz_fs_exists(g->s->dir, "t"))
        forest_make(g->s->dir, "t", 5, 30);
    assert_ok(
        bz_cache_store(c, g->s->dir, "t", &g->in, &dir.tree, &g->stats, &g->s->err),
        &g->s->err);
    assert_ok(bz_cache_put(c, g->s->h, &key, &r, &labels, &how, &g->s->err),
              &g->s->err);
}

/* Looks the key up, fetches and restores it as `out`. */
static int use_result(struct grove *g, struct bz_cache *c)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result r;
    int rc = bz_cache_get(c, g->s->h, &key, &a, &r, &g->s->err);

    if (rc == 0)
        rc = bz_cache_fetch(c, g->s->h, &key, &r, NULL, &g->s->err);
    return rc < 0 ? rc : restore(g, c, &r.dirs[0].tree);
}

static void another_machine_restores_what_this_one_stored(void **state)
{
    struct grove *g = *state;
    struct bz_cache_traffic sent, read;
    struct bz_cache *c;

    fakes_init(g->s);
    c = open_machine(g, 1, 2);
    make_result(g, c);
    assert_true(bz_cache_flush(c, BZ_CLOCK_NEVER));
    bz_cache_traffic(c, 1, &sent);
    bz_cache_close(c);
    assert_true(bz_action_has(fakes[0].cas, &key));
    c = open_machine(g, 2, 2);
    assert_int_equal(use_result(g, c), 0);
    bz_cache_traffic(c, 1, &read);
    assert_string_equal(read.kind, "directory");
    assert_int_equal(read.hits, 1);
    assert_true(sent.written.blobs > 0 && sent.read.blobs == 0);
    assert_int_equal(read.read.blobs, sent.written.blobs);
    assert_int_equal(read.read.bytes, sent.written.bytes);
    bz_cache_traffic(c, 0, &read);
    assert_int_equal(read.misses, 1);
    assert_same_trees(g);
    assert_true(bz_action_has(bz_cache_cas(c), &key)); /* now it is here as well */
    atomic_store(&fakes[0].mood, FAKE_FAILS);
    atomic_store(&fakes[1].mood, FAKE_FAILS);
    assert_int_equal(use_result(g, c), 0);
    bz_cache_close(c);
    fakes_release();
}

static void a_result_is_not_filed_before_its_bytes_are_here(void **state)
{
    struct grove *g = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result r;
    struct bz_cache *c;

    fakes_init(g->s);
    c = open_machine(g, 1, 1);
    make_result(g, c);
    bz_cache_close(c);
    c = open_machine(g, 2, 1);
    assert_ok(bz_cache_get(c, g->s->h, &key, &a, &r, &g->s->err), &g->s->err);
    assert_false(bz_action_has(bz_cache_cas(c), &key));
    atomic_store(&fakes[0].mood, FAKE_LIES);
    assert_int_equal(bz_cache_fetch(c, g->s->h, &key, &r, NULL, &g->s->err),
                     BZ_E_NOENT);
    assert_false(bz_action_has(bz_cache_cas(c), &key));
    bz_cache_close(c);
    fakes_release();
}

static void what_came_from_afar_fills_the_nearer_tiers(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c;

    fakes_init(g->s);
    atomic_store(&fakes[0].mood, FAKE_REFUSES);
    c = open_machine(g, 1, 2);
    make_result(g, c);
    bz_cache_close(c);
    assert_false(bz_action_has(fakes[0].cas, &key));
    atomic_store(&fakes[0].mood, FAKE_WORKS);
    c = open_machine(g, 2, 3);
    assert_int_equal(use_result(g, c), 0);
    bz_cache_close(c);
    assert_true(bz_action_has(fakes[0].cas, &key));
    atomic_store(&fakes[1].mood, FAKE_FAILS);
    c = open_machine(g, 3, 2);
    assert_int_equal(use_result(g, c), 0); /* with all its blobs */
    bz_cache_close(c);
    fakes_release();
}

/* The blob of a file of machine 1, by hard link or copy, gets a wrong byte. */
static void damage_blob(struct grove *g, struct bz_cas *other)
{
    struct bz_reapi_digest d;
    char name[BZ_SHELF_NAME], path[128];

    assert_ok(bz_cas_put(other, g->s->h, "text", 4, &d, &g->s->err), &g->s->err);
    bz_shelf_name(&d.hash, name);
    snprintf(path, sizeof(path), "m1/cas/%s", name);
    damage(g->s->dir, path, 1, false);
}

static void what_is_damaged_here_is_fetched_anew(void **state)
{
    struct grove *g = *state;
    struct bz_cache *c;

    fakes_init(g->s);
    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/f", "text");
    c = open_machine(g, 1, 1);
    make_result(g, c);
    bz_cache_close(c);
    assert_ok(bz_fs_remove(g->s->dir, "t", &g->s->err), &g->s->err);
    make_dirs(g->s->dir, "t");
    put(g->s->dir, "t/f", "text");
    damage_blob(g, fakes[0].cas);
    c = open_machine(g, 1, 1);
    assert_int_equal(use_result(g, c), 0);
    assert_same_trees(g);
    bz_cache_close(c);
    damage_blob(g, fakes[1].cas);
    atomic_store(&fakes[0].mood, FAKE_FAILS); /* then it is a miss */
    c = open_machine(g, 1, 1);
    assert_int_equal(use_result(g, c), BZ_E_NOENT);
    bz_cache_close(c);
    fakes_release();
}

static void tiers_that_fail_leave_a_cache_that_works(void **state)
{
    static const enum fake_mood moods[] = {FAKE_FAILS, FAKE_STALLS, FAKE_ABSENT,
                                           FAKE_FULL};
    struct grove *g = *state;

    for (size_t i = 0; i < BZ_COUNTOF(moods); i++) {
        struct bz_cache *c;

        fakes_init(g->s);
        atomic_store(&fakes[0].mood, moods[i]);
        c = open_slow_machine(g, (int)i, 1, 100 * BZ_CLOCK_MS);
        assert_int_equal(use_result(g, c), BZ_E_NOENT);
        make_result(g, c);
        assert_int_equal(use_result(g, c), 0);
        bz_cache_close(c);
        fakes_release();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(a_result_is_filed_found_and_counted),
        grove_test(what_goes_to_and_from_the_store_is_counted),
        grove_test(a_lost_index_is_made_anew_with_its_labels),
        grove_test(a_lost_index_keeps_nobody_waiting),
        grove_test(the_policy_decides_what_is_hashed),
        grove_test(a_blob_that_was_there_is_not_taken_for_checked),
        grove_test(files_alike_in_a_new_tree_need_no_second_look),
        grove_test(always_means_always),
        grove_test(a_first_use_is_remembered),
        grove_test(another_machine_restores_what_this_one_stored),
        grove_test(a_result_is_not_filed_before_its_bytes_are_here),
        grove_test(what_came_from_afar_fills_the_nearer_tiers),
        grove_test(what_is_damaged_here_is_fetched_anew),
        grove_test(tiers_that_fail_leave_a_cache_that_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
