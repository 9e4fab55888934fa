#include "sig/taint.h"

#include "tests/unit/sig/bench.h"

static void a_taint_changes_its_task_and_is_remembered(void **state)
{
    struct world *w = *state;
    struct bench b;
    struct bz_taint t;
    struct bz_digest_hasher *h;
    struct bz_digest base[3] = {{{1}}, {{1}}, {{1}}};

    bench_open(&b, w);
    assert_int_equal(b.g.graph.dag.n, 1);
    assert_ok(bz_digest_hasher_new(&h, &w->err), &w->err);
    bz_taint_open(&t, bz_catalog_entries(&b.p), b.p.build_dir);
    assert_false(bz_taint_mix(&t, &b.g, h, base));
    assert_int_equal(bz_digest_cmp(&base[0], &base[1]), 0);
    bz_taint_set(&t, BZ_STR("app:do_build"));
    assert_true(bz_taint_mix(&t, &b.g, h, base));
    assert_int_not_equal(bz_digest_cmp(&base[0], &base[1]), 0);
    assert_ok(bz_taint_save(&t, &w->err), &w->err);
    bz_taint_release(&t);

    bz_taint_open(&t, bz_catalog_entries(&b.p), b.p.build_dir);
    base[2] = base[1];
    assert_true(bz_taint_mix(&t, &b.g, h, &base[2]));
    assert_int_equal(bz_digest_cmp(&base[0], &base[2]), 0);
    base[2] = base[1];
    bz_taint_set(&t, BZ_STR("app:do_build"));
    assert_true(bz_taint_mix(&t, &b.g, h, &base[2]));
    assert_int_not_equal(bz_digest_cmp(&base[0], &base[2]), 0); /* another one */
    bz_taint_clear(&t, BZ_STR("app:do_build"));
    assert_false(bz_taint_mix(&t, &b.g, h, base));
    bz_taint_release(&t);
    bz_digest_hasher_free(h);
    bench_close(&b);
}

static void it_is_told_when_a_task_was_forced(void **state)
{
    static const struct file some[] = {
        {"build/cache/bitzel.taints", "a:do_x 16345785d8a0000\nb:do_x never\n"},
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct world *w = *state;
    struct bz_entries catalog;
    struct bz_taint t;

    put_files(w, some, 1);
    bz_entries_open(&catalog, NULL, "");
    bz_taint_open(&t, &catalog, at(w, "build").p);
    assert_string_equal(bz_taint_when(&t, BZ_STR("a:do_x"), &a).p,
                        "1973-03-03 09:46:40.000 UTC");
    assert_string_equal(bz_taint_when(&t, BZ_STR("b:do_x"), &a).p, "an unknown time");
    assert_null(bz_taint_when(&t, BZ_STR("c:do_x"), &a).p);
    bz_taint_release(&t);
    bz_entries_close(&catalog);
}

static void a_file_that_makes_no_sense_taints_nothing(void **state)
{
    static const struct file odd[] = {
        {"build/cache/bitzel.taints", "\n \nalone\n x\napp:do_build \n"},
    };
    struct world *w = *state;
    struct bench b;
    struct bz_taint t;

    bench_open(&b, w);
    put_files(w, odd, 1);
    bz_taint_open(&t, bz_catalog_entries(&b.p), b.p.build_dir);
    assert_int_equal(t.values.len, 0);
    bz_taint_release(&t);
    bench_close(&b);
}

static void assert_tainted(struct world *w, const char *tag, const char *task, bool yes)
{
    struct bz_entries catalog;
    struct bz_taint t;

    bz_entries_open(&catalog, at(w, "build/cache/bitzel.catalog").p, tag);
    bz_taint_open(&t, &catalog, at(w, "build").p);
    assert_int_equal(bz_map_get(&t.values, bz_str_from(task)) != NULL, yes);
    bz_taint_release(&t);
    bz_entries_close(&catalog);
}

static void the_file_of_earlier_versions_is_read_once(void **state)
{
    static const struct file some[] = {
        {"build/cache/bitzel.taints", "a:do_x 16345785d8a0000\nb:do_x never\n"},
    };
    struct world *w = *state;
    struct bz_entries catalog;
    struct bz_taint t;

    put_files(w, some, 1);
    bz_entries_open(&catalog, NULL, "");
    bz_taint_open(&t, &catalog, at(w, "build").p); /* which cannot take them over */
    bz_taint_release(&t);
    bz_entries_close(&catalog);
    assert_tainted(w, "1", "a:do_x", true);
    assert_int_equal(count_names(at(w, "build/cache").p), 1);
    assert_tainted(w, "1", "a:do_x", true);
    assert_tainted(w, "2", "b:do_x", true); /* whatever else has another version */
    bz_entries_open(&catalog, at(w, "build/cache/bitzel.catalog").p, "2");
    bz_taint_open(&t, &catalog, at(w, "build").p);
    bz_taint_clear(&t, BZ_STR("a:do_x"));
    assert_ok(bz_taint_save(&t, &w->err), &w->err);
    bz_taint_release(&t);
    bz_entries_close(&catalog);
    assert_tainted(w, "2", "a:do_x", false);
    assert_tainted(w, "2", "b:do_x", true);
}

/* Each of two commands at a time forces another task. */
static void taints_of_two_commands_are_both_kept(void **state)
{
    static const char *const tasks[] = {"a:do_x", "b:do_x"};
    struct world *w = *state;
    struct bz_entries catalogs[2];
    struct bz_taint t[2];

    for (int i = 0; i < 2; i++) {
        bz_entries_open(&catalogs[i], at(w, "build/cache/bitzel.catalog").p, "");
        bz_taint_open(&t[i], &catalogs[i], at(w, "build").p);
        bz_taint_set(&t[i], bz_str_from(tasks[i]));
    }
    for (int i = 0; i < 2; i++) {
        assert_ok(bz_taint_save(&t[i], &w->err), &w->err);
        bz_taint_release(&t[i]);
        bz_entries_close(&catalogs[i]);
    }
    for (int i = 0; i < 2; i++)
        assert_tainted(w, "", tasks[i], true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_taint_changes_its_task_and_is_remembered,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_makes_no_sense_taints_nothing,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(the_file_of_earlier_versions_is_read_once,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(taints_of_two_commands_are_both_kept,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(it_is_told_when_a_task_was_forced, world_setup,
                                        world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
