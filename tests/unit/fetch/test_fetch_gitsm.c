#include "tests/unit/fetch/fetching.h"

/* `up` has the submodule `deps/lib` beside it, and that has `inner`. */
static int setup(void **state)
{
    struct fetching *f;
    int rc = fetching_setup(state);

    f = *state;
    setenv("HOME", f->dir->path, 1);
    fetching_sh(
        f, "for r in inner lib up; do mkdir $r && (cd $r && " FETCHING_GIT
           "init -q && echo $r >file && git add . && " FETCHING_GIT
           "commit -qm one); done && "
           "(cd lib && " FETCHING_GIT "submodule add -q ../inner inner && " FETCHING_GIT
           "commit -qm sub) && "
           "(cd up && " FETCHING_GIT "submodule add -q ../lib deps/lib && " FETCHING_GIT
           "commit -qm sub && git rev-parse HEAD >../rev)");
    return rc;
}

static const char *uri(struct fetching *f)
{
    static char text[700]; /* of the test's own process */
    char rev[41] = "";
    int fd = openat(f->dir->fd, "rev", O_RDONLY);

    assert_int_equal(read(fd, rev, 40), 40);
    close(fd);
    snprintf(text, sizeof(text), "gitsm://%s/up;protocol=file;branch=main;rev=%s",
             f->dir->path, rev);
    return text;
}

static void submodules_come_along(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how;

    assert_ok(fetching_get(f, uri(f), &how), &f->err);
    assert_int_equal(how, BZ_FETCH_DOWNLOADED);
    fetching_sh(f, "rm -rf up lib inner");
    assert_ok(fetching_get(f, uri(f), &how), &f->err);
    assert_int_equal(how, BZ_FETCH_PRESENT);
    assert_ok(fetching_unpack(f, uri(f)), &f->err);
    assert_file(f, "work/git/file", "up\n");
    assert_file(f, "work/git/deps/lib/file", "lib\n");
    assert_file(f, "work/git/deps/lib/inner/file", "inner\n");
}

static void a_submodule_that_is_gone_is_named(void **state)
{
    struct fetching *f = *state;

    fetching_sh(f, "rm -rf inner");
    assert_true(fetching_get(f, uri(f), NULL) < 0);
    assert_non_null(strstr(f->err.msg, "submodule deps/lib: submodule inner: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(submodules_come_along, setup,
                                        fetching_teardown),
        cmocka_unit_test_setup_teardown(a_submodule_that_is_gone_is_named, setup,
                                        fetching_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
