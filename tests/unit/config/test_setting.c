#include "config/setting.h"

#include "tests/unit/bz_test.h"

static void every_row_is_complete_and_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < BZ_SETTING_COUNT; i++) {
        const struct bz_setting *row = bz_setting_row((enum bz_setting_id)i);
        enum bz_setting_id found = BZ_SETTING_COUNT;
        struct bz_err err = {0};

        assert_non_null(row->name);
        assert_non_null(row->help);
        assert_true(row->in_home ? !row->initial : row->initial != NULL);
        assert_true((row->type == BZ_SETTING_ENUM) == (row->choices != NULL));
        assert_ok(bz_setting_find(bz_str_from(row->name), &found, &err), &err);
        assert_int_equal(found, i);
    }
}

static void rows_are_in_the_order_of_their_names(void **state)
{
    (void)state;
    for (int i = 1; i < BZ_SETTING_COUNT; i++)
        assert_true(strcmp(bz_setting_row((enum bz_setting_id)(i - 1))->name,
                           bz_setting_row((enum bz_setting_id)i)->name) < 0);
}

static void a_name_that_is_not_there_is_answered_with_near_ones(void **state)
{
    enum bz_setting_id id;
    struct bz_err err = {0};

    (void)state;
    assert_int_equal(bz_setting_find(BZ_STR("job"), &id, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "there is no setting 'job'; did you mean 'jobs'?");
    assert_int_equal(bz_setting_find(BZ_STR(""), &id, &err), BZ_E_NOENT);
}

static void variables_are_named_after_settings(void **state)
{
    char text[BZ_SETTING_ENV_MAX];

    (void)state;
    assert_string_equal(bz_setting_env(BZ_SETTING_CACHE_MAX_SIZE, text),
                        "BITZEL_CACHE_MAX_SIZE");
    assert_string_equal(bz_setting_env(BZ_SETTING_JOBS, text), "BITZEL_JOBS");
}

static void types_have_names(void **state)
{
    (void)state;
    assert_string_equal(bz_setting_type_name(BZ_SETTING_DURATION), "duration");
    assert_string_equal(bz_setting_type_name(BZ_SETTING_ENUM), "enum");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_found_by_its_name),
        cmocka_unit_test(rows_are_in_the_order_of_their_names),
        cmocka_unit_test(a_name_that_is_not_there_is_answered_with_near_ones),
        cmocka_unit_test(variables_are_named_after_settings),
        cmocka_unit_test(types_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
