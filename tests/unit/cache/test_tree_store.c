#include "tests/unit/cache/forest.h"

static void equal_trees_have_one_name(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest a, b, c;

    forest_make(g->s->dir, "one", 5, 300);
    forest_make(g->s->dir, "two", 5, 300);
    forest_make(g->s->dir, "other", 6, 300);
    a = grove_store(g, "one");
    b = grove_store(g, "two");
    c = grove_store(g, "other");
    assert_true(bz_digest_eq(&a.hash, &b.hash));
    assert_false(bz_digest_eq(&a.hash, &c.hash));
    assert_int_equal(store_temps(g->s), 0);
}

static void storing_by_copy_gives_the_same_name(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest a, b;
    char *before, *after;

    forest_make(g->s->dir, "one", 7, 200);
    before = forest_describe(g->s->h, g->s->dir, "one");
    g->in.how = BZ_CAS_FILE_COPY;
    a = grove_store(g, "one");
    after = forest_describe(g->s->h, g->s->dir, "one");
    assert_string_equal(before, after);
    g->in.how = BZ_CAS_FILE_ADOPT;
    b = grove_store(g, "one");
    assert_true(bz_digest_eq(&a.hash, &b.hash));
    free(before);
    free(after);
}

/* Computed from the specification by other means. It may never change: that would make
 * every stored result useless. */
static void a_known_tree_has_a_known_name(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;
    char hex[BZ_DIGEST_HEX_LEN + 1];

    make_dirs(g->s->dir, "t/empty");
    make_dirs(g->s->dir, "t/also/empty");
    put(g->s->dir, "t/file", "text\n");
    put(g->s->dir, "t/\xff", "");
    assert_int_equal(fchmodat(g->s->dir, "t/file", 0600, 0), 0);
    assert_int_equal(symlinkat("nowhere", g->s->dir, "t/link"), 0);
    d = grove_store(g, "t");
    bz_digest_hex(&d.hash, hex);
    assert_string_equal(
        hex, "4820e78434576d16d8f5172a83138e8c2ddf0dbf0398b49e836d7e8fd3d641a8");
    assert_int_equal(g->stats.files, 2);
    assert_int_equal(g->stats.dirs, 4);
    assert_int_equal(g->stats.links, 1);
    assert_int_equal(g->stats.bytes, 5);
}

static void modes_names_and_contents_make_a_difference(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest first, d;

    make_dirs(g->s->dir, "t/d");
    put(g->s->dir, "t/f", "text");
    first = grove_store(g, "t");
    assert_int_equal(fchmodat(g->s->dir, "t/d", 0700, 0), 0);
    d = grove_store(g, "t");
    assert_false(bz_digest_eq(&d.hash, &first.hash));
    assert_int_equal(fchmodat(g->s->dir, "t/d", 0755, 0), 0);
    d = grove_store(g, "t");
    assert_true(bz_digest_eq(&d.hash, &first.hash));
    assert_int_equal(renameat(g->s->dir, "t/f", g->s->dir, "t/g"), 0);
    d = grove_store(g, "t");
    assert_false(bz_digest_eq(&d.hash, &first.hash));
}

static void a_pipe_is_refused_and_a_socket_left_out(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d, empty;

    make_dirs(g->s->dir, "t/d");
    empty = grove_store(g, "t");
    assert_int_equal(mknodat(g->s->dir, "t/d/sock", S_IFSOCK | 0644, 0), 0);
    d = grove_store(g, "t");
    assert_true(bz_digest_eq(&d.hash, &empty.hash));
    assert_int_equal(mkfifoat(g->s->dir, "t/d/pipe", 0644), 0);
    assert_int_equal(
        bz_tree_store(g->s->cas, g->s->dir, "t", &g->in, &d, &g->stats, &g->s->err),
        BZ_E_NOSUP);
    assert_non_null(strstr(g->s->err.msg, "store t: in d: pipe"));
}

static void a_tree_too_deep_is_refused(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;
    int at = dup(g->s->dir);

    for (int i = 0; i < BZ_TREE_DEPTH + 2; i++) {
        int next;

        assert_int_equal(mkdirat(at, "t", 0755), 0);
        next = openat(at, "t", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = next;
    }
    close(at);
    assert_int_equal(
        bz_tree_store(g->s->cas, g->s->dir, "t", &g->in, &d, &g->stats, &g->s->err),
        BZ_E_LIMIT);
}

static void nothing_is_stored_of_what_is_not_there(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;

    put(g->s->dir, "file", "x");
    assert_int_equal(bz_tree_store(g->s->cas, g->s->dir, "absent", &g->in, &d,
                                   &g->stats, &g->s->err),
                     BZ_E_NOENT);
    assert_true(bz_tree_store(g->s->cas, g->s->dir, "file", &g->in, &d, &g->stats,
                              &g->s->err) < 0);
}

static void a_tree_of_another_file_system_is_copied_in(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest a, b;
    char path[320];

    if (!store_mount(g->s, "size=64m", path))
        skip();
    forest_make(g->s->dir, "t", 4, 100);
    forest_make(g->s->dir, "m/t", 4, 100);
    a = grove_store(g, "m/t");
    assert_int_equal(umount2(path, MNT_DETACH), 0);
    b = grove_store(g, "t");
    assert_true(bz_digest_eq(&a.hash, &b.hash));
}

static void a_canceled_store_stops(void **state)
{
    struct grove *g = *state;
    struct bz_reapi_digest d;
    struct bz_cancel cancel;

    forest_make(g->s->dir, "t", 1, 100);
    bz_cancel_init(&cancel, NULL, 0);
    bz_cancel_now(&cancel);
    g->in.cancel = &cancel;
    assert_int_equal(
        bz_tree_store(g->s->cas, g->s->dir, "t", &g->in, &d, &g->stats, &g->s->err),
        BZ_E_CANCELED);
    assert_int_equal(store_temps(g->s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(equal_trees_have_one_name),
        grove_test(storing_by_copy_gives_the_same_name),
        grove_test(a_known_tree_has_a_known_name),
        grove_test(modes_names_and_contents_make_a_difference),
        grove_test(a_pipe_is_refused_and_a_socket_left_out),
        grove_test(a_tree_too_deep_is_refused),
        grove_test(nothing_is_stored_of_what_is_not_there),
        grove_test(a_tree_of_another_file_system_is_copied_in),
        grove_test(a_canceled_store_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
