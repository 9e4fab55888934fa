#include "exec/starved.h"

#include "tests/unit/os/scratch.h"

static void tell_kills(struct scratch *s, unsigned n)
{
    char text[64];

    snprintf(text, sizeof(text), "nr_free_pages 1\noom_kill %u\n", n);
    put(s->fd, "proc/vmstat", text);
}

static void what_was_killed_while_a_task_ran_counts(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_starved_release) struct bz_starved starved = {.root = s->path};

    make_dirs(s->fd, "proc");
    tell_kills(s, 5);
    bz_starved_begin(&starved, 100);
    assert_int_equal(bz_starved_since(&starved, 110, 120), 0);
    tell_kills(s, 7);
    assert_int_equal(bz_starved_since(&starved, 115, 130), 2);
    /* It began before that failure, and may be why it was killed. */
    assert_int_equal(bz_starved_since(&starved, 125, 140), 2);
    assert_int_equal(bz_starved_since(&starved, 135, 150), 0);
    tell_kills(s, 8);
    assert_int_equal(bz_starved_since(&starved, 145, 160), 1);
}

static void a_kernel_that_does_not_tell_killed_nothing(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_starved_release) struct bz_starved starved = {.root = s->path};

    bz_starved_begin(&starved, 100);
    assert_int_equal(bz_starved_since(&starved, 110, 120), 0);
    make_dirs(s->fd, "proc");
    tell_kills(s, 8); /* nobody knows how many of these are new */
    assert_int_equal(bz_starved_since(&starved, 110, 130), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(what_was_killed_while_a_task_ran_counts),
        scratch_test(a_kernel_that_does_not_tell_killed_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
