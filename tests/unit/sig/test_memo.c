#include "sig/memo.h"

#include "os/path.h"
#include "tests/unit/os/scratch.h"

struct world {
    struct scratch *dir;
    struct bz_digest_hasher *hasher;
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
    if (bz_path_join(bz_str_from(w->dir->path), BZ_STR("memo"), &w->path, &w->err) < 0)
        return -1;
    return bz_digest_hasher_new(&w->hasher, &w->err);
}

static int teardown(void **state)
{
    struct world *w = *state;
    void *dir = w->dir;

    bz_digest_hasher_free(w->hasher);
    free(w);
    return scratch_teardown(&dir);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Saves one recipe with one task, after asking for another one. */
static void save(struct world *w, uint8_t key, const char *task, uint8_t digest,
                 const char *files, uint8_t asked)
{
    struct bz_memo_task row = {bz_str_from(task), {{digest}}, bz_str_from(files)};
    struct bz_memo_recipe recipe = {{{key}}, BZ_STR("a note\n"), &row, 1};
    struct bz_memo_key other = {{asked}};
    struct bz_memo_found found;
    struct bz_memo m;

    bz_memo_open(&m, w->path.s, w->hasher);
    if (asked)
        (void)bz_memo_find(&m, &other, &found);
    assert_ok(bz_memo_save(&m, &recipe, 1, w->path.s, w->hasher, &w->err), &w->err);
    bz_memo_close(&m);
}

/* The first byte of the digest that is remembered; -1: none is. */
static int digest(struct world *w, uint8_t key, const char *task, const char *files)
{
    struct bz_memo_key k = {{key}};
    struct bz_memo_found found;
    struct bz_memo_task got;
    struct bz_memo m;
    int result = -1;

    bz_memo_open(&m, w->path.s, w->hasher);
    if (bz_memo_find(&m, &k, &found) &&
        bz_memo_task(&m, &found, bz_str_from(task), &got)) {
        result = got.digest.b[0];
        assert_true(bz_str_eq(got.files, bz_str_from(files)));
        assert_true(bz_str_eq(found.notes, BZ_STR("a note\n")));
    }
    bz_memo_close(&m);
    return result;
}

static void what_is_saved_is_found_by_its_key(void **state)
{
    struct world *w = *state;

    assert_int_equal(digest(w, 1, "do_a", ""), -1);
    save(w, 1, "do_a", 11, "some", 0);
    save(w, 2, "do_a", 12, "", 0);
    assert_int_equal(digest(w, 1, "do_a", "some"), 11);
    assert_int_equal(digest(w, 2, "do_a", ""), 12);
    assert_int_equal(digest(w, 3, "do_a", ""), -1);
    assert_int_equal(digest(w, 1, "do_b", ""), -1);
}

static void tasks_are_added_and_replaced(void **state)
{
    struct world *w = *state;

    save(w, 1, "do_a", 11, "a", 0);
    save(w, 1, "do_b", 12, "b", 0);
    assert_int_equal(digest(w, 1, "do_a", "a"), 11);
    assert_int_equal(digest(w, 1, "do_b", "b"), 12);
    save(w, 1, "do_a", 13, "c", 0);
    assert_int_equal(digest(w, 1, "do_a", "c"), 13);
    assert_int_equal(digest(w, 1, "do_b", "b"), 12);
}

static void what_is_not_used_for_long_is_dropped(void **state)
{
    struct world *w = *state;

    save(w, 1, "do_a", 11, "", 0);
    save(w, 2, "do_a", 12, "", 0);
    for (int i = 0; i < BZ_MEMO_AGE; i++)
        save(w, 3, "do_a", 13, "", 2); /* which uses 2 */
    assert_int_equal(digest(w, 2, "do_a", ""), 12);
    assert_int_equal(digest(w, 1, "do_a", ""), -1);
}

static void tasks_are_found_in_any_order(void **state)
{
    static const char *const names[] = {"do_a", "do_b", "do_c", "do_d"};
    struct bz_memo_task rows[BZ_COUNTOF(names)], got;
    struct bz_memo_recipe recipe = {{{1}}, {0}, rows, BZ_COUNTOF(names)};
    struct world *w = *state;
    struct bz_memo_found found;
    struct bz_memo m;

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        rows[i] = (struct bz_memo_task){bz_str_from(names[i]), {{(uint8_t)i}}, {0}};
    bz_memo_open(&m, NULL, w->hasher);
    assert_ok(bz_memo_save(&m, &recipe, 1, w->path.s, w->hasher, &w->err), &w->err);
    bz_memo_close(&m);
    bz_memo_open(&m, w->path.s, w->hasher);
    assert_true(bz_memo_find(&m, &recipe.key, &found));
    for (size_t i = 0; i < 16; i++) {
        size_t k = i * 7 % BZ_COUNTOF(names);

        assert_true(bz_memo_task(&m, &found, bz_str_from(names[k]), &got));
        assert_int_equal(got.digest.b[0], k);
    }
    bz_memo_close(&m);
}

static void a_damaged_file_is_as_good_as_none(void **state)
{
    struct world *w = *state;

    put(w->dir->fd, "memo", "bz-memo2 and nothing else that makes sense, at all");
    assert_int_equal(digest(w, 1, "do_a", ""), -1);
    save(w, 1, "do_a", 11, "", 0);
    assert_int_equal(digest(w, 1, "do_a", ""), 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(what_is_saved_is_found_by_its_key),
        world_test(tasks_are_added_and_replaced),
        world_test(what_is_not_used_for_long_is_dropped),
        world_test(tasks_are_found_in_any_order),
        world_test(a_damaged_file_is_as_good_as_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
