/* dies.h - for tests of what stops the program. */
#ifndef BZ_TEST_DIES_H
#define BZ_TEST_DIES_H

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs fn in a child; true if it aborts and its last words contain `saying`. */
static inline bool dies(void (*fn)(void), const char *saying)
{
    char words[512] = "";
    size_t n = 0;
    ssize_t got;
    int fds[2];
    int status;
    pid_t pid;

    if (pipe(fds) < 0 || (pid = fork()) < 0)
        return false;
    if (pid == 0) {
        struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        fn();
        _exit(0);
    }
    close(fds[1]);
    while (n < sizeof(words) - 1 &&
           (got = read(fds[0], words + n, sizeof(words) - 1 - n)) > 0)
        n += (size_t)got;
    close(fds[0]);
    if (waitpid(pid, &status, 0) != pid)
        return false;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(words, saying);
}

#endif
