#include "report/logtail.h"

#include "tests/unit/os/scratch.h"

static void expect_tail(struct scratch *s, unsigned lines, const char *want)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    char path[300];

    snprintf(path, sizeof(path), "%s/log", s->path);
    bz_logtail_add(path, lines, &b);
    assert_string_equal(bz_buf_text(&b), want);
}

static void the_last_lines_are_given(void **state)
{
    struct scratch *s = *state;

    expect_tail(s, 2, "");
    put(s->fd, "log", "");
    expect_tail(s, 2, "");
    put(s->fd, "log", "a\nb\nc\n");
    expect_tail(s, 0, "");
    expect_tail(s, 2, "b\nc\n");
    expect_tail(s, 3, "a\nb\nc\n");
    expect_tail(s, 9, "a\nb\nc\n");
    put(s->fd, "log", "a\n\nno end");
    expect_tail(s, 1, "no end\n");
    expect_tail(s, 2, "\nno end\n");
}

static void a_long_log_is_not_read_whole(void **state)
{
    struct scratch *s = *state;
    char *text = malloc(300001);

    memset(text, 'x', 300000);
    memcpy(text + 299990, "\nthe end.\n", 11);
    put(s->fd, "log", text);
    expect_tail(s, 1, "the end.\n");
    free(text);
}

static void what_is_no_file_has_no_lines(void **state)
{
    struct scratch *s = *state;

    assert_int_equal(mkfifoat(s->fd, "log", 0600), 0);
    expect_tail(s, 2, "");
}

static void clean(const char *line, const char *want)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    bz_logtail_clean(bz_str_from(line), &b);
    assert_string_equal(bz_buf_text(&b), want);
}

static void what_drives_a_terminal_is_taken_out(void **state)
{
    (void)state;
    clean("\033[01;31m\033[Kerror:\033[m\033[K text", "error: text");
    clean("\033]8;;http://x\ax\033]8;;\033\\y", "xy");
    clean("  0%\r 50%\r100%\r\n", "100%");
    clean("a\033", "a");
    clean("a\033[1", "a");
    clean("a\033]x", "a");
    clean("a\033Mb", "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(the_last_lines_are_given),
        TEST(a_long_log_is_not_read_whole),
        TEST(what_is_no_file_has_no_lines),
        cmocka_unit_test(what_drives_a_terminal_is_taken_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
