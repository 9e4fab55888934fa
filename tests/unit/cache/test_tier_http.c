#include "cache/tier_http.h"

#include "tests/unit/cache/web.h"

static const struct bz_digest key = {{7}};

static struct bz_tier *open_tier(struct web *w)
{
    struct bz_tier *t;

    assert_ok(bz_tier_http_open(&w->opts, &t, &w->s->err), &w->s->err);
    return t;
}

static int get_action(struct web *w, struct bz_tier *t, int32_t *exit_code)
{
    struct bz_reapi_result got = {0};
    struct bz_arena a = {0};
    int rc = t->ops->get_action(t, &w->call, &key, &a, &got, &w->s->err);

    *exit_code = got.exit_code;
    bz_arena_release(&a);
    return rc;
}

/* A result as it is sent: it has NULs in it, so the server cannot say it from a table,
 * but it can be looked at. */
static void a_result_is_sent_whole_and_read_back(void **state)
{
    struct web *w = *state;
    struct bz_reapi_result r = {.exit_code = 3, .worker = BZ_STR("me")}, got;
    struct bz_arena a = {0};
    struct bz_tier *t;

    web_any(w, "PUT", "201 Created");
    web_start(w);
    t = open_tier(w);
    assert_ok(t->ops->put_action(t, &w->call, &key, &r, &w->s->err), &w->s->err);
    assert_non_null(strstr(w->server.seen->head, "PUT /c/ac/0700000000"));
    assert_ok(
        bz_tier_http_decode(&a, bz_str_of(w->server.seen->body, w->server.seen->nbody),
                            w->s->h, &key, &got, &w->s->err),
        &w->s->err);
    assert_int_equal(got.exit_code, 3);
    t->ops->close(t);
    bz_arena_release(&a);
}

static void the_first_result_stays(void **state)
{
    struct web *w = *state;
    struct bz_reapi_result r = {0};
    struct bz_tier *t;

    web_page(w, "HEAD", "ac", &key, "200 OK", "something");
    web_start(w);
    t = open_tier(w);
    assert_ok(t->ops->put_action(t, &w->call, &key, &r, &w->s->err), &w->s->err);
    assert_int_equal(w->server.seen->requests, 1);
    t->ops->close(t);
}

static void what_is_no_result_of_ours_is_a_miss(void **state)
{
    static const char *const lies[] = {"", "no result", "\x08\x01", "\x20\x03"};
    struct web *w = *state;
    struct bz_reapi_result r = {0};
    struct bz_tier *t;
    int32_t code;

    for (size_t i = 0; i < BZ_COUNTOF(lies); i++)
        web_page(w, "GET", "ac", &key, "200 OK", lies[i])->times = 1;
    web_page(w, "HEAD", "ac", &key, "200 OK", "no result");
    web_any(w, "PUT", "201 Created");
    web_start(w);
    t = open_tier(w);
    for (size_t i = 0; i <= BZ_COUNTOF(lies); i++) /* the last is a 404 */
        assert_int_equal(get_action(w, t, &code), BZ_E_NOENT);
    /* and is replaced, for it is known to be bad */
    assert_ok(t->ops->put_action(t, &w->call, &key, &r, &w->s->err), &w->s->err);
    assert_int_equal(strncmp(w->server.seen->head, "PUT ", 4), 0);
    t->ops->close(t);
}

static void a_server_that_does_not_work_is_no_miss(void **state)
{
    struct web *w = *state;
    struct bz_tier *t;
    int32_t code;

    web_any(w, "GET", "500 Broken");
    web_any(w, "HEAD", "500 Broken");
    web_start(w);
    t = open_tier(w);
    assert_int_equal(get_action(w, t, &code), BZ_E_IO);
    assert_int_equal(
        t->ops->put_action(t, &w->call, &key, &(struct bz_reapi_result){0}, &w->s->err),
        BZ_E_IO);
    t->ops->close(t);
}

static void a_result_that_is_refused_makes_the_tier_read_only(void **state)
{
    struct web *w = *state;
    struct bz_reapi_result r = {0};
    struct bz_tier *t;

    web_any(w, "HEAD", "405 What");
    web_any(w, "PUT", "405 No");
    web_start(w);
    t = open_tier(w);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(t->ops->put_action(t, &w->call, &key, &r, &w->s->err),
                         BZ_E_NOSUP);
        assert_int_equal(w->server.seen->requests, 2);
    }
    t->ops->close(t);
}

static void blobs_go_through_the_tier(void **state)
{
    struct web *w = *state;
    struct bz_tier_blob blob = {web_digest(w, "text"), 1, false};
    struct bz_tier *t;

    web_page(w, "GET", "cas", &blob.digest.hash, "200 OK", "text");
    web_any(w, "PUT", "201 Created");
    web_start(w);
    t = open_tier(w);
    assert_ok(t->ops->get_blobs(t, &w->call, &blob, 1, w->s->cas, &w->s->err),
              &w->s->err);
    assert_true(bz_cas_has(w->s->cas, &blob.digest));
    assert_ok(t->ops->put_blobs(t, &w->call, &blob, 1, w->s->cas, &w->s->err),
              &w->s->err);
    assert_string_equal(w->server.seen->body, "text");
    t->ops->close(t);
}

static void a_wrong_address_is_refused_when_opened(void **state)
{
    struct web *w = *state;
    struct bz_tier *t;

    snprintf(w->url, sizeof(w->url), "gopher://h/");
    assert_int_equal(bz_tier_http_open(&w->opts, &t, &w->s->err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        web_test(a_result_is_sent_whole_and_read_back),
        web_test(the_first_result_stays),
        web_test(what_is_no_result_of_ours_is_a_miss),
        web_test(a_server_that_does_not_work_is_no_miss),
        web_test(a_result_that_is_refused_makes_the_tier_read_only),
        web_test(blobs_go_through_the_tier),
        web_test(a_wrong_address_is_refused_when_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
