/* init.c - the first process of a sandbox: a program of its own, without a C library.
 *
 * The first process of a pid namespace is not killed by signals from inside, inherits
 * all orphans, and takes every other process with it when it ends. So it is not the
 * task itself: it starts the task, reaps whatever ends, and ends when the task has.
 * How the task ended, the status of wait4, it writes to descriptor 3. A task that
 * cannot be started says so on its standard error, and has the exit status 127.
 *
 * usage: init PROGRAM ARGUMENTS...
 *
 * Without a C library a process starts and ends in a tenth of the time.
 */
#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REPORT = 3,
    SIGCHLD = 17,
    F_SETFD = 2,
    FD_CLOEXEC = 1,
    EINTR = 4,
    NOT_RUN = 127
};

#if defined(__x86_64__)
static long call(long n, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

__asm__(".globl bz_init_start\nbz_init_start:\n"
        "xor %ebp, %ebp\n"
        "mov %rsp, %rdi\n"
        "and $-16, %rsp\n"
        "call bz_init_main\n");
#elif defined(__aarch64__)
static long call(long n, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                     : "memory");
    return x0;
}

__asm__(".globl bz_init_start\nbz_init_start:\n"
        "mov x29, #0\n"
        "mov x0, sp\n"
        "bl bz_init_main\n");
#else
#error "init.c knows no system calls of this machine"
#endif

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

static void complain(const char *program, long error)
{
    char digits[8];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    for (; error > 0 && at > 0; error /= 10)
        digits[--at] = (char)('0' + error % 10);
    say("sandbox: cannot run ");
    say(program);
    say(": error ");
    say(digits + at);
    say("\n");
}

static _Noreturn void run(char **argv, char **env)
{
    complain(argv[0], -call(__NR_execve, (long)argv[0], (long)argv, (long)env, 0));
    leave(NOT_RUN);
}

/* The stack as the kernel leaves it: the number of arguments, they, a null, and the
 * environment. */
_Noreturn void bz_init_main(long *stack);
_Noreturn void bz_init_main(long *stack)
{
    long argc = stack[0];
    char **argv = (char **)(stack + 1);
    char **env = argv + argc + 1;
    long task;
    long pid;
    int32_t status = 0;

    call(__NR_fcntl, REPORT, F_SETFD, FD_CLOEXEC, 0);
    task = call(__NR_clone, SIGCHLD, 0, 0, 0);
    if (task == 0)
        run(argv + 1, env);
    if (task < 0) {
        complain(argv[1], -task);
        status = NOT_RUN << 8;
    }
    while (task > 0) {
        pid = call(__NR_wait4, -1, (long)&status, 0, 0);
        if (pid == task || (pid < 0 && pid != -EINTR))
            break;
    }
    call(__NR_write, REPORT, (long)&status, sizeof(status), 0);
    leave(0);
}
