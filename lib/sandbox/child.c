#include "sandbox/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/spawn.h"

#define KERNEL_SIGSET 8 /* bytes of a signal set, to the kernel */

struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

BZ_SPAWN_CHILD static bool fail(struct bz_child *c, const char *step)
{
    if (!c->failure.step)
        c->failure = (struct bz_mount_failure){step, NULL, errno};
    return false;
}

/* The kernel kills us when our parent's thread ends; if that has happened before we
 * could ask for it, nobody will. */
BZ_SPAWN_CHILD static bool die_with_parent(struct bz_child *c)
{
    struct pollfd ended = {.fd = c->parent, .events = POLLIN};
    struct timespec none = {0, 0};

    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return fail(c, "ask to die with the parent");
    if (syscall(SYS_ppoll, &ended, 1, &none, NULL, KERNEL_SIGSET) != 0)
        return fail(c, "find the parent");
    return true;
}

BZ_SPAWN_CHILD static size_t length(const char *text)
{
    size_t n = 0;

    while (text[n])
        n++;
    return n;
}

/* The hard limit that we have ourselves cannot be raised. */
BZ_SPAWN_CHILD static bool set_limit(const struct bz_spec_limit *limit)
{
    uint64_t now[2], next[2] = {limit->soft, limit->hard};

    if (syscall(SYS_prlimit64, 0, limit->resource, NULL, now) < 0)
        return false;
    if (next[1] > now[1])
        next[1] = now[1];
    if (next[0] > next[1])
        next[0] = next[1];
    return syscall(SYS_prlimit64, 0, limit->resource, next, NULL) == 0;
}

BZ_SPAWN_CHILD static bool set_surroundings(struct bz_child *c)
{
    const struct bz_spec *s = c->plan.spec;
    const char *host = s->hostname ? s->hostname : BZ_SPEC_HOSTNAME;

    if (!c->bare && syscall(SYS_sethostname, host, length(host)) < 0)
        return fail(c, "set the host name");
    if (s->cwd && syscall(SYS_chdir, s->cwd) < 0) {
        c->failure = (struct bz_mount_failure){"change to", s->cwd, errno};
        return false;
    }
    syscall(SYS_umask, s->umask);
    for (size_t i = 0; i < s->limits.len; i++)
        if (!set_limit(&s->limits.at[i]))
            return fail(c, "set a limit");
    return true;
}

/* Moves the descriptors to their places, which none of them has, and leaves no other
 * but the program to become. */
BZ_SPAWN_CHILD static bool set_descriptors(struct bz_child *c)
{
    const struct bz_spec_fds *locks = &c->plan.spec->locks;
    const int init = BZ_CHILD_PROGRAM;
    bool ok = syscall(SYS_dup3, c->fd[0], 0, 0) >= 0 &&
              syscall(SYS_dup3, c->fd[1], 1, 0) >= 0 &&
              syscall(SYS_dup3, c->fd[2], 2, 0) >= 0 &&
              syscall(SYS_dup3, c->status, BZ_CHILD_STATUS, 0) >= 0 &&
              syscall(SYS_dup3, c->bare ? c->rules : c->note, BZ_CHILD_NOTE, 0) >= 0 &&
              syscall(SYS_dup3, c->note, BZ_CHILD_BARE_NOTE, 0) >= 0 &&
              (c->init == init || syscall(SYS_dup3, c->init, init, O_CLOEXEC) >= 0);

    for (size_t i = 0; i < locks->len && ok; i++)
        ok = syscall(SYS_dup3, locks->at[i], BZ_CHILD_LOCKS + (int)i, 0) >= 0;
    ok = ok && syscall(SYS_close_range, BZ_CHILD_LOCKS + (int)locks->len, ~0U, 0) == 0;
    c->init = init;
    return ok || fail(c, "pass descriptors on");
}

/* A task that is root inside may own and read all that is its user's outside, as a root
 * would, and has no other power. Others have none. */
BZ_SPAWN_CHILD static bool drop_powers(struct bz_child *c)
{
    const uint64_t roots = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER |
                           1U << CAP_FSETID | 1U << CAP_SETGID | 1U << CAP_SETUID;
    const uint64_t kept = c->plan.spec->root && !c->bare ? roots : 0;
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {
        {(uint32_t)kept, (uint32_t)kept, 0}
    };

    for (unsigned cap = 0; cap < 64; cap++) {
        if (kept >> cap & 1 || syscall(SYS_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
            continue;
        if (errno == EPERM && c->bare)
            break; /* a user that has none does not gain any either */
        if (errno != EINVAL || cap == 0)
            return fail(c, "drop a capability");
        break; /* this kernel has no more */
    }
    if (syscall(SYS_capset, &head, data) < 0)
        return fail(c, "drop capabilities");
    if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return fail(c, "give up new privileges");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, c->filter) < 0)
        return fail(c, "filter system calls");
    return true;
}

BZ_SPAWN_CHILD static void reset_signals(void)
{
    struct kernel_action usual = {0};
    unsigned long none = 0;

    for (int sig = 1; sig < NSIG; sig++)
        syscall(SYS_rt_sigaction, sig, &usual, NULL, KERNEL_SIGSET);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET);
}

/* From the host's mounts, with what is needed of them in hand, to those of a stage. */
BZ_SPAWN_CHILD static bool go_on_stage(struct bz_child *c)
{
    if (!bz_mount_fetch(&c->plan, &c->failure))
        return false;
    return (syscall(SYS_setns, c->stage, CLONE_NEWNS) == 0 &&
            syscall(SYS_unshare, CLONE_NEWNS) == 0) ||
           fail(c, "enter a mount namespace");
}

BZ_SPAWN_CHILD static bool build_root(struct bz_child *c)
{
    if (c->stage >= 0 && !go_on_stage(c))
        return false;
    /* Directories that mounts need become a part of what the task leaves: whoever calls
     * gets the same. */
    syscall(SYS_umask, 022);
    return bz_mount_root(&c->plan, &c->failure);
}

BZ_SPAWN_CHILD static int become(void *ctx)
{
    struct bz_child *c = ctx;

    if (!die_with_parent(c))
        return 1;
    if (!c->plan.spec->terminal)
        syscall(SYS_setsid);
    if ((!c->bare && !build_root(c)) || !set_surroundings(c) || !set_descriptors(c) ||
        !drop_powers(c))
        return 1;
    reset_signals();
    syscall(SYS_execveat, c->init, "", c->argv, c->env, AT_EMPTY_PATH);
    fail(c, "start its first process");
    return 1;
}

BZ_SPAWN_CHILD int bz_child_enter(void *ctx)
{
    struct bz_child *c = ctx;
    int flags =
        CLONE_PARENT | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

    if (syscall(SYS_setns, c->ns.user, CLONE_NEWUSER) < 0)
        return !fail(c, "enter a user namespace");
    if (c->ns.net >= 0 && syscall(SYS_setns, c->ns.net, CLONE_NEWNET) < 0)
        return !fail(c, "enter a network namespace");
    if (c->stage < 0)
        flags |= CLONE_NEWNS;
    else if (syscall(SYS_setns, c->host, CLONE_NEWNS) < 0)
        return !fail(c, "enter a mount namespace");
    c->pid = bz_spawn_run(c->stack, flags, become, c);
    if (c->pid < 0)
        return !fail(c, "make namespaces");
    return 0;
}

BZ_SPAWN_CHILD int bz_child_bare(void *ctx)
{
    return become(ctx);
}
