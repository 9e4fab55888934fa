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

/* Three inputs: one is as it was, one has changed and is looked at again, one has
 * changed and is not. */
static void a_delta_has_only_what_is_other(void **state)
{
    struct bz_library_look looks[] = {{.path = BZ_STR("/same")},
                                      {.path = BZ_STR("/other")},
                                      {.path = BZ_STR("/gone")}};
    bool changed[] = {false, true, true}, renewed[] = {true, false, false},
         dropped[] = {false, false, false};
    const struct bz_inputs known = {looks, changed, renewed, dropped, 3, 2, 1};
    const struct bz_library_look now[] = {
        {.path = BZ_STR("/same"),  .stamp = {.size = 7}},
        {.path = BZ_STR("/other"), .stamp = {.size = 8}},
        {.path = BZ_STR("/new"),   .stamp = {.size = 9}}
    };
    const struct bz_library_look *own[] = {&now[0], &now[1], &now[2]};
    static const uint32_t numbers[] = {0, 1, 3}, replaces[] = {1, UINT32_MAX, 0, 2},
                          sizes[] = {8, 9, 0, 0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_snapshot_write w = {0};
    struct bz_snapshot s = {0};
    struct bz_err err;

    (void)state;
    bz_snapshot_write_delta(&w, &known);
    assert_true(bz_snapshot_write_none(&w));
    bz_snapshot_write_recipe(&w, &(struct bz_snapshot_write_recipe){
                                     &sample_facts[0], 2, {own, 3},
                                       5
    });
    bz_snapshot_write_inputs(&w);
    assert_false(bz_snapshot_write_none(&w));
    assert_ok(bz_snapshot_write_bytes(&w, (struct bz_str){0}, &bytes, &err), &err);
    assert_int_equal(bytes.len, bz_snapshot_write_size(&w));
    assert_ok(bz_snapshot_view(&s, bz_buf_str(&bytes), &err), &err);
    assert_int_equal(bz_snapshot_count(&s, BZ_SNAPSHOT_PARTS), 0);
    assert_int_equal(bz_snapshot_count(&s, BZ_SNAPSHOT_INPUTS), 4);
    for (size_t i = 0; i < 4; i++) {
        const struct bz_snapshot_input *in = bz_snapshot_at(&s, BZ_SNAPSHOT_INPUTS, i);

        assert_int_equal(in->replaces, replaces[i]);
        assert_int_equal(in->stamp.size, sizes[i]);
        assert_int_equal(in->bits, i == 3 ? BZ_SNAPSHOT_DROPPED : 0);
        assert_int_equal(in->path.at == BZ_SNAPSHOT_UNSET, i != 1);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(*(const uint32_t *)bz_snapshot_at(&s, BZ_SNAPSHOT_LIST, i),
                         numbers[i]);
    assert_int_equal(
        ((const struct bz_snapshot_recipe *)bz_snapshot_at(&s, BZ_SNAPSHOT_RECIPES, 0))
            ->replaces,
        5);
    bz_snapshot_close(&s);
    bz_snapshot_write_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_things_are_written_once),
        cmocka_unit_test(the_first_look_at_a_path_counts),
        cmocka_unit_test(recipes_belong_to_the_part_that_follows),
        cmocka_unit_test(a_delta_has_only_what_is_other),
    };

    return cmocka_run_group_tests_name("survey/snapshot_write", tests, NULL, NULL);
}
