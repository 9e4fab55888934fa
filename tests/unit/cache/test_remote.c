#include "cache/remote.h"

#include "base/log.h"
#include "tests/unit/bz_test.h"

static struct bz_remote open_remote(const char *url)
{
    struct bz_remote r;
    struct bz_err err;

    assert_ok(bz_remote_open(&r, &(struct bz_remote_opts){.url = url}, &err), &err);
    return r;
}

static void addresses_are_below_the_base(void **state)
{
    static const char *const bases[] = {"http://h:8080/a/b",
                                        "http://me:pw@h:8080/a/b///"};
    static const struct bz_digest d = {{0xab}};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(bases); i++) {
        struct bz_remote r = open_remote(bases[i]);
        struct bz_buf url = {0};

        bz_remote_url(&r, "cas", &d, &url);
        assert_string_equal(bz_buf_text(&url),
                            "http://h:8080/a/b/cas/ab000000000000000000000000000000"
                            "00000000000000000000000000000000");
        bz_buf_release(&url);
        bz_remote_close(&r);
    }
}

static void a_base_that_cannot_be_is_refused_without_its_secrets(void **state)
{
    static const char *const wrong[] = {
        "ftp://me:hidden@h/",  "/srv/cache", "http://me:hidden@h/?token=hidden",
        "http://me:%zz@h/",    "",           "http://me:hidden@h:99999/",
        "http://u:%00hidden@h"};
    struct bz_remote r;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        struct bz_remote_opts opts = {.url = wrong[i]};

        assert_int_equal(bz_remote_open(&r, &opts, &err), BZ_E_INVAL);
        assert_null(strstr(err.msg, "hidden"));
    }
}

static void news_are_told_once(void **state)
{
    struct bz_remote r = open_remote("http://h");

    (void)state;
    assert_true(bz_remote_is_news(&r, BZ_REMOTE_READONLY));
    assert_false(bz_remote_is_news(&r, BZ_REMOTE_READONLY));
    assert_true(bz_remote_is_news(&r, BZ_REMOTE_TOO_LARGE));
    bz_remote_close(&r);
}

static void the_last_damaged_ones_are_remembered(void **state)
{
    struct bz_remote r = open_remote("http://h");

    (void)state;
    for (unsigned i = 0; i < BZ_REMOTE_BAD + 10; i++) {
        struct bz_digest d = {
            {(uint8_t)i, 1}
        };

        assert_false(bz_remote_is_bad(&r, &d));
        bz_remote_note_bad(&r, &d);
        bz_remote_note_bad(&r, &d);
        assert_true(bz_remote_is_bad(&r, &d));
    }
    assert_int_equal(r.nbad, BZ_REMOTE_BAD + 10);
    assert_false(bz_remote_is_bad(&r, &(struct bz_digest){
                                          {0, 1}
    }));
    assert_true(bz_remote_is_bad(&r, &(struct bz_digest){
                                         {11, 1}
    }));
    bz_remote_close(&r);
}

static void answers_mean_what_they_should(void **state)
{
    static const struct {
        enum bz_http_method method;
        unsigned status;
        int rc;
        bool readonly;
    } cases[] = {
        {BZ_HTTP_GET,  200, 0,          false},
        {BZ_HTTP_GET,  404, BZ_E_NOENT, false},
        {BZ_HTTP_GET,  410, BZ_E_NOENT, false},
        {BZ_HTTP_GET,  401, BZ_E_IO,    false},
        {BZ_HTTP_GET,  403, BZ_E_IO,    false},
        {BZ_HTTP_GET,  206, BZ_E_IO,    false},
        {BZ_HTTP_GET,  500, BZ_E_IO,    false},
        {BZ_HTTP_HEAD, 200, 0,          false},
        {BZ_HTTP_PUT,  200, 0,          false},
        {BZ_HTTP_PUT,  201, 0,          false},
        {BZ_HTTP_PUT,  204, 0,          false},
        {BZ_HTTP_PUT,  307, BZ_E_IO,    false},
        {BZ_HTTP_PUT,  404, BZ_E_IO,    false},
        {BZ_HTTP_PUT,  413, BZ_E_LIMIT, false},
        {BZ_HTTP_PUT,  500, BZ_E_IO,    false},
        {BZ_HTTP_PUT,  401, BZ_E_NOSUP, true },
        {BZ_HTTP_PUT,  403, BZ_E_NOSUP, true },
        {BZ_HTTP_PUT,  405, BZ_E_NOSUP, true },
        {BZ_HTTP_PUT,  507, BZ_E_NOSUP, true },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_remote r = open_remote("http://h");
        struct bz_http_request q = {
            .method = cases[i].method, .status = cases[i].status, .source.n = 1000};
        struct bz_err err;

        assert_int_equal(bz_remote_judge(&r, &q, &err), cases[i].rc);
        assert_int_equal(atomic_load(&r.readonly), cases[i].readonly);
        assert_int_equal(atomic_load(&r.largest),
                         cases[i].status == 413 ? 999 : BZ_REAPI_SIZE_MAX);
        bz_remote_close(&r);
    }
}

static void a_request_that_failed_keeps_its_reason(void **state)
{
    struct bz_remote r = open_remote("http://h");
    struct bz_http_request q = {.rc = BZ_E_TIMEOUT};
    struct bz_err err;

    (void)state;
    bz_fail(&q.err, BZ_E_TIMEOUT, "silent");
    assert_int_equal(bz_remote_judge(&r, &q, &err), BZ_E_TIMEOUT);
    assert_string_equal(err.msg, "silent");
    bz_remote_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_below_the_base),
        cmocka_unit_test(a_base_that_cannot_be_is_refused_without_its_secrets),
        cmocka_unit_test(news_are_told_once),
        cmocka_unit_test(the_last_damaged_ones_are_remembered),
        cmocka_unit_test(answers_mean_what_they_should),
        cmocka_unit_test(a_request_that_failed_keeps_its_reason),
    };

    bz_log_set_level(BZ_LOG_ERROR); /* what is made up here is no news */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
