/* flight.h - one request under way: its bytes in and out, its limits, and what comes
 * after an attempt. Everything about a request that libcurl need not know.
 *
 * http.c calls these from one thread, in the order in which things happen: begin, then
 * for each attempt ready, any number of header, take and give, and land.
 */
#ifndef BZ_NET_FLIGHT_H
#define BZ_NET_FLIGHT_H

#include <sys/types.h>

#include "net/http.h"

#define BZ_FLIGHT_LONGEST_WAIT (5 * BZ_CLOCK_S) /* what a server may ask for */
#define BZ_FLIGHT_DROPPED 65536                 /* bytes of a body that nobody wants */

struct bz_flight {
    struct bz_http_request *r;
    struct bz_answer answer;
    struct bz_buf url;            /* of this attempt, without user and password */
    struct bz_buf user, password; /* those in the request's address, decoded */
    bool has_login;               /* there were some */
    bool home;                    /* this attempt goes to the request's own server */
    unsigned attempts, redirects;
    size_t base;      /* what the sink's memory held before */
    uint64_t from;    /* where in the file this attempt begins */
    uint64_t given;   /* of the source, in this attempt */
    uint64_t dropped; /* of a body that nobody wants */
    uint64_t moved;   /* bytes in either direction, in this attempt */
    uint64_t mark;    /* what `moved` was when the window began, at: */
    int64_t since;
    int64_t due; /* when the next attempt may start */
    bool hole;   /* the last bytes were zeros, which are not written */
    int rc;      /* why we stopped the attempt ourselves, or 0 */
    bool enough; /* stopped, but the status is all that matters */
    struct bz_err err;
};

/* Takes the request up. BZ_E_INVAL or BZ_E_LIMIT if its address is none. */
int bz_flight_begin(struct bz_flight *f, struct bz_http_request *r,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_flight_release(struct bz_flight *f);

/* Before each attempt: back to the beginning of source and sink. */
int bz_flight_ready(struct bz_flight *f, int64_t now, struct bz_err *err) BZ_MUST_CHECK;

/* One header line, a piece of the body, room for a piece of the source. False, or -1,
 * stops the attempt: f->rc and f->err say why. */
bool bz_flight_header(struct bz_flight *f, struct bz_str line);
bool bz_flight_take(struct bz_flight *f, const void *p, size_t n);
ssize_t bz_flight_give(struct bz_flight *f, void *p, size_t room);
bool bz_flight_rewind(struct bz_flight *f); /* the source, to its beginning */

/* Looks once in a while, and says whether too little has moved lately. */
bool bz_flight_stalled(struct bz_flight *f, int64_t now, int64_t stall);

/* How an attempt ended, for the one who made it. */
struct bz_flight_end {
    int rc; /* 0: there is an answer */
    bool transient;
    const char *why;
};

/* After an attempt: true if there is to be another, not before f->due. Otherwise the
 * request's rc, err and answer are written. */
bool bz_flight_land(struct bz_flight *f, const struct bz_flight_end *end,
                    unsigned retries, int64_t now);

/* Gives up. `why` is for the message. */
void bz_flight_fail(struct bz_flight *f, int rc, const char *why);
/* The same with a failure of this machine, whose errno stays: it says who is to blame.
 */
void bz_flight_fail_by(struct bz_flight *f, const struct bz_err *why);

#endif
