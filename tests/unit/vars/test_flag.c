#include "tests/unit/vars/script.h"

#include "vars/flag.h"

static void put(struct bz_vars *v, struct bz_store_var *var, const char *name,
                const char *value)
{
    bz_flag_put(v, var, bz_str_from(name), bz_str_from(value));
}

static void check(const struct bz_store_var *var, const char *expected)
{
    struct bz_buf list = {0};

    bz_flag_each(var, script_add_flag, &list);
    assert_string_equal(bz_buf_text(&list), expected);
    bz_buf_release(&list);
}

static void flags_keep_the_order_in_which_they_were_set(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_store_var var = {0};

    (void)state;
    put(v, &var, "b", "1");
    put(v, &var, "_internal", "x");
    put(v, &var, "a", "2");
    put(v, &var, "_defaultval_flag_c", "3");
    put(v, &var, "_defaultval_flag_a", "4");
    put(v, &var, "b", "5");
    check(&var, "b=5 a=2 c=3");
    assert_true(bz_flag_remove(v, &var, BZ_STR("b")));
    assert_false(bz_flag_remove(v, &var, BZ_STR("b")));
    assert_true(bz_flag_remove(v, &var, BZ_STR("a")));
    check(&var, "c=3 a=4");
    bz_flag_remove_weak(v, &var, BZ_STR("a"));
    bz_flag_remove_weak(v, &var, BZ_STR("none"));
    check(&var, "c=3");
    check(NULL, "");
    bz_vars_free(v);
}

static void a_weak_flag_is_read_when_there_is_no_other(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_store_var var = {0};
    struct bz_str value;

    (void)state;
    put(v, &var, "_defaultval_flag_f", "weak");
    assert_true(bz_str_eq(bz_flag_read(&var, BZ_STR("f"), 0), BZ_STR("weak")));
    assert_null(bz_flag_read(&var, BZ_STR("f"), BZ_VARS_NOWEAK).p);
    assert_null(bz_flag_read(&var, BZ_STR("g"), 0).p);
    assert_null(bz_flag_read(NULL, BZ_STR("f"), 0).p);
    assert_false(bz_flag_get(&var, BZ_STR("f"), &value));
    bz_flag_put(v, &var, BZ_STR("f"), (struct bz_str){0});
    assert_true(bz_flag_get(&var, BZ_STR("f"), &value));
    assert_null(bz_flag_read(&var, BZ_STR("f"), 0).p); /* nothing hides the default */
    bz_vars_free(v);
}

static void content_and_weak_default_have_flag_names(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_store_var var = {0};
    struct bz_str value;

    (void)state;
    put(v, &var, "_content", "c");
    put(v, &var, "_defaultval", "w");
    assert_true(var.has_content && var.has_weak);
    assert_true(bz_flag_get(&var, BZ_STR("_content"), &value));
    assert_true(bz_str_eq(value, BZ_STR("c")));
    assert_true(bz_flag_get(&var, BZ_STR("_defaultval"), &value));
    assert_true(bz_str_eq(value, BZ_STR("w")));
    check(&var, "");
    assert_true(bz_flag_remove(v, &var, BZ_STR("_content")));
    assert_true(bz_flag_remove(v, &var, BZ_STR("_defaultval")));
    assert_true(bz_store_empty(&var));
    bz_vars_free(v);
}

static void borrowed_flags_are_not_changed(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_store_var var = {0}, copy;

    (void)state;
    put(v, &var, "a", "1");
    put(v, &var, "b", "2");
    copy = var;
    copy.flags.cap = 0;
    put(v, &copy, "a", "9");
    check(&copy, "a=9 b=2");
    copy = var;
    copy.flags.cap = 0;
    assert_true(bz_flag_remove(v, &copy, BZ_STR("a")));
    check(&copy, "b=2");
    copy = var;
    copy.flags.cap = 0;
    put(v, &copy, "c", "3");
    check(&copy, "a=1 b=2 c=3");
    check(&var, "a=1 b=2");
    bz_vars_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_keep_the_order_in_which_they_were_set),
        cmocka_unit_test(a_weak_flag_is_read_when_there_is_no_other),
        cmocka_unit_test(content_and_weak_default_have_flag_names),
        cmocka_unit_test(borrowed_flags_are_not_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
