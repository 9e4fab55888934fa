/* serve_warm.h - projects that `bitzel serve` keeps read.
 *
 * For each project that somebody has asked about there is a process, `bitzel warm`,
 * that watches its files and reads what has changed as soon as it does. It writes the
 * snapshot that every command begins with: so who asks next does not wait for anything
 * to be parsed. It ends with the server. Any thread may call anything.
 */
#ifndef BZ_CMD_SERVE_WARM_H
#define BZ_CMD_SERVE_WARM_H

#include "base/sync.h"
#include "os/proc.h"
#include "serve_request.h"

#define BZ_SERVE_WARM_MOST                                                             \
    8 /* projects; the one that was not asked about longest goes */

struct bz_serve_warm_project {
    char *key;
    struct bz_proc proc;
    int line; /* its standard input */
    int64_t used;
};

struct bz_serve_warm {
    struct bz_sync_mutex mutex;
    struct bz_serve_warm_project projects[BZ_SERVE_WARM_MOST]; /* mutex */
};

/* Has the project of a request kept warm from now on, if it is not. */
void bz_serve_warm_keep(struct bz_serve_warm *w, const struct bz_serve_request *r);

/* Ends all of them. */
void bz_serve_warm_close(struct bz_serve_warm *w);

#endif
