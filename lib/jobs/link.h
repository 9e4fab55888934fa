/* link.h - the server's end of a client's shared memory.
 *
 * Results are written by the workers that made them; those that find no room wait here,
 * and until they are written no request is read. Everything but bz_link_deliver is for
 * the one thread that serves the client.
 */
#ifndef BZ_JOBS_LINK_H
#define BZ_JOBS_LINK_H

#include "jobs/channel.h"
#include "jobs/client.h"

/* What a link wants after it was looked at. */
enum bz_link_state {
    BZ_LINK_QUIET,  /* the client will ring, on the socket */
    BZ_LINK_AWAKE,  /* to be looked at again, soon */
    BZ_LINK_PAUSED, /* a request waits until the service has less to do */
    BZ_LINK_BROKEN, /* the client writes nonsense: an end of it */
};

struct bz_link;

/* *fd is for the client, and to be closed. The link outlives what delivers to it. */
int bz_link_new(struct bz_client *client, struct bz_link **out, int *fd,
                struct bz_err *err) BZ_MUST_CHECK;
void bz_link_free(struct bz_link *l); /* NULL is fine */

/* Takes a result, on any thread. True if bz_link_pump is to be called for it. */
bool bz_link_deliver(struct bz_link *l, struct bz_result *r);

/* Writes results that waited, hands in requests; adds to *handled how many. */
enum bz_link_state bz_link_pump(struct bz_link *l, unsigned *handled);

/* Has a client that sleeps look around: the socket is closed, say. */
void bz_link_nudge(struct bz_link *l);

#endif
