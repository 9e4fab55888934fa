/* signal.h - signals as a readable descriptor, so that no code runs in a handler.
 *
 * Opening blocks the signals for the calling thread and for every thread it starts
 * afterwards: call it in main(), before there are others. A signal that the process
 * was started with as ignored (nohup, a background job of a shell) stays ignored.
 * Children do not inherit the block: proc.c resets it.
 */
#ifndef BZ_OS_SIGNAL_H
#define BZ_OS_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct bz_signal {
    bool open; /* false in a zeroed or closed struct */
    int fd;    /* readable while a signal is pending; for an event loop to watch */
    sigset_t before;
};

int bz_signal_open(struct bz_signal *s, const int *signals, size_t n,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Takes the next pending signal, waiting for it until the deadline (clock.h).
 * BZ_E_TIMEOUT when there is none by then. One thread at a time. */
int bz_signal_next(struct bz_signal *s, int64_t deadline, int *signal,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Restores the mask that was there before, on the thread that opened it. A signal that
 * nobody took then does what it always does: SIGINT ends the process. */
void bz_signal_close(struct bz_signal *s);

#endif
