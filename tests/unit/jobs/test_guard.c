#include "jobs/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

/* ThreadSanitizer loses its way when a signal handler jumps. */
#if defined(__SANITIZE_THREAD__)
#define JUMPS 0
#else
#define JUMPS 1
#endif

static void fall(void *arg)
{
    int number = *(int *)arg;

    if (number == SIGABRT)
        abort();
    if (number > 0)
        raise(number);
}

static void a_crash_ends_the_function_alone(void **state)
{
    static const int numbers[] = {0,      SIGSEGV, SIGBUS,  SIGFPE,
                                  SIGILL, SIGABRT, SIGSEGV, 0};
    struct bz_err err;

    (void)state;
    assert_ok(bz_guard_open(&err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(numbers) && JUMPS; i++) {
        int number = numbers[i];

        assert_int_equal(bz_guard_run(fall, &number), numbers[i]);
    }
    bz_guard_close();
}

/* The real ones, which sanitizers would tell of before the processor does. */
#if defined(__clang__) || defined(__GNUC__)
#define AS_IT_IS __attribute__((no_sanitize("undefined"), noinline))
#else
#define AS_IT_IS
#endif

AS_IT_IS static void follow_null(void *arg)
{
    volatile int *volatile nowhere = NULL;

    *(volatile int *)arg = *nowhere; /* NOLINT */
}

#if defined(__x86_64__) || defined(__i386__) /* elsewhere that is 0 */
AS_IT_IS static void divide_by_zero(void *arg)
{
    volatile int some = 7, zero = 0;

    *(volatile int *)arg = some / zero; /* NOLINT */
}
#endif

/* NOLINTNEXTLINE(misc-no-recursion) */
AS_IT_IS static int deepen(volatile int *depth)
{
    volatile char frame[4096];

    frame[0] = 1;
    if (*depth < 0)
        return 0;
    return deepen(depth) + frame[0];
}

static void run_over(void *arg)
{
    volatile int *depth = arg;

    *depth = deepen(depth);
}

static void *really_fall(void *arg)
{
    static const struct {
        void (*fn)(void *arg);
        int number;
    } rows[] = {
        {follow_null,    SIGSEGV},
#if defined(__x86_64__) || defined(__i386__)
        {divide_by_zero, SIGFPE },
#endif
        {run_over,       SIGSEGV},
    };

    for (int round = 0; round < 3 && JUMPS; round++)
        for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
            int ignored = 0;

            if (bz_guard_run(rows[i].fn, &ignored) != rows[i].number)
                return NULL;
        }
    return arg;
}

static void what_really_crashes_is_caught(void **state)
{
    struct bz_err err;
    pthread_t thread;
    void *end;

    (void)state;
    assert_ok(bz_guard_open(&err), &err);
    assert_ptr_equal(really_fall(&err), &err);
    assert_int_equal(pthread_create(&thread, NULL, really_fall, &err), 0);
    pthread_join(thread, &end);
    assert_ptr_equal(end, &err);
    bz_guard_close();
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void *run_nothing(void *arg)
{
    return bz_guard_run(do_nothing, NULL) == 0 ? arg : NULL;
}

/* Of address space. */
static long pages(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    char line[100] = "";

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    fclose(f);
    return strtol(line, NULL, 10);
}

static void a_thread_that_ends_leaves_nothing(void **state)
{
    struct bz_err err;
    long before = 0;

    (void)state;
    assert_ok(bz_guard_open(&err), &err);
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        void *end;

        assert_int_equal(pthread_create(&thread, NULL, run_nothing, &err), 0);
        pthread_join(thread, &end);
        assert_ptr_equal(end, &err);
        if (i == 9)
            before = pages();
    }
    assert_true((pages() - before) * sysconf(_SC_PAGESIZE) < 1 << 20);
    bz_guard_close();
}

static void *fall_in_thread(void *arg)
{
    int number = SIGSEGV;

    for (int i = 0; i < 200 && JUMPS; i++)
        if (bz_guard_run(fall, &number) != SIGSEGV)
            return NULL;
    return arg;
}

static void threads_crash_each_on_their_own(void **state)
{
    pthread_t threads[4];
    struct bz_err err;
    void *end;

    (void)state;
    assert_ok(bz_guard_open(&err), &err);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fall_in_thread, &err), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &end);
        assert_ptr_equal(end, &err);
    }
    bz_guard_close();
}

/* Outside of a guarded function, and after the last user has closed. */
static void elsewhere_a_crash_is_a_crash(void **state)
{
    struct bz_err err;

    (void)state;
    for (int open = 0; open < 2; open++) {
        pid_t child = fork();
        int how;

        if (child == 0) {
            signal(SIGFPE, SIG_DFL);
            if (bz_guard_open(&err) < 0)
                _exit(1);
            if (!open)
                bz_guard_close();
            raise(SIGFPE);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how));
        assert_int_equal(WTERMSIG(how), SIGFPE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_ends_the_function_alone),
        cmocka_unit_test(what_really_crashes_is_caught),
        cmocka_unit_test(a_thread_that_ends_leaves_nothing),
        cmocka_unit_test(threads_crash_each_on_their_own),
        cmocka_unit_test(elsewhere_a_crash_is_a_crash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
