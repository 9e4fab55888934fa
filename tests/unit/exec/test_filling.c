#include "exec/filling.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs.h"
#include "tests/unit/exec/worktop.h"

/* A part that bitzel does by itself. */
struct part {
    const char *file, *text; /* to be written, below the top */
    int fails;
    unsigned released;
};

static int part_run(void *ctx, const char *top, int log,
                    const struct bz_job_progress *progress, struct bz_cancel *cancel,
                    struct bz_err *err)
{
    const struct part *p = ctx;
    char path[400];

    if (p->fails)
        return bz_fail(err, p->fails, "nobody has it");
    snprintf(path, sizeof(path), "%s/%s", top, p->file);
    dprintf(log, "writing\n");
    progress->tell(progress->ctx, "a file", 1, 0);
    progress->tell(progress->ctx, "a file", 7, 9);
    progress->fetched(progress->ctx, "a file", 9, 5);
    progress->fetched(progress->ctx, "another", 0, 1);
    assert_int_equal(bz_cancel_check(cancel), 0);
    return bz_fs_write(AT_FDCWD, path, p->text, strlen(p->text), 0644, BZ_FS_NOSYNC,
                       err);
}

static void part_release(void *ctx)
{
    ((struct part *)ctx)->released++;
}

static int job_with_part(void *ctx, uint32_t task, struct bz_arena *a,
                         struct bz_job *out, struct bz_err *err)
{
    struct worktop *b = ctx;
    int rc = worktop_job(ctx, task, a, out, err);

    if (task == X)
        out->fill = (struct bz_job_fill){part_run, part_release, b->extra};
    return rc;
}

/* Every task locks the file; two have a part that bitzel does, before their scripts. */
struct shared {
    char path[300];
    const char *paths[1];
};

static int shared_run(void *ctx, const char *top, int log,
                      const struct bz_job_progress *progress, struct bz_cancel *cancel,
                      struct bz_err *err)
{
    struct shared *s = ctx;
    int fd = open(s->path, O_RDWR | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

    (void)top;
    (void)log;
    (void)progress;
    (void)cancel;
    close(fd);
    return locked ? 0 : bz_fail(err, BZ_E_INVAL, "it is not locked");
}

static int job_with_lock(void *ctx, uint32_t task, struct bz_arena *a,
                         struct bz_job *out, struct bz_err *err)
{
    struct worktop *b = ctx;
    struct shared *s = b->extra;
    int rc = worktop_job(ctx, task, a, out, err);

    out->locks = s->paths;
    out->nlocks = 1;
    if (task == X || task == W)
        out->fill = (struct bz_job_fill){shared_run, NULL, s};
    return rc;
}

static int all_run(void *ctx, const char *top, int log,
                   const struct bz_job_progress *progress, struct bz_cancel *cancel,
                   struct bz_err *err)
{
    const struct worktop *b = ctx;
    BZ_CLEANUP(bz_fs_closep) int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = shared_run(b->extra, top, log, progress, cancel, err);

    if (rc == 0)
        rc = bz_fs_mkdirs(dir, "d", 0755, err);
    if (rc == 0)
        rc = bz_fs_write(dir, "d/new", "y\n", 2, 0644, BZ_FS_NOSYNC, err);
    return rc < 0 ? rc : bz_fs_write(dir, "f", "y\n", 2, 0644, BZ_FS_NOSYNC, err);
}

static int never_run(void *ctx, const char *top, int log,
                     const struct bz_job_progress *progress, struct bz_cancel *cancel,
                     struct bz_err *err)
{
    (void)ctx;
    (void)top;
    (void)log;
    (void)progress;
    (void)cancel;
    return bz_fail(err, BZ_E_INVAL, "it was filled");
}

static int job_that_fails_first(void *ctx, uint32_t task, struct bz_arena *a,
                                struct bz_job *out, struct bz_err *err)
{
    int rc = worktop_job(ctx, task, a, out, err);

    out->before = BZ_STR("exit 5");
    out->fill = (struct bz_job_fill){never_run, NULL, ctx};
    return rc;
}

static void locks_hold_while_bitzel_does_its_part(void **state)
{
    struct worktop *b = *state;
    struct shared s = {.paths = {s.path}};

    snprintf(s.path, sizeof(s.path), "%s/lock", b->k->scratch->path);
    b->extra = &s;
    b->opts.job = job_with_lock;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
}

/* Y finds what X left, deletes some of it, is given a part, and goes on with both. */
static int job_with_all(void *ctx, uint32_t task, struct bz_arena *a,
                        struct bz_job *out, struct bz_err *err)
{
    int rc = job_with_lock(ctx, task, a, out, err);

    out->fill.run = NULL;
    if (task == Y) {
        out->before = BZ_STR("set -e; cat f; rm -r f d");
        out->fill = (struct bz_job_fill){all_run, NULL, ctx};
    }
    return rc;
}

static void what_goes_before_its_part_does_so(void **state)
{
    struct worktop *b = *state;
    struct shared s = {.paths = {s.path}};

    snprintf(s.path, sizeof(s.path), "%s/lock", b->k->scratch->path);
    b->extra = &s;
    b->opts.job = job_with_all;
    b->scripts[X] = "echo x >f; mkdir d; echo x >d/old; echo x >kept";
    b->scripts[W] =
        "test ! -e d/old -a \"$(cat f d/new kept)\" = \"$(printf 'y\\ny\\nx')\"";
    for (int i = 0; i < 2; i++) { /* with a script after it, and without */
        b->keys[Y].b[1] = b->bases[Y].b[1] = b->keys[W].b[1] = b->bases[W].b[1] =
            (uint8_t)i;
        b->scripts[Y] = i == 0 ? "test ! -e d/old; cat f d/new" : "";
        assert_ok(worktop_run(b), &b->k->err);
        assert_string_equal(b->told, i == 0 ? "D0 D1 D3 " : "C0 D1 D3 ");
    }
    b->keys[Y].b[1] = b->bases[Y].b[1] = b->keys[W].b[1] = b->bases[W].b[1] = 7;
    b->opts.job = job_that_fails_first;
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "C0 F1 ");
}

static void what_bitzel_does_by_itself_is_output_too(void **state)
{
    struct worktop *b = *state;
    struct part part = {"f", "by hand\n", 0, 0};
    struct bz_bitset waits = {0};

    b->extra = &part;
    b->opts.job = job_with_part;
    bz_bitset_set(&waits, X);
    b->opts.waits = &waits;
    b->scripts[X] = "";
    b->scripts[Y] = "grep 'by hand' f";
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
    assert_int_equal(part.released, 1);
    /* The same with a script after it, which sees what was written. */
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = b->bases[t].b[1] = 1;
    b->scripts[X] = "grep 'by hand' f; echo more >>f";
    b->scripts[Y] = "grep more f";
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
    assert_int_equal(part.released, 2);
    bz_bitset_release(&waits);
}

static void what_bitzel_fails_to_do_fails_the_task(void **state)
{
    struct worktop *b = *state;
    struct part part = {"f", "", BZ_E_NOENT, 0};

    b->extra = &part;
    b->opts.job = job_with_part;
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "F0 ");
    assert_int_equal(b->counts.blocked, 3);
    assert_int_equal(part.released, 1);
}

static void hear_progress(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;
    size_t n = strlen(b->told);

    if (e->kind == BZ_EVENT_PROGRESS)
        snprintf(b->told + n, sizeof(b->told) - n, "%s%u:%u/%u ", e->what, e->task,
                 (unsigned)e->bytes, (unsigned)e->total);
    if (e->kind == BZ_EVENT_FETCHED)
        snprintf(b->told + n, sizeof(b->told) - n, "%s%u:%u,%u ", e->what, e->task,
                 (unsigned)e->bytes, (unsigned)e->ns);
    worktop_hear(ctx, e);
}

static void the_last_progress_is_told_before_the_end(void **state)
{
    struct worktop *b = *state;
    struct part part = {"f", "", 0, 0};

    b->extra = &part;
    b->opts.job = job_with_part;
    b->opts.event = hear_progress;
    b->scripts[X] = "";
    assert_ok(worktop_run(b), &b->k->err);
    assert_non_null(strstr(b->told, "a file0:7/9 a file0:9,5 another0:0,1 D0 D1 "));
}

/* Never ends by itself. */
static int wait_for_end(void *ctx, const char *top, int log,
                        const struct bz_job_progress *progress,
                        struct bz_cancel *cancel, struct bz_err *err)
{
    const struct worktop *b = ctx;
    int64_t end = bz_clock_in(10 * BZ_CLOCK_S);

    (void)top;
    (void)log;
    (void)progress;
    assert_int_equal(eventfd_write(b->opts.interrupt_fd, 1), 0);
    while (bz_cancel_check(cancel) == 0 && bz_clock_now() < end)
        usleep(1000);
    return bz_fail(err, BZ_E_CANCELED, "stopped");
}

static int endless_job(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                       struct bz_err *err)
{
    int rc = worktop_job(ctx, task, a, out, err);

    out->fill = (struct bz_job_fill){wait_for_end, NULL, ctx};
    return rc;
}

static void take_event(void *ctx)
{
    struct worktop *b = ctx;
    eventfd_t n;

    assert_int_equal(eventfd_read(b->opts.interrupt_fd, &n), 0);
}

static void an_interrupt_reaches_what_bitzel_does_by_itself(void **state)
{
    struct worktop *b = *state;
    int64_t began = bz_clock_now();

    b->opts.job = endless_job;
    b->opts.interrupt_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    b->opts.interrupt = take_event;
    b->opts.interrupt_ctx = b;
    assert_int_equal(worktop_run(b), BZ_E_CANCELED);
    assert_true(bz_clock_now() - began < 5 * BZ_CLOCK_S);
    assert_string_equal(b->told, "");
    close(b->opts.interrupt_fd);
}

static int woken = -1; /* by the signal */

static void wake(int sig)
{
    const uint64_t one = 1;

    (void)sig;
    (void)!write(woken, &one, sizeof(one));
}

static int slow_job(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                    struct bz_err *err)
{
    int rc = job_with_all(ctx, task, a, out, err);

    if (task == Y)
        out->before = BZ_STR("trap '' TERM; sleep 1; rm -r f d");
    return rc;
}

/* What goes before the part ends well though it was asked to end; the task has not. */
static void an_interrupt_before_its_part_leaves_no_result(void **state)
{
    const struct itimerval soon = {.it_value.tv_usec = 500000};
    struct worktop *b = *state;
    struct shared s = {.paths = {s.path}};

    snprintf(s.path, sizeof(s.path), "%s/lock", b->k->scratch->path);
    b->extra = &s;
    b->opts.job = slow_job;
    b->scripts[X] = "echo x >f; mkdir d; echo x >d/old; echo x >kept";
    b->scripts[Y] = "";
    b->opts.interrupt_fd = woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    b->opts.interrupt = take_event;
    b->opts.interrupt_ctx = b;
    (void)signal(SIGALRM, wake);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_int_equal(worktop_run(b), BZ_E_CANCELED);
    (void)signal(SIGALRM, SIG_DFL);
    close(woken);
    b->opts.interrupt_fd = -1;
    b->opts.job = job_with_all;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C0 D1 D3 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(what_bitzel_does_by_itself_is_output_too),
        TEST(locks_hold_while_bitzel_does_its_part),
        TEST(what_goes_before_its_part_does_so),
        TEST(what_bitzel_fails_to_do_fails_the_task),
        TEST(the_last_progress_is_told_before_the_end),
        TEST(an_interrupt_reaches_what_bitzel_does_by_itself),
        TEST(an_interrupt_before_its_part_leaves_no_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
