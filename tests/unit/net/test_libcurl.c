#include "net/libcurl.h"

#include <string.h>

#include "tests/unit/bz_test.h"

static void every_function_is_found_and_works(void **state)
{
    struct bz_libcurl c = {0};
    struct bz_err err;
    void *p[sizeof(c) / sizeof(void *)];
    CURL *easy;

    (void)state;
    assert_ok(bz_libcurl_load(&c, &err), &err);
    memcpy(p, &c, sizeof(c));
    for (size_t i = 0; i < BZ_COUNTOF(p); i++)
        assert_non_null(p[i]);
    assert_int_equal(c.global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
    easy = c.easy_init();
    assert_non_null(easy);
    assert_int_equal(c.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L), CURLE_OK);
    c.easy_cleanup(easy);
    c.global_cleanup();
}

static void it_may_be_loaded_twice(void **state)
{
    struct bz_libcurl a, b;
    struct bz_err err;

    (void)state;
    assert_ok(bz_libcurl_load(&a, &err), &err);
    assert_ok(bz_libcurl_load(&b, &err), &err);
    assert_true(a.easy_init == b.easy_init);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_found_and_works),
        cmocka_unit_test(it_may_be_loaded_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
