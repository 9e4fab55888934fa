#include "jobs/callargs.h"

#include "tests/unit/jobs/office.h"

static struct bz_call make_call(struct bz_task *t, const char *args)
{
    return (struct bz_call){.args = bz_str_from(args), .task = t, .pipe = -1};
}

static void members_are_read_or_what_is_wrong_is_told(void **state)
{
    struct bz_task *t = bz_task_new_by(NULL, BZ_STR(""));
    struct bz_call c =
        make_call(t, "{\"n\":7,\"flag\":true,\"text\":\"abc\",\"less\":-1}");
    const struct bz_doc *args = NULL;
    struct bz_str text = {0};
    uint64_t n = 1;
    bool flag = false;

    (void)state;
    assert_int_equal(bz_callargs_read(&c, &args), 0);
    assert_int_equal(bz_callargs_count(&c, args, "none", &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(bz_callargs_count(&c, args, "n", &n), 0);
    assert_int_equal(n, 7);
    assert_int_equal(bz_callargs_flag(&c, args, "none", &flag), 0);
    assert_int_equal(bz_callargs_flag(&c, args, "flag", &flag), 0);
    assert_true(flag);
    assert_int_equal(bz_callargs_text(&c, args, "text", &text), 0);
    assert_true(bz_str_eq(text, BZ_STR("abc")));
    assert_int_equal(bz_callargs_count(&c, args, "less", &n), BZ_TASK_INVALID_JSON);
    assert_int_equal(strncmp(c.error, "less: ", 6), 0);
    assert_int_equal(bz_callargs_flag(&c, args, "n", &flag), BZ_TASK_INVALID_JSON);
    assert_int_equal(bz_callargs_text(&c, args, "none", &text), BZ_TASK_INVALID_JSON);
    assert_int_equal(strncmp(c.error, "none: ", 6), 0);
    bz_arena_release(&c.arena);
    bz_task_free(t);
}

static void arguments_that_say_things_twice_are_wrong(void **state)
{
    struct bz_task *t = bz_task_new_by(NULL, BZ_STR(""));
    struct bz_call c = make_call(t, "{\"a\":1,\"a\":2}");
    const struct bz_doc *args = NULL;

    (void)state;
    assert_int_equal(bz_callargs_read(&c, &args), BZ_TASK_INVALID_JSON);
    bz_arena_release(&c.arena);
    bz_task_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_read_or_what_is_wrong_is_told),
        cmocka_unit_test(arguments_that_say_things_twice_are_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
