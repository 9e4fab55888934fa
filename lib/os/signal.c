#include "os/signal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs.h"

int bz_signal_open(struct bz_signal *s, const int *signals, size_t n,
                   struct bz_err *err)
{
    sigset_t set;
    int rc;

    *s = (struct bz_signal){.fd = -1};
    sigemptyset(&set);
    for (size_t i = 0; i < n; i++) {
        struct sigaction now;

        if (sigaction(signals[i], NULL, &now) < 0)
            return bz_fail_sys(err, "signal %d", signals[i]);
        /* While it is blocked the kernel would queue even an ignored one. */
        if (now.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->fd < 0)
        return bz_fail_sys(err, "open a descriptor for signals");
    rc = pthread_sigmask(SIG_BLOCK, &set, &s->before);
    BZ_ASSERT(rc == 0);
    s->open = true;
    return 0;
}

int bz_signal_next(struct bz_signal *s, int64_t deadline, int *signal,
                   struct bz_err *err)
{
    struct signalfd_siginfo info;

    for (;;) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        ssize_t got = read(s->fd, &info, sizeof(info));
        int rc;

        if (got == sizeof(info)) {
            *signal = (int)info.ssi_signo;
            return 0;
        }
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            return bz_fail_sys(err, "read a signal");
        rc = poll(&p, 1, bz_clock_poll_ms(deadline));
        if (rc < 0 && errno != EINTR)
            return bz_fail_sys(err, "wait for a signal");
        if (rc == 0 && deadline != BZ_CLOCK_NEVER && bz_clock_now() >= deadline)
            return bz_fail(err, BZ_E_TIMEOUT, "no signal before the deadline");
    }
}

void bz_signal_close(struct bz_signal *s)
{
    int rc;

    if (!s->open)
        return;
    bz_fs_closep(&s->fd);
    rc = pthread_sigmask(SIG_SETMASK, &s->before, NULL);
    BZ_ASSERT(rc == 0);
    *s = (struct bz_signal){.fd = -1};
}
