#include "cache/opaque.h"

#include <sys/xattr.h>

#include "tests/unit/os/scratch.h"

static int open_dir(struct scratch *s, const char *name)
{
    int fd;

    assert_int_equal(mkdirat(s->fd, name, 0755), 0);
    fd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void a_new_directory_hides_nothing_until_it_is_marked(void **state)
{
    int fd = open_dir(*state, "d");
    struct bz_err err;

    assert_false(bz_opaque_is(fd));
    if (fsetxattr(fd, "user.bitzel.test", "y", 1, 0) < 0)
        skip(); /* no such attributes here */
    assert_ok(bz_opaque_set(fd, &err), &err);
    assert_true(bz_opaque_is(fd));
    close(fd);
}

static void either_mark_counts_and_only_with_its_own_value(void **state)
{
    static const struct {
        const char *name, *value;
        bool opaque;
    } cases[] = {
        {"user.overlay.opaque",    "y",  true },
        {"user.overlay.opaque",    "n",  false},
        {"user.overlay.opaque",    "yy", false},
        {"user.overlay.redirect",  "y",  false},
        {"trusted.overlay.opaque", "y",  true },
    };

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        int fd = open_dir(*state, (char[]){(char)('a' + i), '\0'});

        /* Only root may make the last. */
        if (fsetxattr(fd, cases[i].name, cases[i].value, strlen(cases[i].value), 0) ==
            0)
            assert_int_equal(bz_opaque_is(fd), cases[i].opaque);
        close(fd);
    }
}

static void what_cannot_be_marked_is_an_error(void **state)
{
    struct bz_err err;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_true(bz_opaque_set(fds[0], &err) < 0);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_new_directory_hides_nothing_until_it_is_marked),
        scratch_test(either_mark_counts_and_only_with_its_own_value),
        scratch_test(what_cannot_be_marked_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
