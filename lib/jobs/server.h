/* server.h - a service on a Unix socket: a request a line, a result a line.
 *
 *     -> {"opcode": "echo", "task_id": 7, "args": {"a": 1}}
 *     <- {"task_id": 7, "status": 0, "final": true, "data": "{\"a\": 1}"}
 *
 * A result has "error" if its status is not 0. A request that cannot even be taken is
 * answered with the status BZ_TASK_INVALID_JSON; with the task_id 0, which no task has,
 * if its own is that of a task that is not done.
 *
 * Only the user the server runs as may connect (and root): the socket's directory is
 * private, and the kernel is asked who is at the other end. Each client has room for so
 * many results; while it does not read them nothing more is read from it. A line that
 * is too long ends the connection. One thread of the service's pool serves all
 * connections; handlers run elsewhere.
 */
#ifndef BZ_JOBS_SERVER_H
#define BZ_JOBS_SERVER_H

#include "jobs/service.h"

struct bz_server;

struct bz_server_opts {
    struct bz_service *service;
    const char *path; /* of the socket; its directory is made, mode 0700 */
    bool claimed;     /* the caller holds the lock beside it (door.h) */
    int fd;           /* a socket that listens already, or -1 */
    unsigned results; /* room for each client; 0: 1024 */
    unsigned clients; /* at a time; 0: 256 */
};

/* Starts its thread. BZ_E_EXISTS if another server is at that path, BZ_E_INVAL if its
 * directory is not ours alone. */
int bz_server_new(const struct bz_server_opts *opts, struct bz_server **out,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Serves until all that was asked for has ended and its results are sent, or until the
 * deadline (os/clock.h), then ends all connections. Stop the service before: what is
 * asked for meanwhile is refused. */
void bz_server_finish(struct bz_server *s, int64_t deadline);

/* Ends all connections; what was asked for is canceled. NULL is fine. */
void bz_server_free(struct bz_server *s);

/* How many clients there are, those at the door included, and when the last thing
 * happened (os/clock.h). */
unsigned bz_server_clients(struct bz_server *s, int64_t *last);

#endif
