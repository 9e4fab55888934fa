#include "exec/filling.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/file.h>
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

static bool first_waits(void *ctx, uint32_t task)
{
    (void)ctx;
    return task == X;
}

static void what_bitzel_does_by_itself_is_output_too(void **state)
{
    struct worktop *b = *state;
    struct part part = {"f", "by hand\n", 0, 0};

    b->extra = &part;
    b->opts.job = job_with_part;
    b->opts.waits = first_waits;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(what_bitzel_does_by_itself_is_output_too),
        TEST(locks_hold_while_bitzel_does_its_part),
        TEST(what_bitzel_fails_to_do_fails_the_task),
        TEST(the_last_progress_is_told_before_the_end),
        TEST(an_interrupt_reaches_what_bitzel_does_by_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
