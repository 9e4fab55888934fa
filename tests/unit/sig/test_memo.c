#include "sig/memo.h"

#include "os/path.h"
#include "tests/unit/os/scratch.h"

struct world {
    struct scratch *dir;
    struct bz_path path;
    struct bz_err err;
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    void *dir = NULL;

    if (scratch_setup(&dir) < 0)
        return -1;
    w->dir = dir;
    *state = w;
    return bz_path_join(bz_str_from(w->dir->path), BZ_STR("memo"), &w->path, &w->err);
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *dir = w->dir;

    free(w);
    return scratch_teardown(&dir);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Keeps one recipe with one task. */
static void save(struct world *w, uint8_t key, const char *task, uint8_t digest,
                 const char *files)
{
    struct bz_memo_task row = {bz_str_from(task), {{digest}}, bz_str_from(files)};
    struct bz_memo_recipe recipe = {{{key}}, BZ_STR("a note\n"), &row, 1};
    struct bz_entries catalog;

    bz_entries_open(&catalog, w->path.s, "test");
    bz_memo_put(&catalog, &recipe);
    assert_ok(bz_entries_save(&catalog, &w->err), &w->err);
    bz_entries_close(&catalog);
}

/* The first byte of the digest that is remembered; -1: none is. */
static int digest(struct world *w, uint8_t key, const char *task, const char *files)
{
    struct bz_entries_key k = {{key}};
    struct bz_entries catalog;
    struct bz_memo_task got;
    struct bz_memo m;
    int result = -1;

    bz_entries_open(&catalog, w->path.s, "test");
    if (bz_memo_find(&catalog, &k, &m) && bz_memo_task(&m, bz_str_from(task), &got)) {
        result = got.digest.b[0];
        assert_true(bz_str_eq(got.files, bz_str_from(files)));
        assert_true(bz_str_eq(m.notes, BZ_STR("a note\n")));
    }
    bz_entries_close(&catalog);
    return result;
}

static void what_is_saved_is_found_by_its_key(void **state)
{
    struct world *w = *state;

    assert_int_equal(digest(w, 1, "do_a", ""), -1);
    save(w, 1, "do_a", 11, "some");
    save(w, 2, "do_a", 12, "");
    assert_int_equal(digest(w, 1, "do_a", "some"), 11);
    assert_int_equal(digest(w, 2, "do_a", ""), 12);
    assert_int_equal(digest(w, 3, "do_a", ""), -1);
    assert_int_equal(digest(w, 1, "do_b", ""), -1);
}

static void tasks_are_added_and_replaced(void **state)
{
    struct world *w = *state;

    save(w, 1, "do_a", 11, "a");
    save(w, 1, "do_b", 12, "b");
    assert_int_equal(digest(w, 1, "do_a", "a"), 11);
    assert_int_equal(digest(w, 1, "do_b", "b"), 12);
    save(w, 1, "do_a", 13, "c");
    assert_int_equal(digest(w, 1, "do_a", "c"), 13);
    assert_int_equal(digest(w, 1, "do_b", "b"), 12);
}

static void tasks_are_found_in_any_order(void **state)
{
    static const char *const names[] = {"do_a", "do_b", "do_c", "do_d"};
    struct bz_memo_task rows[BZ_COUNTOF(names)], got;
    struct bz_memo_recipe recipe = {{{1}}, {0}, rows, BZ_COUNTOF(names)};
    struct bz_entries catalog;
    struct bz_memo m;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        rows[i] = (struct bz_memo_task){bz_str_from(names[i]), {{(uint8_t)i}}, {0}};
    bz_entries_open(&catalog, NULL, "test");
    bz_memo_put(&catalog, &recipe);
    assert_true(bz_memo_find(&catalog, &recipe.key, &m));
    for (size_t i = 0; i < 16; i++) {
        size_t k = i * 7 % BZ_COUNTOF(names);

        assert_true(bz_memo_task(&m, bz_str_from(names[k]), &got));
        assert_int_equal(got.digest.b[0], k);
    }
    bz_entries_close(&catalog);
}

static void a_damaged_file_is_as_good_as_none(void **state)
{
    struct world *w = *state;

    put(w->dir->fd, "memo", "bzentry1 and nothing else that makes sense, at all");
    assert_int_equal(digest(w, 1, "do_a", ""), -1);
    save(w, 1, "do_a", 11, "");
    assert_int_equal(digest(w, 1, "do_a", ""), 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(what_is_saved_is_found_by_its_key),
        world_test(tasks_are_added_and_replaced),
        world_test(tasks_are_found_in_any_order),
        world_test(a_damaged_file_is_as_good_as_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
