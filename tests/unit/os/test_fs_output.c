#include "os/fs_output.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "tests/unit/os/scratch.h"

static const char *at(const struct scratch *s, const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", s->path, name);
    return path;
}

static int output(const struct scratch *s, const char *name, const char *text,
                  struct bz_err *err)
{
    return bz_fs_output(at(s, name), text, strlen(text), err);
}

static void assert_content(const struct scratch *s, const char *name, const char *want)
{
    struct bz_err err;
    char *text;
    size_t n;

    assert_ok(bz_fs_read(s->fd, name, 1 << 20, &text, &n, &err), &err);
    assert_string_equal(text, want);
    free(text);
}

static struct stat look(const struct scratch *s, const char *name)
{
    struct stat st;

    assert_int_equal(fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st;
}

static void a_regular_file_is_replaced_by_a_new_one(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    ino_t before;

    assert_ok(output(s, "f", "one", &err), &err);
    assert_content(s, "f", "one");
    assert_int_equal(look(s, "f").st_mode, S_IFREG | 0644);
    before = look(s, "f").st_ino;
    assert_int_equal(linkat(s->fd, "f", s->fd, "kept", 0), 0);
    assert_ok(output(s, "f", "two", &err), &err);
    assert_content(s, "f", "two");
    assert_content(s, "kept", "one");
    assert_int_not_equal(look(s, "f").st_ino, before);
}

static void links_stay_and_their_end_is_replaced(void **state)
{
    static const struct {
        const char *link, *text, *end;
    } cases[] = {
        {"plain",    "d/f",      "d/f"  },
        {"chain",    "d/next",   "d/f"  },
        {"dangling", "d/new",    "d/new"},
        {"up",       "d/../up2", "up2"  },
    };
    struct scratch *s = *state;
    struct bz_err err;

    make_dirs(s->fd, "d");
    put(s->fd, "d/f", "old");
    assert_int_equal(symlinkat("f", s->fd, "d/next"), 0);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        assert_int_equal(symlinkat(cases[i].text, s->fd, cases[i].link), 0);
        assert_ok(output(s, cases[i].link, cases[i].link, &err), &err);
        assert_true(S_ISLNK(look(s, cases[i].link).st_mode));
        assert_true(S_ISREG(look(s, cases[i].end).st_mode));
        assert_content(s, cases[i].end, cases[i].link);
    }
    assert_int_equal(symlinkat("round", s->fd, "round"), 0);
    assert_int_equal(output(s, "round", "x", &err), BZ_E_IO);
    assert_int_equal(err.sys, ELOOP);
}

static void a_fifo_is_written_to(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    char got[8] = "";
    int fd;

    assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
    fd = openat(s->fd, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_ok(output(s, "fifo", "hello", &err), &err);
    assert_int_equal(read(fd, got, sizeof(got) - 1), 5);
    assert_string_equal(got, "hello");
    assert_true(S_ISFIFO(look(s, "fifo").st_mode));
    close(fd);
}

static void a_device_stays_one(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    int fd = -1;

    if (mknodat(s->fd, "null", S_IFCHR | 0666, makedev(1, 3)) < 0 ||
        (fd = openat(s->fd, "null", O_WRONLY | O_CLOEXEC)) < 0)
        skip();
    close(fd);
    assert_ok(output(s, "null", "gone", &err), &err);
    assert_int_equal(symlinkat("null", s->fd, "link"), 0);
    assert_ok(output(s, "link", "gone", &err), &err);
    assert_true(S_ISCHR(look(s, "null").st_mode));
    assert_int_equal(look(s, "null").st_rdev, makedev(1, 3));
    assert_true(S_ISLNK(look(s, "link").st_mode));
}

static void an_open_file_is_appended_to(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    char name[64];
    int fd;

    put(s->fd, "f", "one");
    fd = openat(s->fd, "f", O_WRONLY | O_CLOEXEC);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    assert_ok(bz_fs_output(name, " two", 4, &err), &err);
    close(fd);
    assert_content(s, "f", "one two");
}

static void what_cannot_be_written_is_told(void **state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct scratch *s = *state;
    struct bz_err err;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(strlen(at(s, "socket")) < sizeof(name.sun_path));
    memcpy(name.sun_path, at(s, "socket"), strlen(at(s, "socket")));
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    make_dirs(s->fd, "d");
    assert_int_equal(output(s, "d", "x", &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "/d: it is a directory"));
    assert_int_equal(output(s, "socket", "x", &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "/socket: it is a socket"));
    assert_int_equal(output(s, "none/f", "x", &err), BZ_E_IO);
    assert_int_equal(bz_fs_output("", "x", 1, &err), BZ_E_INVAL);
    close(fd);
}

#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_regular_file_is_replaced_by_a_new_one),
        TEST(links_stay_and_their_end_is_replaced),
        TEST(a_fifo_is_written_to),
        TEST(a_device_stays_one),
        TEST(an_open_file_is_appended_to),
        TEST(what_cannot_be_written_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
