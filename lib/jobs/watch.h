/* watch.h - requests from files in a directory.
 *
 * Whoever may write there appends lines to mailbox-N.json, as they would send them on
 * the socket:
 *
 *     echo '{"opcode": 1, "task_id": 42}' >> DIR/mailbox-1.json
 *
 * and reads results from results-N.json, a line each, with "at": the byte of the
 * mailbox at which the line of the request begins. Each mailbox is a client of its own.
 *
 * The directory is ours alone (mode 0700). What was answered is recorded in .bitzel in
 * it, before the result is written; so a line that was answered is never run again,
 * also not after a restart, one that was not is. A service that is killed between the
 * two keeps the record and not the result.
 *
 * When results-N.json is longer than a limit its mailbox is not read any further until
 * somebody cuts it off or removes it. To lose nothing, rename it and read it then, or
 * hold flock() on it while reading and cutting: results are written under that lock.
 * A mailbox is never cut by the service. Who wants it to be shorter renames or removes
 * it and begins a new one; what the old one still has is read first. (One that was not
 * seen before, since nothing of it was answered, may be gone for the service too.)
 */
#ifndef BZ_JOBS_WATCH_H
#define BZ_JOBS_WATCH_H

#include "jobs/service.h"

struct bz_watch;

struct bz_watch_opts {
    struct bz_service *service;
    const char *dir;  /* is made, mode 0700 */
    unsigned results; /* tasks and results of a mailbox at a time; 0: 1024 */
    size_t limit;     /* bytes of results; 0: 64 MiB */
};

/* Starts its thread. BZ_E_BUSY if another service is at the directory, BZ_E_INVAL if
 * that is not ours alone. */
int bz_watch_new(const struct bz_watch_opts *opts, struct bz_watch **out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* What was asked for and not answered is canceled; the next service will do it. NULL is
 * fine. */
void bz_watch_free(struct bz_watch *w);

#endif
