#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

/* An output into memory, and what arrived there. */
struct sink {
    struct bz_out out;
    int fd;
    char got[1024];
};

static void sink_init(struct sink *s, const char *columns, enum bz_out_color color)
{
    *s = (struct sink){.fd = memfd_create("out", MFD_CLOEXEC)};
    assert_true(s->fd >= 0);
    assert_int_equal(setenv("COLUMNS", columns, 1), 0);
    bz_out_init(&s->out, dup(s->fd), color);
}

static const char *sink_close(struct sink *s)
{
    struct bz_err err;
    ssize_t n;

    assert_ok(bz_out_close(&s->out, "sink", &err), &err);
    n = pread(s->fd, s->got, sizeof(s->got) - 1, 0);
    assert_true(n >= 0);
    close(s->fd);
    return s->got;
}

static void text_is_wrapped_between_words(void **state)
{
    static const struct {
        const char *columns, *text, *result;
    } cases[] = {
        {"20", "",                                         "\n"                                                },
        {"20", "   ",                                      "\n"                                                },
        {"20", "one two",                                  "one two\n"                                         },
        {"20", "exactly twenty colum",                     "exactly twenty colum\n"                            },
        {"20", "exactly twenty column",                    "exactly twenty\n  column\n"                        },
        {"20", "  many   blanks  ",                        "many blanks\n"                                     },
        {"20", "a-word-that-is-longer-than-a-line b",
         "a-word-that-is-longer-than-a-line\n  b\n"                                                            },
        {"20", "\xc3\xa4\xc3\xb6\xc3\xbc twelve and four", /* 3 columns, 6 bytes */
         "\xc3\xa4\xc3\xb6\xc3\xbc twelve and four\n"},
        {"1",  "never under twenty columns",               "never under twenty\n  columns\n"                   },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct sink s;

        sink_init(&s, cases[i].columns, BZ_OUT_COLOR_NEVER);
        bz_out_wrap(&s.out, 0, 2, cases[i].text);
        assert_string_equal(sink_close(&s), cases[i].result);
    }
}

static void a_row_moves_its_text_below_where_room_is_short(void **state)
{
    static const struct {
        const char *columns, *left, *result;
    } cases[] = {
        {"40", "  --abc",
         "  --abc   some words that do not fit in\n"
         "          one line\n"     },
        {"40", "  --abc X",
         "  --abc X\n"
         "          some words that do not fit in\n"
         "          one line\n"     },
        {"40", "  --abcdef",
         "  --abcdef\n"
         "          some words that do not fit in\n"
         "          one line\n"     },
        {"30", "  --abc",
         "  --abc\n"
         "        some words that do not\n"
         "        fit in one line\n"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct sink s;

        sink_init(&s, cases[i].columns, BZ_OUT_COLOR_NEVER);
        bz_out_print(&s.out, "%s", cases[i].left);
        bz_out_row(&s.out, (unsigned)strlen(cases[i].left), 10,
                   "some words that do not fit in one line");
        assert_string_equal(sink_close(&s), cases[i].result);
    }
}

static void width_comes_from_columns_and_is_bounded(void **state)
{
    static const struct {
        const char *columns;
        unsigned width;
    } cases[] = {
        {"40",      40 },
        {"",        80 }, /* memory is no terminal */
        {"0",       80 },
        {"rubbish", 80 },
        {"5",       20 },
        {"5000",    100},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct sink s;

        sink_init(&s, cases[i].columns, BZ_OUT_COLOR_NEVER);
        assert_int_equal(s.out.width, cases[i].width);
        assert_string_equal(sink_close(&s), "");
    }
}

static void control_characters_do_not_get_through(void **state)
{
    struct sink s;

    (void)state;
    sink_init(&s, "80", BZ_OUT_COLOR_ALWAYS);
    bz_out_plain(&s.out, "a\033[31m\177\n\0z \xc3\xa4", 13);
    bz_out_wrap(&s.out, 0, 0, "b\tc\rd\ne");
    /* C1, bytes that are no UTF-8, and what turns the direction of a line. */
    bz_out_plain(&s.out,
                 "\xc2\x9b"
                 "2J\x9b\xc3 \xe2\x80\xae",
                 10);
    assert_string_equal(sink_close(&s), "a?[31m???z \xc3\xa4"
                                        "b c?d?e\n"
                                        "?2J?? ?");
}

static void cells_line_up_and_never_touch(void **state)
{
    struct sink s;

    (void)state;
    sink_init(&s, "80", BZ_OUT_COLOR_NEVER);
    bz_out_cell(&s.out, BZ_STR("ab"), 4);
    bz_out_cell(&s.out, BZ_STR("toolong"), 4);
    bz_out_cell(&s.out, (struct bz_str){0}, 1);
    bz_out_cell(&s.out, BZ_STR("\033"), 1);
    bz_out_cell(&s.out, BZ_STR("\xc3\xa4"), 2);         /* one column, */
    bz_out_cell(&s.out, BZ_STR("\xe9\xba\xb5\xff"), 4); /* two, and one */
    assert_string_equal(sink_close(&s), "ab    toolong     ?  "
                                        "\xc3\xa4   "
                                        "\xe9\xba\xb5?   ");
}

static void color_is_used_only_when_wanted(void **state)
{
    struct sink s;

    (void)state;
    sink_init(&s, "80", BZ_OUT_COLOR_ALWAYS);
    bz_out_paint(&s.out, BZ_OUT_RED, "x");
    bz_out_paint(&s.out, BZ_OUT_PLAIN, "y");
    assert_string_equal(sink_close(&s), "\033[31mx\033[0my");

    sink_init(&s, "80", BZ_OUT_COLOR_AUTO); /* no terminal */
    bz_out_heading(&s.out, "x");
    assert_string_equal(sink_close(&s), "\nx\n");
}

static void the_first_failing_write_is_reported_at_the_end(void **state)
{
    struct bz_out out;
    struct bz_err err;

    (void)state;
    bz_out_init(&out, open("/dev/full", O_WRONLY | O_CLOEXEC), BZ_OUT_COLOR_NEVER);
    assert_true(out.fd >= 0);
    bz_out_print(&out, "%s", "text");
    bz_out_flush(&out);
    bz_out_print(&out, "%s", "more");
    assert_int_equal(bz_out_close(&out, "the disk", &err), BZ_E_IO);
    assert_int_equal(err.sys, ENOSPC);
    assert_string_equal(err.msg, "write to the disk: No space left on device");
}

static void writing_nothing_to_a_full_disk_is_no_failure(void **state)
{
    struct bz_out out;
    struct bz_err err;

    (void)state;
    bz_out_init(&out, open("/dev/full", O_WRONLY | O_CLOEXEC), BZ_OUT_COLOR_NEVER);
    assert_ok(bz_out_close(&out, "the disk", &err), &err);
}

static void more_than_the_buffer_holds_arrives_whole(void **state)
{
    enum { SIZE = 200001 };
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct sink s;

    (void)state;
    memset(bz_buf_reserve(&text, SIZE), 'x', SIZE);
    bz_buf_commit(&text, SIZE);
    sink_init(&s, "80", BZ_OUT_COLOR_NEVER);
    bz_out_put(&s.out, text.data, text.len);
    bz_out_print(&s.out, "%s", bz_buf_text(&text));
    bz_out_flush(&s.out);
    assert_int_equal(lseek(s.fd, 0, SEEK_END), 2 * SIZE);
    sink_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_wrapped_between_words),
        cmocka_unit_test(a_row_moves_its_text_below_where_room_is_short),
        cmocka_unit_test(width_comes_from_columns_and_is_bounded),
        cmocka_unit_test(control_characters_do_not_get_through),
        cmocka_unit_test(cells_line_up_and_never_touch),
        cmocka_unit_test(color_is_used_only_when_wanted),
        cmocka_unit_test(the_first_failing_write_is_reported_at_the_end),
        cmocka_unit_test(writing_nothing_to_a_full_disk_is_no_failure),
        cmocka_unit_test(more_than_the_buffer_holds_arrives_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
