#include "os/membarrier.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/bz_test.h"

#define ROUNDS 5000
#define DELAYS 256 /* lengths of the head start that are tried in turn */

/* Dekker's pattern: each side stores its flag and then reads the other's. Without a
 * barrier between the two, both can read the old value. */
struct dekker {
    atomic_int frequent, rare;
    atomic_int round;    /* rounds the rare side has opened */
    atomic_int finished; /* rounds the frequent side has done */
    int frequent_saw[ROUNDS];
};

static bool registered_or_skip(void)
{
    const char *must = getenv("BITZEL_MUST_WORK");

    if (bz_membarrier_register())
        return true;
    if (must && strcmp(must, "1") == 0)
        fail_msg("membarrier is not available and BITZEL_MUST_WORK is set");
    print_message("skipped: the kernel or a sandbox refuses membarrier\n");
    skip();
    return false;
}

/* Waits until *count exceeds i. Spins, so that both sides start close together, but
 * lets the other side run if there is only one processor. */
static void wait_beyond(atomic_int *count, int i)
{
    for (int spins = 0; atomic_load_explicit(count, memory_order_acquire) <= i; spins++)
        if (spins > 10000)
            sched_yield();
}

static void *frequent_side(void *arg)
{
    struct dekker *d = arg;

    for (int i = 0; i < ROUNDS; i++) {
        wait_beyond(&d->round, i);
        atomic_store_explicit(&d->frequent, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the compiler stays in order */
        d->frequent_saw[i] = atomic_load_explicit(&d->rare, memory_order_relaxed);
        atomic_store_explicit(&d->finished, i + 1, memory_order_release);
    }
    return NULL;
}

static void registering_again_is_fine(void **state)
{
    (void)state;
    if (!registered_or_skip())
        return;
    assert_true(bz_membarrier_register());
    bz_membarrier_all();
}

static void one_side_pays_for_both(void **state)
{
    struct dekker *d;
    pthread_t thread;
    int both_missed = 0;

    (void)state;
    if (!registered_or_skip())
        return;
    d = calloc(1, sizeof(*d));
    assert_int_equal(pthread_create(&thread, NULL, frequent_side, d), 0);
    for (int i = 0; i < ROUNDS; i++) {
        int saw;

        atomic_store_explicit(&d->frequent, 0, memory_order_relaxed);
        atomic_store_explicit(&d->rare, 0, memory_order_relaxed);
        atomic_store_explicit(&d->round, i + 1, memory_order_release);
        for (int j = 0; j < i % DELAYS; j++)
            atomic_signal_fence(memory_order_seq_cst);
        atomic_store_explicit(&d->rare, 1, memory_order_relaxed);
        bz_membarrier_all();
        saw = atomic_load_explicit(&d->frequent, memory_order_relaxed);
        wait_beyond(&d->finished, i);
        both_missed += !saw && !d->frequent_saw[i];
    }
    pthread_join(thread, NULL);
    free(d);
    assert_int_equal(both_missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registering_again_is_fine),
        cmocka_unit_test(one_side_pays_for_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
