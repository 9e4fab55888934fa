#include "cache/inventory.h"

#include "os/clock.h"
#include "tests/unit/cache/forest.h"

static struct bz_digest key_of(unsigned n)
{
    return (struct bz_digest){
        {(uint8_t)n, 1}
    };
}

/* A result with a tree of two files, one of which all such results share. */
static struct bz_reapi_digest file_tree(struct grove *g, unsigned n, const char *recipe)
{
    struct bz_reapi_aux aux[] = {
        {BZ_STR(BZ_ACTION_RECIPE), bz_str_from(recipe) },
        {BZ_STR(BZ_ACTION_TASK),   BZ_STR("do_install")}
    };
    struct bz_reapi_outdir dir = {.path = BZ_STR("")};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1, .aux = aux, .naux = 2};
    struct bz_digest key = key_of(n);
    enum bz_action_put how;
    char path[32], text[32];

    snprintf(path, sizeof(path), "t%u", n);
    assert_int_equal(mkdirat(g->s->dir, path, 0755), 0);
    snprintf(path, sizeof(path), "t%u/shared", n);
    put(g->s->dir, path, "shared");
    snprintf(path, sizeof(path), "t%u/own", n);
    snprintf(text, sizeof(text), "of %u", n);
    put(g->s->dir, path, text);
    snprintf(path, sizeof(path), "t%u", n);
    dir.tree = grove_store(g, path);
    assert_ok(bz_action_put(g->s->cas, g->s->h, &key, &r, &how, &g->s->err),
              &g->s->err);
    return dir.tree;
}

static void take(struct grove *g, struct bz_inventory *v)
{
    assert_ok(bz_inventory_take(g->s->cas, NULL, NULL, v, &g->s->err), &g->s->err);
}

static void it_tells_what_is_there_and_what_needs_what(void **state)
{
    struct grove *g = *state;
    struct bz_inventory v;
    struct bz_reapi_digest lone = store_text(g->s, "lone"), tree;
    uint32_t at;

    tree = file_tree(g, 1, "busybox");
    file_tree(g, 2, "zlib");
    put(g->s->dir, "s/cas/junk", "no blob");
    take(g, &v);
    assert_int_equal(v.results.len, 2);
    assert_int_equal(v.blobs.len, 6); /* two trees, two own, one shared, one lone */
    assert_true(
        bz_str_eq(bz_intern_str(&v.names, v.results.at[0].recipe), BZ_STR("busybox")));
    assert_true(v.results.at[0].sealed && !v.results.at[0].broken);
    for (size_t i = 0; i < 2; i++)
        bz_inventory_count(&v, &v.results.at[i], true, NULL, NULL);
    assert_int_equal(v.blobs.at[bz_inventory_find(&v, &lone.hash)].refs, 0);
    at = bz_inventory_find(&v, &tree.hash);
    assert_int_equal(v.blobs.at[at].refs, 1);
    assert_int_equal(v.nodes.at[v.blobs.at[at].node - 1].n, 2);
    assert_int_equal(bz_inventory_find(&v, &(struct bz_digest){{9}}),
                     BZ_INVENTORY_NONE);
    for (size_t i = 0; i < 2; i++)
        bz_inventory_count(&v, &v.results.at[i], false, NULL, NULL);
    for (size_t i = 0; i < v.blobs.len; i++)
        assert_int_equal(v.blobs.at[i].refs, 0);
    bz_inventory_release(&v);
}

static void a_result_without_all_its_blobs_is_broken(void **state)
{
    struct grove *g = *state;
    struct bz_digest shared, key = key_of(3);
    struct bz_inventory v;
    char path[128];

    file_tree(g, 1, "a");
    bz_digest_bytes(g->s->h, "shared", 6, &shared);
    assert_int_equal(unlinkat(g->s->dir, store_path("cas", &shared, path), 0), 0);
    make_dirs(g->s->dir, "s/ac/03");
    put(g->s->dir, store_path("ac", &key, path), "garbage");
    take(g, &v);
    assert_int_equal(v.results.len, 2);
    assert_true(v.results.at[0].broken && !v.results.at[0].damaged);
    assert_true(v.results.at[1].damaged);
    assert_int_equal(store_bad(g->s), 0); /* it only looks */
    bz_inventory_release(&v);
}

static void a_damaged_tree_breaks_its_result(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest tree = file_tree(g, 1, "a");
    struct bz_inventory v;
    char path[128];

    damage(g->s->dir, store_path("cas", &tree.hash, path), 5, false);
    take(g, &v);
    assert_true(v.results.at[0].broken);
    assert_true(bz_fs_exists(g->s->dir, path));
    bz_inventory_release(&v);
}

/* A directory as other programs store it: each a blob, naming others. */
static struct bz_reapi_digest put_dir(struct grove *g, const struct bz_reapi_dir *dir)
{
    struct bz_buf bytes = {0};
    struct bz_reapi_digest d;

    assert_ok(bz_reapi_dir_encode(dir, &bytes, &g->s->err), &g->s->err);
    assert_ok(bz_cas_put(g->s->cas, g->s->h, bytes.data, bytes.len, &d, &g->s->err),
              &g->s->err);
    bz_buf_release(&bytes);
    return d;
}

static void directories_lead_to_what_is_below_them(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_file file = {.name = BZ_STR("f"),
                                 .digest = store_text(g->s, "deep")};
    struct bz_reapi_subdir sub = {.name = BZ_STR("d")};
    struct bz_reapi_outdir out = {.path = BZ_STR("o")};
    struct bz_reapi_result r = {.dirs = &out, .ndirs = 1};
    struct bz_digest key = key_of(1);
    enum bz_action_put how;
    struct bz_inventory v;
    char path[128];

    sub.digest = put_dir(g, &(struct bz_reapi_dir){.files = &file, .nfiles = 1});
    for (int i = 0; i < 50; i++)
        sub.digest = put_dir(g, &(struct bz_reapi_dir){.dirs = &sub, .ndirs = 1});
    out.root = sub.digest;
    assert_ok(bz_action_put(g->s->cas, g->s->h, &key, &r, &how, &g->s->err),
              &g->s->err);
    take(g, &v);
    assert_false(v.results.at[0].broken);
    bz_inventory_count(&v, &v.results.at[0], true, NULL, NULL);
    for (size_t i = 0; i < v.blobs.len; i++)
        assert_int_equal(v.blobs.at[i].refs, 1);
    bz_inventory_release(&v);
    assert_int_equal(unlinkat(g->s->dir, store_path("cas", &file.digest.hash, path), 0),
                     0);
    take(g, &v);
    assert_true(v.results.at[0].broken);
    bz_inventory_release(&v);
}

static void results_alone_are_told_without_their_blobs(void **state)
{
    struct grove *g = *state;
    struct bz_digest key = key_of(2), none = key_of(3);
    struct bz_inventory v;

    file_tree(g, 1, "busybox");
    file_tree(g, 2, BZ_ACTION_RECORD);
    assert_ok(bz_inventory_take_results(g->s->cas, &v, &g->s->err), &g->s->err);
    assert_int_equal(v.results.len, 2);
    assert_int_equal(v.blobs.len, 0);
    assert_true(
        bz_str_eq(bz_intern_str(&v.names, v.results.at[0].recipe), BZ_STR("busybox")));
    assert_false(v.results.at[0].broken || v.results.at[0].record);
    assert_int_equal(bz_inventory_find_result(&v, &key), 1);
    assert_int_equal(bz_inventory_find_result(&v, &none), BZ_INVENTORY_NONE);
    bz_inventory_release(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(it_tells_what_is_there_and_what_needs_what),
        grove_test(a_result_without_all_its_blobs_is_broken),
        grove_test(a_damaged_tree_breaks_its_result),
        grove_test(directories_lead_to_what_is_below_them),
        grove_test(results_alone_are_told_without_their_blobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
