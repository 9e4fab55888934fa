/* serve_link.h - a connection to `bitzel serve`, from the side of who asks. */
#ifndef BZ_CMD_SERVE_LINK_H
#define BZ_CMD_SERVE_LINK_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/doc.h"

struct bz_serve_link {
    int fd; /* -1: not open; readable when a result has come */
    struct bz_buf in;
    size_t used; /* of it, by results that were taken */
    struct bz_arena arena;
};

/* One line: the result, or a part of it, of a request. Valid until the next one. */
struct bz_serve_reply {
    int64_t id;
    int64_t status;
    bool final;
    struct bz_str data, error; /* what there is */
};

/* BZ_E_NOENT if nobody is there. Close it in any case, if it was {.fd = -1}. */
int bz_serve_link_open(struct bz_serve_link *l, const char *path,
                       struct bz_err *err) BZ_MUST_CHECK;
void bz_serve_link_close(struct bz_serve_link *l);

/* Sends one request, a JSON text without line ends. */
int bz_serve_link_send(struct bz_serve_link *l, struct bz_str text,
                       struct bz_err *err) BZ_MUST_CHECK;

/* Takes a reply that is there already; 1, or 0 if there is none yet. */
int bz_serve_link_next(struct bz_serve_link *l, struct bz_serve_reply *out,
                       struct bz_err *err) BZ_MUST_CHECK;
/* Reads what has come; waits if there is nothing. BZ_E_IO if the server is gone. */
int bz_serve_link_read(struct bz_serve_link *l, struct bz_err *err) BZ_MUST_CHECK;

/* Sends a request without a number, and waits for its one result. */
int bz_serve_link_ask(struct bz_serve_link *l, const char *text, int64_t deadline,
                      struct bz_serve_reply *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
