#include "jobs/guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/defs.h"
#include "base/sync.h"

#define STACK ((size_t)64 << 10)

/* A signal handler can find nothing but what is global or the thread's own. */
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct {
    struct bz_sync_mutex mutex;
    unsigned users;
    bool has_key; /* which stays, once it is there */
    pthread_key_t stack;
    struct sigaction before[BZ_COUNTOF(signals)];
} guard;
static _Thread_local sigjmp_buf *way_out;

static void caught(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (way_out && info->si_code != SI_USER) /* another process cannot end a handler */
        siglongjmp(*way_out, number);
    for (size_t i = 0; i < BZ_COUNTOF(signals); i++)
        if (signals[i] == number)
            sigaction(number, &guard.before[i], NULL);
    /* Comes again when this returns, to whoever was there before. */
    if (info->si_code <= 0)
        raise(number);
}

/* A thread ends that has a stack of ours. */
static void free_stack(void *stack)
{
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(stack, STACK);
}

static int make_key(struct bz_err *err) BZ_REQUIRES(guard.mutex)
{
    int number = guard.has_key ? 0 : pthread_key_create(&guard.stack, free_stack);

    if (number != 0) {
        errno = number;
        return bz_fail_sys(err, "keep stacks for signals");
    }
    guard.has_key = true;
    return 0;
}

int bz_guard_open(struct bz_err *err)
{
    struct sigaction action = {.sa_sigaction = caught,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    int rc;

    sigemptyset(&action.sa_mask);
    bz_sync_lock(&guard.mutex);
    rc = make_key(err);
    for (size_t i = 0; i < BZ_COUNTOF(signals) && guard.users == 0 && rc == 0; i++)
        if (sigaction(signals[i], &action, &guard.before[i]) < 0)
            rc = bz_fail_sys(err, "handle signal %d", signals[i]);
    if (rc == 0)
        guard.users++;
    bz_sync_unlock(&guard.mutex);
    return rc;
}

void bz_guard_close(void)
{
    bz_sync_lock(&guard.mutex);
    if (--guard.users == 0)
        for (size_t i = 0; i < BZ_COUNTOF(signals); i++)
            sigaction(signals[i], &guard.before[i], NULL);
    bz_sync_unlock(&guard.mutex);
}

/* A stack that has run over needs another to be told on. It goes with the thread. And a
 * fault while its signal is blocked, as threads of a pool have it, is the end. */
static void prepare_thread(void)
{
    stack_t now, own = {.ss_size = STACK};
    sigset_t all;

    sigemptyset(&all);
    for (size_t i = 0; i < BZ_COUNTOF(signals); i++)
        sigaddset(&all, signals[i]);
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    if (sigaltstack(NULL, &now) < 0 || !(now.ss_flags & SS_DISABLE))
        return;
    own.ss_sp =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own.ss_sp == MAP_FAILED)
        return;
    if (sigaltstack(&own, NULL) < 0)
        munmap(own.ss_sp, STACK);
    else if (pthread_setspecific(guard.stack, own.ss_sp) != 0)
        free_stack(own.ss_sp);
}

int bz_guard_run(void (*fn)(void *arg), void *arg)
{
    static _Thread_local bool ready;
    sigjmp_buf here;
    int number;

    if (!ready) {
        prepare_thread();
        ready = true;
    }
    /* Without the mask, which would cost a system call each time. */
    number = sigsetjmp(here, 0);
    if (number == 0) {
        way_out = &here;
        fn(arg);
    }
    way_out = NULL;
    if (number != 0) {
        sigset_t one;

        sigemptyset(&one);
        sigaddset(&one, number);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    }
    return number;
}
