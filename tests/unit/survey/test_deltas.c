#include "survey/deltas.h"

#include "tests/unit/survey/sample.h"

/* Adds a delta in which a recipe of the base has other facts. */
static void add_delta(struct bz_entries *catalog, uint32_t recipe, const char *summary)
{
    struct bz_facts facts[2] = {sample_facts[0], sample_facts[1]};
    struct bz_snapshot_write w = {0};
    struct bz_inputs in;
    struct bz_deltas d;
    struct bz_err err;

    facts[0].summary = bz_str_from(summary);
    assert_ok(bz_deltas_open(&d, catalog, &err), &err);
    assert_ok(bz_inputs_read(&in, &d, &err), &err);
    bz_snapshot_write_delta(&w, &in);
    bz_snapshot_write_recipe(&w, &(struct bz_snapshot_write_recipe){
                                     facts, 2, {NULL, 0},
                                       recipe
    });
    assert_true(bz_deltas_may_grow(&d, bz_snapshot_write_size(&w)));
    assert_ok(bz_deltas_add(&d, &w, catalog, &err), &err);
    bz_snapshot_write_release(&w);
    bz_inputs_release(&in);
    bz_deltas_close(&d);
}

static void assert_summary(struct bz_deltas *d, uint32_t recipe, const char *summary)
{
    struct bz_deltas_place at;
    struct bz_facts f;
    struct bz_err err;

    assert_true(bz_deltas_recipe(d, recipe, &at));
    assert_ok(bz_snapshot_fact(at.image, at.record->facts.first, &f, &err), &err);
    assert_text("summary", f.summary, summary);
}

static void the_last_delta_of_a_recipe_counts(void **state)
{
    struct bz_deltas_place at;
    struct bz_entries catalog;
    struct bz_deltas d;
    struct bz_err err;

    (void)state;
    bz_entries_open(&catalog, NULL, "");
    assert_int_equal(bz_deltas_open(&d, &catalog, &err), BZ_E_NOENT);
    assert_null(bz_deltas_base(&d));
    assert_false(bz_deltas_recipe(&d, 0, &at));
    sample_base(&catalog, NULL, 0);
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    assert_summary(&d, 0, sample_facts[0].summary.p);
    bz_deltas_close(&d);
    add_delta(&catalog, 0, "one");
    add_delta(&catalog, 0, "two");
    add_delta(&catalog, 1, "three");
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    assert_int_equal(d.images.len, 4);
    assert_summary(&d, 0, "two");
    assert_summary(&d, 1, "three");
    assert_false(bz_deltas_recipe(&d, 2, &at));
    bz_deltas_close(&d);
    sample_base(&catalog, NULL, 0); /* which names the first delta again */
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    assert_int_equal(d.images.len, 4);
    bz_deltas_close(&d);
    bz_entries_close(&catalog);
}

static void a_new_base_takes_the_place_of_all(void **state)
{
    struct bz_snapshot_write w = {0};
    struct bz_entries catalog;
    struct bz_deltas d;
    struct bz_err err;

    (void)state;
    bz_entries_open(&catalog, NULL, "");
    sample_base(&catalog, NULL, 0);
    add_delta(&catalog, 0, "one");
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    sample_write(&w, NULL, 0);
    assert_ok(bz_deltas_replace(&d, &w, SAMPLE_KEY, &catalog, &err), &err);
    bz_snapshot_write_release(&w);
    bz_deltas_close(&d);
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    assert_int_equal(d.images.len, 1);
    assert_summary(&d, 0, sample_facts[0].summary.p);
    bz_deltas_close(&d);
    bz_entries_close(&catalog);
}

/* Without the second of three deltas there is only the first. */
static void a_lost_delta_ends_the_chain(void **state)
{
    struct bz_entries catalog;
    struct bz_entries_key second;
    struct bz_deltas d;
    struct bz_err err;

    (void)state;
    bz_entries_open(&catalog, NULL, "");
    sample_base(&catalog, NULL, 0);
    add_delta(&catalog, 0, "one");
    add_delta(&catalog, 0, "two");
    add_delta(&catalog, 1, "three");
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    second = d.keys[1];
    bz_deltas_close(&d);
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            bz_entries_drop(&catalog, BZ_DELTAS_KIND, &second);
        else
            bz_entries_put(&catalog, BZ_DELTAS_KIND, &second, BZ_STR("no image"));
        assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
        assert_int_equal(d.images.len, 2);
        assert_summary(&d, 0, "one");
        assert_memory_equal(&d.last, &second, sizeof(second));
        bz_deltas_close(&d);
    }
    add_delta(&catalog, 0, "another");
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    assert_int_equal(d.images.len, 3); /* the third follows another second */
    assert_summary(&d, 0, "another");
    bz_deltas_close(&d);
    bz_entries_close(&catalog);
}

static void a_delta_for_no_recipe_is_refused(void **state)
{
    struct bz_entries catalog;
    struct bz_deltas d;
    struct bz_err err;

    (void)state;
    bz_entries_open(&catalog, NULL, "");
    sample_base(&catalog, NULL, 0);
    add_delta(&catalog, 2, "one");
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    assert_int_equal(d.images.len, 1);
    bz_deltas_close(&d);
    bz_entries_close(&catalog);
}

static void add_empty(struct bz_entries *catalog)
{
    struct bz_snapshot_write w = {0};
    const struct bz_inputs none = {0};
    struct bz_deltas d;
    struct bz_err err;

    assert_ok(bz_deltas_open(&d, catalog, &err), &err);
    assert_false(bz_deltas_may_grow(&d, 64 << 10 | 1));
    assert_true(bz_deltas_may_grow(&d, 8));
    bz_snapshot_write_delta(&w, &none);
    assert_ok(bz_deltas_add(&d, &w, catalog, &err), &err);
    bz_snapshot_write_release(&w);
    bz_deltas_close(&d);
}

static void deltas_stay_few_and_small(void **state)
{
    struct bz_entries catalog;
    struct bz_deltas d;
    struct bz_err err;

    (void)state;
    bz_entries_open(&catalog, NULL, "");
    sample_base(&catalog, NULL, 0);
    for (int i = 0; i < BZ_DELTAS_MAX; i++)
        add_empty(&catalog);
    assert_ok(bz_deltas_open(&d, &catalog, &err), &err);
    assert_int_equal(d.images.len, BZ_DELTAS_MAX + 1);
    assert_false(bz_deltas_may_grow(&d, 8));
    bz_deltas_close(&d);
    bz_entries_close(&catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_delta_of_a_recipe_counts),
        cmocka_unit_test(a_new_base_takes_the_place_of_all),
        cmocka_unit_test(a_lost_delta_ends_the_chain),
        cmocka_unit_test(a_delta_for_no_recipe_is_refused),
        cmocka_unit_test(deltas_stay_few_and_small),
    };

    return cmocka_run_group_tests_name("survey/deltas", tests, NULL, NULL);
}
