/* scratch.h - a fresh directory for each test, as a cmocka fixture:
 * cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown). */
#ifndef BZ_TEST_OS_SCRATCH_H
#define BZ_TEST_OS_SCRATCH_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/fs_remove.h"
#include "tests/unit/bz_test.h"

struct scratch {
    char path[256];
    int fd;
};

static inline int scratch_setup(void **state)
{
    struct scratch *s = calloc(1, sizeof(*s));
    const char *base = getenv("TMPDIR");

    snprintf(s->path, sizeof(s->path), "%s/bz-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(s->path))
        return -1;
    s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = s;
    return s->fd < 0 ? -1 : 0;
}

static inline int scratch_teardown(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    int rc = bz_fs_remove(AT_FDCWD, s->path, &err);

    close(s->fd);
    free(s);
    return rc;
}

static inline void put(int dir, const char *path, const char *text)
{
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static inline void make_dirs(int dir, const char *path)
{
    struct bz_err err;

    assert_ok(bz_fs_mkdirs(dir, path, 0755, &err), &err);
}

/* How many names a directory holds, hidden ones included. */
static inline size_t count_names(const char *path)
{
    DIR *d = opendir(path);
    size_t n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* "." and ".." */
}

static inline size_t count_fds(void)
{
    return count_names("/proc/self/fd") - 1; /* the one that reads it */
}

#define scratch_test(f)                                                                \
    cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

#endif
