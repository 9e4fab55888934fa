#include "os/proc_pump.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "tests/unit/os/scratch.h"

#define SH(script) ((const char *const[]){"/bin/sh", "-c", (script), NULL})
#define LONG (60 * BZ_CLOCK_S) /* nothing here takes so long unless it hangs */

struct child {
    int done; /* how often */
    struct bz_proc_result r;
    size_t live_out, live_err; /* bytes seen by the live callback */
    struct bz_proc_pump *pump;
    struct bz_proc_id id;
    const struct bz_proc_spec *then; /* to be started when this one is done */
    struct child *next;
};

static void on_output(void *ctx, enum bz_proc_pump_stream from, struct bz_str bytes)
{
    struct child *c = ctx;

    *(from == BZ_PROC_PUMP_OUT ? &c->live_out : &c->live_err) += bytes.n;
}

static void start(struct bz_proc_pump *pump, const struct bz_proc_spec *spec,
                  struct child *c);

static void on_done(void *ctx, struct bz_proc_result *r)
{
    struct child *c = ctx;

    c->done++;
    c->r = *r;
    *r = (struct bz_proc_result){0};
    if (c->then)
        start(c->pump, c->then, c->next);
}

static void start(struct bz_proc_pump *pump, const struct bz_proc_spec *spec,
                  struct child *c)
{
    const struct bz_proc_handler handler = {
        .output = on_output, .done = on_done, .ctx = c};
    struct bz_err err;

    assert_ok(bz_proc_pump_add(pump, spec, &handler, &c->id, &err), &err);
}

static struct bz_proc_pump *open_pump(void)
{
    struct bz_proc_pump *pump;
    struct bz_err err;

    assert_ok(bz_proc_pump_open(&pump, &err), &err);
    return pump;
}

static void run_all(struct bz_proc_pump *pump)
{
    struct bz_err err;

    assert_ok(bz_proc_pump_run(pump, &err), &err);
    assert_int_equal(bz_proc_pump_count(pump), 0);
}

/* Runs rounds until the child has written something. */
static void run_until_output(struct bz_proc_pump *pump, const struct child *c)
{
    int64_t limit = bz_clock_in(LONG);
    struct bz_err err;

    while (!c->live_out && bz_clock_now() < limit)
        assert_ok(bz_proc_pump_run_once(pump, limit, &err), &err);
    assert_true(c->live_out > 0);
}

static void assert_text(const struct bz_capture *c, const char *want)
{
    size_t n;
    char *text = bz_capture_text(c, &n);

    assert_string_equal(text, want);
    free(text);
}

static void ends_are_reported_as_they_were(void **state)
{
    static const struct {
        const char *script;
        int exit_code, signal;
        const char *out, *err;
    } cases[] = {
        {"exit 0",                            0,   0,       "",        ""     },
        {"exit 7",                            7,   0,       "",        ""     },
        {"echo out; echo err >&2",            0,   0,       "out\n",   "err\n"},
        {"kill -KILL $$",                     -1,  SIGKILL, "",        ""     },
        {"printf x; kill -TERM $$",           -1,  SIGTERM, "x",       ""     },
        {"exec 1>&- 2>&-; exit 4",            4,   0,       "",        ""     },
        {"exec sh -c 'echo again; exit 255'", 255, 0,       "again\n", ""     },
    };
    struct bz_proc_pump *pump = open_pump();
    struct child children[BZ_COUNTOF(cases)] = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        start(pump, &(struct bz_proc_spec){.argv = SH(cases[i].script)}, &children[i]);
    run_all(pump);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct child *c = &children[i];

        if (c->done != 1 || c->r.exit_code != cases[i].exit_code ||
            c->r.signal != cases[i].signal)
            fail_msg("%s: done %d times, exit %d, signal %d", cases[i].script, c->done,
                     c->r.exit_code, c->r.signal);
        assert_int_equal(c->r.why, BZ_PROC_PUMP_ENDED);
        assert_text(&c->r.out, cases[i].out);
        assert_text(&c->r.err, cases[i].err);
        assert_int_equal(c->live_out, strlen(cases[i].out));
        assert_int_equal(c->live_err, strlen(cases[i].err));
        bz_proc_pump_release_result(&c->r);
    }
    bz_proc_pump_close(pump);
}

static void sixty_four_children_run_at_once(void **state)
{
    enum { N = 64 };
    size_t before = count_fds();
    struct bz_proc_pump *pump = open_pump();
    struct child children[N] = {0};
    char script[N][200];
    int gate[2];

    (void)state;
    /* Each says that it is there and waits for the end of its stdin, which comes only
     * when all have said so: they all run at the same time. */
    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    for (int i = 0; i < N; i++) {
        snprintf(script[i], sizeof(script[i]),
                 "echo child %d; cat; i=1; while [ $i -lt 50 ]; do echo child %d; "
                 "echo e >&2; i=$((i+1)); done; exit %d",
                 i, i, i);
        start(pump,
              &(struct bz_proc_spec){
                  .argv = SH(script[i]),
                  .in = {.kind = BZ_PROC_IN_FD, .fd = gate[0]},
        },
              &children[i]);
    }
    for (int i = 0; i < N; i++)
        run_until_output(pump, &children[i]);
    assert_int_equal(bz_proc_pump_count(pump), N);
    close(gate[0]);
    close(gate[1]);
    run_all(pump);
    for (int i = 0; i < N; i++) {
        char line[32];
        size_t n;
        char *text = bz_capture_text(&children[i].r.out, &n);

        snprintf(line, sizeof(line), "child %d\n", i);
        assert_int_equal(children[i].done, 1);
        assert_int_equal(children[i].r.exit_code, i);
        assert_int_equal(n, 50 * strlen(line));
        for (size_t at = 0; at < n; at += strlen(line))
            assert_memory_equal(text + at, line, strlen(line));
        assert_int_equal(children[i].r.err.total, 2 * 49);
        free(text);
        bz_proc_pump_release_result(&children[i].r);
    }
    bz_proc_pump_close(pump);
    assert_int_equal(count_fds(), before);
}

static void much_output_keeps_its_head_and_tail(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child c = {0};
    size_t n;
    char *text;

    (void)state;
    start(pump,
          &(struct bz_proc_spec){
              .argv = SH("echo first; head -c 3000000 /dev/zero; echo last >&2"),
              .err.kind = BZ_PROC_MERGE,
              .capture_max = 1000,
          },
          &c);
    run_all(pump);
    assert_int_equal(c.r.out.total, 3000000 + 6 + 5);
    assert_int_equal(c.live_out, c.r.out.total);
    assert_int_equal(bz_capture_cut(&c.r.out), c.r.out.total - 1000);
    assert_int_equal(c.r.err.total, 0);
    text = bz_capture_text(&c.r.out, &n);
    assert_memory_equal(text, "first\n", 6);
    assert_string_equal(text + n - 5, "last\n");
    free(text);
    bz_proc_pump_release_result(&c.r);
    bz_proc_pump_close(pump);
}

static void a_deadline_stops_the_whole_group(void **state)
{
    static const struct {
        const char *script;
        int64_t grace;
        int signal, exit_code;
    } cases[] = {
        {"sleep 1000 & wait",                          LONG,             SIGTERM, -1},
        {"trap 'exit 9' TERM; sleep 1000 & wait",      LONG,             0,       9 },
        {"trap '' TERM; while :; do sleep 1000; done", 50 * BZ_CLOCK_MS, SIGKILL, -1},
        {"kill -STOP $$",                              LONG,             SIGTERM, -1},
    };
    struct bz_proc_pump *pump = open_pump();
    struct child children[BZ_COUNTOF(cases)] = {0};
    int64_t begun = bz_clock_now(), deadline = bz_clock_in(300 * BZ_CLOCK_MS);

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        start(pump,
              &(struct bz_proc_spec){
                  .argv = SH(cases[i].script),
                  .deadline = deadline,
                  .grace = cases[i].grace,
              },
              &children[i]);
    run_all(pump);
    assert_true(bz_clock_now() >= deadline);
    assert_true(bz_clock_now() - begun < LONG / 2);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        const struct bz_proc_result *r = &children[i].r;

        if (r->signal != cases[i].signal || r->exit_code != cases[i].exit_code)
            fail_msg("%s: signal %d, exit %d", cases[i].script, r->signal,
                     r->exit_code);
        assert_int_equal(r->why, BZ_PROC_PUMP_TIMEOUT);
        bz_proc_pump_release_result(&children[i].r);
    }
    bz_proc_pump_close(pump);
}

static void a_child_that_closes_its_pipes_is_still_waited_for(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child c = {0};

    (void)state;
    start(pump, &(struct bz_proc_spec){.argv = SH("exec 1>&- 2>&-; sleep 0.2; exit 5")},
          &c);
    run_all(pump);
    assert_int_equal(c.r.exit_code, 5);
    /* It may have been running for a while when the pump gets to look at its clock. */
    assert_true(c.r.wall >= 100 * BZ_CLOCK_MS);
    bz_proc_pump_close(pump);
}

static void a_grandchild_that_keeps_the_pipe_does_not_hang_the_pump(void **state)
{
    static const char *const scripts[] = {
        "echo said; sleep 1000 & exit 6",
        /* One that is out of reach of the group's signals. */
        "echo said; setsid sleep 20 & exit 6",
        /* One that never stops writing. */
        "echo said; while :; do echo more; done & exit 6",
    };
    size_t before = count_fds();

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(scripts); i++) {
        struct bz_proc_pump *pump = open_pump();
        int64_t begun = bz_clock_now();
        struct child c = {0};

        start(pump, &(struct bz_proc_spec){.argv = SH(scripts[i])}, &c);
        run_all(pump);
        assert_int_equal(c.done, 1);
        assert_int_equal(c.r.exit_code, 6);
        assert_int_equal(c.r.why, BZ_PROC_PUMP_ENDED);
        assert_true(c.r.out.total >= 5);
        assert_true(bz_clock_now() - begun < 15 * BZ_CLOCK_S);
        bz_proc_pump_release_result(&c.r);
        bz_proc_pump_close(pump);
    }
    assert_int_equal(count_fds(), before);
}

static void output_after_the_exit_is_still_read(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child c = {0};

    (void)state;
    /* The grandchild ends well within the time for draining. */
    start(pump,
          &(struct bz_proc_spec){.argv = SH("(sleep 0.05; echo late) & echo early")},
          &c);
    run_all(pump);
    assert_text(&c.r.out, "early\nlate\n");
    bz_proc_pump_release_result(&c.r);
    bz_proc_pump_close(pump);
}

static void a_child_that_never_reads_its_stdin_ends(void **state)
{
    size_t size = 1 << 20; /* more than any pipe holds */
    char *input = calloc(1, size);
    struct bz_proc_pump *pump = open_pump();
    struct child ignores = {0}, counts = {0};
    struct bz_proc_spec spec = {
        .argv = SH("exit 0"),
        .in = {.kind = BZ_PROC_IN_BYTES, .bytes = {input, size}},
    };

    (void)state;
    start(pump, &spec, &ignores);
    spec.argv = (const char *const[]){"wc", "-c", NULL};
    start(pump, &spec, &counts);
    free(input); /* it was borrowed only for the call */
    run_all(pump);
    assert_int_equal(ignores.r.exit_code, 0);
    assert_text(&counts.r.out, "1048576\n");
    bz_proc_pump_release_result(&counts.r);
    bz_proc_pump_release_result(&ignores.r);
    bz_proc_pump_close(pump);
}

static void a_program_that_cannot_start_is_an_error_of_adding_it(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child c = {0};
    const struct bz_proc_handler handler = {.done = on_done, .ctx = &c};
    struct bz_proc_spec spec = {
        .argv = (const char *const[]){"no-such-tool", NULL}
    };
    size_t before = count_fds();
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_proc_pump_add(pump, &spec, &handler, NULL, &err), BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "no-such-tool"));
    assert_int_equal(bz_proc_pump_count(pump), 0);
    run_all(pump);
    assert_int_equal(c.done, 0);
    assert_int_equal(count_fds(), before);
    bz_proc_pump_close(pump);
}

static void stopping_one_leaves_the_others(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child stopped = {0}, other = {0};
    struct bz_proc_spec sleeper = {.argv = SH("echo up; sleep 1000 & wait")};

    (void)state;
    start(pump, &sleeper, &stopped);
    start(pump, &(struct bz_proc_spec){.argv = SH("exit 2")}, &other);
    run_until_output(pump, &stopped);
    bz_proc_pump_stop(pump, stopped.id);
    bz_proc_pump_stop(pump, stopped.id);
    run_all(pump);
    assert_int_equal(stopped.r.why, BZ_PROC_PUMP_STOPPED);
    assert_int_equal(stopped.r.signal, SIGTERM);
    assert_int_equal(other.r.why, BZ_PROC_PUMP_ENDED);
    assert_int_equal(other.r.exit_code, 2);
    bz_proc_pump_stop(pump, stopped.id); /* long gone */
    bz_proc_pump_release_result(&stopped.r);
    bz_proc_pump_close(pump);
}

static void *wake_from_outside(void *arg)
{
    bz_proc_pump_wake(arg);
    bz_proc_pump_wake(arg);
    return NULL;
}

static void another_thread_can_cancel(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child children[3] = {0};
    struct bz_proc_spec sleeper = {.argv = SH("sleep 1000 & wait")};
    pthread_t thread;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(children); i++)
        start(pump, &sleeper, &children[i]);
    assert_int_equal(pthread_create(&thread, NULL, wake_from_outside, pump), 0);
    assert_int_equal(bz_proc_pump_run(pump, &err), BZ_E_CANCELED);
    pthread_join(thread, NULL);
    assert_int_equal(bz_proc_pump_count(pump), 3);
    bz_proc_pump_stop_all(pump);
    while (bz_proc_pump_run(pump, &err) == BZ_E_CANCELED)
        ; /* the second wake may have come late */
    for (size_t i = 0; i < BZ_COUNTOF(children); i++) {
        assert_int_equal(children[i].done, 1);
        assert_int_equal(children[i].r.why, BZ_PROC_PUMP_STOPPED);
        bz_proc_pump_release_result(&children[i].r);
    }
    bz_proc_pump_close(pump);
}

static void a_round_without_children_waits_and_can_be_woken(void **state)
{
    int64_t deadline = bz_clock_in(20 * BZ_CLOCK_MS);
    struct bz_proc_pump *pump = open_pump();
    struct bz_err err;

    (void)state;
    while (bz_clock_now() < deadline)
        assert_ok(bz_proc_pump_run_once(pump, deadline, &err), &err);
    bz_proc_pump_wake(pump);
    assert_ok(bz_proc_pump_run_once(pump, BZ_CLOCK_NEVER, &err), &err);
    bz_proc_pump_close(pump);
}

static void drain_counter(void *ctx)
{
    int *fd = ctx;
    uint64_t count;

    assert_int_equal(read(*fd, &count, sizeof(count)), sizeof(count));
    *fd = -1;
}

static void a_watched_descriptor_is_served_in_the_loop(void **state)
{
    int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK), seen = fd;
    struct bz_proc_pump *pump = open_pump();
    struct bz_err err;

    (void)state;
    assert_ok(bz_proc_pump_watch(pump, fd, drain_counter, &seen, &err), &err);
    assert_ok(bz_proc_pump_run_once(pump, BZ_CLOCK_NEVER, &err), &err);
    assert_int_equal(seen, -1);
    assert_int_equal(bz_proc_pump_watch(pump, -1, drain_counter, &seen, &err), BZ_E_IO);
    bz_proc_pump_close(pump);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC); /* still ours */
    close(fd);
}

static void a_child_can_be_added_when_another_is_done(void **state)
{
    struct bz_proc_spec spec = {.argv = SH("exit 8")};
    struct bz_proc_pump *pump = open_pump();
    struct child second = {0};
    struct child first = {.pump = pump, .then = &spec, .next = &second};

    (void)state;
    start(pump, &spec, &first);
    run_all(pump);
    assert_int_equal(first.done, 1);
    assert_int_equal(second.done, 1);
    assert_int_equal(second.r.exit_code, 8);
    bz_proc_pump_close(pump);
}

static void closing_kills_what_still_runs(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child c = {0};

    (void)state;
    start(pump, &(struct bz_proc_spec){.argv = SH("echo up; sleep 1000 & wait")}, &c);
    run_until_output(pump, &c);
    bz_proc_pump_close(pump);
    assert_int_equal(c.done, 0);
    /* Reaped as well: there is no child left to wait for. */
    assert_int_equal(waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void cpu_time_and_memory_are_measured(void **state)
{
    struct bz_proc_pump *pump = open_pump();
    struct child busy = {0};

    (void)state;
    start(pump,
          &(struct bz_proc_spec){
              .argv = SH("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")},
          &busy);
    run_all(pump);
    assert_true(busy.r.user + busy.r.sys >= BZ_CLOCK_MS);
    assert_true(busy.r.user + busy.r.sys <= 2 * busy.r.wall + 100 * BZ_CLOCK_MS);
    assert_true(busy.r.max_rss > 100000);
    assert_true(busy.r.wall > 0);
    bz_proc_pump_close(pump);
}

static void an_ignored_sigchld_does_not_lose_the_status(void **state)
{
    struct bz_proc_pump *pump;
    struct child c = {0};

    (void)state;
    signal(SIGCHLD, SIG_IGN);
    pump = open_pump();
    start(pump, &(struct bz_proc_spec){.argv = SH("exit 3")}, &c);
    run_all(pump);
    assert_int_equal(c.r.exit_code, 3);
    bz_proc_pump_close(pump);
}

static void a_thousand_children_in_turn_leak_nothing(void **state)
{
    size_t before = count_fds();
    struct bz_proc_pump *pump = open_pump();
    size_t open_fds = count_fds();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct child c = {0};

        start(pump,
              &(struct bz_proc_spec){
                  .argv = (const char *const[]){"true", NULL}
        },
              &c);
        run_all(pump);
        assert_int_equal(c.r.exit_code, 0);
        assert_int_equal(count_fds(), open_fds);
    }
    bz_proc_pump_close(pump);
    assert_int_equal(count_fds(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_reported_as_they_were),
        cmocka_unit_test(sixty_four_children_run_at_once),
        cmocka_unit_test(much_output_keeps_its_head_and_tail),
        cmocka_unit_test(a_deadline_stops_the_whole_group),
        cmocka_unit_test(a_child_that_closes_its_pipes_is_still_waited_for),
        cmocka_unit_test(a_grandchild_that_keeps_the_pipe_does_not_hang_the_pump),
        cmocka_unit_test(output_after_the_exit_is_still_read),
        cmocka_unit_test(a_child_that_never_reads_its_stdin_ends),
        cmocka_unit_test(a_program_that_cannot_start_is_an_error_of_adding_it),
        cmocka_unit_test(stopping_one_leaves_the_others),
        cmocka_unit_test(another_thread_can_cancel),
        cmocka_unit_test(a_round_without_children_waits_and_can_be_woken),
        cmocka_unit_test(a_watched_descriptor_is_served_in_the_loop),
        cmocka_unit_test(a_child_can_be_added_when_another_is_done),
        cmocka_unit_test(closing_kills_what_still_runs),
        cmocka_unit_test(cpu_time_and_memory_are_measured),
        cmocka_unit_test(an_ignored_sigchld_does_not_lose_the_status),
        cmocka_unit_test(a_thousand_children_in_turn_leak_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
