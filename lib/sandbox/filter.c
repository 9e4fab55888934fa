#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

#define PROGRAM_LIMIT (BPF_MAXINSNS * sizeof(struct sock_filter))

static const int refused[] = {
    /* mounts and namespaces */
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(umount),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(setns),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsmount),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fspick),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(name_to_handle_at),
    /* a way around rules about calls */
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    /* the kernel and the machine */
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(syslog),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(nfsservctl),
    /* what other programs keep in the kernel */
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(keyctl),
};

/* Kinds of sockets up to AF_NETLINK that are of no use to a build; all above are
 * refused, too. What is left: local, internet, netlink. */
static const int families[] = {3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15};

static int add_conditions(scmp_filter_ctx ctx)
{
    const uint32_t no = SCMP_ACT_ERRNO(EPERM);
    int rc = 0;

    /* A user namespace of its own would give it powers over its own mounts. */
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(clone), 1,
                           SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(unshare), 1,
                           SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
    rc |= seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    /* Typing into a terminal that it shares with us. */
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(ioctl), 1,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, TIOCSTI));
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(ioctl), 1,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, TIOCLINUX));
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(socket), 1,
                           SCMP_A0(SCMP_CMP_GT, AF_NETLINK, 0));
    for (size_t i = 0; i < BZ_COUNTOF(families); i++)
        rc |= seccomp_rule_add(ctx, no, SCMP_SYS(socket), 1,
                               SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i], 0));
    return rc;
}

static int fill(scmp_filter_ctx ctx)
{
    int rc = 0;

#ifdef __x86_64__
    rc |= seccomp_arch_add(ctx, SCMP_ARCH_X86);
#endif
    /* A tree instead of a chain: every call of every program passes through it. */
    rc |= seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    rc |= seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    for (size_t i = 0; i < BZ_COUNTOF(refused); i++)
        rc |= seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
    return rc | add_conditions(ctx);
}

/* What a namespace of the network does elsewhere. */
static int add_bare(scmp_filter_ctx ctx, bool network, bool truncates)
{
    const uint32_t no = SCMP_ACT_ERRNO(EPERM);
    int rc = 0;

    /* A service on a local socket would do what the task may not. */
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(socket), 1,
                           SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0));
    /* Of a pair, datagrams can be sent to others, too. */
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(socketpair), 1,
                           SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, SOCK_DGRAM));
    /* A way around these rules. */
    rc |= seccomp_rule_add(ctx, no, SCMP_SYS(socketcall), 0);
    /* Those of the internet init refuses, and tells what was tried with them. */
    if (!network)
        rc |= seccomp_rule_add(ctx, no, SCMP_SYS(socket), 1,
                               SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0));
    if (truncates) {
        rc |= seccomp_rule_add(ctx, no, SCMP_SYS(truncate), 0);
        rc |= seccomp_rule_add(ctx, no, SCMP_SYS(truncate64), 0);
    }
    return rc;
}

static int export_program(scmp_filter_ctx ctx, struct bz_filter *f, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = memfd_create("filter", MFD_CLOEXEC);
    char *bytes;
    size_t n;
    int rc;

    if (fd < 0 || seccomp_export_bpf(ctx, fd) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        return bz_fail_sys(err, "make the filter of system calls");
    rc =
        bz_fs_read_fd(fd, "the filter of system calls", PROGRAM_LIMIT, &bytes, &n, err);
    if (rc < 0)
        return rc;
    f->prog.len = (unsigned short)(n / sizeof(struct sock_filter));
    f->prog.filter = (struct sock_filter *)(void *)bytes;
    return 0;
}

static int make(struct bz_filter *f, scmp_filter_ctx ctx, bool good, struct bz_err *err)
{
    int rc;

    *f = (struct bz_filter){0};
    if (!good)
        rc = bz_fail(err, BZ_E_NOSUP, "the filter of system calls cannot be made");
    else
        rc = export_program(ctx, f, err);
    seccomp_release(ctx);
    return rc;
}

int bz_filter_make(struct bz_filter *f, struct bz_err *err)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

    return make(f, ctx, ctx && fill(ctx) == 0, err);
}

int bz_filter_make_bare(struct bz_filter *f, bool network, bool truncates,
                        struct bz_err *err)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

    return make(f, ctx, ctx && fill(ctx) == 0 && add_bare(ctx, network, truncates) == 0,
                err);
}

void bz_filter_release(struct bz_filter *f)
{
    free(f->prog.filter);
    *f = (struct bz_filter){0};
}
