#include "tests/unit/fetch/fetching.h"

static void the_first_directory_that_has_it_counts(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how;

    put(f->dir->fd, "files/a.patch", "second");
    assert_ok(fetching_get(f, "file://a.patch", &how), &f->err);
    assert_int_equal(how, BZ_FETCH_PRESENT);
    assert_true(bz_fetch_is_local(bz_fetch_source(f->fetch, 0)));
    assert_non_null(
        strstr(bz_fetch_path(bz_fetch_source(f->fetch, 0)), "/files/a.patch"));
    make_dirs(f->dir->fd, "none");
    put(f->dir->fd, "none/a.patch", "first");
    assert_ok(fetching_get(f, "file://a.patch", &how), &f->err);
    assert_non_null(
        strstr(bz_fetch_path(bz_fetch_source(f->fetch, 0)), "/none/a.patch"));
    assert_int_equal(count_names(f->dir->path), 4);
}

static void what_is_nowhere_is_an_error_with_the_places(void **state)
{
    struct fetching *f = *state;

    assert_int_equal(fetching_get(f, "file://missing.patch", NULL), BZ_E_NOENT);
    assert_non_null(strstr(f->err.msg, "file://missing.patch: there is no such file"));
    assert_non_null(strstr(f->err.msg, "/files"));
    assert_int_equal(fetching_get(f, "file:///no/such/file", NULL), BZ_E_NOENT);
    assert_int_equal(fetching_get(f, "file://*.patch", NULL), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(the_first_directory_that_has_it_counts),
        fetching_test(what_is_nowhere_is_an_error_with_the_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
