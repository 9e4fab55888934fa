/* webjob.h - handlers that ask web servers.
 *
 *   http_get   {"url": "https://...", "headers": {"Accept": "text/plain"}}
 *   http_post  the same, and "body": "text", which is JSON unless a header says
 * otherwise
 *
 * The result: {"status": 200, "headers": {"content-type": "..."}, "size": 5, "body":
 * "hello"}, whatever the status. Names of headers are in lower case; what comes several
 * times is joined by ", ". A body that is no UTF-8 is a failure, so for these:
 *
 *   "stream": true         the body comes as parts, each as it arrives, bytes as they
 *                          are; the result has none
 *   "write_to": "symbol"   it goes into that memory, from its beginning; the same
 *
 * http and https only, also where a redirection leads; these are followed for GET, as
 * net/http.h has it. A body has at most BZ_WEBJOB_BODY bytes, or BZ_WEBJOB_STREAM in
 * parts. Canceling the task, or the end of its time, ends the transfer; without a time
 * a server may be silent for a minute.
 */
#ifndef BZ_JOBS_WEBJOB_H
#define BZ_JOBS_WEBJOB_H

#include "base/sync.h"
#include "jobs/call.h"

#define BZ_WEBJOB_BODY ((uint64_t)16 << 20)
#define BZ_WEBJOB_STREAM ((uint64_t)4 << 30)
#define BZ_WEBJOB_LINES 64 /* of a request's own header */

struct bz_http;

/* What the handlers get as their context. */
struct bz_webjob {
    struct bz_sync_mutex mutex;
    struct bz_http *http; /* mutex; made when it is needed first, then it stays */
};

void bz_webjob_release(struct bz_webjob *w);

int bz_webjob_get(struct bz_call *c, void *web);
int bz_webjob_post(struct bz_call *c, void *web);

#endif
