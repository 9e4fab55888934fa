#include "survey/snapshot_write.h"

#include "tests/unit/survey/sample.h"

static void equal_things_are_written_once(void **state)
{
    struct bz_snapshot_write w = {0};
    const struct bz_buf *texts = &w.tables[BZ_SNAPSHOT_TEXTS];
    size_t found = 0;

    (void)state;
    sample_write(&w, NULL, 0);
    /* The two variants have equal lists of two tasks, in different places. */
    assert_int_equal(w.tables[BZ_SNAPSHOT_TASKS].len,
                     2 * sizeof(struct bz_snapshot_task));
    for (size_t i = 0; i + 10 <= texts->len; i++)
        found += memcmp(texts->data + i, "/l/foo.bb", 10) == 0;
    assert_int_equal(found, 1);
    bz_snapshot_write_release(&w);
}

static void the_first_look_at_a_path_counts(void **state)
{
    struct bz_snapshot_write w = {0};
    const struct bz_library_look early = {.path = BZ_STR("/p"), .stamp = {.size = 1}};
    const struct bz_library_look late = {.path = BZ_STR("/p"), .stamp = {.size = 2}};
    const struct bz_library_look *first[] = {&early}, *second[] = {&late};
    struct bz_snapshot_write_looks looks = {first, 1};
    struct bz_snapshot_input input;
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_snapshot s = {0};
    struct bz_err err;

    (void)state;
    bz_snapshot_write_looks(&w, &looks);
    sample_write(&w, second, 1);
    assert_ok(bz_snapshot_write_bytes(&w, SAMPLE_KEY, &bytes, &err), &err);
    assert_ok(bz_snapshot_view(&s, bz_buf_str(&bytes), &err), &err);
    assert_int_equal(bz_snapshot_count(&s, BZ_SNAPSHOT_INPUTS), 2);
    memcpy(&input, bz_snapshot_at(&s, BZ_SNAPSHOT_INPUTS, 0), sizeof(input));
    assert_int_equal(input.stamp.size, 1);
    bz_snapshot_close(&s);
    bz_snapshot_write_release(&w);
}

static void recipes_belong_to_the_part_that_follows(void **state)
{
    struct bz_snapshot_write w = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_snapshot s = {0};
    struct bz_err err;

    (void)state;
    sample_write(&w, NULL, 0);
    sample_write(&w, NULL, 0);
    assert_ok(bz_snapshot_write_bytes(&w, SAMPLE_KEY, &bytes, &err), &err);
    assert_ok(bz_snapshot_view(&s, bz_buf_str(&bytes), &err), &err);
    assert_int_equal(bz_snapshot_count(&s, BZ_SNAPSHOT_PARTS), 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct bz_snapshot_part *part = bz_snapshot_at(&s, BZ_SNAPSHOT_PARTS, i);
        const struct bz_snapshot_recipe *recipe;

        assert_int_equal(part->recipes.first, i * 2);
        assert_int_equal(part->recipes.n, 2);
        assert_int_equal(part->masked, 5);
        recipe = bz_snapshot_at(&s, BZ_SNAPSHOT_RECIPES, part->recipes.first);
        assert_int_equal(recipe->valid, 1);
        recipe = bz_snapshot_at(&s, BZ_SNAPSHOT_RECIPES, part->recipes.first + 1);
        assert_int_equal(recipe->valid, 0); /* it has an error */
    }
    bz_snapshot_close(&s);
    bz_snapshot_write_release(&w);
}

static void a_file_is_replaced_as_a_whole(void **state)
{
    struct world *w = *state;
    struct bz_snapshot_write writer = {0};
    struct bz_snapshot old = {0};

    sample_write(&writer, NULL, 0);
    for (int i = 0; i < 2; i++)
        assert_ok(bz_snapshot_write_file(&writer, i ? BZ_STR("b") : BZ_STR("a"),
                                         at(w, "c/file").p, &w->err),
                  &w->err);
    assert_int_equal(count_names(at(w, "c").p), 1); /* nothing temporary is left */
    assert_ok(bz_snapshot_open(&old, at(w, "c/file").p, &w->err), &w->err);
    bz_snapshot_close(&old);
    put_file(w, "plain", "");
    assert_true(bz_snapshot_write_file(&writer, SAMPLE_KEY, at(w, "plain/file").p,
                                       &w->err) < 0);
    bz_snapshot_write_release(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_things_are_written_once),
        cmocka_unit_test(the_first_look_at_a_path_counts),
        cmocka_unit_test(recipes_belong_to_the_part_that_follows),
        world_test(a_file_is_replaced_as_a_whole),
    };

    return cmocka_run_group_tests_name("survey/snapshot_write", tests, NULL, NULL);
}
