#include "report/console.h"

#include "tests/unit/report/console_desk.h"

static void tasks_run_from_their_start_to_their_end(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();

    (void)state;
    for (uint32_t t = 0; t < 3; t++)
        desk_start(&c, (int)t, t);
    desk_tell(&c, 5, (struct bz_event){.kind = BZ_EVENT_FAILED, .task = 1});
    desk_tell(&c, 6, (struct bz_event){.kind = BZ_EVENT_DONE, .task = 7});
    assert_int_equal(c.running.len, 2);
    assert_int_equal(c.running.at[0].task, 0);
    assert_int_equal(c.running.at[1].task, 2);
    desk_tell(&c, 7, (struct bz_event){.kind = BZ_EVENT_PLANNED});
    assert_int_equal(c.running.len, 0);
}

static void the_rate_of_a_download_is_that_of_the_last_second(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();
    struct bz_event e = {.kind = BZ_EVENT_PROGRESS, .what = "a", .total = 900};

    (void)state;
    desk_tell(&c, 0, e); /* it does not run */
    desk_start(&c, 0, 0);
    desk_tell(&c, 1, e);
    assert_int_equal(c.running.at[0].rate, 0);
    e.bytes = 300;
    desk_tell(&c, 3, e);
    assert_int_equal(c.running.at[0].rate, 150);
    e.bytes = 800;
    desk_tell(&c, 4, e);
    assert_int_equal(c.running.at[0].rate, 500);
    e.what = "b";
    desk_tell(&c, 5, e);
    assert_int_equal(c.running.at[0].rate, 0);
    e.bytes = 1; /* it began anew */
    desk_tell(&c, 7, e);
    assert_int_equal(c.running.at[0].rate, 0);
}

static void keys_choose_what_is_shown(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();
    struct bz_event start = {.kind = BZ_EVENT_STARTED, .task = 1, .log = "/log1"};

    (void)state;
    bz_console_key(&c, 'l');
    assert_int_equal(c.pane, BZ_CONSOLE_TASKS); /* nothing runs */
    bz_console_key(&c, '?');
    assert_int_equal(c.pane, BZ_CONSOLE_HELP);
    bz_console_key(&c, '?');
    assert_int_equal(c.pane, BZ_CONSOLE_TASKS);
    desk_start(&c, 0, 0);
    desk_tell(&c, 0, start);
    bz_console_key(&c, 'l');
    assert_null(bz_console_log(&c)); /* the first has none */
    bz_console_key(&c, 'l');
    assert_string_equal(bz_console_log(&c), "/log1");
    bz_console_key(&c, 'l');
    assert_int_equal(c.followed, 0);
    desk_tell(&c, 1, (struct bz_event){.kind = BZ_EVENT_DONE, .task = 0});
    assert_string_equal(bz_console_log(&c), "/log1");
    bz_console_key(&c, 'q');
    assert_null(bz_console_log(&c));
    bz_console_key(&c, 'l');
    desk_tell(&c, 1, (struct bz_event){.kind = BZ_EVENT_DONE, .task = 1});
    assert_int_equal(c.pane, BZ_CONSOLE_TASKS);
    bz_console_key(&c, 'p');
    assert_true(c.hold);
    bz_console_key(&c, 'p');
    assert_false(c.hold);
    bz_console_key(&c, 'x');
}

static void lines_are_as_many_as_wanted_and_the_screen_has(void **state)
{
    struct bz_console c = desk();

    (void)state;
    assert_int_equal(bz_console_room(&c, 24), BZ_CONSOLE_LINES);
    assert_int_equal(bz_console_room(&c, 5), 3);
    assert_int_equal(bz_console_room(&c, 2), 0);
    assert_int_equal(bz_console_room(&c, 0), 0);
    for (int i = 0; i < 100; i++)
        bz_console_key(&c, '-');
    assert_int_equal(bz_console_room(&c, 24), 1);
    for (int i = 0; i < 1000; i++)
        bz_console_key(&c, '+');
    assert_int_equal(bz_console_room(&c, 24), 22);
}

static void what_is_left_is_the_longer_of_chain_and_work(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();
    struct bz_event e = {.kind = BZ_EVENT_STARTED,
                         .expect = 10 * BZ_CLOCK_S,
                         .ahead = 30 * BZ_CLOCK_S,
                         .work = -1};

    (void)state;
    desk_tell(&c, 0, e);
    assert_int_equal(bz_console_left(&c), -1);
    e.kind = BZ_EVENT_TICK;
    e.work = 40 * BZ_CLOCK_S;
    desk_tell(&c, 4, e);
    assert_int_equal(bz_console_left(&c), 26 * BZ_CLOCK_S);
    e.work = 104 * BZ_CLOCK_S; /* by two at a time */
    desk_tell(&c, 4, e);
    assert_int_equal(bz_console_left(&c), 50 * BZ_CLOCK_S);
    e.work = 40 * BZ_CLOCK_S;
    desk_tell(&c, 99, e); /* longer than it was thought to: 20 are to come after it */
    assert_int_equal(bz_console_left(&c), 20 * BZ_CLOCK_S);
}

static void silence_is_noticed(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();
    struct bz_event tick = {.kind = BZ_EVENT_TICK};

    (void)state;
    desk_tell(&c, 10, tick);
    assert_false(bz_console_beat(&c)); /* it is not wanted */
    c.beat = 30 * BZ_CLOCK_S;
    desk_tell(&c, 11, (struct bz_event){.kind = BZ_EVENT_CACHED, .task = 3});
    desk_tell(&c, 40, tick);
    assert_false(bz_console_beat(&c));
    desk_tell(&c, 41, tick);
    assert_true(bz_console_beat(&c)); /* although nothing runs */
    desk_start(&c, 42, 1);
    desk_start(&c, 42, 2);
    assert_false(bz_console_beat(&c));
    desk_tell(&c, 60, (struct bz_event){.kind = BZ_EVENT_DONE, .task = 1});
    desk_tell(&c, 89, tick);
    assert_false(bz_console_beat(&c));
    desk_tell(&c, 90, tick);
    assert_true(bz_console_beat(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_run_from_their_start_to_their_end),
        cmocka_unit_test(the_rate_of_a_download_is_that_of_the_last_second),
        cmocka_unit_test(keys_choose_what_is_shown),
        cmocka_unit_test(lines_are_as_many_as_wanted_and_the_screen_has),
        cmocka_unit_test(what_is_left_is_the_longer_of_chain_and_work),
        cmocka_unit_test(silence_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
