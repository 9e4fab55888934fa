#include "cache/remote_batch.h"

#include "tests/unit/cache/web.h"

static struct bz_remote open_remote(struct web *w)
{
    struct bz_remote r;

    assert_ok(bz_remote_open(&r, &w->opts, &w->s->err), &w->s->err);
    return r;
}

static int get(struct web *w, struct bz_tier_blob *blobs, size_t n)
{
    struct bz_remote r = open_remote(w);
    int rc = bz_remote_batch_get(&r, &w->call, blobs, n, w->s->cas, &w->s->err);

    assert_int_equal(store_temps(w->s), 0);
    bz_remote_close(&r);
    return rc;
}

static int put_all(struct web *w, struct bz_tier_blob *blobs, size_t n)
{
    struct bz_remote r = open_remote(w);
    int rc = bz_remote_batch_put(&r, &w->call, blobs, n, w->s->cas, &w->s->err);

    bz_remote_close(&r);
    return rc;
}

static void blobs_arrive_and_what_is_missing_is_told(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blobs[] = {
        {web_digest(w,    "one"),  0, false},
        {web_digest(w,    "none"), 0, false},
        {web_digest(w,    ""),     0, false},
        {store_text(w->s, "here"), 0, false}
    };
    struct bz_tier_moved moved = {0};
    char *out;

    w->call.moved = &moved;
    web_page(w, "GET", "cas", &blobs[0].digest.hash, "200 OK", "one");
    web_page(w, "GET", "cas", &blobs[2].digest.hash, "200 OK", "");
    web_start(w);
    assert_int_equal(get(w, blobs, 4), BZ_E_NOENT);
    assert_int_equal(blobs[0].status, 0);
    assert_int_equal(blobs[1].status, BZ_E_NOENT);
    assert_int_equal(blobs[2].status, 0);
    assert_int_equal(blobs[3].status, 0);
    assert_int_equal(w->server.seen->requests, 3); /* not for what is here */
    assert_int_equal(moved.blobs, 2);
    assert_int_equal(moved.bytes, strlen("one"));
    assert_ok(bz_cas_read(w->s->cas, w->s->h, &blobs[0].digest, 9, &out, &w->s->err),
              &w->s->err);
    assert_string_equal(out, "one");
    assert_true(bz_cas_has(w->s->cas, &blobs[2].digest));
    free(out);
}

/* Other bytes, too few, too many, and too many that nobody announced. */
static void wrong_bytes_are_a_miss_and_are_not_stored(void **state)
{
    static const char *const lies[] = {"0ne", "on", "ones", "one..."};
    struct web *w = *state;
    struct bz_tier_blob blob = {web_digest(w, "one"), 0, false};

    for (size_t i = 0; i < BZ_COUNTOF(lies); i++)
        web_page(w, "GET", "cas", &blob.digest.hash, "200 OK", lies[i])->times = 1;
    web_page(w, "GET", "cas", &blob.digest.hash, "200 OK", "ones")->then =
        SERVER_CLOSES;
    snprintf(w->text[w->n - 1][1], 512, "HTTP/1.1 200 OK\r\n\r\nones");
    web_start(w);
    for (size_t i = 0; i <= BZ_COUNTOF(lies); i++) {
        assert_int_equal(get(w, &blob, 1), BZ_E_NOENT);
        assert_int_equal(blob.status, BZ_E_NOENT);
        assert_false(bz_cas_has(w->s->cas, &blob.digest));
    }
}

/* Large ones, hashed by another thread: the first attempt is cut short and has other
 * bytes, of which nothing may be left; then the right ones, then wrong ones. */
static void large_blobs_are_hashed_beside_receiving(void **state)
{
    enum { N = 3 << 20, CUT = 2 << 20 };
    static const struct bz_pool_opts threads = {.compute = 1, .io = 1};
    struct web *w = *state;
    struct bz_tier_blob good = {.digest.size = N}, bad = {.digest.size = N};
    char *reply[3], head[64];
    size_t nhead = (size_t)snprintf(head, sizeof(head),
                                    "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", N);

    for (int i = 0; i < 3; i++) {
        reply[i] = calloc(1, nhead + N + 1);
        memcpy(reply[i], head, nhead);
        memset(reply[i] + nhead, 'a' + i, i == 0 ? CUT : N);
    }
    bz_digest_bytes(w->s->h, reply[1] + nhead, N, &good.digest.hash);
    bad.digest.hash = web_digest(w, "other").hash;
    web_page(w, "GET", "cas", &good.digest.hash, "200 OK", "")->times = 1;
    web_page(w, "GET", "cas", &good.digest.hash, "200 OK", "");
    web_page(w, "GET", "cas", &bad.digest.hash, "200 OK", "");
    for (int i = 0; i < 3; i++)
        w->pages[i].reply = reply[i];
    w->pages[0].then = SERVER_CLOSES;
    w->opts.http.retries = 1;
    assert_ok(bz_pool_new(&threads, &w->call.pool, &w->s->err), &w->s->err);
    web_start(w);
    assert_ok(get(w, &good, 1), &w->s->err);
    assert_int_equal(w->server.seen->requests, 2);
    free(reply[0]);
    assert_ok(bz_cas_read(w->s->cas, w->s->h, &good.digest, N, &reply[0], &w->s->err),
              &w->s->err);
    assert_int_equal(get(w, &bad, 1), BZ_E_NOENT);
    assert_false(bz_cas_has(w->s->cas, &bad.digest));
    bz_pool_free(w->call.pool);
    for (int i = 0; i < 3; i++)
        free(reply[i]);
}

static void a_server_that_fails_ends_the_batch(void **state)
{
    static const struct {
        const char *status;
        enum server_then then;
        int rc;
    } cases[] = {
        {"500 Broken", SERVER_KEEPS,  BZ_E_IO     },
        {"401 Who",    SERVER_KEEPS,  BZ_E_IO     },
        {"403 No",     SERVER_KEEPS,  BZ_E_IO     },
        {"200 OK",     SERVER_RESETS, BZ_E_IO     },
        {"200 OK",     SERVER_STALLS, BZ_E_TIMEOUT},
        {"200 OK",     SERVER_CLOSES, BZ_E_IO     },
    };
    struct web *w = *state;
    struct bz_tier_blob blobs[50];

    for (size_t i = 0; i < BZ_COUNTOF(blobs); i++) {
        char text[16];

        snprintf(text, sizeof(text), "%zu", i);
        blobs[i].digest = web_digest(w, text);
    }
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        w->n = 0;
        if (cases[i].then == SERVER_STALLS)
            w->opts.http.stall = 300 * BZ_CLOCK_MS;
        snprintf(w->text[0][0], 512, "GET ");
        snprintf(w->text[0][1], 512, "HTTP/1.1 %s\r\nContent-Length: 1\r\n\r\n%s",
                 cases[i].status, cases[i].then == SERVER_KEEPS ? "x" : "");
        w->pages[0] =
            (struct server_page){w->text[0][0], w->text[0][1], cases[i].then, 0};
        web_start(w);
        assert_int_equal(get(w, blobs, BZ_COUNTOF(blobs)), cases[i].rc);
        for (size_t k = 0; k < BZ_COUNTOF(blobs); k++)
            assert_int_equal(blobs[k].status, cases[i].rc);
        assert_true(w->server.seen->requests <= 8); /* few, not fifty */
        w->opts.http.stall = 60 * BZ_CLOCK_S;
        server_stop(&w->server);
    }
    w->server.pid = 0;
}

static void a_token_ends_the_batch(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blobs[] = {
        {web_digest(w, "a"), 0, false},
        {web_digest(w, "b"), 0, false}
    };
    struct bz_cancel c;

    bz_cancel_init(&c, NULL, bz_clock_in(50 * BZ_CLOCK_MS));
    w->call.cancel = &c;
    web_page(w, "GET", "cas", &blobs[0].digest.hash, "200 OK", "")->then =
        SERVER_STALLS;
    snprintf(w->text[0][1], 512, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
    w->opts.http.stall = 60 * BZ_CLOCK_S;
    web_start(w);
    assert_int_equal(get(w, blobs, 2), BZ_E_TIMEOUT);
    assert_int_equal(blobs[0].status, BZ_E_TIMEOUT);
    bz_cancel_now(&c);
    assert_true(get(w, blobs, 2) < 0);
    assert_true(blobs[0].status < 0 && blobs[1].status < 0);
}

static void what_the_server_has_is_not_sent(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blobs[] = {
        {store_text(w->s, "there"),     0, false},
        {store_text(w->s, "not there"), 0, false},
        {store_text(w->s, "cut short"), 0, false}
    };
    struct bz_tier_moved moved = {0};

    w->call.moved = &moved;
    web_page(w, "HEAD", "cas", &blobs[0].digest.hash, "200 OK", "there");
    web_page(w, "HEAD", "cas", &blobs[2].digest.hash, "200 OK", "cut");
    web_any(w, "PUT", "201 Created");
    web_start(w);
    assert_ok(put_all(w, blobs, 3), &w->s->err);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(blobs[i].status, 0);
        assert_int_equal(blobs[i].found, i == 0);
    }
    assert_int_equal(w->server.seen->requests, 5); /* three HEAD, two PUT */
    assert_int_equal(moved.blobs, 2);
    assert_int_equal(moved.bytes, strlen("not there") + strlen("cut short"));
}

static void without_head_everything_is_sent(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blobs[] = {
        {store_text(w->s, "a"), 0, false},
        {store_text(w->s, "b"), 0, false}
    };

    web_any(w, "HEAD", "405 What");
    web_any(w, "PUT", "204 Fine");
    w->opts.http.concurrent = 1;
    web_start(w);
    assert_ok(put_all(w, blobs, 2), &w->s->err);
    assert_int_equal(w->server.seen->requests, 3); /* it is asked only once */
}

static void what_was_bad_is_sent_without_asking(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blob = {web_digest(w, "good"), 0, false};
    struct bz_remote r;

    web_page(w, "GET", "cas", &blob.digest.hash, "200 OK", "evil");
    web_page(w, "HEAD", "cas", &blob.digest.hash, "200 OK", "evil");
    web_any(w, "PUT", "204 Fine");
    web_start(w);
    r = open_remote(w);
    assert_int_equal(bz_remote_batch_get(&r, &w->call, &blob, 1, w->s->cas, &w->s->err),
                     BZ_E_NOENT);
    store_text(w->s, "good");
    assert_ok(bz_remote_batch_put(&r, &w->call, &blob, 1, w->s->cas, &w->s->err),
              &w->s->err);
    assert_string_equal(w->server.seen->body, "good");
    bz_remote_close(&r);
}

static void a_blob_that_is_not_in_the_store_does_not_stop_the_others(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blobs[] = {
        {web_digest(w,    "gone"), 0, false},
        {store_text(w->s, "here"), 0, false}
    };

    web_any(w, "PUT", "201 Created");
    web_start(w);
    assert_int_equal(put_all(w, blobs, 2), BZ_E_NOENT);
    assert_int_equal(blobs[0].status, BZ_E_NOENT);
    assert_int_equal(blobs[1].status, 0);
}

/* Large ones are sent from their file; the last byte only if all are right. */
static void a_damaged_blob_is_not_sent(void **state)
{
    struct web *w = *state;
    size_t n = (size_t)3 * BZ_REMOTE_BATCH_SMALL;
    char *bytes = calloc(1, n), path[128];
    struct bz_tier_blob blobs[2] = {{.digest = store_text(w->s, "small")}};

    assert_ok(bz_cas_put(w->s->cas, w->s->h, bytes, n, &blobs[1].digest, &w->s->err),
              &w->s->err);
    web_any(w, "PUT", "201 Created");
    web_start(w);
    assert_ok(put_all(w, blobs, 2), &w->s->err);
    for (size_t i = 0; i < 2; i++)
        damage(w->s->dir, store_path("cas", &blobs[i].digest.hash, path), 2, false);
    w->server.seen->nbody = 0;
    assert_int_equal(put_all(w, blobs, 2), BZ_E_NOENT);
    assert_int_equal(blobs[0].status, BZ_E_NOENT);
    assert_int_equal(blobs[1].status, BZ_E_NOENT);
    assert_int_equal(w->server.seen->nbody, 0);
    assert_int_equal(store_bad(w->s), 2);
    free(bytes);
}

static void a_server_that_refuses_is_not_asked_again(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blob = {store_text(w->s, "text"), 0, false};
    struct bz_remote r;

    web_any(w, "PUT", "403 No");
    web_start(w);
    r = open_remote(w);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            bz_remote_batch_put(&r, &w->call, &blob, 1, w->s->cas, &w->s->err),
            BZ_E_NOSUP);
        assert_int_equal(blob.status, BZ_E_NOSUP);
        assert_int_equal(w->server.seen->requests, 2); /* HEAD and PUT */
    }
    bz_remote_close(&r);
    w->opts.readonly = true;
    assert_int_equal(put_all(w, &blob, 1), BZ_E_NOSUP);
    assert_int_equal(w->server.seen->requests, 2);
}

static void what_is_too_large_is_left_out(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blobs[] = {
        {store_text(w->s, "four"),  0, false},
        {store_text(w->s, "three"), 0, false}
    };

    web_any(w, "PUT", "204 Fine");
    w->opts.max_blob = 4;
    web_start(w);
    assert_int_equal(put_all(w, blobs, 2), BZ_E_LIMIT);
    assert_int_equal(blobs[0].status, 0);
    assert_int_equal(blobs[1].status, BZ_E_LIMIT);
    blobs[0].digest = web_digest(w, "seven");
    assert_int_equal(get(w, blobs, 1), BZ_E_LIMIT);
}

static void an_empty_batch_is_done(void **state)
{
    struct web *w = *state;

    web_start(w);
    assert_ok(get(w, NULL, 0), &w->s->err);
    assert_ok(put_all(w, NULL, 0), &w->s->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        web_test(blobs_arrive_and_what_is_missing_is_told),
        web_test(wrong_bytes_are_a_miss_and_are_not_stored),
        web_test(large_blobs_are_hashed_beside_receiving),
        web_test(a_server_that_fails_ends_the_batch),
        web_test(a_token_ends_the_batch),
        web_test(what_the_server_has_is_not_sent),
        web_test(without_head_everything_is_sent),
        web_test(what_was_bad_is_sent_without_asking),
        web_test(a_blob_that_is_not_in_the_store_does_not_stop_the_others),
        web_test(a_damaged_blob_is_not_sent),
        web_test(a_server_that_refuses_is_not_asked_again),
        web_test(what_is_too_large_is_left_out),
        web_test(an_empty_batch_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
