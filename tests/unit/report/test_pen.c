#include "report/pen.h"

#include "os/clock.h"
#include "tests/unit/bz_test.h"

static void a_line_ends_at_the_edge(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_pen pen = {&b, 6, false, false};

    (void)state;
    bz_pen_put(&pen, BZ_PEN_RED, BZ_STR("abcd"));
    bz_pen_print(&pen, BZ_PEN_PLAIN, "%d", 12345);
    bz_pen_put(&pen, BZ_PEN_RED, BZ_STR("no room"));
    assert_string_equal(bz_buf_text(&b), "abcd1~");
    assert_int_equal(pen.left, 0);
}

static void inks_take_no_room(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_pen pen = {&b, 3, true, false};

    (void)state;
    bz_pen_put(&pen, BZ_PEN_RED, BZ_STR("ab"));
    bz_pen_put(&pen, BZ_PEN_PLAIN, BZ_STR("c"));
    bz_pen_put(&pen, BZ_PEN_BOLD, BZ_STR("no room"));
    assert_string_equal(bz_buf_text(&b), "\033[31mab\033[0mc");
}

static const char *name(struct bz_buf *b, const char *text, unsigned room)
{
    struct bz_pen pen = {b, 30, false, false};

    bz_buf_truncate(b, 0);
    bz_pen_put_name(&pen, BZ_PEN_PLAIN, bz_str_from(text), room);
    assert_int_equal(pen.left, 30 - b->len);
    return bz_buf_text(b);
}

static void a_name_keeps_its_task(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    assert_string_equal(name(&b, "busybox:do_compile", 30), "busybox:do_compile");
    assert_string_equal(name(&b, "busybox:do_compile", 15), "bus~:do_compile");
    assert_string_equal(name(&b, "busybox:do_compile", 12), "~:do_compile");
    assert_string_equal(name(&b, "busybox:do_compile", 11), "busybox:do~");
    assert_string_equal(name(&b, "mc:a:b:do_x", 9), "mc:~:do_x");
    assert_string_equal(name(&b, "none", 3), "no~");
    assert_string_equal(name(&b, "none", 99), "none");
}

static const char *ends(struct bz_buf *b, const char *text, unsigned room, bool utf8)
{
    struct bz_pen pen = {b, room, false, utf8};

    bz_buf_truncate(b, 0);
    bz_pen_put_ends(&pen, BZ_PEN_PLAIN, bz_str_from(text));
    assert_true(pen.left <= room);
    return bz_buf_text(b);
}

static void of_a_long_line_both_ends_are_shown(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    assert_string_equal(ends(&b, "gcc -c oven.c", 13, false), "gcc -c oven.c");
    assert_string_equal(ends(&b, "gcc -O2 -c oven.c", 12, false), "gcc~c oven.c");
    assert_string_equal(ends(&b, "gcc -O2 -c oven.c", 5, false), "gcc ~");
    assert_string_equal(ends(&b, "", 12, false), "");
    assert_string_equal(ends(&b, "gcc", 0, false), "");
    /* The end begins within a character, which is left out; one takes two columns. */
    assert_string_equal(ends(&b, "gcc -O2 -c k\xc3\xa4se.c", 7, true),
                        "g\xe2\x80\xa6se.c");
    assert_string_equal(ends(&b, "gcc -O2 \xe9\xba\xb5\xe7\xb3\xb0.c", 12, true),
                        "gcc\xe2\x80\xa6\xe9\xba\xb5\xe7\xb3\xb0.c");
}

static void durations_and_sizes_are_short(void **state)
{
    char text[BZ_PEN_SHORT];

    (void)state;
    assert_string_equal(bz_pen_duration(text, -5), "0s");
    assert_string_equal(bz_pen_duration(text, 59 * BZ_CLOCK_S + 999), "59s");
    assert_string_equal(bz_pen_duration(text, 62 * BZ_CLOCK_S), "1m02s");
    assert_string_equal(bz_pen_duration(text, 3600 * BZ_CLOCK_S), "1h00m");
    assert_string_equal(bz_pen_duration(text, INT64_MAX), "2562047h47m");
    assert_string_equal(bz_pen_bytes(text, 1023), "1023 B");
    assert_string_equal(bz_pen_bytes(text, 1024), "1.0 KiB");
    assert_string_equal(bz_pen_bytes(text, 1024 * 1024 - 1), "1.0 MiB");
    assert_string_equal(bz_pen_bytes(text, UINT64_MAX), "16777216.0 TiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_ends_at_the_edge),
        cmocka_unit_test(inks_take_no_room),
        cmocka_unit_test(a_name_keeps_its_task),
        cmocka_unit_test(of_a_long_line_both_ends_are_shown),
        cmocka_unit_test(durations_and_sizes_are_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
