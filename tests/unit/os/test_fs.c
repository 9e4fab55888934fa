#include "os/fs.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "os/fs_list.h"
#include "tests/unit/os/scratch.h"

static void assert_content(int dir, const char *path, const char *want)
{
    struct bz_err err;
    char *text;
    size_t n;

    assert_ok(bz_fs_read(dir, path, 1 << 20, &text, &n, &err), &err);
    assert_string_equal(text, want);
    assert_int_equal(n, strlen(want));
    free(text);
}

static void reading_stops_at_the_limit_and_not_before(void **state)
{
    static const struct {
        size_t size, limit;
        int rc;
    } cases[] = {
        {0,      0,       0         },
        {1,      0,       BZ_E_LIMIT},
        {10,     10,      0         },
        {10,     9,       BZ_E_LIMIT},
        {4095,   4095,    0         },
        {4096,   4096,    0         },
        {4097,   4096,    BZ_E_LIMIT},
        {100000, 1 << 20, 0         },
        {100000, 99999,   BZ_E_LIMIT},
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        char *text = NULL, *want = malloc(cases[i].size + 1);
        struct bz_err err;
        size_t n;
        int rc;

        memset(want, 'a' + (int)i, cases[i].size);
        want[cases[i].size] = '\0';
        put(s->fd, "f", want);
        rc = bz_fs_read(s->fd, "f", cases[i].limit, &text, &n, &err);
        assert_int_equal(rc, cases[i].rc);
        if (rc == 0) {
            assert_int_equal(n, cases[i].size);
            assert_string_equal(text, want);
            free(text);
        } else {
            assert_non_null(strstr(err.msg, "read f"));
        }
        free(want);
    }
}

static void a_file_whose_size_lies_is_read_whole(void **state)
{
    struct bz_err err;
    char *text;
    size_t n;

    (void)state;
    /* st_size is 0 here. */
    assert_ok(bz_fs_read(AT_FDCWD, "/proc/self/status", 1 << 20, &text, &n, &err),
              &err);
    assert_non_null(strstr(text, "Name:"));
    assert_int_equal(n, strlen(text));
    free(text);
    assert_int_equal(bz_fs_read(AT_FDCWD, "/proc/self/status", 10, &text, &n, &err),
                     BZ_E_LIMIT);
    assert_int_equal(bz_fs_read(AT_FDCWD, "/dev/zero", 1000, &text, &n, &err),
                     BZ_E_LIMIT);
}

static void a_pipe_is_read_to_its_end(void **state)
{
    struct bz_err err;
    int ends[2];
    char *text;
    size_t n;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_ok(bz_fs_write_all(ends[1], "pipe", "hello", 5, &err), &err);
    close(ends[1]);
    assert_ok(bz_fs_read_fd(ends[0], "pipe", 5, &text, &n, &err), &err);
    assert_string_equal(text, "hello");
    free(text);
    close(ends[0]);
}

static void what_could_keep_a_reader_waiting_is_not_opened(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    char *text;
    size_t n;
    int fd = -1;

    assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
    assert_int_equal(bz_fs_open_file(s->fd, "fifo", &fd, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "read fifo: it is a fifo");
    assert_int_equal(bz_fs_open_file(s->fd, ".", &fd, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "read .: it is a directory");
    assert_int_equal(bz_fs_open_file(s->fd, "/dev/zero", &fd, &err), BZ_E_INVAL);
    assert_int_equal(bz_fs_open_file(s->fd, "none", &fd, &err), BZ_E_NOENT);
    assert_int_equal(fd, -1);
    assert_ok(bz_fs_open_file(s->fd, "/dev/null", &fd, &err), &err);
    assert_ok(bz_fs_read_fd(fd, "null", 5, &text, &n, &err), &err);
    assert_int_equal(n, 0);
    free(text);
    bz_fs_closep(&fd);
}

static void what_cannot_be_read_is_named(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    char *text;
    size_t n;

    assert_int_equal(bz_fs_read(s->fd, "absent", 10, &text, &n, &err), BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "absent"));
    make_dirs(s->fd, "d");
    assert_int_equal(bz_fs_read(s->fd, "d", 10, &text, &n, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "read d: it is a directory");
}

static void a_write_replaces_the_whole_file_with_the_given_mode(void **state)
{
    static const struct {
        const char *path;
        mode_t mode, umask;
        enum bz_fs_sync sync;
    } cases[] = {
        {"f",     0644, 0022, BZ_FS_NOSYNC},
        {"f",     0444, 0077, BZ_FS_SYNC  },
        {"f",     0777, 0077, BZ_FS_NOSYNC},
        {"d/e/f", 0600, 0,    BZ_FS_SYNC  },
    };
    struct scratch *s = *state;
    struct bz_err err;
    struct stat st;

    make_dirs(s->fd, "d/e");
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        mode_t before = umask(cases[i].umask);
        int rc = bz_fs_write(s->fd, cases[i].path, "content", 7, cases[i].mode,
                             cases[i].sync, &err);

        umask(before);
        assert_ok(rc, &err);
        assert_int_equal(fstatat(s->fd, cases[i].path, &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, cases[i].mode);
        assert_int_equal(st.st_size, 7);
    }
    assert_int_equal(count_names(s->path), 2); /* no temporary is left */
}

static void a_write_takes_the_place_of_a_link(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;

    put(s->fd, "target", "old");
    assert_int_equal(symlinkat("target", s->fd, "link"), 0);
    assert_ok(bz_fs_write(s->fd, "link", "new", 3, 0644, BZ_FS_NOSYNC, &err), &err);
    assert_content(s->fd, "target", "old");
    assert_content(s->fd, "link", "new");
}

static void a_long_name_and_an_absolute_path_can_be_written(void **state)
{
    struct scratch *s = *state;
    char name[256], path[600];
    struct bz_err err;

    memset(name, 'n', 255);
    name[255] = '\0';
    snprintf(path, sizeof(path), "%s/%s", s->path, name);
    assert_ok(bz_fs_write(AT_FDCWD, path, "x", 1, 0644, BZ_FS_NOSYNC, &err), &err);
    assert_content(s->fd, name, "x");
}

static void a_failed_write_leaves_nothing_behind(void **state)
{
    static const struct {
        const char *path;
        int rc;
    } cases[] = {
        {"",         BZ_E_INVAL},
        {"d/",       BZ_E_INVAL},
        {".",        BZ_E_INVAL},
        {"d/..",     BZ_E_INVAL},
        {"d",        BZ_E_IO   }, /* a directory is in the way */
        {"absent/f", BZ_E_NOENT},
        {"f/below",  BZ_E_IO   },
    };
    struct scratch *s = *state;

    make_dirs(s->fd, "d/full");
    put(s->fd, "f", "old");
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err = {0};
        int rc = bz_fs_write(s->fd, cases[i].path, "new", 3, 0644, BZ_FS_NOSYNC, &err);

        if (rc != cases[i].rc)
            fail_msg("write '%s': %d %s", cases[i].path, rc, err.msg);
    }
    assert_int_equal(count_names(s->path), 2);
    assert_content(s->fd, "f", "old");
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    struct rlimit before, small = {.rlim_cur = 10};
    struct scratch *s = *state;
    struct bz_err err;
    int rc;

    put(s->fd, "f", "old");
    /* A limit on the size of files stands in for a full disk. */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    rc = bz_fs_write(s->fd, "f", "much more than ten", 18, 0644, BZ_FS_SYNC, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, BZ_E_IO);
    assert_int_equal(err.sys, EFBIG);
    assert_content(s->fd, "f", "old");
    assert_int_equal(count_names(s->path), 1);
}

static void a_temporary_is_invisible_until_committed(void **state)
{
    struct scratch *s = *state;
    struct bz_fs_temp t = {0};
    struct bz_fs_list list;
    struct bz_err err;

    bz_fs_temp_release(&t); /* harmless */
    assert_ok(bz_fs_temp_open(&t, s->fd, "f", 0644, &err), &err);
    assert_ok(bz_fs_write_all(t.fd, "f", "in ", 3, &err), &err);
    assert_false(bz_fs_exists(s->fd, "f"));
    assert_ok(bz_fs_list_fd(s->fd, s->path, &list, &err), &err);
    assert_int_equal(list.n, 1);
    assert_memory_equal(list.names[0], BZ_FS_TEMP_PREFIX, strlen(BZ_FS_TEMP_PREFIX));
    bz_fs_list_release(&list);
    assert_ok(bz_fs_write_all(t.fd, "f", "pieces", 6, &err), &err);
    assert_ok(bz_fs_temp_commit(&t, BZ_FS_NOSYNC, &err), &err);
    assert_content(s->fd, "f", "in pieces");

    assert_ok(bz_fs_temp_open(&t, s->fd, "f", 0644, &err), &err);
    bz_fs_temp_release(&t);
    bz_fs_temp_release(&t);
    assert_content(s->fd, "f", "in pieces");
    assert_int_equal(count_names(s->path), 1);
}

static void a_copy_has_the_same_bytes(void **state)
{
    struct scratch *s = *state;
    size_t size = 3000000, n;
    char *want = malloc(size + 1), *text;
    struct bz_err err;

    for (size_t i = 0; i < size; i++)
        want[i] = (char)('a' + i * i % 23);
    want[size] = '\0';
    put(s->fd, "from", want);
    assert_ok(bz_fs_copy(s->fd, "from", s->fd, "to", 0600, BZ_FS_NOSYNC, &err), &err);
    assert_ok(bz_fs_read(s->fd, "to", size, &text, &n, &err), &err);
    assert_int_equal(n, size);
    assert_memory_equal(text, want, size);
    free(text);
    free(want);
}

static void copying_works_where_the_kernel_cannot(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    int ends[2], fd;

    /* From a pipe, from /proc, and to a file that is open for appending. */
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    fd = openat(s->fd, "to", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    assert_ok(bz_fs_copy_fd(ends[0], fd, "pipe", &err), &err);
    close(ends[0]);
    put(s->fd, "more", " more");
    ends[0] = openat(s->fd, "more", O_RDONLY | O_CLOEXEC);
    assert_ok(bz_fs_copy_fd(ends[0], fd, "more", &err), &err);
    close(ends[0]);
    close(fd);
    assert_content(s->fd, "to", "piped more");

    assert_ok(bz_fs_copy(AT_FDCWD, "/proc/version", s->fd, "version", 0644,
                         BZ_FS_NOSYNC, &err),
              &err);
    assert_int_equal(bz_fs_copy(s->fd, "absent", s->fd, "x", 0644, BZ_FS_NOSYNC, &err),
                     BZ_E_NOENT);
    assert_int_equal(
        bz_fs_copy(AT_FDCWD, "/dev/zero", s->fd, "x", 0644, BZ_FS_NOSYNC, &err),
        BZ_E_INVAL);
    assert_false(bz_fs_exists(s->fd, "x"));
}

static void directories_are_made_down_to_the_last(void **state)
{
    static const struct {
        const char *path;
        int rc;
    } cases[] = {
        {"a/b/c",      0         },
        {"a/b/c",      0         },
        {"a//d///e/",  0         },
        {"a/./b/../g", 0         },
        {"link/h",     0         }, /* through a link to a directory */
        {".",          0         },
        {"/",          0         },
        {"file",       BZ_E_IO   },
        {"file/x",     BZ_E_IO   },
        {"dangling",   BZ_E_IO   },
        {"",           BZ_E_NOENT},
    };
    struct scratch *s = *state;
    struct stat st;

    make_dirs(s->fd, "real");
    put(s->fd, "file", "");
    assert_int_equal(symlinkat("real", s->fd, "link"), 0);
    assert_int_equal(symlinkat("nowhere", s->fd, "dangling"), 0);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err = {0};
        int rc = bz_fs_mkdirs(s->fd, cases[i].path, 0755, &err);

        if (rc != cases[i].rc)
            fail_msg("mkdirs '%s': %d %s", cases[i].path, rc, err.msg);
        if (rc == 0)
            assert_int_equal(fstatat(s->fd, cases[i].path, &st, 0), 0);
    }
    assert_int_equal(fstatat(s->fd, "real/h", &st, 0), 0);
    assert_true(S_ISDIR(st.st_mode));
}

static void a_name_exists_even_as_a_dangling_link(void **state)
{
    struct scratch *s = *state;

    put(s->fd, "f", "");
    assert_int_equal(symlinkat("nowhere", s->fd, "l"), 0);
    assert_true(bz_fs_exists(s->fd, "f"));
    assert_true(bz_fs_exists(s->fd, "l"));
    assert_true(bz_fs_exists(s->fd, "."));
    assert_false(bz_fs_exists(s->fd, "nowhere"));
    assert_false(bz_fs_exists(s->fd, "f/x"));
}

static void a_link_tells_where_it_points(void **state)
{
    struct scratch *s = *state;
    char target[4096], *text;
    struct bz_err err;

    memset(target, 't', sizeof(target));
    target[4095] = '\0'; /* the longest a link can say */
    assert_int_equal(symlinkat(target, s->fd, "l"), 0);
    put(s->fd, "f", "");
    assert_ok(bz_fs_readlink(s->fd, "l", &text, &err), &err);
    assert_string_equal(text, target);
    free(text);
    assert_int_equal(bz_fs_readlink(s->fd, "f", &text, &err), BZ_E_INVAL);
    assert_int_equal(bz_fs_readlink(s->fd, "absent", &text, &err), BZ_E_NOENT);
}

static void closing_keeps_errno_and_passes_over_negative(void **state)
{
    int fd = dup(0), none = -1;

    (void)state;
    errno = ENOTTY;
    bz_fs_closep(&fd);
    bz_fs_closep(&none);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void nothing_leaks_a_descriptor(void **state)
{
    struct scratch *s = *state;
    size_t before = count_fds();
    struct bz_err err;
    char *text;
    size_t n;

    for (int i = 0; i < 10; i++) {
        assert_ok(bz_fs_write(s->fd, "f", "abc", 3, 0644, BZ_FS_SYNC, &err), &err);
        assert_int_equal(bz_fs_read(s->fd, "f", 2, &text, &n, &err), BZ_E_LIMIT);
        assert_ok(bz_fs_copy(s->fd, "f", s->fd, "g", 0644, BZ_FS_NOSYNC, &err), &err);
        assert_true(bz_fs_write(s->fd, "no/f", "", 0, 0644, BZ_FS_SYNC, &err) < 0);
        assert_true(bz_fs_copy(s->fd, "f", s->fd, "no/f", 0, BZ_FS_SYNC, &err) < 0);
    }
    assert_int_equal(count_fds(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(reading_stops_at_the_limit_and_not_before),
        scratch_test(a_file_whose_size_lies_is_read_whole),
        scratch_test(a_pipe_is_read_to_its_end),
        scratch_test(what_could_keep_a_reader_waiting_is_not_opened),
        scratch_test(what_cannot_be_read_is_named),
        scratch_test(a_write_replaces_the_whole_file_with_the_given_mode),
        scratch_test(a_write_takes_the_place_of_a_link),
        scratch_test(a_long_name_and_an_absolute_path_can_be_written),
        scratch_test(a_failed_write_leaves_nothing_behind),
        scratch_test(a_full_disk_leaves_the_old_file),
        scratch_test(a_temporary_is_invisible_until_committed),
        scratch_test(a_copy_has_the_same_bytes),
        scratch_test(copying_works_where_the_kernel_cannot),
        scratch_test(directories_are_made_down_to_the_last),
        scratch_test(a_name_exists_even_as_a_dangling_link),
        scratch_test(a_link_tells_where_it_points),
        scratch_test(closing_keeps_errno_and_passes_over_negative),
        scratch_test(nothing_leaks_a_descriptor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
