#include "os/futex.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

#define SLEEPERS 4

struct shared {
    atomic_uint word;
    atomic_uint ready;
    atomic_uint awake;
};

static void *sleeper(void *arg)
{
    struct shared *s = arg;

    atomic_fetch_add(&s->ready, 1);
    bz_futex_wake(&s->ready, INT_MAX);
    while (atomic_load(&s->word) == 0)
        bz_futex_wait(&s->word, 0, BZ_CLOCK_NEVER);
    atomic_fetch_add(&s->awake, 1);
    return NULL;
}

static void a_changed_word_does_not_put_to_sleep(void **state)
{
    atomic_uint word = 1;

    (void)state;
    /* Would hang here if it slept. */
    assert_true(bz_futex_wait(&word, 0, BZ_CLOCK_NEVER));
}

static void the_deadline_ends_the_sleep(void **state)
{
    int64_t deadline = bz_clock_in(20 * BZ_CLOCK_MS);
    atomic_uint word = 0;

    (void)state;
    while (bz_futex_wait(&word, 0, deadline))
        ;
    assert_true(bz_clock_now() >= deadline);
    assert_false(bz_futex_wait(&word, 0, 1)); /* long past */
}

static void waking_all_wakes_all(void **state)
{
    struct shared s = {0};
    pthread_t threads[SLEEPERS];
    unsigned seen;

    (void)state;
    for (int i = 0; i < SLEEPERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sleeper, &s), 0);
    while ((seen = atomic_load(&s.ready)) < SLEEPERS)
        bz_futex_wait(&s.ready, seen, BZ_CLOCK_NEVER);
    atomic_store(&s.word, 1);
    bz_futex_wake(&s.word, INT_MAX);
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&s.awake), SLEEPERS);
}

static void *sleep_elsewhere(void *arg)
{
    struct shared *s = arg;

    while (atomic_load(&s->word) == 0)
        bz_futex_wait_shared(&s->word, 0, bz_clock_in(60 * BZ_CLOCK_S));
    atomic_fetch_add(&s->awake, 1);
    return NULL;
}

/* As two processes have it: one page at two addresses. */
static void a_shared_word_is_the_same_at_every_address(void **state)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    int64_t begin = bz_clock_now();
    struct shared *here, *there;
    pthread_t thread;

    (void)state;
    assert_int_equal(ftruncate(fd, 4096), 0);
    here = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    there = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(here, there);
    assert_int_equal(pthread_create(&thread, NULL, sleep_elsewhere, there), 0);
    usleep(20000);
    atomic_store(&here->word, 1);
    bz_futex_wake_shared(&here->word, INT_MAX);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&here->awake), 1);
    assert_true(bz_clock_now() - begin < 60 * BZ_CLOCK_S);
    assert_false(bz_futex_wait_shared(&here->word, 1, 1));
    munmap(here, 4096);
    munmap(there, 4096);
    close(fd);
}

static void waking_nobody_is_harmless(void **state)
{
    atomic_uint word = 7;

    (void)state;
    bz_futex_wake(&word, 1);
    assert_int_equal(atomic_load(&word), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_word_does_not_put_to_sleep),
        cmocka_unit_test(the_deadline_ends_the_sleep),
        cmocka_unit_test(waking_all_wakes_all),
        cmocka_unit_test(a_shared_word_is_the_same_at_every_address),
        cmocka_unit_test(waking_nobody_is_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
