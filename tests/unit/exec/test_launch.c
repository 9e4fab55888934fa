#include "exec/launch.h"

#include "os/clock.h"
#include "tests/unit/exec/worktop.h"

/* A graph whose second and fourth tasks could run beside each other. */
static void tasks_run_in_sandboxes_that_other_threads_made(void **state)
{
    struct worktop *b = *state;

    b->opts.jobs = 4;
    for (int i = 0; i < 20; i++) {
        for (int t = 0; t < TASKS; t++)
            b->keys[t].b[1] = b->bases[t].b[1] = (uint8_t)(i + 1);
        b->scripts[X] = "mkdir -p a; echo x >a/x";
        b->scripts[Y] = "grep x a/x; echo y >a/y";
        assert_ok(worktop_run(b), &b->k->err);
        assert_string_equal(b->told, "D0 D1 D3 ");
    }
}

/* The thread that made a sandbox is what its processes die with: it has to stay. */
static void a_task_outlives_what_its_thread_does_next(void **state)
{
    struct worktop *b = *state;

    b->scripts[X] = "sleep 0.3; mkdir -p a; echo x >a/x";
    b->scripts[Y] = "sleep 0.3; grep x a/x";
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
}

/* It wants to see what is not there. */
static int job_with_view(void *ctx, uint32_t task, struct bz_arena *a,
                         struct bz_job *out, struct bz_err *err)
{
    static const struct bz_job_view none = {"/seen", "/nowhere/at/all"};
    int rc = worktop_job(ctx, task, a, out, err);

    out->views = &none;
    out->nviews = 1;
    return rc;
}

static void a_sandbox_that_cannot_be_made_fails_its_task(void **state)
{
    struct worktop *b = *state;

    b->opts.job = job_with_view;
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "F0 ");
    assert_int_equal(b->counts.blocked, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(tasks_run_in_sandboxes_that_other_threads_made),
        TEST(a_task_outlives_what_its_thread_does_next),
        TEST(a_sandbox_that_cannot_be_made_fails_its_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
