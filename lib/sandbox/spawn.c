#include "sandbox/spawn.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#define GUARD ((size_t)4096)

/* The C library's other name for clone(2). The thread sanitizer takes the usual one for
 * a fork, whose child has memory of its own. */
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);

int bz_spawn_stack_new(void **out, struct bz_err *err)
{
    char *p = mmap(NULL, GUARD + BZ_SPAWN_STACK, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (p == MAP_FAILED)
        return bz_fail_sys(err, "make a stack");
    if (mprotect(p, GUARD, PROT_NONE) < 0) {
        munmap(p, GUARD + BZ_SPAWN_STACK);
        return bz_fail_sys(err, "make a stack");
    }
    *out = p + GUARD;
    return 0;
}

void bz_spawn_stack_free(void *stack)
{
    if (stack)
        munmap((char *)stack - GUARD, GUARD + BZ_SPAWN_STACK);
}

BZ_SPAWN_CHILD pid_t bz_spawn_run(void *stack, int flags, bz_spawn_fn fn, void *ctx)
{
    return __clone(fn, (char *)stack + BZ_SPAWN_STACK,
                   CLONE_VM | CLONE_VFORK | SIGCHLD | flags, ctx);
}

int bz_spawn_start(void *stack, int flags, bz_spawn_fn fn, void *ctx, pid_t *pid,
                   struct bz_err *err)
{
    sigset_t all, before;
    int sys;

    /* A handler of ours must not run in the child, in our memory. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    *pid = bz_spawn_run(stack, flags, fn, ctx);
    sys = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = sys;
    return *pid < 0 ? bz_fail_sys(err, "start a process") : 0;
}
