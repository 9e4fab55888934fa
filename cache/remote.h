/* remote.h - a web server that keeps blobs and results, and what we learnt about it.
 *
 * It speaks what Bazel calls its HTTP cache: GET, HEAD and PUT of `cas/<digest>` and
 * `ac/<key>` below a base address. That may be nginx with a directory, or a program
 * made for it. Whatever it sends is checked by the receiver; nothing here believes it.
 *
 * What is wrong with it is said once for each kind of trouble, in the log. One that
 * refuses to store is read from only, from then on.
 *
 * Any number of threads may use one.
 */
#ifndef BZ_CACHE_REMOTE_H
#define BZ_CACHE_REMOTE_H

#include <stdatomic.h>

#include "cache/crew.h"
#include "cache/tier.h"
#include "net/http.h"

#define BZ_REMOTE_BAD 64 /* how many damaged ones are remembered */

/* What is said only once. */
enum bz_remote_news {
    BZ_REMOTE_WRONG_BYTES,
    BZ_REMOTE_WRONG_RESULT,
    BZ_REMOTE_READONLY,
    BZ_REMOTE_TOO_LARGE,
};

struct bz_remote_opts {
    const char *url; /* http or https, perhaps with user and password; no query */
    struct bz_http_opts http;
    bool readonly;     /* nothing is to be stored */
    uint64_t max_blob; /* larger ones are left alone; 0: any */
};

struct bz_remote {
    struct bz_http *http;
    unsigned concurrent;
    char *base; /* without a slash at its end, user and password */
    struct bz_crew hashers;
    atomic_bool readonly;
    atomic_bool headless;  /* it does not know HEAD */
    atomic_ullong largest; /* blobs above are not sent nor asked for */
    atomic_uint said;      /* bits of bz_remote_news */
    struct bz_sync_mutex mu;
    struct bz_digest bad[BZ_REMOTE_BAD]; /* mu; a ring */
    size_t nbad;                         /* mu; how many there ever were */
};

/* Asks the server nothing yet. BZ_E_INVAL if the address or a certificate is wrong. */
int bz_remote_open(struct bz_remote *r, const struct bz_remote_opts *opts,
                   struct bz_err *err) BZ_MUST_CHECK;
void bz_remote_close(struct bz_remote *r);

/* The address of a blob ("cas") or result ("ac"), terminated. */
void bz_remote_url(const struct bz_remote *r, const char *kind,
                   const struct bz_digest *d, struct bz_buf *out);

/* True the first time it is asked about a piece of news: then say it. */
bool bz_remote_is_news(struct bz_remote *r, enum bz_remote_news what);

/* What the server has under this name is wrong: the next one to store it does not ask
 * whether it is there. */
void bz_remote_note_bad(struct bz_remote *r, const struct bz_digest *d);
bool bz_remote_is_bad(struct bz_remote *r, const struct bz_digest *d);

/* What the answer to a request means: 0 if it is done (200, 201, 204), BZ_E_NOENT if
 * there is no such thing, BZ_E_LIMIT for what is too large for the server, BZ_E_NOSUP
 * if it stores nothing (the caller says what size it was that was refused), else the
 * code of a server that does not work. */
int bz_remote_judge(struct bz_remote *r, const struct bz_http_request *q,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
