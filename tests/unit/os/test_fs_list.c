#include "os/fs_list.h"

#include "tests/unit/os/scratch.h"

static void names_come_sorted_by_byte_value(void **state)
{
    static const char *const made[] = {"b", "a",  "B",   "10",
                                       "9", ".h", "a.c", "\xc3\xa9"};
    static const char *const want[] = {".h", "10",  "9", "B",
                                       "a",  "a.c", "b", "\xc3\xa9"};
    struct scratch *s = *state;
    struct bz_fs_list list;
    struct bz_err err;

    for (size_t i = 0; i < BZ_COUNTOF(made); i++)
        put(s->fd, made[i], "");
    for (int twice = 0; twice < 2; twice++) { /* the offset of fd does not matter */
        assert_ok(bz_fs_list_fd(s->fd, s->path, &list, &err), &err);
        assert_int_equal(list.n, BZ_COUNTOF(want));
        for (size_t i = 0; i < list.n; i++)
            assert_string_equal(list.names[i], want[i]);
        bz_fs_list_release(&list);
    }
}

static void many_names_are_all_there(void **state)
{
    enum { MANY = 500 };
    struct scratch *s = *state;
    struct bz_fs_list list;
    struct bz_err err;
    char name[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%05d", (i * 7) % MANY);
        put(s->fd, name, "");
    }
    assert_ok(bz_fs_list_dir(AT_FDCWD, s->path, &list, &err), &err);
    assert_int_equal(list.n, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "%05d", i);
        assert_string_equal(list.names[i], name);
    }
    bz_fs_list_release(&list);
}

static void an_empty_directory_has_an_empty_list(void **state)
{
    struct scratch *s = *state;
    struct bz_fs_list list;
    struct bz_err err;

    assert_ok(bz_fs_list_dir(s->fd, ".", &list, &err), &err);
    assert_int_equal(list.n, 0);
    bz_fs_list_release(&list);
    bz_fs_list_release(&list);
}

static void what_is_no_directory_is_an_error(void **state)
{
    struct scratch *s = *state;
    size_t before = count_fds();
    struct bz_fs_list list;
    struct bz_err err;
    int fd;

    put(s->fd, "f", "");
    assert_int_equal(bz_fs_list_dir(s->fd, "f", &list, &err), BZ_E_IO);
    assert_int_equal(bz_fs_list_dir(s->fd, "absent", &list, &err), BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "absent"));
    fd = openat(s->fd, "f", O_RDONLY | O_CLOEXEC);
    assert_int_equal(bz_fs_list_fd(fd, "f", &list, &err), BZ_E_IO);
    close(fd);
    assert_int_equal(count_fds(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(names_come_sorted_by_byte_value),
        scratch_test(many_names_are_all_there),
        scratch_test(an_empty_directory_has_an_empty_list),
        scratch_test(what_is_no_directory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
