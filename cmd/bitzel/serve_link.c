#include "serve_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "codec/json.h"
#include "os/clock.h"
#include "os/fs.h"

#define LINE_MAX_BYTES ((size_t)1 << 30) /* of a result: more than a server sends */

int bz_serve_link_open(struct bz_serve_link *l, const char *path, struct bz_err *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t n = strlen(path);

    if (n >= sizeof(at.sun_path))
        return bz_fail(err, BZ_E_INVAL, "%s is too long for a socket", path);
    memcpy(at.sun_path, path, n + 1);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0)
        return bz_fail_sys(err, "open a socket");
    if (connect(l->fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return 0;
    if (errno == ENOENT || errno == ECONNREFUSED)
        return bz_fail(err, BZ_E_NOENT,
                       "no server is at %s: start one with 'bitzel serve'", path);
    return bz_fail_sys(err, "connect to %s", path);
}

void bz_serve_link_close(struct bz_serve_link *l)
{
    bz_fs_closep(&l->fd);
    bz_buf_release(&l->in);
    bz_arena_release(&l->arena);
}

int bz_serve_link_send(struct bz_serve_link *l, struct bz_str text, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf line = {0};
    struct bz_str rest;

    bz_buf_add_str(&line, text);
    bz_buf_add_char(&line, '\n');
    for (rest = bz_buf_str(&line); rest.n > 0;) {
        ssize_t n = send(l->fd, rest.p, rest.n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return bz_fail_sys(err, "send to the server");
        rest = bz_str_drop(rest, (size_t)n);
    }
    return 0;
}

static int parse(struct bz_serve_link *l, struct bz_str line,
                 struct bz_serve_reply *out, struct bz_err *err)
{
    const struct bz_doc_limits limits = {.bytes = UINT32_MAX};
    const struct bz_doc *d = NULL;
    struct bz_err none;
    int rc = bz_json_parse(&l->arena, line, &limits, &d, err);

    *out = (struct bz_serve_reply){0};
    if (rc == 0)
        rc = bz_doc_get_int(d, "task_id", 0, INT64_MAX, &out->id, err);
    if (rc == 0)
        rc = bz_doc_get_int(d, "status", INT32_MIN, 0, &out->status, err);
    if (rc == 0)
        rc = bz_doc_get_bool(d, "final", &out->final, err);
    if (rc < 0)
        return bz_fail(err, BZ_E_CORRUPT, "what the server says is wrong: %s",
                       err->msg);
    if (bz_doc_get_str(d, "data", &out->data, &none) < 0)
        out->data = BZ_STR("");
    if (bz_doc_get_str(d, "error", &out->error, &none) < 0)
        out->error = BZ_STR("");
    return 0;
}

int bz_serve_link_next(struct bz_serve_link *l, struct bz_serve_reply *out,
                       struct bz_err *err)
{
    struct bz_str rest = bz_str_drop(bz_buf_str(&l->in), l->used);
    size_t end = bz_str_find_byte(rest, '\n');
    int rc;

    bz_arena_reset(&l->arena);
    if (end == BZ_STR_NONE) {
        if (l->used > 0 && rest.n > 0)
            memmove(l->in.data, rest.p, rest.n);
        bz_buf_truncate(&l->in, rest.n);
        l->used = 0;
        return 0;
    }
    l->used += end + 1;
    rc = parse(l, bz_str_sub(rest, 0, end), out, err);
    return rc < 0 ? rc : 1;
}

int bz_serve_link_read(struct bz_serve_link *l, struct bz_err *err)
{
    enum { AT_ONCE = 65536 };
    ssize_t n;

    if (l->in.len > LINE_MAX_BYTES)
        return bz_fail(err, BZ_E_LIMIT, "what the server says is too long");
    do
        n = recv(l->fd, bz_buf_reserve(&l->in, AT_ONCE), AT_ONCE, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return bz_fail_sys(err, "read from the server");
    if (n == 0)
        return bz_fail(err, BZ_E_IO, "the server has ended the connection");
    bz_buf_commit(&l->in, (size_t)n);
    return 0;
}

int bz_serve_link_ask(struct bz_serve_link *l, const char *text, int64_t deadline,
                      struct bz_serve_reply *out, struct bz_err *err)
{
    struct pollfd fd = {l->fd, POLLIN, 0};
    int rc = bz_serve_link_send(l, bz_str_from(text), err);

    while (rc == 0 && (rc = bz_serve_link_next(l, out, err)) == 0) {
        int n = poll(&fd, 1, bz_clock_poll_ms(deadline));

        if (n == 0)
            return bz_fail(err, BZ_E_TIMEOUT, "the server does not answer");
        if (n > 0)
            rc = bz_serve_link_read(l, err);
    }
    if (rc < 0)
        return rc;
    return out->status < 0
               ? bz_fail(err, BZ_E_IO, "the server says: %.*s", BZ_STR_ARG(out->error))
               : 0;
}
