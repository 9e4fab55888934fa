#include "codec/libarchive.h"

#include <string.h>

#include "tests/unit/bz_test.h"

static void every_function_is_found(void **state)
{
    struct bz_libarchive lib = {0};
    struct bz_err err;
    void *all[sizeof(lib) / sizeof(void *)];

    (void)state;
    assert_ok(bz_libarchive_load(&lib, &err), &err);
    memcpy(all, &lib, sizeof(lib));
    for (size_t i = 0; i < BZ_COUNTOF(all); i++)
        assert_non_null(all[i]);
}

static void what_was_loaded_works(void **state)
{
    struct bz_libarchive lib;
    struct bz_err err;
    struct archive *a;

    (void)state;
    assert_ok(bz_libarchive_load(&lib, &err), &err);
    a = lib.read_new();
    assert_non_null(a);
    assert_int_equal(lib.read_support_format_tar(a), ARCHIVE_OK);
    assert_int_equal(lib.read_free(a), ARCHIVE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_found),
        cmocka_unit_test(what_was_loaded_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
