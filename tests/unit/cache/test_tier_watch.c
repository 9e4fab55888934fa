#include "cache/tier_watch.h"

#include <stdlib.h>

#include "base/sync.h"
#include "os/clock.h"
#include "tests/unit/bz_test.h"

#define SOON (30 * BZ_CLOCK_MS)

/* What the bodies and the test share; it outlives every call. */
static struct shared {
    struct bz_sync_mutex mu;
    struct bz_sync_cond changed;
    bool begun; /* mu: a body has its thread */
    bool open;  /* mu: it may end */
    int freed;  /* mu */
    int result; /* mu */
} shared;

static void raise_gate(void)
{
    bz_sync_lock(&shared.mu);
    shared.open = true;
    bz_sync_broadcast(&shared.changed);
    bz_sync_unlock(&shared.mu);
}

static int reset(void **state)
{
    (void)state;
    shared = (struct shared){.open = false};
    return 0;
}

static void quick(struct bz_worker *w, struct bz_cancel *cancel, void *ctx)
{
    (void)w;
    *(int *)ctx = bz_cancel_check(cancel) == 0 ? 7 : -1;
}

/* Until the gate is open, or, unless it is deaf, until nobody waits. */
static void wait_at_gate(struct bz_cancel *cancel, bool deaf)
{
    bz_sync_lock(&shared.mu);
    shared.begun = true;
    bz_sync_broadcast(&shared.changed);
    while (!shared.open && (deaf || bz_cancel_check(cancel) == 0))
        (void)bz_sync_wait(&shared.changed, &shared.mu, bz_clock_in(5 * BZ_CLOCK_MS));
    shared.result = bz_cancel_check(cancel);
    bz_sync_unlock(&shared.mu);
}

static void listening(struct bz_worker *w, struct bz_cancel *cancel, void *ctx)
{
    (void)w;
    (void)ctx;
    wait_at_gate(cancel, false);
}

static void deaf(struct bz_worker *w, struct bz_cancel *cancel, void *ctx)
{
    (void)w;
    (void)ctx;
    wait_at_gate(cancel, true);
}

static void free_ctx(void *ctx)
{
    free(ctx);
    bz_sync_lock(&shared.mu);
    shared.freed++;
    bz_sync_broadcast(&shared.changed);
    bz_sync_unlock(&shared.mu);
}

static struct bz_tier_watch_call *start(struct bz_tier_watch *w,
                                        bz_tier_watch_body body, int **ctx)
{
    *ctx = calloc(1, sizeof(**ctx));
    return bz_tier_watch_start(w, &(struct bz_tier_watch_job){body, free_ctx, *ctx});
}

/* The same; it has its thread, however busy the machine is. */
static struct bz_tier_watch_call *start_and_see(struct bz_tier_watch *w,
                                                bz_tier_watch_body body, int **ctx)
{
    struct bz_tier_watch_call *call = start(w, body, ctx);

    bz_sync_lock(&shared.mu);
    while (!shared.begun)
        (void)bz_sync_wait(&shared.changed, &shared.mu, BZ_CLOCK_NEVER);
    bz_sync_unlock(&shared.mu);
    return call;
}

static void what_ends_gives_its_context_back(void **state)
{
    struct bz_tier_watch *w = bz_tier_watch_new();
    int *ctx;

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(bz_tier_watch_wait(start(w, quick, &ctx), 0, NULL), 0);
        assert_int_equal(*ctx, 7);
        free(ctx);
    }
    assert_true(bz_tier_watch_close(w, bz_clock_in(BZ_CLOCK_S)));
    assert_int_equal(shared.freed, 0);
}

static void what_is_silent_is_told_to_stop_and_frees_its_context(void **state)
{
    struct bz_tier_watch *w = bz_tier_watch_new();
    int *ctx;

    (void)state;
    assert_int_equal(bz_tier_watch_wait(start_and_see(w, listening, &ctx), SOON, NULL),
                     BZ_E_TIMEOUT);
    assert_true(bz_tier_watch_close(w, bz_clock_in(20 * BZ_CLOCK_S)));
    assert_int_equal(shared.freed, 1);
    assert_int_equal(shared.result, BZ_E_CANCELED);
}

static void what_hangs_keeps_the_watch(void **state)
{
    struct bz_tier_watch *w = bz_tier_watch_new();
    int *ctx;

    (void)state;
    assert_int_equal(bz_tier_watch_wait(start_and_see(w, deaf, &ctx), SOON, NULL),
                     BZ_E_TIMEOUT);
    assert_false(bz_tier_watch_close(w, bz_clock_in(SOON)));
    assert_int_equal(shared.freed, 0);
    raise_gate();
    assert_true(bz_tier_watch_close(w, bz_clock_in(20 * BZ_CLOCK_S)));
    assert_int_equal(shared.freed, 1);
}

static void the_callers_token_ends_the_wait(void **state)
{
    struct bz_tier_watch *w = bz_tier_watch_new();
    struct bz_cancel cancel;
    int *ctx;

    (void)state;
    bz_cancel_init(&cancel, NULL, bz_clock_in(SOON));
    assert_int_equal(bz_tier_watch_wait(start_and_see(w, listening, &ctx), 0, &cancel),
                     BZ_E_CANCELED);
    assert_true(bz_tier_watch_close(w, bz_clock_in(20 * BZ_CLOCK_S)));
    assert_int_equal(shared.freed, 1);
}

static void what_gets_no_thread_is_busy_and_never_runs_late(void **state)
{
    enum { MANY = 70 };
    struct bz_tier_watch *w = bz_tier_watch_new();
    struct bz_tier_watch_call *calls[MANY];
    int *ctx, busy = 0;

    (void)state;
    for (int i = 0; i < MANY; i++)
        calls[i] = start(w, deaf, &ctx);
    for (int i = 0; i < MANY; i++) {
        int rc = bz_tier_watch_wait(calls[i], SOON, NULL);

        assert_true(rc == BZ_E_TIMEOUT || rc == BZ_E_BUSY);
        busy += rc == BZ_E_BUSY;
    }
    assert_true(busy > 0);
    raise_gate();
    assert_true(bz_tier_watch_close(w, bz_clock_in(20 * BZ_CLOCK_S)));
    assert_int_equal(shared.freed, MANY);
    assert_true(bz_tier_watch_close(NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_ends_gives_its_context_back, reset),
        cmocka_unit_test_setup(what_is_silent_is_told_to_stop_and_frees_its_context,
                               reset),
        cmocka_unit_test_setup(what_hangs_keeps_the_watch, reset),
        cmocka_unit_test_setup(the_callers_token_ends_the_wait, reset),
        cmocka_unit_test_setup(what_gets_no_thread_is_busy_and_never_runs_late, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
