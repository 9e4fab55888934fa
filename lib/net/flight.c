#include "net/flight.h"

#include <errno.h>
#include <unistd.h>

static const char *method_name(enum bz_http_method m)
{
    static const char *const names[] = {"GET", "HEAD", "PUT", "POST"};

    return names[m];
}

static bool has_source(const struct bz_flight *f)
{
    return f->r->method == BZ_HTTP_PUT || f->r->method == BZ_HTTP_POST;
}

static bool is_web(const struct bz_url *u)
{
    return bz_url_is(u, BZ_STR("http")) || bz_url_is(u, BZ_STR("https"));
}

static int parse_request(struct bz_flight *f, struct bz_err *err)
{
    struct bz_url u;
    int rc = bz_url_parse(bz_str_from(f->r->url), &u, err);

    if (rc == 0 && !is_web(&u))
        rc = bz_fail(err, BZ_E_INVAL, "neither http nor https");
    if (rc == 0 && u.user.p) {
        f->has_login = true;
        rc = bz_url_decode(u.user, &f->user, err);
        if (rc == 0)
            rc = bz_url_decode(u.password, &f->password, err);
    }
    if (rc == 0)
        bz_url_add(&u, &f->url);
    return rc;
}

int bz_flight_begin(struct bz_flight *f, struct bz_http_request *r, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf shown = {0};
    struct bz_flight fresh = {.r = r, .home = true};

    fresh.url = f->url; /* keeps the memory */
    fresh.user = f->user;
    fresh.password = f->password;
    *f = fresh;
    bz_buf_truncate(&f->url, 0);
    bz_buf_truncate(&f->user, 0);
    bz_buf_truncate(&f->password, 0);
    f->base = r->sink.mem ? r->sink.mem->len : 0;
    r->rc = 0;
    r->status = 0;
    r->n = r->sink.resume ? r->sink.have : 0;
    r->length = 0;
    r->has_length = false;
    if (parse_request(f, err) == 0)
        return 0;
    bz_url_redact(bz_str_from(r->url), &shown);
    return bz_err_wrap(err, "%s %s", method_name(r->method), bz_buf_text(&shown));
}

void bz_flight_release(struct bz_flight *f)
{
    bz_buf_release(&f->url);
    bz_buf_release(&f->user);
    bz_buf_release(&f->password);
}

bool bz_flight_rewind(struct bz_flight *f)
{
    f->given = 0;
    if (f->r->source.want)
        bz_digest_begin(f->r->source.h);
    return true;
}

int bz_flight_ready(struct bz_flight *f, int64_t now, struct bz_err *err)
{
    struct bz_http_sink *sink = &f->r->sink;

    f->answer.status = 0;
    f->answer.bytes = f->answer.lines = f->answer.nlocation = 0;
    f->answer.has_length = f->answer.encoded = false;
    f->answer.wait = 0;
    f->dropped = f->moved = f->mark = 0;
    f->hole = false;
    f->since = now;
    f->rc = 0;
    f->enough = false;
    if (has_source(f))
        bz_flight_rewind(f);
    f->from = sink->resume ? f->r->n : 0;
    if (sink->resume)
        return 0;
    if (sink->mem)
        bz_buf_truncate(sink->mem, f->base);
    else if (!sink->take && f->r->n > 0 && ftruncate(sink->fd, 0) < 0)
        return bz_fail_sys(err, "empty a file for another attempt");
    if (sink->h)
        bz_digest_begin(sink->h);
    if (sink->tap)
        sink->tap->begin(sink->tap->arg);
    f->r->n = 0;
    return 0;
}

static bool refuse(struct bz_flight *f, int rc)
{
    f->rc = rc;
    return false;
}

static bool succeeds(const struct bz_answer *a)
{
    return a->status >= 200 && a->status <= 299;
}

static bool follows(const struct bz_flight *f)
{
    return bz_answer_redirects(&f->answer) && !has_source(f);
}

/* Whether the answer has a body that goes into the sink. */
static bool wanted(const struct bz_flight *f)
{
    if (f->r->method != BZ_HTTP_GET && f->r->method != BZ_HTTP_POST)
        return false;
    return succeeds(&f->answer) ||
           (f->r->sink.any && f->answer.status >= 200 && !follows(f));
}

/* The file gets the whole, not the rest: what is in it is dropped. */
static int start_over(struct bz_flight *f)
{
    f->from = f->r->n = 0;
    if (ftruncate(f->r->sink.fd, 0) < 0)
        return bz_fail_sys(&f->err, "empty a file for the whole");
    return 0;
}

bool bz_flight_header(struct bz_flight *f, struct bz_str line)
{
    const struct bz_answer *a = &f->answer;
    struct bz_buf *head = f->r->head;
    int rc;

    f->moved += line.n;
    rc = bz_answer_line(&f->answer, line, &f->err);
    if (rc < 0)
        return refuse(f, rc);
    if (head && bz_str_starts(line, BZ_STR("HTTP/")))
        bz_buf_truncate(head, 0);
    if (head)
        bz_buf_add_str(head, line);
    if (line.n > 2 || !wanted(f))
        return true;
    /* The end of the header: a body that we would not take need not begin. */
    if (a->encoded)
        return refuse(f, bz_fail(&f->err, BZ_E_CORRUPT,
                                 "the answer is compressed, which was not asked for"));
    if (f->from > 0 && a->status != 206 && (rc = start_over(f)) < 0)
        return refuse(f, rc);
    if (a->has_length &&
        (a->length > f->r->sink.limit || f->from > f->r->sink.limit - a->length))
        return refuse(f, bz_fail(&f->err, BZ_E_LIMIT,
                                 "%llu bytes were announced where %llu are allowed",
                                 (unsigned long long)a->length,
                                 (unsigned long long)f->r->sink.limit));
    return true;
}

static int write_at(int fd, uint64_t at, const char *p, size_t n, struct bz_err *err)
{
    while (n > 0) {
        ssize_t done = pwrite(fd, p, n, (off_t)at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return bz_fail_sys(err, "write what was received");
        p += done;
        at += (size_t)done;
        n -= (size_t)done;
    }
    return 0;
}

static bool all_zero(const char *p, size_t n)
{
    return n > 0 && p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

bool bz_flight_take(struct bz_flight *f, const void *p, size_t n)
{
    const struct bz_http_sink *sink = &f->r->sink;
    int rc = 0;

    f->moved += n;
    if (!wanted(f)) {
        f->dropped += n;
        f->enough = f->dropped > BZ_FLIGHT_DROPPED;
        return !f->enough;
    }
    if (n > sink->limit - f->r->n)
        return refuse(f, bz_fail(&f->err, BZ_E_LIMIT, "more than %llu bytes came",
                                 (unsigned long long)sink->limit));
    if (sink->h)
        bz_digest_add(sink->h, p, n);
    f->hole = !sink->take && !sink->mem && all_zero(p, n);
    if (sink->take)
        rc = sink->take(sink->arg, p, n, &f->err);
    else if (sink->mem)
        bz_buf_add(sink->mem, p, n);
    else if (!f->hole)
        rc = write_at(sink->fd, f->r->n, p, n, &f->err);
    f->r->n += n;
    if (sink->tap && rc == 0)
        sink->tap->grow(sink->tap->arg, f->r->n);
    if (f->r->progress)
        f->r->progress(f->r->arg, f->r->n,
                       f->answer.has_length ? f->from + f->answer.length : 0);
    return rc < 0 ? refuse(f, rc) : true;
}

/* The last bytes are about to be sent: are they the right ones? */
static bool verify_source(struct bz_flight *f)
{
    const struct bz_http_source *src = &f->r->source;
    struct bz_digest got;

    bz_digest_end(src->h, &got);
    if (bz_digest_eq(&got, src->want))
        return true;
    return refuse(f, bz_fail(&f->err, BZ_E_CORRUPT, "the file has other bytes"));
}

ssize_t bz_flight_give(struct bz_flight *f, void *p, size_t room)
{
    const struct bz_http_source *src = &f->r->source;
    uint64_t left = src->n - f->given;
    ssize_t n = (ssize_t)(room < left ? room : left);

    if (n == 0)
        return 0;
    if (src->p) {
        memcpy(p, (const char *)src->p + f->given, (size_t)n);
    } else {
        do {
            n = pread(src->fd, p, (size_t)n, (off_t)f->given);
        } while (n < 0 && errno == EINTR);
        if (n < 0)
            f->rc = bz_fail_sys(&f->err, "read what is to be sent");
        if (n == 0)
            f->rc = bz_fail(&f->err, BZ_E_CORRUPT, "the file is shorter");
        if (n <= 0)
            return -1;
    }
    f->given += (size_t)n;
    f->moved += (size_t)n;
    if (src->want) {
        bz_digest_add(src->h, p, (size_t)n);
        if (f->given == src->n && !verify_source(f))
            return -1;
    }
    return n;
}

bool bz_flight_stalled(struct bz_flight *f, int64_t now, int64_t stall)
{
    uint64_t enough, moved = f->moved - f->mark;

    stall += f->r->patience;
    if (now - f->since < stall)
        return false;
    enough = f->r->slow ? 1 : (uint64_t)(stall / BZ_CLOCK_MS) * BZ_HTTP_DRIP / 1000;
    if (moved < enough || moved == 0)
        return true;
    f->mark = f->moved;
    f->since = now;
    return false;
}

/* 100, 200, 400... ms, give or take a quarter, so that not all come back at once. */
static int64_t backoff(const struct bz_flight *f, int64_t now)
{
    int64_t wait = BZ_HTTP_BACKOFF << (f->attempts < 6 ? f->attempts : 6);
    int64_t quarter = wait / 4;

    return wait - quarter + (now ^ (now >> 17)) % (2 * quarter);
}

static bool again(struct bz_flight *f, unsigned retries, int64_t now)
{
    int64_t wait = (int64_t)f->answer.wait * BZ_CLOCK_S;

    if (f->attempts >= retries || wait > BZ_FLIGHT_LONGEST_WAIT ||
        f->r->method == BZ_HTTP_POST || (f->r->sink.take && f->r->n > 0))
        return false;
    if (wait < backoff(f, now))
        wait = backoff(f, now);
    f->attempts++;
    f->due = now + wait;
    return true;
}

void bz_flight_fail(struct bz_flight *f, int rc, const char *why)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf shown = {0};

    bz_url_redact(bz_buf_str(&f->url), &shown);
    f->r->status = f->answer.status;
    f->r->rc = bz_fail(&f->r->err, rc, "%s %s: %s", method_name(f->r->method),
                       bz_buf_text(&shown), why);
}

void bz_flight_fail_by(struct bz_flight *f, const struct bz_err *why)
{
    bz_flight_fail(f, why->code, why->msg);
    f->r->err.sys = why->sys;
}

/* Another server gets nothing that tells who we are, unless it is the first one. */
static int redirect(struct bz_flight *f, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf next = {0};
    struct bz_url here = {0}, there = {0}, first = {0};
    int rc;

    if (f->redirects++ >= BZ_HTTP_REDIRECTS)
        return bz_fail(err, BZ_E_CORRUPT, "redirected more than %d times",
                       BZ_HTTP_REDIRECTS);
    rc = bz_url_parse(bz_buf_str(&f->url), &here, err);
    if (rc == 0)
        rc = bz_url_join(&here, bz_answer_location(&f->answer), &next, err);
    if (rc == 0)
        rc = bz_url_parse(bz_buf_str(&next), &there, err);
    if (rc == 0)
        rc = bz_url_parse(bz_str_from(f->r->url), &first, err);
    if (rc < 0)
        return bz_fail(err, BZ_E_CORRUPT, "redirected to no address: %s", err->msg);
    if (!is_web(&there))
        return bz_fail(err, BZ_E_CORRUPT, "redirected to %.*s, not http or https",
                       BZ_STR_ARG(there.scheme));
    if (bz_url_is(&here, BZ_STR("https")) && !bz_url_is(&there, BZ_STR("https")))
        return bz_fail(err, BZ_E_CORRUPT, "redirected from https to http");
    /* Once elsewhere, always elsewhere: that server chose the way back. */
    f->home = f->home && bz_url_same_origin(&there, &first);
    bz_buf_truncate(&f->url, 0);
    bz_url_add(&there, &f->url);
    return 0;
}

bool bz_flight_land(struct bz_flight *f, const struct bz_flight_end *end,
                    unsigned retries, int64_t now)
{
    struct bz_err err;

    if (f->rc == 0 && end->rc == 0 && f->hole &&
        ftruncate(f->r->sink.fd, (off_t)f->r->n) < 0)
        f->rc = bz_fail_sys(&f->err, "lengthen what was received");
    if (f->rc < 0) {
        bz_flight_fail_by(f, &f->err);
        return false;
    }
    if (end->rc < 0 && !f->enough) {
        if (end->transient && again(f, retries, now))
            return true;
        bz_flight_fail(f, end->rc, end->why);
        return false;
    }
    if (follows(f)) {
        int rc = redirect(f, &err);

        f->due = now;
        if (rc < 0)
            bz_flight_fail(f, rc, err.msg);
        return rc == 0;
    }
    if (bz_answer_transient(&f->answer) && again(f, retries, now))
        return true;
    /* There is no such rest: the file has changed, or was complete. */
    if (f->answer.status == 416 && f->from > 0) {
        int rc = start_over(f);

        f->due = now;
        if (rc < 0)
            bz_flight_fail_by(f, &f->err);
        return rc == 0;
    }
    f->r->status = f->answer.status;
    f->r->has_length = f->answer.has_length;
    f->r->length = f->answer.length;
    f->r->rc = 0;
    return false;
}
