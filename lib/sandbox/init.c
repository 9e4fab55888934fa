/* init.c - the first process of a sandbox: a program of its own, without a C library.
 *
 * The first process of a pid namespace is not killed by signals from inside, inherits
 * all orphans, and takes every other process with it when it ends. So it is not the
 * task itself: it starts the task, reaps whatever ends, and ends when the task has.
 * How the task ended, the status of wait4, and the peak of its memory it writes to
 * descriptor 3. A task that cannot be started says so on its standard error, and has
 * the exit status 127.
 *
 * Before that it locks the files that are open as descriptors from 7 on, one after the
 * other, and holds them until it ends.
 *
 * Where there is no network, it is told by the kernel of every attempt to reach an
 * address. It lets the call go on, which fails by itself, says on standard error what
 * was tried, and writes the first address to descriptor 4. A task that makes no such
 * call does not notice.
 *
 * Where there are no namespaces, nothing of that is so by itself. Then there are two
 * of it. The outer one leads the session and takes the signals; the inner one inherits
 * all orphans, and kills whatever is left when the task has ended, or the outer one
 * has, whoever killed it. The task is under the rules of descriptor 4 (landlock.h);
 * they are not. Nor is there a network that fails by itself: who asks for a socket of
 * the internet is given an end of a pair that has no other end, so that there is
 * something to connect; that is refused, and told as above, to descriptor 6. No rule
 * depends on being told: without it there are no such sockets at all.
 *
 * usage: init PROGRAM ARGUMENTS...
 *        open PROGRAM ARGUMENTS...         if there is a network
 *        bare PROGRAM ARGUMENTS...         if there are no namespaces
 *        bare-open PROGRAM ARGUMENTS...    if there is neither: nothing is refused
 *
 * Without a C library a process starts and ends in a tenth of the time.
 */
#include <asm/ioctl.h>
#include <asm/poll.h>
#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REPORT = 3,
    NOTE = 4,
    LISTENER = 5, /* the lowest number that is free when it is made */
    BARE_NOTE = 6,
    LOCKS = 7,
    RU_MAXRSS = 4, /* which long of struct rusage */
    SIGKILL = 9,
    SIGUSR1 = 10,
    SIGCHLD = 17,
    SIG_BLOCK = 0,
    SIG_SETMASK = 2,
    PR_SET_PDEATHSIG = 1,
    PR_SET_CHILD_SUBREAPER = 36,
    AT_FDCWD = -100,
    O_CLOEXEC = 02000000,
    NAP = 1000000, /* ns */
    F_SETFD = 2,
    FD_CLOEXEC = 1,
    LOCK_EX = 2,
    LOCK_NB = 4,
    WNOHANG = 1,
    EPERM = 1,
    EINTR = 4,
    EAGAIN = 11,
    EACCES = 13,
    ENETUNREACH = 101,
    ECONNREFUSED = 111,
    SFD_FLAGS = 02004000, /* SFD_CLOEXEC | SFD_NONBLOCK */
    CLONE_VM = 0x100,
    CLONE_FILES = 0x400,
    CLONE_VFORK = 0x4000,
    PR_SET_DUMPABLE = 4,
    KERNEL_SIGSET = 8,
    AF_UNIX = 1,
    SOCK_STREAM = 1,
    SOCK_RAW = 3,
    SOCK_KINDS = 0xf,
    SOCK_NONBLOCK = 04000,
    SOL_SOCKET = 1,
    I386_SOCKET = 359,
    AF_INET = 2,
    AF_INET6 = 10,
    DNS_PORT = 53,
    TOLD_MAX = 8,
    STACK = 2048, /* of the task until it is its program */
    NOT_RUN = 127
};

#if defined(__x86_64__)
enum { MACHINE = AUDIT_ARCH_X86_64 };

static long call6(long n, const long *arg)
{
    register long r10 __asm__("r10") = arg[3];
    register long r8 __asm__("r8") = arg[4];
    register long r9 __asm__("r9") = arg[5];
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(arg[0]), "S"(arg[1]), "d"(arg[2]), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

__asm__(".globl bz_init_start\nbz_init_start:\n"
        "xor %ebp, %ebp\n"
        "mov %rsp, %rdi\n"
        "and $-16, %rsp\n"
        "call bz_init_main\n");

/* rdi: flags, rsi: the child's stack, rdx: its function, rcx: what it is given */
__asm__(".globl bz_init_spawn\nbz_init_spawn:\n"
        "push %r12\n"
        "push %r13\n"
        "mov %rdx, %r12\n"
        "mov %rcx, %r13\n"
        "mov $56, %eax\n" /* clone */
        "xor %edx, %edx\n"
        "xor %r10d, %r10d\n"
        "xor %r8d, %r8d\n"
        "syscall\n"
        "test %rax, %rax\n"
        "jnz 1f\n"
        "xor %ebp, %ebp\n"
        "mov %r13, %rdi\n"
        "call *%r12\n"
        "1: pop %r13\n"
        "pop %r12\n"
        "ret\n");
#elif defined(__aarch64__)
enum { MACHINE = AUDIT_ARCH_AARCH64 };

static long call6(long n, const long *arg)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = arg[0];
    register long x1 __asm__("x1") = arg[1];
    register long x2 __asm__("x2") = arg[2];
    register long x3 __asm__("x3") = arg[3];
    register long x4 __asm__("x4") = arg[4];
    register long x5 __asm__("x5") = arg[5];

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

__asm__(".globl bz_init_start\nbz_init_start:\n"
        "mov x29, #0\n"
        "mov x0, sp\n"
        "bl bz_init_main\n");

/* x0: flags, x1: the child's stack, x2: its function, x3: what it is given */
__asm__(".globl bz_init_spawn\nbz_init_spawn:\n"
        "mov x9, x2\n"
        "mov x10, x3\n"
        "mov x8, #220\n" /* clone */
        "mov x2, #0\n"
        "mov x3, #0\n"
        "mov x4, #0\n"
        "svc 0\n"
        "cbnz x0, 1f\n"
        "mov x29, #0\n"
        "mov x0, x10\n"
        "blr x9\n"
        "1: ret\n");
#else
#error "init.c knows no system calls of this machine"
#endif

/* A child on a stack of its own, which must not return; its number, or an error. */
long bz_init_spawn(long flags, void *stack, void (*fn)(void *), void *arg);

/* The compiler calls it for what is cleared. */
static __attribute__((used)) void *memset(void *p, int c, size_t n)
{
    for (volatile char *at = p; n > 0; n--)
        *at++ = (char)c;
    return p;
}

/* And this for what is long and has values of its own. */
static __attribute__((used)) void *memcpy(void *to, const void *from, size_t n)
{
    volatile char *at = to;

    for (const char *next = from; n > 0; n--)
        *at++ = *next++;
    return to;
}

static long call(long n, long a, long b, long c, long d)
{
    const long arg[6] = {a, b, c, d, 0, 0};

    return call6(n, arg);
}

static _Noreturn void leave(int status)
{
    for (;;)
        call(__NR_exit_group, status, 0, 0, 0);
}

static void say(const char *text)
{
    long n = 0;

    while (text[n])
        n++;
    call(__NR_write, 2, (long)text, n, 0);
}

static void say_number(unsigned long n, unsigned base)
{
    static const char digits[] = "0123456789abcdef";
    char text[24];
    size_t at = sizeof(text) - 1;

    text[at] = '\0';
    do
        text[--at] = digits[n % base];
    while ((n /= base) > 0);
    say(text + at);
}

static void complain(const char *program, long error)
{
    say("sandbox: cannot run ");
    say(program);
    say(": error ");
    say_number((unsigned long)error, 10);
    say("\n");
}

/* ---- the network ---- */

/* As in the kernel: a family in the machine's order, the port in the network's. */
struct address {
    uint16_t family;
    uint8_t port[2];
    uint8_t v4[4]; /* of AF_INET6: a label */
    uint8_t v6[16];
};

struct message { /* struct msghdr */
    uint64_t name;
    uint32_t length;
};

struct watch {
    struct address told[TOLD_MAX];
    unsigned n;
    int note;    /* where the first one goes */
    bool strict; /* no call goes on to reach an address */
};

static bool is_same(const struct address *a, const struct address *b)
{
    for (size_t i = 0; i < sizeof(*a); i++)
        if (((const uint8_t *)a)[i] != ((const uint8_t *)b)[i])
            return false;
    return true;
}

static unsigned port_of(const struct address *a)
{
    return (unsigned)a->port[0] << 8 | a->port[1];
}

/* Addresses of the sandbox itself, which work. */
static bool is_near(const struct address *a)
{
    const uint8_t *v4 = a->v4;

    if (a->family == AF_INET6) {
        for (size_t i = 0; i < 10; i++)
            if (a->v6[i])
                return false;
        v4 = a->v6 + 12;
        if (a->v6[10] != a->v6[11] || (a->v6[10] && a->v6[10] != 0xff))
            return false;
        if (!a->v6[10])
            return !v4[0] && !v4[1] && !v4[2] && v4[3] <= 1;
    }
    return v4[0] == 127 || !(v4[0] || v4[1] || v4[2] || v4[3]);
}

static void say_address(const struct address *a)
{
    size_t n = a->family == AF_INET ? 4 : 8;

    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            say(a->family == AF_INET ? "." : ":");
        if (a->family == AF_INET)
            say_number(a->v4[i], 10);
        else
            say_number((unsigned long)a->v6[2 * i] << 8 | a->v6[2 * i + 1], 16);
    }
    say(" port ");
    say_number(port_of(a), 10);
}

static void tell(struct watch *w, const struct address *a)
{
    for (unsigned i = 0; i < w->n; i++)
        if (is_same(&w->told[i], a))
            return;
    if (w->n == TOLD_MAX)
        return;
    if (w->n == 0)
        call(__NR_pwrite64, w->note, (long)a, sizeof(*a), 0);
    w->told[w->n++] = *a;
    say("sandbox: tried to reach ");
    if (is_near(a))
        say("a name server");
    else
        say_address(a);
    say(": there is no network here; [network] = \"1\" of the task allows it\n");
}

/* Bytes of another process; false if they are not to be had. */
static bool peek(uint32_t pid, uint64_t from, void *to, size_t n)
{
    const uint64_t theirs[2] = {from, n};
    const uint64_t ours[2] = {(uint64_t)(uintptr_t)to, n};
    const long arg[6] = {(long)pid, (long)ours, 1, (long)theirs, 1, 0};

    return call6(__NR_process_vm_readv, arg) == (long)n;
}

/* Tells of an address that is not the sandbox's own. Whether there was one. */
static bool look_at(struct watch *w, const struct seccomp_notif *n, bool *near)
{
    uint64_t from = n->data.args[1], length = n->data.args[2];
    const struct address here = {
        .family = AF_INET, .port = {0,  DNS_PORT},
             .v4 = { 127, 0,        0, 1}
    };
    struct address a = {0};
    struct message m = {0};

    if (n->data.nr == __NR_sendto) {
        from = n->data.args[4];
        length = n->data.args[5];
    } else if (n->data.nr == __NR_sendmsg) {
        if (!peek(n->pid, n->data.args[1], &m, sizeof(m)))
            return false;
        from = m.name;
        length = m.length;
    }
    if (length < 8)
        return false;
    if (length > sizeof(a))
        length = sizeof(a);
    if (!peek(n->pid, from, &a, length))
        return false;
    if (a.family == AF_INET)
        memset(a.v6, 0, sizeof(a.v6));
    else if (a.family == AF_INET6 && length == sizeof(a))
        memset(a.v4, 0, sizeof(a.v4));
    else
        return false;
    *near = is_near(&a);
    if (w->strict && !*near && port_of(&a) == DNS_PORT)
        a = here; /* the host's name server is one like that of the sandbox */
    if (!*near || port_of(&a) == DNS_PORT)
        tell(w, &a);
    return true;
}

/* In place of a socket of the internet: an end of a pair whose other end is closed. It
 * reaches nothing and nobody, whatever is done to it. */
static void hand_out(const struct seccomp_notif *n, struct seccomp_notif_resp *out)
{
    const long type = (long)n->data.args[1];
    struct seccomp_notif_addfd give = {.id = n->id,
                                       .newfd_flags = (uint32_t)type & O_CLOEXEC};
    int32_t pair[2] = {-1, -1};
    long rc;

    out->error = -EPERM;
    if ((type & SOCK_KINDS) == SOCK_RAW ||
        call(__NR_socketpair, AF_UNIX, SOCK_STREAM | O_CLOEXEC | (type & SOCK_NONBLOCK),
             0, (long)pair) < 0)
        return;
    call(__NR_close, pair[1], 0, 0, 0);
    give.srcfd = (uint32_t)pair[0];
    rc = call(__NR_ioctl, LISTENER, SECCOMP_IOCTL_NOTIF_ADDFD, (long)&give, 0);
    call(__NR_close, pair[0], 0, 0, 0);
    if (rc < 0)
        return;
    out->error = 0;
    out->val = rc;
}

/* Connecting never goes on. Sending may: what has an end of a pair reaches nobody. */
static void refuse(struct watch *w, const struct seccomp_notif *n,
                   struct seccomp_notif_resp *out)
{
    bool near = false;

    if (n->data.nr == __NR_socket)
        hand_out(n, out);
    else if (look_at(w, n, &near))
        out->error = near ? -ECONNREFUSED : -ENETUNREACH;
    else if (n->data.nr == __NR_connect)
        out->error = -EACCES;
    else
        out->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
}

/* In a namespace, what the task sees is what the kernel does: nothing is allowed or
 * refused here. */
static void attend(struct watch *w)
{
    union {
        struct seccomp_notif notif;
        char room[256]; /* the kernel's may be larger than ours */
    } in = {.room = {0}};
    union {
        struct seccomp_notif_resp resp;
        char room[256];
    } out = {.room = {0}};

    if (call(__NR_ioctl, LISTENER, SECCOMP_IOCTL_NOTIF_RECV, (long)&in, 0) < 0)
        return;
    out.resp.id = in.notif.id;
    if (w->strict) {
        refuse(w, &in.notif, &out.resp);
    } else {
        bool near;

        (void)look_at(w, &in.notif, &near);
        out.resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    call(__NR_ioctl, LISTENER, SECCOMP_IOCTL_NOTIF_SEND, (long)&out, 0);
}

/* In the task, before it becomes its program. Without it all works, untold. */
static void ask_to_be_told(void)
{
#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 0, 9),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_connect, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendmsg, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendto, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[4])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[4]) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

    call(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
         (long)&prog, 0);
}

/* The same without namespaces, where it is a rule: if nobody can be told, there are no
 * sockets of the internet. Programs of another machine, if the kernel runs them, get no
 * socket. */
static long keep_offline(void)
{
#define LOAD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(name))
#define WHEN(at, what, yes, no)                                                        \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what, (yes) - (at)-1, (no) - (at)-1)
#define GIVE(what) BPF_STMT(BPF_RET | BPF_K, what)
    enum { REFUSE = 20, PRETEND, TELL, MAKE, ALLOW, END };
    struct sock_filter code[END] = {
        [0] = LOAD(arch),
        [1] = WHEN(1, MACHINE, 4, 2),
        [2] = LOAD(nr),
        [3] = WHEN(3, I386_SOCKET, REFUSE, ALLOW),
        [4] = LOAD(nr),
        [5] = WHEN(5, __NR_bind, REFUSE, 6),
        [6] = WHEN(6, __NR_connect, TELL, 7),
        [7] = WHEN(7, __NR_sendmsg, TELL, 8),
        [8] = WHEN(8, __NR_socket, 17, 9),
        [9] = WHEN(9, __NR_setsockopt, 15, 10),
        [10] = WHEN(10, __NR_sendto, 11, ALLOW),
        [11] = LOAD(args[4]),
        [12] = WHEN(12, 0, 13, TELL),
        [13] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[4]) + 4),
        [14] = WHEN(14, 0, ALLOW, TELL),
        [15] = LOAD(args[1]), /* the level; those of the internet are all there */
        [16] = WHEN(16, SOL_SOCKET, ALLOW, PRETEND),
        [17] = LOAD(args[0]),
        [18] = WHEN(18, AF_INET, MAKE, 19),
        [19] = WHEN(19, AF_INET6, MAKE, ALLOW),
        [REFUSE] = GIVE(SECCOMP_RET_ERRNO | EPERM),
        [PRETEND] = GIVE(SECCOMP_RET_ERRNO), /* it returns 0 */
        [TELL] = GIVE(SECCOMP_RET_USER_NOTIF),
        [MAKE] = GIVE(SECCOMP_RET_USER_NOTIF),
        [ALLOW] = GIVE(SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog prog = {END, code};
    long rc = call(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_NEW_LISTENER, (long)&prog, 0);

    if (rc >= 0)
        return 0;
    code[TELL].k = code[ALLOW].k;
    code[MAKE].k = code[REFUSE].k;
    return call(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&prog, 0);
}

/* ---- the task ---- */

static _Noreturn void run(char **argv, char **env)
{
    complain(argv[0], -call(__NR_execve, (long)argv[0], (long)argv, (long)env, 0));
    leave(NOT_RUN);
}

struct task {
    char **argv, **env;
    bool alone; /* there is no network */
};

static void start(void *arg)
{
    const struct task *t = arg;

    if (t->alone)
        ask_to_be_told();
    run(t->argv, t->env);
}

static void take_locks(void)
{
    long rc;

    for (int fd = LOCKS;; fd++) {
        rc = call(__NR_flock, fd, LOCK_EX | LOCK_NB, 0, 0);
        if (rc == -EAGAIN) {
            say("sandbox: waiting for another task to give up a lock file\n");
            do
                rc = call(__NR_flock, fd, LOCK_EX, 0, 0);
            while (rc == -EINTR);
        }
        if (rc < 0)
            return; /* there are no more */
        call(__NR_fcntl, fd, F_SETFD, FD_CLOEXEC, 0);
    }
}

/* What is told of the task at its end; as bz_proc_reap() reads it. */
struct report {
    int32_t status; /* of wait4 */
    int32_t unused;
    int64_t peak; /* KiB of the largest process, of all that have ended */
};

/* Reaps until the task has ended. */
static void wait_for(long task, long how, struct report *out, bool *ended)
{
    for (;;) {
        int32_t of_one = 0;
        long usage[18] = {0}; /* struct rusage */
        long pid = call(__NR_wait4, -1, (long)&of_one, how, (long)usage);

        if (pid == -EINTR)
            continue;
        if (usage[RU_MAXRSS] > out->peak)
            out->peak = usage[RU_MAXRSS];
        if (pid == task)
            out->status = of_one;
        *ended = pid == task || pid < 0;
        if (pid <= 0 || *ended)
            return;
    }
}

static void watch_over(long task, struct report *out)
{
    const uint64_t child = (uint64_t)1 << (SIGCHLD - 1);
    struct watch w = {.n = 0, .note = NOTE};
    struct pollfd fds[2] = {
        {LISTENER, POLLIN, 0},
        {-1,       POLLIN, 0}
    };
    uint8_t taken[128]; /* struct signalfd_siginfo */
    bool ended = false;

    call(__NR_rt_sigprocmask, SIG_BLOCK, (long)&child, 0, KERNEL_SIGSET);
    fds[1].fd = (int)call(__NR_signalfd4, -1, (long)&child, KERNEL_SIGSET, SFD_FLAGS);
    if (fds[1].fd < 0)
        wait_for(task, 0, out, &ended);
    while (!ended) {
        const long arg[6] = {(long)fds, 2, 0, 0, KERNEL_SIGSET, 0};

        wait_for(task, WNOHANG, out, &ended);
        if (ended)
            return;
        call6(__NR_ppoll, arg);
        if (fds[0].revents & POLLIN)
            attend(&w);
        else if (fds[0].revents) /* nobody is left to be told of */
            fds[0].fd = -1;
        if (fds[1].revents)
            call(__NR_read, fds[1].fd, (long)taken, sizeof(taken), 0);
    }
}

/* ---- without namespaces ---- */

static void set_signals(uint64_t blocked)
{
    call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&blocked, 0, KERNEL_SIGSET);
}

/* Those that the kernel lists: "123 124 ". */
static void kill_children(void)
{
    char text[128] = {0}; /* no more: there is no memset here to clear it */
    long fd =
        call(__NR_openat, AT_FDCWD, (long)"/proc/thread-self/children", O_CLOEXEC, 0);
    long pid = 0, n;

    if (fd < 0)
        return;
    while ((n = call(__NR_read, fd, (long)text, sizeof(text), 0)) > 0)
        for (long i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid > 0)
                call(__NR_kill, pid, SIGKILL, 0, 0);
            pid = 0;
        }
    call(__NR_close, fd, 0, 0, 0);
}

/* The children of one that is killed become ours, so there is an end to it. */
static void end_children(void)
{
    const long nap[2] = {0, NAP};

    for (;;) {
        long pid;

        kill_children();
        do
            pid = call(__NR_wait4, -1, 0, WNOHANG, 0);
        while (pid > 0 || pid == -EINTR);
        if (pid < 0)
            return;
        call(__NR_nanosleep, (long)nap, 0, 0, 0);
    }
}

static _Noreturn void run_bare(long leader, bool offline, char **argv, char **env)
{
    long rc = call(__NR_setpgid, 0, leader, 0, 0);

    if (rc == 0)
        rc = call(__NR_landlock_restrict_self, NOTE, 0, 0, 0);
    if (rc == 0 && offline)
        rc = keep_offline();
    if (rc < 0) {
        complain(argv[0], -rc);
        leave(NOT_RUN);
    }
    set_signals(0);
    run(argv, env);
}

/* Until the task has ended, or the outer one has, of which a signal tells. */
static void watch_bare(long task, bool offline, struct report *out)
{
    const uint64_t wanted = (uint64_t)1 << (SIGCHLD - 1) | (uint64_t)1 << (SIGUSR1 - 1);
    struct watch w = {.n = 0, .note = BARE_NOTE, .strict = true};
    struct pollfd fds[2] = {
        {offline ? LISTENER : -1, POLLIN, 0},
        {-1,                      POLLIN, 0}
    };
    uint32_t taken[32] = {0}; /* struct signalfd_siginfo, the signal first */
    bool ended = false;

    fds[1].fd = (int)call(__NR_signalfd4, -1, (long)&wanted, KERNEL_SIGSET, SFD_FLAGS);
    while (!ended && taken[0] != SIGUSR1) {
        const long arg[6] = {(long)fds, 2, 0, 0, KERNEL_SIGSET, 0};

        wait_for(task, WNOHANG, out, &ended);
        if (ended)
            return;
        if (fds[1].fd < 0) { /* then nobody is told */
            taken[0] = (uint32_t)call(__NR_rt_sigtimedwait, (long)&wanted, 0, 0,
                                      KERNEL_SIGSET);
            continue;
        }
        call6(__NR_ppoll, arg);
        if (fds[0].revents & POLLIN)
            attend(&w);
        else if (fds[0].revents) /* nobody is left to be told of */
            fds[0].fd = -1;
        if (fds[1].revents)
            call(__NR_read, fds[1].fd, (long)taken, sizeof(taken), 0);
    }
}

static _Noreturn void be_inner(long leader, char **argv, char **env)
{
    bool offline = argv[0][4] == '\0'; /* "bare", not "bare-open" */
    struct report report = {.status = NOT_RUN << 8};
    long task;

    call(__NR_setpgid, 0, 0, 0, 0);
    call(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
    call(__NR_prctl, PR_SET_PDEATHSIG, SIGUSR1, 0, 0);
    if (call(__NR_getppid, 0, 0, 0, 0) != leader)
        leave(0); /* it was killed before we could ask to be told */
    /* As below: we have the listener that it makes. */
    task = call(__NR_clone, SIGCHLD | CLONE_FILES | CLONE_VFORK, 0, 0, 0);
    if (task == 0)
        run_bare(leader, offline, argv + 1, env);
    if (task < 0)
        complain(argv[1], -task);
    else
        watch_bare(task, offline, &report);
    end_children();
    call(__NR_write, REPORT, (long)&report, sizeof(report), 0);
    leave(0);
}

static _Noreturn void be_outer(char **argv, char **env)
{
    long self = call(__NR_getpid, 0, 0, 0, 0);
    long inner;

    set_signals(~(uint64_t)0); /* they are the task's, which is in our group */
    inner = call(__NR_clone, SIGCHLD, 0, 0, 0);
    if (inner == 0)
        be_inner(self, argv, env);
    while (inner > 0 && call(__NR_wait4, inner, 0, 0, 0) == -EINTR)
        continue;
    leave(0);
}

/* The stack as the kernel leaves it: the number of arguments, they, a null, and the
 * environment. */
_Noreturn void bz_init_main(long *stack);
_Noreturn void bz_init_main(long *stack)
{
    long argc = stack[0];
    char **argv = (char **)(stack + 1);
    struct task task = {argv + 1, argv + argc + 1, argv[0][0] == 'i'};
    bool ended = false;
    struct report report = {.status = 0};
    _Alignas(16) char room[STACK];
    long pid;

    /* What is open here is not for the task to look into. */
    call(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0);
    call(__NR_fcntl, REPORT, F_SETFD, FD_CLOEXEC, 0);
    call(__NR_fcntl, NOTE, F_SETFD, FD_CLOEXEC, 0);
    call(__NR_fcntl, BARE_NOTE, F_SETFD, FD_CLOEXEC, 0);
    take_locks();
    if (argv[0][0] == 'b')
        be_outer(argv, task.env);
    /* Until it becomes its program it shares our descriptors: so we have the listener
     * that it makes, and it loses it. Our memory, too: a copy would be for nothing. */
    pid = bz_init_spawn(SIGCHLD | CLONE_FILES | CLONE_VM | CLONE_VFORK, room + STACK,
                        start, &task);
    if (pid < 0) {
        complain(argv[1], -pid);
        report.status = NOT_RUN << 8;
    } else if (task.alone) {
        watch_over(pid, &report);
    } else {
        wait_for(pid, 0, &report, &ended);
    }
    call(__NR_write, REPORT, (long)&report, sizeof(report), 0);
    leave(0);
}
