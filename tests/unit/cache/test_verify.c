#include "cache/verify.h"

#include "cache/action.h"
#include "tests/unit/cache/forest.h"

/* What was found, one letter each. */
struct notes {
    char text[64];
    size_t n;
};

static void note(void *ctx, enum bz_verify_fault fault, const char *path)
{
    struct notes *notes = ctx;

    (void)path;
    if (notes->n < sizeof(notes->text) - 1)
        notes->text[notes->n++] = "BRIST"[fault];
}

static struct bz_verify_stats verify(struct grove *g, bool repair, const char *want)
{
    struct notes notes = {{0}, 0};
    struct bz_verify_opts opts = {
        .threads = {.pool = g->pool}, .repair = repair, .fault = note, .ctx = &notes};
    struct bz_verify_stats stats;

    assert_ok(bz_verify_run(g->s->cas, &opts, &stats, &g->s->err), &g->s->err);
    assert_string_equal(notes.text, want);
    return stats;
}

static struct bz_reapi_digest fill(struct grove *g, uint8_t n)
{
    struct bz_reapi_outdir dir = {.path = BZ_STR("")};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    struct bz_digest key = {{n}};
    enum bz_action_put how;
    char path[16];

    snprintf(path, sizeof(path), "t%u", n);
    forest_make(g->s->dir, path, n, 60);
    dir.tree = grove_store(g, path);
    assert_ok(bz_action_put(g->s->cas, g->s->h, &key, &r, &how, &g->s->err),
              &g->s->err);
    return dir.tree;
}

static void a_sound_store_has_no_faults(void **state)
{
    struct grove *g = *state;
    struct bz_verify_stats stats;

    fill(g, 1);
    fill(g, 2);
    stats = verify(g, false, "");
    assert_int_equal(stats.results, 2);
    assert_true(stats.blobs > 10 && stats.bytes > 1000);
    assert_int_equal(stats.unsealed, 0);
}

static void every_damage_is_found_and_what_it_breaks(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest tree = fill(g, 1), lone = store_text(g->s, "lone");
    struct bz_digest key = {{1}}, other = {{2}};
    struct bz_verify_stats stats;
    char path[128];

    fill(g, 2);
    damage(g->s->dir, store_path("cas", &lone.hash, path), 1, false);
    verify(g, false, "B");
    damage(g->s->dir, store_path("ac", &other, path), 5, false);
    verify(g, false, "BR");
    damage(g->s->dir, store_path("cas", &tree.hash, path), 3, true);
    verify(g, false, "BBIR");
    stats = verify(g, true, "BBIR");
    assert_int_equal(stats.repaired, 4);
    assert_false(bz_action_has(g->s->cas, &key));
    assert_int_equal(store_bad(g->s), 3); /* the incomplete result is just gone */
    verify(g, false, "");
}

static void a_missing_blob_is_found(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest tree = fill(g, 1);
    char path[128];

    assert_int_equal(unlinkat(g->s->dir, store_path("cas", &tree.hash, path), 0), 0);
    verify(g, false, "I");
    verify(g, true, "I");
    verify(g, true, "");
}

static void trees_that_were_laid_out_with_wrong_bytes_go(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest bad, good;
    struct stat st;

    make_dirs(g->s->dir, "a");
    make_dirs(g->s->dir, "b");
    put(g->s->dir, "a/f", "damaged");
    put(g->s->dir, "b/f", "sound");
    bad = grove_store(g, "a");
    good = grove_store(g, "b");
    make_dirs(g->s->dir, "s/trees");
    assert_ok(grove_restore(g, &bad, "s/trees/merged-1"), &g->s->err);
    assert_ok(grove_restore(g, &good, "s/trees/merged-2"), &g->s->err);
    assert_int_equal(fstatat(g->s->dir, "s/trees/merged-1/f", &st, 0), 0);
    assert_true(st.st_nlink > 1);
    damage(g->s->dir, "s/trees/merged-1/f", 1, false);
    verify(g, false, "B");
    assert_true(bz_fs_exists(g->s->dir, "s/trees/merged-1/f"));
    verify(g, true, "B");
    assert_false(bz_fs_exists(g->s->dir, "s/trees/merged-1"));
    assert_true(bz_fs_exists(g->s->dir, "s/trees/merged-2/f"));
    assert_true(bz_fs_exists(g->s->dir, "a/f")); /* that is none of ours */
}

static void other_things_than_files_are_found_and_put_aside(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest a = store_text(g->s, "a"), b = store_text(g->s, "b");
    struct bz_verify_stats stats;
    char path[128];

    bz_log_set_level(BZ_LOG_ERROR);
    assert_int_equal(unlinkat(g->s->dir, store_path("cas", &a.hash, path), 0), 0);
    assert_int_equal(symlinkat("/dev/null", g->s->dir, path), 0);
    assert_int_equal(unlinkat(g->s->dir, store_path("cas", &b.hash, path), 0), 0);
    assert_int_equal(mkdirat(g->s->dir, path, 0755), 0);
    stats = verify(g, false, "SS");
    assert_int_equal(stats.strange, 2);
    assert_int_equal(bz_verify_faults(&stats), 2);
    stats = verify(g, true, "SS");
    assert_int_equal(stats.repaired, 2);
    assert_int_equal(store_bad(g->s), 2);
    verify(g, false, "");
}

static void a_changed_tree_is_found_and_removed(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest tree = fill(g, 1);
    const struct bz_tree_out out = {.threads = {.pool = g->pool}};
    char hex[BZ_DIGEST_HEX_LEN + 1], path[200], line[900];
    struct bz_tree_stats ignored;
    struct bz_verify_stats stats;

    bz_log_set_level(BZ_LOG_ERROR);
    bz_digest_hex(&tree.hash, hex);
    make_dirs(g->s->dir, "s/trees");
    snprintf(path, sizeof(path), "s/trees/%s", hex);
    assert_ok(
        bz_tree_restore(g->s->cas, &tree, g->s->dir, path, &out, &ignored, &g->s->err),
        &g->s->err);
    stats = verify(g, false, "");
    assert_int_equal(stats.trees, 1);
    snprintf(line, sizeof(line), "touch %s/%s/more", g->s->scratch->path, path);
    assert_int_equal(system(line), 0);
    stats = verify(g, true, "T");
    assert_int_equal(stats.bad_trees, 1);
    assert_int_equal(stats.repaired, 1);
    stats = verify(g, false, "");
    assert_int_equal(stats.trees, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(a_sound_store_has_no_faults),
        grove_test(every_damage_is_found_and_what_it_breaks),
        grove_test(other_things_than_files_are_found_and_put_aside),
        grove_test(a_changed_tree_is_found_and_removed),
        grove_test(a_missing_blob_is_found),
        grove_test(trees_that_were_laid_out_with_wrong_bytes_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
