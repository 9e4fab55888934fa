#include "sandbox/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fs.h"
#include "sandbox/spawn.h"

struct making {
    bool network;
    char users[64], groups[64]; /* the maps */
    size_t nusers, ngroups;
    struct bz_userns ns; /* out */
    const char *step;    /* out: what failed, with this errno */
    int sys;
};

BZ_SPAWN_CHILD static int fail(struct making *m, const char *step)
{
    m->sys = errno;
    m->step = step;
    return 1;
}

BZ_SPAWN_CHILD static int put(struct making *m, const char *path, const char *text,
                              size_t n)
{
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
    int bad = 0;

    if (fd < 0)
        return fail(m, path);
    if (syscall(SYS_write, fd, text, n) != (long)n)
        bad = fail(m, path);
    syscall(SYS_close, fd);
    return bad;
}

/* Programs under test talk to themselves over the loopback. */
BZ_SPAWN_CHILD static int raise_loopback(struct making *m)
{
    struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    long fd = syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int bad = 0;

    if (fd < 0)
        return fail(m, "open a socket");
    if (syscall(SYS_ioctl, fd, SIOCSIFFLAGS, &req) < 0)
        bad = fail(m, "start the loopback device");
    syscall(SYS_close, fd);
    return bad;
}

/* Shares our descriptors: what it opens is ours. */
BZ_SPAWN_CHILD static int make(void *ctx)
{
    struct making *m = ctx;
    long fd;

    if (put(m, "/proc/self/setgroups", "deny", 4) ||
        put(m, "/proc/self/gid_map", m->groups, m->ngroups) ||
        put(m, "/proc/self/uid_map", m->users, m->nusers) ||
        (!m->network && raise_loopback(m)))
        return 1;
    fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(m, "open the user namespace");
    m->ns.user = (int)fd;
    if (m->network)
        return 0;
    fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(m, "open the network namespace");
    m->ns.net = (int)fd;
    return 0;
}

static int not_allowed(const struct making *m, struct bz_err *err)
{
    errno = m->sys;
    return bz_fail(
        err, BZ_E_NOSUP,
        "user namespaces do not work here: %s: %s; 'bitzel doctor' says what "
        "to do",
        m->step, strerror(m->sys));
}

static int make_with(int flags, struct bz_userns *ns, const struct bz_userns_opts *opts,
                     void *stack, struct bz_err *err)
{
    struct making m = {
        .network = opts->network, .ns = {-1, -1}
    };
    pid_t pid;
    int rc;

    *ns = (struct bz_userns){-1, -1};
    m.nusers = (size_t)snprintf(m.users, sizeof(m.users), "%u %u 1\n", opts->id,
                                (unsigned)geteuid());
    m.ngroups = (size_t)snprintf(m.groups, sizeof(m.groups), "%u %u 1\n", opts->id,
                                 (unsigned)getegid());
    rc =
        bz_spawn_start(stack, CLONE_FILES | CLONE_NEWUSER | flags, make, &m, &pid, err);
    if (rc < 0) {
        m.sys = err->sys;
        m.step = "clone";
        return not_allowed(&m, err);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    *ns = m.ns;
    if (!m.step)
        return 0;
    bz_userns_release(ns);
    return not_allowed(&m, err);
}

int bz_userns_make(struct bz_userns *ns, const struct bz_userns_opts *opts, void *stack,
                   struct bz_err *err)
{
    return make_with(opts->network ? 0 : CLONE_NEWNET, ns, opts, stack, err);
}

int bz_userns_probe(void *stack, struct bz_err *err)
{
    const struct bz_userns_opts opts = {.network = true};
    struct bz_userns ns;
    int rc = make_with(CLONE_NEWUTS, &ns, &opts, stack, err);

    if (rc == 0)
        bz_userns_release(&ns);
    return rc;
}

void bz_userns_release(struct bz_userns *ns)
{
    bz_fs_closep(&ns->user);
    bz_fs_closep(&ns->net);
    *ns = (struct bz_userns){-1, -1};
}
