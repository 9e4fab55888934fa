#include "opt_help.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

struct values {
    bool force, color;
    int64_t jobs;
    int when;
    struct bz_opt_list set;
};

static const char *const whens[] = {"auto", "never", NULL};

static const struct bz_opt rows[] = {
    BZ_OPT_FLAG(struct values, force, 'f', "force", "Run even if nothing changed"),
    BZ_OPT_SWITCH(struct values, color, 0, "color", true, "Use colours"),
    BZ_OPT_NUMBER(struct values, jobs, 'j', "jobs", "N", 1, 64, 4, "Tasks at a time"),
    BZ_OPT_CHOICE(struct values, when, 0, "when", "WHEN", whens, 1, "The time"),
    BZ_OPT_LIST(struct values, set, 's', "set", "NAME=VALUE", "Set a variable"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    {.many = BZ_OPT_MANY_ONE,   .name = "A", .help = "The first" },
    {.many = BZ_OPT_MANY_MAYBE, .name = "B", .help = "The second"},
    {.many = BZ_OPT_MANY_ANY,   .name = "C", .help = "The others"},
    BZ_OPT_END,
};

static const struct bz_opt_arg some[] = {
    {.many = BZ_OPT_MANY_SOME, .name = "TARGET", .help = "What to build"},
    BZ_OPT_END,
};

static const struct bz_opt no_rows[] = {BZ_OPT_END};
static const struct bz_opt_arg no_args[] = {BZ_OPT_END};

/* Prints everything there is to print about a command. */
static const char *help_with(const struct bz_opt *opts, const struct bz_opt_arg *words,
                             const struct bz_opt *own, char *text, size_t size)
{
    int fd = memfd_create("help", MFD_CLOEXEC);
    struct bz_out out;
    struct bz_err err;
    ssize_t n;

    assert_true(fd >= 0);
    assert_int_equal(setenv("COLUMNS", "60", 1), 0);
    bz_out_init(&out, dup(fd), BZ_OUT_COLOR_NEVER);
    bz_opt_help_usage(&out, "it", words);
    bz_opt_help_args(&out, words);
    bz_opt_help_options(&out, "Options:", opts, own);
    assert_ok(bz_out_close(&out, "help", &err), &err);
    n = pread(fd, text, size - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    close(fd);
    return text;
}

static const char *help(const struct bz_opt *opts, const struct bz_opt_arg *words,
                        char *text, size_t size)
{
    return help_with(opts, words, NULL, text, size);
}

static void a_letter_that_a_command_takes_for_itself_is_not_shown(void **state)
{
    static const struct bz_opt own[] = {
        BZ_OPT_FLAG(struct values, force, 'j', "join", "Something else"),
        BZ_OPT_END,
    };
    char text[2048];

    (void)state;
    (void)help_with(rows, no_args, own, text, sizeof(text));
    assert_non_null(strstr(text, "\n      --jobs N"));
    assert_non_null(strstr(text, "\n  -f, --force"));
}

static void every_kind_of_row_is_described(void **state)
{
    char text[2048];

    (void)state;
    assert_string_equal(help(rows, args, text, sizeof(text)),
                        "Usage: it [OPTION...] A [B] [C...]\n"
                        "\n"
                        "Arguments:\n"
                        "  A                     The first\n"
                        "  B                     The second\n"
                        "  C                     The others\n"
                        "\n"
                        "Options:\n"
                        "  -f, --force           Run even if nothing changed\n"
                        "      --[no-]color      Use colours\n"
                        "  -j, --jobs N          Tasks at a time (1 to 64; default 4)\n"
                        "      --when WHEN       The time (auto, never; default\n"
                        "                        never)\n"
                        "  -s, --set NAME=VALUE  Set a variable (may be repeated)\n");
}

static void what_need_not_be_given_has_no_default(void **state)
{
    static const struct bz_opt unset[] = {
        BZ_OPT_NUMBER(struct values, jobs, 0, "most", "N", 0, 9, -1, "At most"),
        BZ_OPT_CHOICE(struct values, when, 0, "when", "WHEN", whens, -1, "The time"),
        BZ_OPT_END,
    };
    char text[2048];

    (void)state;
    assert_string_equal(help(unset, no_args, text, sizeof(text)),
                        "Usage: it [OPTION...]\n"
                        "\n"
                        "Options:\n"
                        "      --most N          At most (0 to 9)\n"
                        "      --when WHEN       The time (auto, never)\n");
}

static void an_argument_may_say_by_itself_what_may_be_left_out(void **state)
{
    static const struct bz_opt_arg odd[] = {
        {.many = BZ_OPT_MANY_ANY, .name = "[A] [B]", .help = "Both"},
        BZ_OPT_END,
    };
    char text[2048];

    (void)state;
    assert_string_equal(help(no_rows, odd, text, sizeof(text)),
                        "Usage: it [OPTION...] [A] [B]...\n"
                        "\n"
                        "Arguments:\n"
                        "  [A] [B]               Both\n");
}

static void a_command_without_rows_has_a_usage_line_only(void **state)
{
    char text[2048];

    (void)state;
    assert_string_equal(help(no_rows, no_args, text, sizeof(text)),
                        "Usage: it [OPTION...]\n");
}

static void several_words_are_shown_as_such(void **state)
{
    char text[2048];

    (void)state;
    assert_string_equal(help(no_rows, some, text, sizeof(text)),
                        "Usage: it [OPTION...] TARGET...\n"
                        "\n"
                        "Arguments:\n"
                        "  TARGET                What to build\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_that_a_command_takes_for_itself_is_not_shown),
        cmocka_unit_test(every_kind_of_row_is_described),
        cmocka_unit_test(what_need_not_be_given_has_no_default),
        cmocka_unit_test(an_argument_may_say_by_itself_what_may_be_left_out),
        cmocka_unit_test(a_command_without_rows_has_a_usage_line_only),
        cmocka_unit_test(several_words_are_shown_as_such),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
