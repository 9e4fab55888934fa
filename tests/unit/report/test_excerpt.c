#include "report/excerpt.h"

#include "tests/unit/os/scratch.h"

static struct bz_arena arena;

static int teardown(void **state)
{
    bz_arena_release(&arena);
    return scratch_teardown(state);
}

static struct bz_excerpt take(struct scratch *s, const char *text, size_t max)
{
    struct bz_excerpt e = {0};
    struct bz_err err;

    put(s->fd, "log", text);
    assert_ok(bz_excerpt_read(&arena, bz_arena_printf(&arena, "%s/log", s->path).p, max,
                              0, &e, &err),
              &err);
    return e;
}

static void assert_is(struct bz_excerpt e, const char *want, bool cut)
{
    assert_int_equal(e.text.n, strlen(want));
    assert_memory_equal(e.text.p, want, e.text.n);
    assert_int_equal(e.cut, cut);
}

static void a_short_log_is_taken_whole(void **state)
{
    assert_is(take(*state, "one\ntwo\n", 100), "one\ntwo\n", false);
    assert_is(take(*state, "", 100), "", false);
    assert_is(take(*state, "12345678", 8), "12345678", false);
}

static void of_a_long_one_the_last_whole_lines_are(void **state)
{
    assert_is(take(*state, "one\ntwo\nthree\n", 8), "three\n", true);
    assert_is(take(*state, "a line without an end", 3), "end", true);
    assert_is(take(*state, "a line with its end\n", 4), "end\n", true);
}

static void what_is_for_terminals_is_left_out(void **state)
{
    assert_is(take(*state, "\x1b[01;31m\x1b[Kerror:\x1b[m no\r\n\ttab\a\x01", 100),
              "error: no\n\ttab", false);
    assert_is(take(*state, "\x1b]0;title\ax\x1b]8;;url\x1b\\y\x1b(Bz", 100), "xyz",
              false);
    assert_is(take(*state, "cut \x1b[3", 100), "cut ", false);
    assert_is(take(*state, "cut \x1b", 100), "cut ", false);
    assert_is(take(*state, "g\xc3\xbcn\x1b]title\nnext", 100), "g\xc3\xbcn\nnext",
              false);
}

static void one_that_was_written_later_is_not_taken(void **state)
{
    struct scratch *s = *state;
    struct bz_excerpt e;
    struct bz_err err;

    put(s->fd, "log", "x");
    assert_int_equal(bz_excerpt_read(&arena,
                                     bz_arena_printf(&arena, "%s/log", s->path).p, 9,
                                     1000, &e, &err),
                     BZ_E_NOENT);
    assert_int_equal(bz_excerpt_read(&arena, "/nowhere/log", 9, 0, &e, &err),
                     BZ_E_NOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, teardown)
        TEST(a_short_log_is_taken_whole),
        TEST(of_a_long_one_the_last_whole_lines_are),
        TEST(what_is_for_terminals_is_left_out),
        TEST(one_that_was_written_later_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
