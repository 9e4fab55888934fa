#include "sandbox/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "tests/unit/bz_test.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

static uint32_t load(const struct seccomp_data *data, uint32_t at)
{
    uint32_t word;

    assert_true(at + sizeof(word) <= sizeof(*data));
    memcpy(&word, (const char *)data + at, sizeof(word));
    return word;
}

static bool jumps(uint16_t code, uint32_t a, uint32_t k)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == k;
    case BPF_JGT:
        return a > k;
    case BPF_JGE:
        return a >= k;
    case BPF_JSET:
        return (a & k) != 0;
    default:
        fail_msg("unknown jump %x", code);
        return false;
    }
}

/* What the kernel would decide: a machine for the few instructions filters use. */
static uint32_t decide(const struct sock_fprog *prog, const struct seccomp_data *data)
{
    uint32_t a = 0;

    for (unsigned pc = 0; pc < prog->len; pc++) {
        const struct sock_filter *i = &prog->filter[pc];

        switch (BPF_CLASS(i->code)) {
        case BPF_LD:
            a = load(data, i->k);
            break;
        case BPF_ALU:
            assert_int_equal(BPF_OP(i->code), BPF_AND);
            a &= i->k;
            break;
        case BPF_JMP:
            if (BPF_OP(i->code) == BPF_JA)
                pc += i->k;
            else
                pc += jumps(i->code, a, i->k) ? i->jt : i->jf;
            break;
        case BPF_RET:
            return i->k;
        default:
            fail_msg("unknown instruction %x", i->code);
        }
    }
    fail_msg("the filter has no end");
    return 0;
}

static void calls_are_allowed_or_refused(void **state)
{
    static const struct {
        long nr;
        uint64_t arg[2];
        int sys; /* 0: allowed */
    } rows[] = {
        {SYS_read,    {0, 0},                        0     },
        {SYS_openat,  {0, 0},                        0     },
        {SYS_execve,  {0, 0},                        0     },
        {SYS_clone,   {CLONE_VM | CLONE_VFORK, 0},   0     },
        {SYS_clone,   {CLONE_NEWUSER | CLONE_VM, 0}, EPERM },
        {SYS_clone3,  {0, 0},                        ENOSYS},
        {SYS_unshare, {CLONE_NEWUSER, 0},            EPERM },
        {SYS_unshare, {CLONE_FILES, 0},              0     },
        {SYS_mount,   {0, 0},                        EPERM },
        {SYS_setns,   {0, 0},                        EPERM },
        {SYS_bpf,     {0, 0},                        EPERM },
        {SYS_keyctl,  {0, 0},                        EPERM },
        {SYS_socket,  {AF_UNIX, 0},                  0     },
        {SYS_socket,  {AF_INET, 0},                  0     },
        {SYS_socket,  {AF_INET6, 0},                 0     },
        {SYS_socket,  {AF_NETLINK, 0},               0     },
        {SYS_socket,  {AF_PACKET, 0},                EPERM },
        {SYS_socket,  {AF_VSOCK, 0},                 EPERM },
        {SYS_socket,  {AF_KEY, 0},                   EPERM },
        {SYS_ioctl,   {0, TIOCSTI},                  EPERM },
        {SYS_ioctl,   {0, TIOCSTI | 1ULL << 32},     EPERM },
        {SYS_ioctl,   {0, TIOCGWINSZ},               0     },
    };
    struct bz_filter f;
    struct bz_err err;

    (void)state;
    assert_ok(bz_filter_make(&f, &err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        const struct seccomp_data data = {
            .nr = (int)rows[i].nr,
            .arch = ARCH,
            .args = {rows[i].arg[0], rows[i].arg[1]}
        };
        uint32_t want =
            rows[i].sys ? SECCOMP_RET_ERRNO | (uint32_t)rows[i].sys : SECCOMP_RET_ALLOW;

        if (decide(&f.prog, &data) != want)
            fail_msg("row %zu", i);
    }
    bz_filter_release(&f);
}

static uint32_t ask(const struct bz_filter *f, long nr, uint64_t first, uint64_t second)
{
    const struct seccomp_data data = {
        .nr = (int)nr, .arch = ARCH, .args = {first, second}
    };

    return decide(&f->prog, &data);
}

static void without_namespaces_sockets_are_refused_too(void **state)
{
    const uint32_t no = SECCOMP_RET_ERRNO | EPERM, yes = SECCOMP_RET_ALLOW;
    const uint64_t high = 1ULL << 32; /* the kernel does not look at it */

    (void)state;
    for (int network = 0; network < 2; network++) {
        struct bz_filter f;
        struct bz_err err;

        assert_ok(bz_filter_make_bare(&f, network, !network, &err), &err);
        assert_int_equal(ask(&f, SYS_socket, AF_NETLINK, 0), network ? yes : no);
        assert_int_equal(ask(&f, SYS_truncate, 0, 0), network ? yes : no);
        assert_int_equal(ask(&f, SYS_socket, AF_INET | high, 0), no);
        assert_int_equal(ask(&f, SYS_socket, AF_UNIX, 0), no);
        assert_int_equal(ask(&f, SYS_socket, AF_UNIX | high, 0), no);
        assert_int_equal(ask(&f, SYS_socketpair, AF_UNIX, SOCK_STREAM), yes);
        assert_int_equal(ask(&f, SYS_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC),
                         no);
        assert_int_equal(ask(&f, SYS_io_uring_setup, 0, 0), no);
        assert_int_equal(ask(&f, SYS_mount, 0, 0), no);
        assert_int_equal(ask(&f, SYS_openat, 0, 0), yes);
        bz_filter_release(&f);
    }
}

static void calls_of_an_unknown_machine_do_not_exist(void **state)
{
    const struct seccomp_data data = {.nr = 0, .arch = AUDIT_ARCH_S390X};
    struct bz_filter f;
    struct bz_err err;

    (void)state;
    assert_ok(bz_filter_make(&f, &err), &err);
    assert_int_equal(decide(&f.prog, &data), SECCOMP_RET_ERRNO | ENOSYS);
    bz_filter_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_allowed_or_refused),
        cmocka_unit_test(without_namespaces_sockets_are_refused_too),
        cmocka_unit_test(calls_of_an_unknown_machine_do_not_exist),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
