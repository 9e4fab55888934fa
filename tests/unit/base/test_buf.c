#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/base/dies.h"
#include "tests/unit/bz_test.h"

static void zeroed_buffer_is_empty_and_readable(void **state)
{
    struct bz_buf b = {0};

    (void)state;
    assert_string_equal(bz_buf_text(&b), "");
    assert_int_equal(bz_buf_str(&b).n, 0);
    bz_buf_truncate(&b, 0);
    bz_buf_release(&b);
}

static void everything_added_is_there_in_order_and_terminated(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    bz_buf_add(&b, "a\0b", 3);
    bz_buf_add_str(&b, BZ_STR("cd"));
    bz_buf_add_str(&b, (struct bz_str){0});
    bz_buf_add_char(&b, 'e');
    bz_buf_addf(&b, "<%d>", 42);
    assert_int_equal(b.len, 10);
    assert_memory_equal(b.data, "a\0bcde<42>", 11);
    assert_true(bz_str_eq(bz_buf_str(&b), BZ_STR("a\0bcde<42>")));
}

static void long_formatted_text_grows_the_buffer(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    size_t n;

    (void)state;
    /* Around the sizes at which the first attempt stops fitting. */
    for (n = 1; n < 300; n++) {
        bz_buf_truncate(&b, 0);
        bz_buf_addf(&b, "x%0*d", (int)n, 1);
        assert_int_equal(b.len, n + 1);
        assert_int_equal(strlen(b.data), n + 1);
        assert_int_equal(b.data[n], '1');
        bz_buf_release(&b);
    }
}

static void growth_takes_few_steps(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    size_t cap = 0, steps = 0;
    int i;

    (void)state;
    for (i = 0; i < 1000000; i++) {
        bz_buf_add_char(&b, (char)i);
        assert_int_equal(b.data[b.len], '\0');
        steps += b.cap != cap;
        cap = b.cap;
    }
    assert_int_equal(b.len, 1000000);
    assert_true(steps < 20);
    for (i = 0; i < 1000000; i++) {
        if (b.data[i] != (char)i)
            fail_msg("byte %d", i);
    }
}

static void limit_is_exact_and_failure_changes_nothing(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {.limit = 10};
    struct bz_err err;

    (void)state;
    assert_ok(bz_buf_try_add(&b, "01234567", 8, &err), &err);
    assert_int_equal(bz_buf_try_add(&b, "abc", 3, &err), BZ_E_LIMIT);
    assert_string_equal(err.msg, "8 bytes and 3 more exceed the limit of 10");
    assert_int_equal(bz_buf_try_add_str(&b, BZ_STR("abc"), &err), BZ_E_LIMIT);
    assert_int_equal(bz_buf_try_addf(&b, &err, "%03d", 7), BZ_E_LIMIT);
    assert_int_equal(bz_buf_try_add(&b, "", SIZE_MAX, &err), BZ_E_LIMIT);
    assert_string_equal(bz_buf_text(&b), "01234567");
    assert_int_equal(b.len, 8);
    assert_ok(bz_buf_try_addf(&b, &err, "%d", 8), &err);
    assert_ok(bz_buf_try_add_char(&b, '9', &err), &err);
    assert_int_equal(bz_buf_try_add_char(&b, 'x', &err), BZ_E_LIMIT);
    assert_ok(bz_buf_try_add(&b, NULL, 0, &err), &err);
    assert_string_equal(bz_buf_text(&b), "0123456789");
}

static void memory_does_not_outgrow_the_limit(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {.limit = 1000};
    struct bz_err err;

    (void)state;
    while (bz_buf_try_add_char(&b, 'x', &err) == 0)
        assert_true(b.cap <= 1001);
    assert_int_equal(b.len, 1000);
}

/* Sanitizers take a request that cannot be met for a mistake. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void memory_that_is_out_is_an_error_and_changes_nothing(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_err err;

    (void)state;
    assert_ok(bz_buf_try_add_str(&b, BZ_STR("kept"), &err), &err);
    assert_int_equal(bz_buf_try_add(&b, "x", SIZE_MAX / 2 + 1, &err), BZ_E_LIMIT);
    assert_string_equal(err.msg, "no memory for 4 bytes and 9223372036854775808 more");
    assert_int_equal(bz_buf_try_add(&b, "x", SIZE_MAX - 2, &err), BZ_E_LIMIT);
    assert_string_equal(bz_buf_text(&b), "kept");
}
#endif

static void checked_family_also_serves_buffers_without_limit(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_err err;

    (void)state;
    assert_ok(bz_buf_try_addf(&b, &err, "%0200d", 1), &err);
    assert_int_equal(b.len, 200);
    assert_int_equal(strlen(b.data), 200);
}

static void reserved_room_counts_once_committed(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    char *room = bz_buf_reserve(&b, 100);

    (void)state;
    memset(room, 'x', 100); /* the sanitizer sees whether all of it is there */
    assert_int_equal(b.len, 0);
    bz_buf_commit(&b, 3);
    assert_string_equal(bz_buf_text(&b), "xxx");
    memcpy(bz_buf_reserve(&b, 2), "yz", 2);
    bz_buf_commit(&b, 2);
    assert_string_equal(bz_buf_text(&b), "xxxyz");
}

static void truncating_keeps_the_memory(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    const char *data;

    (void)state;
    bz_buf_add(&b, "hello", 5);
    data = b.data;
    bz_buf_truncate(&b, 2);
    assert_string_equal(bz_buf_text(&b), "he");
    bz_buf_add_char(&b, 'y');
    assert_string_equal(bz_buf_text(&b), "hey");
    assert_ptr_equal(b.data, data);
}

static void detached_bytes_belong_to_the_caller(void **state)
{
    struct bz_buf b = {.limit = 7};
    struct bz_err err;
    char *text;

    (void)state;
    assert_ok(bz_buf_try_add(&b, "mine", 4, &err), &err);
    text = bz_buf_detach(&b);
    assert_string_equal(text, "mine");
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    assert_int_equal(b.limit, 7);
    free(text);
    text = bz_buf_detach(&b);
    assert_string_equal(text, "");
    free(text);
}

static void add_to_limited(void)
{
    struct bz_buf b = {.limit = 5};

    bz_buf_add_char(&b, 'x');
}

static void format_to_limited(void)
{
    struct bz_buf b = {.limit = 5};

    bz_buf_addf(&b, "x");
}

static void reserve_in_limited(void)
{
    struct bz_buf b = {.limit = 5};

    bz_buf_reserve(&b, 1);
}

static void commit_too_much(void)
{
    struct bz_buf b = {0};

    bz_buf_reserve(&b, 1);
    bz_buf_commit(&b, b.cap);
}

static void truncate_upwards(void)
{
    struct bz_buf b = {0};

    bz_buf_add_char(&b, 'x');
    bz_buf_truncate(&b, 2);
}

static void misuse_stops_the_program(void **state)
{
    static void (*const cases[])(void) = {add_to_limited, format_to_limited,
                                          reserve_in_limited, commit_too_much,
                                          truncate_upwards};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++)
        assert_true(dies(cases[i], "internal error"));
}

static void a_quoted_word_is_one_word(void **state)
{
    struct bz_buf b = {0};

    (void)state;
    bz_buf_add_quoted(&b, BZ_STR("it's $HOME"));
    assert_string_equal(bz_buf_text(&b), "'it'\\''s $HOME'");
    bz_buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quoted_word_is_one_word),
        cmocka_unit_test(zeroed_buffer_is_empty_and_readable),
        cmocka_unit_test(everything_added_is_there_in_order_and_terminated),
        cmocka_unit_test(long_formatted_text_grows_the_buffer),
        cmocka_unit_test(growth_takes_few_steps),
        cmocka_unit_test(limit_is_exact_and_failure_changes_nothing),
        cmocka_unit_test(memory_does_not_outgrow_the_limit),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(memory_that_is_out_is_an_error_and_changes_nothing),
#endif
        cmocka_unit_test(checked_family_also_serves_buffers_without_limit),
        cmocka_unit_test(reserved_room_counts_once_committed),
        cmocka_unit_test(truncating_keeps_the_memory),
        cmocka_unit_test(detached_bytes_belong_to_the_caller),
        cmocka_unit_test(misuse_stops_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
