#include "check_tools.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fs.h"
#include "tests/unit/os/scratch.h"

static struct bz_check_host host_of(const struct scratch *s)
{
    return (struct bz_check_host){.root = "", .temp = s->path};
}

/* $PATH is the scratch directory, where `name` says this. */
static void put_program(const struct scratch *s, const char *name, const char *script)
{
    struct bz_err err;

    assert_ok(
        bz_fs_write(s->fd, name, script, strlen(script), 0755, BZ_FS_NOSYNC, &err),
        &err);
    assert_int_equal(fchmodat(s->fd, name, 0755, 0), 0);
    assert_int_equal(setenv("PATH", s->path, 1), 0);
}

static void programs_that_are_missing_are_named(void **state)
{
    static const char *const all[] = {"git", "patch", "make", "unshare"};
    const struct scratch *s = *state;
    struct bz_check_host host = host_of(s);
    struct bz_check_row row;

    put_program(s, "git", "#!/bin/sh\n");
    bz_check_tools_present(&host, &row);
    assert_int_equal(row.state, BZ_CHECK_WARN);
    assert_string_equal(row.found, "not in $PATH: patch, make, unshare");
    assert_non_null(strstr(row.fix, "apt-get install"));
    for (size_t i = 0; i < BZ_COUNTOF(all); i++)
        put_program(s, all[i], "#!/bin/sh\n");
    bz_check_tools_present(&host, &row);
    assert_int_equal(row.state, BZ_CHECK_OK);
    assert_string_equal(row.found, "sh, git, patch, make, unshare");
}

static void makes_differ_in_what_they_take(void **state)
{
    static const struct {
        const char *script;
        enum bz_check_state state;
        const char *found;
    } cases[] = {
        {"#!/bin/sh\necho GNU Make 4.3\necho more\n", BZ_CHECK_OK,
         "GNU Make 4.3 takes descriptors"                                                              },
        {"#!/bin/sh\necho GNU Make 4.4.1\n",          BZ_CHECK_OK,
         "GNU Make 4.4.1 takes a named pipe"                                                           },
        {"#!/bin/sh\nexit 1\n",                       BZ_CHECK_WARN, "pipes work, but there is no make"},
    };
    const struct scratch *s = *state;
    struct bz_check_host host = host_of(s);
    struct bz_check_row row;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        put_program(s, "make", cases[i].script);
        bz_check_tools_jobserver(&host, &row);
        assert_int_equal(row.state, cases[i].state);
        assert_string_equal(row.found, cases[i].found);
    }
    host.temp = "/nowhere";
    bz_check_tools_jobserver(&host, &row);
    assert_int_equal(row.state, BZ_CHECK_WARN);
    assert_non_null(strstr(row.found, "no pipe can be made in /nowhere: "));
}

static void an_overlay_is_really_mounted(void **state)
{
    const struct scratch *s = *state;
    struct bz_check_host host = host_of(s);
    struct bz_check_row row;

    put_program(s, "unshare", "#!/bin/sh\nexit 0\n");
    bz_check_tools_overlay(&host, &row);
    assert_int_equal(row.state, BZ_CHECK_OK);
    put_program(s, "unshare", "#!/bin/sh\nexit 77\n");
    bz_check_tools_overlay(&host, &row);
    assert_non_null(strstr(row.found, "trees have to be copied"));
    put_program(s, "unshare", "#!/bin/sh\nexit 1\n");
    bz_check_tools_overlay(&host, &row);
    assert_non_null(strstr(row.found, "not tried"));
    assert_non_null(row.fix);
}

static void the_first_variable_of_the_locale_that_is_set_counts(void **state)
{
    static const struct {
        const char *all, *ctype, *lang;
        enum bz_check_state state;
        const char *found;
    } cases[] = {
        {"C.UTF-8", "C", "C",           BZ_CHECK_OK,   "LC_ALL is C.UTF-8" },
        {"",        "",  "de_DE.utf8",  BZ_CHECK_OK,   "LANG is de_DE.utf8"},
        {"",        "C", "en_US.UTF-8", BZ_CHECK_WARN,
         "LC_CTYPE is C, not UTF-8: some names are shown as '?'"           },
        {"",        "",  "",            BZ_CHECK_WARN,
         "none is set: names that are not ASCII are shown as '?'"          },
    };
    struct bz_check_host host = host_of(*state);

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_check_row row;

        assert_int_equal(setenv("LC_ALL", cases[i].all, 1), 0);
        assert_int_equal(setenv("LC_CTYPE", cases[i].ctype, 1), 0);
        assert_int_equal(setenv("LANG", cases[i].lang, 1), 0);
        bz_check_tools_locale(&host, &row);
        assert_int_equal(row.state, cases[i].state);
        assert_string_equal(row.found, cases[i].found);
    }
}

static void without_a_terminal_all_is_well(void **state)
{
    struct bz_check_host host = host_of(*state);
    int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct bz_check_row row;

    assert_true(kept >= 0 && null >= 0);
    assert_true(dup2(null, STDERR_FILENO) >= 0);
    bz_check_tools_terminal(&host, &row);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(null);
    assert_int_equal(row.state, BZ_CHECK_OK);
    assert_string_equal(row.found, "none: a build prints lines only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(programs_that_are_missing_are_named),
        TEST(makes_differ_in_what_they_take),
        TEST(an_overlay_is_really_mounted),
        TEST(the_first_variable_of_the_locale_that_is_set_counts),
        TEST(without_a_terminal_all_is_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
