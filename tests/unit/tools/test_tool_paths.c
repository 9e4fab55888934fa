#include "tools/tool_paths.h"

#include "base/buf.h"
#include "tests/unit/tools/machine.h"

#define BASE "/bin /lib /usr /usr/bin /usr/bin/dash /usr/bin/sh"
#define LIBS " /usr/lib /usr/lib/libc.so.6"

static void check(const struct scratch *s, const char *words, const char *expected)
{
    BZ_CLEANUP(bz_tool_paths_release) struct bz_tool_paths p = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_err err;

    assert_ok(bz_tool_paths_find(&p, s->path, bz_str_from(words), &err), &err);
    for (size_t i = 0; i < p.all.len; i++)
        bz_buf_addf(&text, "%s%.*s", i ? " " : "", BZ_STR_ARG(p.all.at[i].path));
    for (size_t i = 0; i < p.missing.len; i++)
        bz_buf_addf(&text, " -%.*s", BZ_STR_ARG(p.missing.at[i]));
    assert_string_equal(bz_buf_text(&text), expected);
}

static void a_program_comes_with_its_package_and_what_that_needs(void **state)
{
    const struct scratch *s = *state;

    make_machine(s->fd);
    check(s, "", BASE LIBS);
    check(s, "gcc",
          "/bin /lib /usr /usr/bin /usr/bin/dash /usr/bin/gcc "
          "/usr/bin/gcc-12 /usr/bin/sh /usr/lib /usr/lib/gcc /usr/lib/gcc/cc1 "
          "/usr/lib/libc.so.6");
    check(s, "cpp", BASE " /usr/lib /usr/lib/gcc /usr/lib/gcc/cc1 /usr/lib/libc.so.6");
    check(s, "game nothing ?neither /usr/none",
          "/bin /lib /usr /usr/bin /usr/bin/dash /usr/bin/game "
          "/usr/bin/sh" LIBS " /usr/share /usr/share/games /usr/share/games/data "
          "-nothing -/usr/none");
}

static void an_alternative_is_shown_with_its_links(void **state)
{
    const struct scratch *s = *state;
    const char *with =
        "/bin /etc/alternatives /etc/alternatives/awk /lib /usr /usr/bin "
        "/usr/bin/awk /usr/bin/dash /usr/bin/mawk /usr/bin/sh" LIBS;

    make_machine(s->fd);
    check(s, "awk", with);
    check(s, "mawk", with);
}

static void a_program_of_no_package_is_shown_by_itself(void **state)
{
    const struct scratch *s = *state;

    make_machine(s->fd);
    check(s, "own", BASE LIBS " /usr/local /usr/local/bin /usr/local/bin/own");
    check(s, "/usr/share/games",
          BASE LIBS " /usr/share /usr/share/games /usr/share/games/data");
    /* What is first in PATH is meant, but the package is too. */
    assert_int_equal(symlinkat("own", s->fd, "usr/local/bin/cpp"), 0);
    check(s, "cpp",
          BASE " /usr/lib /usr/lib/gcc /usr/lib/gcc/cc1 /usr/lib/libc.so.6 /usr/local "
               "/usr/local/bin /usr/local/bin/cpp /usr/local/bin/own");
}

static void a_diverted_file_is_shown_where_it_is(void **state)
{
    const struct scratch *s = *state;

    make_machine(s->fd);
    put_program(s->fd, "usr/bin/game.real", "game");
    put(s->fd, "var/lib/dpkg/diversions", "/usr/bin/game\n/usr/bin/game.real\nother\n");
    check(s, "game.real",
          "/bin /lib /usr /usr/bin /usr/bin/dash /usr/bin/game.real "
          "/usr/bin/sh" LIBS " /usr/share /usr/share/games /usr/share/games/data");
}

static void without_dpkg_all_is_shown(void **state)
{
    const struct scratch *s = *state;

    make_machine(s->fd);
    assert_int_equal(unlinkat(s->fd, "var/lib/dpkg/status", 0), 0);
    check(
        s, "gcc nothing",
        "/bin /etc/alternatives /etc/alternatives/awk /lib /usr /usr/bin /usr/bin/awk "
        "/usr/bin/dash /usr/bin/game /usr/bin/gcc /usr/bin/gcc-12 /usr/bin/mawk "
        "/usr/bin/sh /usr/lib /usr/lib/gcc /usr/lib/gcc/cc1 /usr/lib/libc.so.6 "
        "/usr/local /usr/local/bin /usr/local/bin/own /usr/sbin /usr/share "
        "/usr/share/games /usr/share/games/data");
    check(s, "/usr/share/games",
          "/bin /etc/alternatives /etc/alternatives/awk /lib /usr /usr/share "
          "/usr/share/games /usr/share/games/data");
}

static void hostile_lists_do_no_harm(void **state)
{
    const struct scratch *s = *state;
    char deep[4096];

    make_machine(s->fd);
    memset(deep, 'x', sizeof(deep));
    for (size_t i = 0; i < sizeof(deep); i += 2)
        deep[i] = '/';
    deep[sizeof(deep) - 1] = '\0';
    put_list(s->fd, "game", deep);
    check(s, "?game",
          "/bin /lib /usr /usr/bin /usr/bin/dash "
          "/usr/bin/game /usr/bin/sh" LIBS);
    put_list(s->fd, "game",
             "/usr/../etc/passwd\nusr/bin/x\n//usr/bin/game\n/usr/./bin\n/");
    check(s, "?game",
          "/bin /lib /usr /usr/bin /usr/bin/dash "
          "/usr/bin/game /usr/bin/sh" LIBS);
    assert_int_equal(symlinkat("loop", s->fd, "usr/loop"), 0);
    put_list(s->fd, "game", "/usr/loop/x/y\n/usr/loop\n");
    check(s, "?game",
          "/bin /lib /usr /usr/bin /usr/bin/dash "
          "/usr/bin/game /usr/bin/sh" LIBS " /usr/loop");
}

static void the_owner_of_a_program_is_known(void **state)
{
    const struct scratch *s = *state;
    struct bz_arena a = {0};
    struct bz_str package;

    make_machine(s->fd);
    assert_true(bz_tool_paths_owner(s->path, BZ_STR("game"), &a, &package));
    assert_string_equal(package.p, "game");
    assert_true(bz_tool_paths_owner(s->path, BZ_STR("sh"), &a, &package));
    assert_string_equal(package.p, "dash");
    assert_false(bz_tool_paths_owner(s->path, BZ_STR("own"), &a, &package));
    assert_false(bz_tool_paths_owner(s->path, BZ_STR("none"), &a, &package));
    bz_arena_release(&a);
}

#define IN_SCRATCH(test)                                                               \
    cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(a_program_comes_with_its_package_and_what_that_needs),
        IN_SCRATCH(an_alternative_is_shown_with_its_links),
        IN_SCRATCH(a_program_of_no_package_is_shown_by_itself),
        IN_SCRATCH(a_diverted_file_is_shown_where_it_is),
        IN_SCRATCH(without_dpkg_all_is_shown),
        IN_SCRATCH(hostile_lists_do_no_harm),
        IN_SCRATCH(the_owner_of_a_program_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
