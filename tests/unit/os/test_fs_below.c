#include "os/fs_below.h"

#include "tests/unit/os/scratch.h"

static const struct timespec then = {1000, 0};

static void names_are_normalised_and_stripped(void **state)
{
    static const struct {
        const char *name;
        unsigned strip;
        const char *want; /* NULL: refused */
    } cases[] = {
        {"a/b",     0, "a/b"    },
        {"./a//b/", 0, "a/b"    },
        {"/a/b",    0, "a/b"    },
        {"a/b/c",   2, "c"      },
        {"a",       1, ""       },
        {"",        0, ""       },
        {".",       0, ""       },
        {"..",      0, NULL     },
        {"a/../b",  0, NULL     },
        {"../b",    1, NULL     },
        {"..a/b..", 0, "..a/b.."},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_path out;
        struct bz_err err;
        int rc =
            bz_fs_below_name(bz_str_from(cases[i].name), cases[i].strip, &out, &err);

        assert_int_equal(rc, cases[i].want ? 0 : BZ_E_INVAL);
        if (cases[i].want)
            assert_string_equal(out.s, cases[i].want);
    }
}

static void names_that_no_file_can_have_are_refused(void **state)
{
    struct bz_path out;
    struct bz_err err;
    char longest[5000];

    (void)state;
    assert_int_equal(bz_fs_below_name(BZ_STR("a\0b"), 0, &out, &err), BZ_E_INVAL);
    memset(longest, 'x', sizeof(longest));
    assert_int_equal(bz_fs_below_name(bz_str_of(longest, 256), 0, &out, &err),
                     BZ_E_LIMIT);
    for (size_t i = 0; i < sizeof(longest); i += 2)
        longest[i] = '/';
    assert_int_equal(bz_fs_below_name(bz_str_of(longest, 5000), 0, &out, &err),
                     BZ_E_LIMIT);
}

static int write_file(struct bz_fs_below *b, const char *name, const char *text,
                      struct bz_err *err)
{
    int fd, rc = bz_fs_below_file(b, bz_str_from(name), &fd, err);

    if (rc < 0)
        return rc;
    rc = bz_fs_write_all(fd, name, text, strlen(text), err);
    if (rc == 0)
        rc = bz_fs_below_seal(b, fd, 04777, then, err);
    close(fd);
    return rc;
}

static void a_read_only_directory_can_be_filled(void **state)
{
    struct scratch *s = *state;
    struct bz_fs_below b;
    struct bz_err err;
    struct stat st;

    bz_fs_below_init(&b, s->fd, 022);
    assert_ok(bz_fs_below_dir(&b, BZ_STR("d"), 0555, then, &err), &err);
    assert_ok(write_file(&b, "d/e/f", "x", &err), &err);
    assert_ok(bz_fs_below_finish(&b, &err), &err);
    assert_int_equal(fstatat(s->fd, "d", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(st.st_mtime, 1000);
    assert_int_equal(fstatat(s->fd, "d/e/f", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(st.st_mtime, 1000);
    bz_fs_below_release(&b);
}

/* Directories that only lead to a name, too. */
static void modes_do_not_depend_on_the_umask_of_the_process(void **state)
{
    struct scratch *s = *state;
    struct bz_fs_below b;
    struct bz_err err;
    struct stat st;
    mode_t before = umask(077);
    int rc;

    bz_fs_below_init(&b, s->fd, 027);
    rc = write_file(&b, "d/e/f", "x", &err);
    bz_fs_below_release(&b);
    umask(before);
    assert_ok(rc, &err);
    assert_int_equal(fstatat(s->fd, "d", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(fstatat(s->fd, "d/e", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
}

static void links_are_neither_followed_nor_written_through(void **state)
{
    struct scratch *s = *state;
    struct bz_fs_below b;
    struct bz_err err;
    char *text;
    size_t n;

    make_dirs(s->fd, "in");
    put(s->fd, "keep", "kept");
    bz_fs_below_init(&b, openat(s->fd, "in", O_RDONLY | O_DIRECTORY), 0);
    assert_ok(bz_fs_below_symlink(&b, BZ_STR("up"), "..", then, &err), &err);
    assert_int_equal(write_file(&b, "up/keep", "no", &err), BZ_E_INVAL);
    assert_int_equal(bz_fs_below_link(&b, BZ_STR("h"), BZ_STR("up/keep"), &err),
                     BZ_E_INVAL);
    assert_int_equal(bz_fs_below_dir(&b, BZ_STR("up"), 0755, then, &err), BZ_E_INVAL);
    assert_ok(bz_fs_below_symlink(&b, BZ_STR("f"), "../keep", then, &err), &err);
    assert_ok(write_file(&b, "f", "mine", &err), &err);
    assert_ok(bz_fs_read(s->fd, "keep", 100, &text, &n, &err), &err);
    assert_string_equal(text, "kept");
    free(text);
    close(b.root);
    bz_fs_below_release(&b);
}

static void a_link_gives_another_name(void **state)
{
    struct scratch *s = *state;
    struct bz_fs_below b;
    struct bz_err err;
    struct stat one, two;

    bz_fs_below_init(&b, s->fd, 0);
    assert_ok(write_file(&b, "a/one", "x", &err), &err);
    assert_ok(bz_fs_below_link(&b, BZ_STR("b/two"), BZ_STR("a/one"), &err), &err);
    assert_ok(bz_fs_below_link(&b, BZ_STR("b/two"), BZ_STR("b/two"), &err), &err);
    assert_int_equal(fstatat(s->fd, "a/one", &one, 0), 0);
    assert_int_equal(fstatat(s->fd, "b/two", &two, 0), 0);
    assert_int_equal(one.st_ino, two.st_ino);
    assert_int_equal(bz_fs_below_link(&b, BZ_STR("c"), BZ_STR("no"), &err), BZ_E_NOENT);
    bz_fs_below_release(&b);
}

static void a_file_is_opened_again_only_if_it_is_the_same(void **state)
{
    struct scratch *s = *state;
    struct bz_fs_below b;
    struct bz_err err;
    struct stat st;
    int fd;

    bz_fs_below_init(&b, s->fd, 0);
    assert_ok(write_file(&b, "f", "x", &err), &err);
    assert_int_equal(fstatat(s->fd, "f", &st, 0), 0);
    assert_ok(bz_fs_below_reopen(&b, BZ_STR("f"), st.st_ino, &fd, &err), &err);
    close(fd);
    assert_int_equal(bz_fs_below_reopen(&b, BZ_STR("f"), st.st_ino + 1, &fd, &err),
                     BZ_E_INVAL);
    bz_fs_below_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_normalised_and_stripped),
        cmocka_unit_test(names_that_no_file_can_have_are_refused),
        scratch_test(a_read_only_directory_can_be_filled),
        scratch_test(modes_do_not_depend_on_the_umask_of_the_process),
        scratch_test(links_are_neither_followed_nor_written_through),
        scratch_test(a_link_gives_another_name),
        scratch_test(a_file_is_opened_again_only_if_it_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
