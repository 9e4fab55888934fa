/* http.h - requests over HTTP/1.1, and the one user of libcurl.
 *
 * One call makes any number of requests and keeps many of them in flight: the calling
 * thread drives them all, so 32 transfers cost one thread and none is started here.
 * Connections outlive the call and are used by the next.
 *
 *   1. Every request ends: connecting is bounded, and so is silence. A transfer that
 *      moves fewer than BZ_HTTP_DRIP bytes a second over `stall` has stalled. The token
 *      stops everything within BZ_HTTP_TICK.
 *   2. Answers are foreign. Headers are bounded by answer.h, bodies by the request; no
 *      more of a body is taken than was promised, and one that is cut short is a
 *      failure. Nothing is decompressed.
 *   3. Redirections are followed a few times, for GET and HEAD, to http and https only
 *      and never from https to http.
 *   4. User, password, token, client certificate and a request's own header lines go to
 *      the server that the request names and to no other, wherever that sends us.
 *   5. A request is tried again if trying may help: after a failure of the network or
 *      408, 429, 500, 502, 503, 504. The waits double. Who was silent is only asked
 *      again by who is patient; a POST, which may have done something, is never made
 * twice, and neither is a request of whose answer somebody has a piece.
 *
 * Proxies are taken from the environment (http_proxy, https_proxy, no_proxy),
 * certificates are checked against the system's store. What a message says about an
 * address has no secrets in it.
 *
 * Any number of threads may use one client.
 */
#ifndef BZ_NET_HTTP_H
#define BZ_NET_HTTP_H

#include "codec/digest.h"
#include "net/answer.h"
#include "os/clock.h"
#include "pool/cancel.h"

#define BZ_HTTP_CONCURRENT 32
#define BZ_HTTP_CONNECT (5 * BZ_CLOCK_S)
#define BZ_HTTP_STALL (20 * BZ_CLOCK_S)
#define BZ_HTTP_DRIP 512
#define BZ_HTTP_TICK (100 * BZ_CLOCK_MS)
#define BZ_HTTP_RETRIES 2
#define BZ_HTTP_BACKOFF (100 * BZ_CLOCK_MS)
#define BZ_HTTP_REDIRECTS 5

struct bz_http;

/* Who we are, for the server that a request names. All may be NULL. */
struct bz_http_auth {
    const char *user, *password; /* those in a request's address go before them */
    const char *bearer;          /* a token */
    const char *netrc;           /* path of a file with users and passwords */
    const char *cert, *key;      /* paths of our certificate and its key, PEM */
    const char *ca;              /* path of the only authorities to believe in, PEM */
};

struct bz_http_opts {
    struct bz_http_auth auth;
    const char *agent;   /* User-Agent; NULL: "bitzel" */
    unsigned concurrent; /* transfers at a time; 0: BZ_HTTP_CONCURRENT */
    int64_t connect;     /* nanoseconds; 0: BZ_HTTP_CONNECT */
    int64_t stall;       /* nanoseconds; 0: BZ_HTTP_STALL */
    int retries;         /* further attempts; 0: BZ_HTTP_RETRIES, -1: none */
    bool patient;        /* who was silent is asked again, too */
};

/* Copies what it needs. BZ_E_INVAL if a certificate or key cannot be read or the token
 * has blanks in it; BZ_E_NOSUP without libcurl. The caller frees *out. */
int bz_http_new(const struct bz_http_opts *opts, struct bz_http **out,
                struct bz_err *err) BZ_MUST_CHECK;
void bz_http_free(struct bz_http *http); /* NULL is fine; when no call is under way */
static inline void bz_http_freep(struct bz_http **http)
{
    bz_http_free(*http);
}

enum bz_http_method { BZ_HTTP_GET, BZ_HTTP_HEAD, BZ_HTTP_PUT, BZ_HTTP_POST };

/* The body of a PUT or POST: n bytes at p, or, if that is NULL, at the beginning of a
 * file. */
struct bz_http_source {
    const void *p;
    int fd;
    uint64_t n;
    /* For a file: with `want`, the last bytes are sent only if all have that digest, so
     * that what was damaged meanwhile does not arrive. BZ_E_CORRUPT. */
    struct bz_digest_hasher *h;
    const struct bz_digest *want;
};

/* Somebody who follows what comes into a file, on the thread that drives the transfer:
 * told when an attempt begins with an empty file, and how many bytes there are. Zeros
 * at their end may not have been written yet. */
struct bz_http_tap {
    void (*begin)(void *arg);
    void (*grow)(void *arg, uint64_t n);
    void *arg;
};

/* Where the body of a 2xx answer goes: to whoever takes it, piece by piece; or to the
 * end of `mem`; or, if both are NULL, into an empty file, with holes where there are
 * many zeros. A further attempt drops what came before. With a hasher the bytes are
 * added to a message that is begun with each attempt, for the caller to end. */
struct bz_http_sink {
    /* On the thread that drives the transfer, which waits. 0, or why the request is to
     * end: an enum bz_code, with *err filled. */
    int (*take)(void *arg, const void *p, size_t n, struct bz_err *err);
    void *arg;
    struct bz_buf *mem; /* without a limit of its own */
    bool any;           /* bodies of other answers as well, but for redirections */
    int fd;
    struct bz_digest_hasher *h;    /* or NULL */
    const struct bz_http_tap *tap; /* or NULL; for a file, and not with `resume` */
    uint64_t limit;                /* bytes at most */
    /* Into a file and without a hasher: its first `have` bytes are there already, and
     * an attempt goes on where the one before it ended, if the server can do that. Only
     * for who checks the whole afterwards. */
    bool resume;
    uint64_t have;
};

struct bz_http_request {
    enum bz_http_method method;
    const char *url; /* http or https; lives as long as the request */
    struct bz_http_source source;
    struct bz_http_sink sink;

    /* Lines of the header, "Name: value", up to a NULL; or NULL. They replace ours of
     * the same name. Who makes them sees to it that each is one line. */
    const char *const *lines;
    struct bz_buf *head; /* gets the header of the answer, all lines; or NULL */

    int64_t patience; /* ns that the server may be silent beyond `stall` */
    bool slow;        /* any byte within that time is enough */

    /* Told of bytes as they come: how many there are, and how many there will be, or 0
     * if that is not known. NULL: nobody is. */
    void (*progress)(void *arg, uint64_t n, uint64_t total);
    void *arg;

    /* The answer, when it is done. rc is 0 if there is one, whatever its status:
     * BZ_E_TIMEOUT if the server is silent, BZ_E_CANCELED or BZ_E_TIMEOUT from the
     * token, BZ_E_LIMIT if the answer is too large, BZ_E_CORRUPT if it or the source is
     * wrong, BZ_E_INVAL for an address that cannot be, else BZ_E_IO. */
    int rc;
    struct bz_err err;
    unsigned status; /* also when the body failed; 0 if there was none */
    uint64_t n;      /* bytes that are in the sink */
    bool has_length; /* the answer had a Content-Length, namely: */
    uint64_t length;
};

/* Where requests come from. Both functions run on the thread that called bz_http_run
 * and may not call it. */
struct bz_http_feed {
    /* The next request, which stays where it is until it is done; NULL if there is none
     * at present, to be asked again when one is done. */
    struct bz_http_request *(*next)(void *arg);
    /* Once for each. The request may be handed out again by `next`. */
    void (*done)(void *arg, struct bz_http_request *r);
    void *arg;
    struct bz_cancel *cancel; /* or NULL */
};

/* Makes requests until there are none and all are done. */
void bz_http_run(struct bz_http *http, const struct bz_http_feed *feed);

/* One request; returns its rc, and its failure in *err. */
int bz_http_one(struct bz_http *http, struct bz_http_request *r,
                struct bz_cancel *cancel, struct bz_err *err) BZ_MUST_CHECK;

#endif
