#include "jobs/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "jobs/call.h"
#include "jobs/client.h"
#include "os/clock.h"
#include "os/fs.h"

/* How often the parent looks whether the task is still wanted. */
#define LOOK_MS 50
#define DATA_MAX ((uint32_t)64 << 20)

/* What goes through the pipe before the bytes of a result. */
struct head {
    int32_t status;
    uint32_t size;
    uint32_t final;
    char error[BZ_TASK_ERROR];
};

static int send_all(int fd, const void *p, size_t n)
{
    struct bz_err ignored;

    return bz_fs_write_all(fd, "pipe", p, n, &ignored) < 0 ? BZ_TASK_CANCELED : 0;
}

int bz_isolate_send(int fd, const struct bz_result *r)
{
    struct head head = {.status = r->status, .size = r->size, .final = r->final};
    int status;

    snprintf(head.error, sizeof(head.error), "%s", r->error);
    status = send_all(fd, &head, sizeof(head));
    return status == 0 && r->size > 0 ? send_all(fd, r->data, r->size) : status;
}

static void be_child(struct bz_call *c, int fd, pid_t parent)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct bz_result *result = NULL;
    sigset_t none;
    int status;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < BZ_COUNTOF(signals); i++)
        signal(signals[i], SIG_DFL);
    bz_log_set_sink(NULL); /* one of the program's may have a lock */
    c->pipe = fd;
    status = bz_call_handle(c);
    if (status == 0 && !c->reply)
        status = bz_call_reply(c, NULL, 0);
    result = status < 0 ? bz_task_failure(c->task->id, status, c->error) : c->reply;
    _exit(bz_isolate_send(fd, result) < 0 ? 1 : 0);
}

/* The child, as its parent sees it. */
struct child {
    pid_t pid;
    int fd;   /* what it sends */
    int life; /* can be read when it has ended; -1: that has to be asked for */
};

/* Whether it has ended. Its end of the pipe does not tell: other children that were
 * made at the same time, and its own, may have that as well. */
static bool has_ended(const struct child *k, short events)
{
    siginfo_t info = {0};

    if (k->life >= 0)
        return events != 0;
    return waitid(P_PID, (id_t)k->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == k->pid;
}

/* Waits for a while for bytes. 1 if there are some; -1 if there are none, nor will
 * there be; else 0. */
static int wait_for_bytes(const struct child *k)
{
    struct pollfd fds[] = {
        {k->fd,   POLLIN, 0},
        {k->life, POLLIN, 0}
    };

    if (poll(fds, 2, LOOK_MS) < 0)
        return 0;
    if (fds[0].revents)
        return 1;
    if (!has_ended(k, fds[1].revents))
        return 0;
    /* The last it sent may have come just now. */
    return poll(fds, 1, 0) > 0 ? 1 : -1;
}

/* Reads n bytes; 1, 0 at the end, or a status when the task is to end. */
static int read_all(struct bz_call *c, const struct child *k, void *p, size_t n)
{
    size_t got = 0;

    while (got < n) {
        int status = bz_call_check(c), some;
        ssize_t r;

        if (status < 0)
            return status;
        some = wait_for_bytes(k);
        if (some < 0)
            return 0;
        if (some == 0)
            continue;
        r = read(k->fd, (char *)p + got, n - got);
        if (r == 0 || (r < 0 && errno != EINTR && errno != EAGAIN))
            return 0;
        if (r > 0)
            got += (size_t)r;
    }
    return 1;
}

/* One result from the child: 1 if there may be more, 0 if it was the last, or there is
 * none; else a status. */
static int take_one(struct bz_call *c, const struct child *k, bool *final, int *ended)
{
    BZ_CLEANUP(bz_mem_freep) char *data = NULL;
    struct head head;
    int rc = read_all(c, k, &head, sizeof(head));

    if (rc <= 0)
        return rc;
    if (head.size > DATA_MAX)
        return bz_call_fail(c, BZ_TASK_FAILED, "the result is too large");
    data = bz_task_try(c->task->alloc, (size_t)head.size + 1);
    if (!data)
        return bz_call_fail(c, BZ_TASK_NO_MEMORY, "no memory for the result");
    rc = read_all(c, k, data, head.size);
    if (rc <= 0)
        return rc;
    head.error[sizeof(head.error) - 1] = '\0';
    *final = head.final;
    if (!head.final) {
        rc = bz_call_emit(c, data, head.size);
        return rc < 0 ? rc : 1;
    }
    *ended = head.status == 0 ? bz_call_reply(c, data, head.size)
                              : bz_call_fail(c, head.status, "%s", head.error);
    return 0;
}

static int take_all(struct bz_call *c, const struct child *k)
{
    bool final = false;
    int ended = 0, rc, how = 0;

    do
        rc = take_one(c, k, &final, &ended);
    while (rc > 0);
    if (rc < 0 || !final)
        kill(k->pid, rc < 0 ? SIGKILL : SIGCONT);
    while (waitpid(k->pid, &how, 0) < 0 && errno == EINTR)
        ;
    if (rc < 0)
        return rc;
    if (final)
        return ended;
    if (WIFSIGNALED(how))
        return bz_call_fail(c, BZ_TASK_CRASHED, "the handler crashed: signal %d (%s)",
                            WTERMSIG(how), strsignal(WTERMSIG(how)));
    return bz_call_fail(c, BZ_TASK_CRASHED, "the handler ended without a result");
}

int bz_isolate_run(struct bz_call *c)
{
    pid_t parent = getpid();
    struct child child;
    int ends[2], status;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return bz_call_fail(c, BZ_TASK_FAILED, "no pipe: %s", strerror(errno));
    /* The child has the locks as they are now, and nobody to open them. */
    bz_sync_lock(&c->symbols->mutex);
    child.pid = fork();
    bz_sync_unlock(&c->symbols->mutex);
    if (child.pid == 0) {
        close(ends[0]);
        be_child(c, ends[1], parent);
    }
    close(ends[1]);
    if (child.pid < 0) {
        status = bz_call_fail(c, BZ_TASK_FAILED, "no process: %s", strerror(errno));
    } else {
        child.fd = ends[0];
        child.life = (int)syscall(SYS_pidfd_open, child.pid, 0);
        status = take_all(c, &child);
        bz_fs_closep(&child.life);
    }
    close(ends[0]);
    return status;
}
