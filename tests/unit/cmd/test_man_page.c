#include "man_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/fs.h"
#include "tests/unit/bz_test.h"

struct values {
    bool force, quiet;
    const char *name;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct values, force, 'f', "force", "Do it again"),
    BZ_OPT_SWITCH(struct values, quiet, 0, "colour", true, "Paint it"),
    BZ_OPT_END,
};

static const struct bz_opt globals[] = {
    BZ_OPT_TEXT(struct values, name, 'f', "file", "FILE", "Read FILE"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ONE(struct values, name, "THING", "What to make"),
    BZ_OPT_END,
};

static const struct bz_cmd_term examples[] = {
    {"bitzel make tea", "Make tea"},
    {NULL,              NULL      },
};

static const struct bz_cmd again = {
    .of = "make",
    .name = "again",
    .summary = "Make it again",
    .detail = "Makes the last thing once more.",
    .opts = opts,
    .args = args,
};

static const struct bz_cmd *const subs[] = {&again, NULL};

static const struct bz_cmd make = {
    .name = "make",
    .summary = "Make a thing",
    .detail = "Makes things. See 'bitzel help'.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .subs = subs,
};

static const struct bz_cmd *const commands[] = {&make, NULL};

static const struct bz_man_page_book book = {"1.2", "2026-01-31", commands, globals};

#define assert_has(b, text) assert_non_null(strstr(bz_buf_text(b), text))

static void the_page_of_a_command_has_all_of_its_tables(void **state)
{
    static const char *const sections[] = {
        "NAME",        "SYNOPSIS",    "DESCRIPTION", "COMMANDS", "OPTIONS",
        "EXIT STATUS", "ENVIRONMENT", "FILES",       "EXAMPLES", "SEE ALSO",
    };
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    const char *at;

    (void)state;
    bz_man_page_command(&b, &book, &make);
    at = bz_buf_text(&b);
    for (size_t i = 0; i < BZ_COUNTOF(sections); i++) {
        char line[64];

        snprintf(line, sizeof(line), "\n.SH \"%s\"\n", sections[i]);
        at = strstr(at, line);
        assert_non_null(at);
    }
    assert_has(&b, ".TH \"BITZEL\\-MAKE\" \"1\" 2026-01-31 \"bitzel 1.2\"");
    assert_has(&b, "\nbitzel\\-make \\- make a thing\n");
    assert_has(&b, "\n\\fBbitzel make\\fR [\\fIOPTION\\fR...] \\fITHING\\fR\n");
    assert_has(&b, "\nMakes things.\nSee \\fBbitzel help\\fR.\n");
    assert_has(&b, "\n\\fITHING\\fR\nWhat to make.\n");
    assert_has(&b, "\n\\fB\\-f\\fR, \\fB\\-\\-force\\fR\nDo it again.\n");
    assert_has(&b, "\n\\fB\\-\\-[no\\-]colour\\fR\nPaint it.\n");
    assert_has(&b, "\nMake tea:\n.RS 4\n.EX\nbitzel make tea\n.EE\n.nh\n");
    assert_has(
        &b,
        "\n.SS \"bitzel make again\"\n\\fBbitzel make again\\fR [\\fIOPTION\\fR...] "
        "\\fITHING\\fR\n.PP\nMakes the last thing once more.\n");
}

static void a_letter_that_the_command_took_is_not_offered_again(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0}, all = {0};

    (void)state;
    bz_man_page_command(&b, &book, &make);
    assert_has(&b, ".TP\n\\fB\\-\\-file\\fR \\fIFILE\\fR\nRead FILE.\n");
    bz_man_page_program(&all, &book);
    assert_has(&all, ".TP\n\\fB\\-f\\fR, \\fB\\-\\-file\\fR \\fIFILE\\fR\n");
}

static void the_page_of_the_program_lists_the_commands(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    bz_man_page_program(&b, &book);
    assert_has(&b, "\n\\fBbitzel\\fR [\\fIOPTION\\fR...] \\fICOMMAND\\fR "
                   "[\\fIARGUMENT\\fR...]\n");
    assert_has(&b, ".TP\n.BR bitzel\\-make (1)\nMake a thing.\n");
}

static void the_page_of_the_settings_has_every_setting(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    bz_man_page_settings(&b, &book);
    for (int i = 0; i < BZ_SETTING_COUNT; i++) {
        char text[128], variable[BZ_SETTING_ENV_MAX];

        snprintf(text, sizeof(text), "\n.TP\n\\fB%s\\fR (",
                 bz_setting_row((enum bz_setting_id)i)->name);
        assert_has(&b, text);
        assert_has(&b, bz_setting_env((enum bz_setting_id)i, variable));
    }
    assert_has(&b, "Default: \\(ti/.cache/bitzel.\n");
}

static void all_pages_are_written_below_a_directory(void **state)
{
    static const char *const names[] = {"man1/bitzel.1", "man1/bitzel-make.1",
                                        "man5/bitzel.conf.5", "man5/bitzel-events.5"};
    char dir[] = "/tmp/bz-man-XXXXXX", path[64];
    struct bz_err err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_ok(bz_man_page_write_all(&book, dir, &err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(bz_man_page_write_all(&book, "/dev/null", &err), BZ_E_IO);
    for (int section = 1; section <= 5; section += 4) {
        snprintf(path, sizeof(path), "%s/man%d", dir, section);
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_of_a_command_has_all_of_its_tables),
        cmocka_unit_test(a_letter_that_the_command_took_is_not_offered_again),
        cmocka_unit_test(the_page_of_the_program_lists_the_commands),
        cmocka_unit_test(the_page_of_the_settings_has_every_setting),
        cmocka_unit_test(all_pages_are_written_below_a_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
