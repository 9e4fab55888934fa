#include "report/console_draw.h"

#include "report/columns.h"
#include "tests/unit/report/console_desk.h"

/* A download, a compilation, and numbers of all kinds. */
static struct bz_console busy(void)
{
    struct bz_console c = desk();
    struct bz_event e = {.kind = BZ_EVENT_PROGRESS,
                         .what = "https://example.org/linux-6.tar.xz",
                         .total = 10 << 20};

    desk_start(&c, 2, 1);
    desk_start(&c, 60, 0);
    desk_tell(&c, 60, e);
    e.bytes = 5 << 20;
    desk_tell(&c, 62, e);
    desk_tell(
        &c, 64,
        (struct bz_event){
            .kind = BZ_EVENT_TICK,
            .slots_used = 3,
            .slots = 4,
            .work = 500 * BZ_CLOCK_S,
            .counts = {
                       .tasks = 30, .unneeded = 10, .cached = 5, .executed = 3, .noexec = 1}
    });
    c.memory = 41;
    c.keys = true;
    return c;
}

static void expect_lines(const struct bz_console *c, unsigned width, unsigned height,
                         const char *want)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_str rest, line;
    unsigned lines = 0;

    bz_console_draw(c, width, height, &b);
    if (want)
        assert_string_equal(bz_buf_text(&b), want);
    rest = bz_buf_str(&b);
    while (rest.p && bz_str_next_part(&rest, '\n', &line)) {
        lines++;
        assert_true(width < 2 || c->color || bz_columns_of(line, c->utf8) < width);
    }
    assert_true(lines == 1 || lines < height);
}

static void a_line_for_each_task_and_one_of_numbers(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = busy();

    (void)state;
    expect_lines(&c, 80, 24,
                 "  1m02s busybox:do_compile\n"
                 "     4s linux:do_fetch  50% of 10.0 MiB, 2.5 MiB/s linux-6.tar.xz\n"
                 "[ 45%] 3 executed, 5 cached of 20, 4m10s left, 1m04s, jobs 3/4, "
                 "memory 41%");
    expect_lines(&c, 200, 24,
                 "  1m02s busybox:do_compile\n"
                 "     4s linux:do_fetch  50% of 10.0 MiB, 2.5 MiB/s linux-6.tar.xz\n"
                 "[ 45%] 3 executed, 5 cached of 20, 4m10s left, 1m04s, jobs 3/4, "
                 "memory 41%, ? help");
    c.pressure = 7;
    expect_lines(&c, 200, 24,
                 "  1m02s busybox:do_compile\n"
                 "     4s linux:do_fetch  50% of 10.0 MiB, 2.5 MiB/s linux-6.tar.xz\n"
                 "[ 45%] 3 executed, 5 cached of 20, 4m10s left, 1m04s, jobs 3/4, "
                 "memory 41%, stalls 7%, ? help");
}

static void where_there_is_little_room_less_is_shown(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = busy();

    (void)state;
    expect_lines(&c, 40, 24,
                 "  1m02s busybox:do_compile\n"
                 "     4s linux:do_fetch  50% of 10.0 MiB\n"
                 "[ 45%] 3 executed, 5 cached, 4m10s left");
    expect_lines(&c, 24, 24,
                 "  1m02s bus~:do_compile\n"
                 "     4s linux:~  50% o~\n"
                 "[ 45%] 3 executed");
}

static void a_screen_of_any_size_will_do(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = busy();

    (void)state;
    for (uint32_t t = 2; t < DESK_TASKS; t++)
        desk_start(&c, 64, t);
    for (int pane = BZ_CONSOLE_TASKS; pane <= BZ_CONSOLE_HELP; pane++) {
        c.pane = (enum bz_console_pane)pane;
        c.tail = BZ_STR("a line of a log\nanother\n");
        for (unsigned width = 0; width < 90; width++)
            for (unsigned height = 0; height < 12; height++)
                expect_lines(&c, width, height, NULL);
    }
}

static void tasks_that_have_no_line_are_counted(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();

    (void)state;
    for (uint32_t t = 0; t < DESK_TASKS; t++)
        desk_start(&c, 0, t);
    expect_lines(&c, 50, 5,
                 "     0s linux:do_fetch\n     0s busybox:do_compile\n"
                 "        and 10 more\n[  0%] 0 executed, 0 cached of 20, 0s left, 0s");
    expect_lines(&c, 50, 2, "[  0%] 0 executed, 0 cached of 20, 0s left, 0s");
}

static void a_log_is_shown_in_place_of_tasks(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();

    (void)state;
    desk_tell(&c, 0,
              (struct bz_event){.kind = BZ_EVENT_STARTED, .task = 1, .work = -1});
    bz_console_key(&c, 'l');
    c.tail = BZ_STR("gcc -c a.c\n\x1b[31mbad\n");
    expect_lines(&c, 30, 24,
                 "log of busybox:do_compile\n| gcc -c a.c\n| ?[31mbad\n"
                 "[  0%] 0 executed, 0 cached");
    expect_lines(&c, 30, 4,
                 "log of busybox:do_compile\n| gcc -c a.c\n"
                 "[  0%] 0 executed, 0 cached");
    c.tail = BZ_STR("");
    expect_lines(&c, 46, 24,
                 "log of busybox:do_compile  (l: next, q: back)\n"
                 "| (it has printed nothing yet)\n"
                 "[  0%] 0 executed, 0 cached of 20, 0s");
    expect_lines(&c, 46, 3,
                 "log of busybox:do_compile  (l: next, q: back)\n"
                 "[  0%] 0 executed, 0 cached of 20, 0s");
}

static void failures_and_a_hold_are_seen_first_and_in_colour(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();

    (void)state;
    c.color = true;
    desk_tell(&c, 1,
              (struct bz_event){
                  .kind = BZ_EVENT_TICK,
                  .work = -1,
                  .counts = {.tasks = 2, .failed = 1, .blocked = 1}
    });
    bz_console_key(&c, 'p');
    expect_lines(&c, 80, 24,
                 "\033[1m[100%]\033[0m \033[33mheld: p goes on\033[0m, "
                 "\033[31m1 failed\033[0m, 0 executed, 0 cached of 2, 1s");
}

static void help_tells_of_every_key(void **state)
{
    struct bz_console c = desk();
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    bz_console_key(&c, '?');
    bz_console_draw(&c, 80, 24, &b);
    for (const char *key = "?lp+-q"; *key; key++) {
        char line[] = {*key, ' ', ' ', '\0'};

        assert_non_null(strstr(bz_buf_text(&b), line));
    }
}

static void without_a_terminal_it_is_one_line(void **state)
{
    BZ_CLEANUP(bz_console_release) struct bz_console c = desk();
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    desk_tell(&c, 5, (struct bz_event){.kind = BZ_EVENT_TICK, .work = -1});
    bz_console_draw_once(&c, &b);
    assert_string_equal(bz_buf_text(&b),
                        "Still looking for stored results after 5s, 0 of 20");
    bz_buf_truncate(&b, 0);
    desk_tell(&c, 7, (struct bz_event){.kind = BZ_EVENT_PLANNED, .work = -1});
    bz_console_draw_once(&c, &b);
    assert_string_equal(bz_buf_text(&b),
                        "Still waiting to run tasks after 7s, 0 of 20");
    for (uint32_t t = 1; t < 6; t++)
        desk_start(&c, 10 * (int)t, t);
    bz_buf_truncate(&b, 0);
    desk_tell(&c, 50,
              (struct bz_event){
                  .kind = BZ_EVENT_TICK,
                  .work = 100 * BZ_CLOCK_S,
                  .counts = {.tasks = 20, .unneeded = 4, .cached = 2, .executed = 1}
    });
    bz_console_draw_once(&c, &b);
    assert_string_equal(
        bz_buf_text(&b),
        "Still running after 50s, 3 of 16, 50s left: busybox:do_compile "
        "(40s), b:do_c (30s), d:do_e (20s) and 2 more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_for_each_task_and_one_of_numbers),
        cmocka_unit_test(where_there_is_little_room_less_is_shown),
        cmocka_unit_test(a_screen_of_any_size_will_do),
        cmocka_unit_test(tasks_that_have_no_line_are_counted),
        cmocka_unit_test(a_log_is_shown_in_place_of_tasks),
        cmocka_unit_test(failures_and_a_hold_are_seen_first_and_in_colour),
        cmocka_unit_test(help_tells_of_every_key),
        cmocka_unit_test(without_a_terminal_it_is_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
