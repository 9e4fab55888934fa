#include "exec/remark.h"

#include "tests/unit/exec/worktop.h"

static void hear(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;

    assert_int_equal(e->kind, BZ_EVENT_REMARK);
    assert_int_equal(e->task, Z);
    assert_true(strlen(e->what) <= BZ_REMARK_LONGEST);
    if (b->counts.executed++ == 0)
        assert_string_equal(e->what, "WARNING: hot");
}

static unsigned remarks(struct worktop *b, const char *log, bool errors)
{
    struct bz_exec x;
    char path[600];

    kitchen_make(b->k, log);
    worktop_open(b, &x);
    b->opts.event = hear;
    b->counts.executed = 0;
    snprintf(path, sizeof(path), "%s/log", b->k->scratch->path);
    bz_remark_tell(&x, Z, path, errors);
    worktop_close(&x);
    return b->counts.executed;
}

static void warnings_are_told_and_errors_if_wanted(void **state)
{
    struct worktop *b = *state;
    const char *log = "printf 'NOTE: a\\nWARNING: hot\\nERROR: bad\\n' >log";

    assert_int_equal(remarks(b, log, true), 2);
    assert_int_equal(remarks(b, log, false), 1);
}

static void what_only_mentions_a_warning_is_none(void **state)
{
    assert_int_equal(remarks(*state, "echo ' WARNING: x; WARNING:y' >log", true), 0);
    assert_int_equal(remarks(*state, "rm -f log; mkfifo log", true), 0);
    assert_int_equal(remarks(*state, "rm -f log", true), 0);
}

static void many_and_long_ones_are_bounded(void **state)
{
    assert_int_equal(remarks(*state, "yes 'WARNING: hot' | head -n 5000 >log", true),
                     BZ_REMARK_MOST + 1);
    assert_int_equal(remarks(*state,
                             "{ echo WARNING: hot; printf 'WARNING: '; head -c 99999 "
                             "/dev/zero | tr '\\0' x; } >log",
                             true),
                     2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(warnings_are_told_and_errors_if_wanted),
        TEST(what_only_mentions_a_warning_is_none),
        TEST(many_and_long_ones_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
