/* What a web server sends, as far as we read it ourselves: header lines, where they
 * send us, and bodies that should be results. Up to an empty line the input is a
 * header. */
#include "tests/fuzz/fuzz.h"

#include "cache/tier_http.h"
#include "net/flight.h"

#define SECRET "s3cret"
#define LIMIT 1000

static bool shows_secret(struct bz_str s)
{
    return bz_str_find(s, BZ_STR(SECRET)) != BZ_STR_NONE;
}

/* Whether all of it was taken. */
static bool hear(struct bz_flight *f, struct bz_str head, struct bz_str body)
{
    struct bz_str line;

    while (bz_str_next_part(&head, '\n', &line))
        if (!bz_flight_header(f, line))
            return false;
    if (!bz_flight_header(f, BZ_STR("\r\n")))
        return false;
    while (body.n > 0) {
        size_t n = body.n < 700 ? body.n : 700;

        if (!bz_flight_take(f, body.p, n))
            return false;
        body = bz_str_drop(body, n);
    }
    return true;
}

static bool is_home(const struct bz_url *u)
{
    return u->host.n == 1 && (u->host.p[0] | 0x20) == 'h' && u->port == 443;
}

/* What an attempt is told to do next leads to a web server, never down from https, and
 * takes no secret elsewhere. */
static void attempt(struct bz_flight *f, struct bz_str head, struct bz_str body)
{
    static const struct bz_flight_end fine = {0}, cut = {BZ_E_IO, true, "cut"};
    bool was_home = f->home, whole;
    struct bz_url to;
    struct bz_err err;
    int rc = bz_flight_ready(f, 1, &err);

    BZ_ASSERT(rc == 0);
    whole = hear(f, head, body);
    BZ_ASSERT(f->r->n <= LIMIT && f->r->sink.mem->len == f->r->n);
    if (bz_flight_land(f, whole ? &fine : &cut, 1, 1)) {
        rc = bz_url_parse(bz_buf_str(&f->url), &to, &err);
        BZ_ASSERT(rc == 0 && bz_url_is(&to, BZ_STR("https")) && !to.user.p);
        BZ_ASSERT(!f->home || (was_home && is_home(&to)));
    } else if (f->r->rc < 0) {
        BZ_ASSERT(f->r->err.msg[0] && !shows_secret(bz_str_from(f->r->err.msg)));
    }
}

static void answer(struct bz_str head, struct bz_str body)
{
    struct bz_buf mem = {0};
    struct bz_http_request r = {
        .url = "https://me:" SECRET "@h/a/b?q", .sink = {.mem = &mem, .limit = LIMIT}
    };
    struct bz_flight f = {0};
    struct bz_err err;
    int rc = bz_flight_begin(&f, &r, &err);

    BZ_ASSERT(rc == 0);
    for (int i = 0; i < 3; i++)
        attempt(&f, head, body);
    bz_flight_release(&f);
    bz_buf_release(&mem);
}

static void result(struct bz_str body)
{
    struct bz_digest_hasher *h;
    struct bz_reapi_result r;
    struct bz_arena a = {0};
    struct bz_err err;
    int rc = bz_digest_hasher_new(&h, &err);

    BZ_ASSERT(rc == 0);
    rc = bz_tier_http_decode(&a, body, h, &(struct bz_digest){{0}}, &r, &err);
    BZ_ASSERT(rc == 0 ? r.sealed : rc == BZ_E_NOENT && err.msg[0]);
    bz_arena_release(&a);
    bz_digest_hasher_free(h);
}

/* What was taken apart, put together and taken apart again is the same; and what is
 * shown of an address has no login in it. */
static void address(struct bz_str text)
{
    struct bz_buf whole = {0}, again = {0}, shown = {0};
    struct bz_url u, v;
    struct bz_err err;
    int rc;

    bz_url_redact(text, &shown);
    if (bz_url_parse(text, &u, &err) == 0) {
        bz_url_add(&u, &whole);
        rc = bz_url_parse(bz_buf_str(&whole), &v, &err);
        BZ_ASSERT(rc == 0 && bz_url_same_origin(&u, &v));
        bz_url_add(&v, &again);
        BZ_ASSERT(bz_str_eq(bz_buf_str(&whole), bz_buf_str(&again)));
        rc = bz_url_parse(bz_buf_str(&shown), &v, &err);
        BZ_ASSERT(rc < 0 || !v.password.p);
        BZ_ASSERT(rc < 0 || !v.user.p || bz_str_eq(v.user, BZ_STR("***")));
    }
    bz_buf_release(&whole);
    bz_buf_release(&again);
    bz_buf_release(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str in = bz_str_of((const char *)data, size), head = in, body = {0};
    size_t at = bz_str_find(in, BZ_STR("\n\n"));

    if (at != BZ_STR_NONE) {
        head = bz_str_of(in.p, at);
        body = bz_str_drop(in, at + 2);
    }
    answer(head, body);
    result(body);
    address(in);
    return 0;
}
