/* project_test.h - files of a project in a scratch directory, and warnings kept. */
#ifndef BZ_TEST_PROJECT_TEST_H
#define BZ_TEST_PROJECT_TEST_H

#include "base/buf.h"
#include "os/path.h"
#include "project/kas_place.h"
#include "tests/unit/os/scratch.h"

/* A file with the directories it needs. */
static inline void put_file(const struct scratch *s, const char *path, const char *text)
{
    struct bz_str dir = bz_path_dirname(bz_str_from(path));
    char *name = strndup(dir.p, dir.n);

    make_dirs(s->fd, name);
    free(name);
    put(s->fd, path, text);
}

static inline void keep_note(void *ctx, const char *text)
{
    bz_buf_addf(ctx, "%s\n", text);
}

static inline void assert_slice(struct bz_str s, const char *want)
{
    if (s.n != strlen(want) || memcmp(s.p, want, s.n) != 0)
        fail_msg("'%.*s' is not '%s'", BZ_STR_ARG(s), want);
}

static inline void assert_place(struct bz_kas_place at, const char *file, unsigned line)
{
    assert_string_equal(at.file, file);
    assert_int_equal(at.line, line);
}

/* A message in which the scratch directory is called DIR. */
static inline void assert_message(const struct scratch *s, const char *msg,
                                  const char *want)
{
    struct bz_buf got = {0};
    const char *at;

    while ((at = strstr(msg, s->path))) {
        bz_buf_add(&got, msg, (size_t)(at - msg));
        bz_buf_addf(&got, "DIR");
        msg = at + strlen(s->path);
    }
    bz_buf_addf(&got, "%s", msg);
    assert_string_equal(bz_buf_text(&got), want);
    bz_buf_release(&got);
}

#endif
