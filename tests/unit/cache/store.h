/* store.h - a store in a fresh directory for each test, and ways to damage it:
 * cmocka_unit_test_setup_teardown(test, store_setup, store_teardown). */
#ifndef BZ_TEST_CACHE_STORE_H
#define BZ_TEST_CACHE_STORE_H

#include <errno.h>
#include <sys/mount.h>

#include "base/log.h"
#include "cache/cas.h"
#include "os/path.h"
#include "tests/unit/os/scratch.h"

struct store {
    struct scratch *scratch;
    int dir; /* of the scratch directory; the store is `s` in it */
    char root[300];
    struct bz_cas *cas;
    struct bz_digest_hasher *h;
    struct bz_err err;
};

static inline int store_setup(void **state)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct store *s = calloc(1, sizeof(*s));
    void *scratch;

    if (scratch_setup(&scratch) < 0)
        return -1;
    s->scratch = scratch;
    s->dir = s->scratch->fd;
    snprintf(s->root, sizeof(s->root), "%s/s", s->scratch->path);
    *state = s;
    bz_log_set_level(BZ_LOG_ERROR); /* what is damaged on purpose is no news */
    if (bz_digest_hasher_new(&s->h, &s->err) < 0)
        return -1;
    return bz_cas_open(s->root, &opts, &s->cas, &s->err);
}

static inline int store_teardown(void **state)
{
    struct store *s = *state;
    void *scratch = s->scratch;

    bz_cas_close(s->cas);
    bz_digest_hasher_free(s->h);
    free(s);
    return scratch_teardown(&scratch);
}

/* The path of a file in the store, below the scratch directory. */
static inline const char *store_path(const char *kind, const struct bz_digest *key,
                                     char out[128])
{
    char name[BZ_SHELF_NAME];

    bz_shelf_name(key, name);
    snprintf(out, 128, "s/%s/%s", kind, name);
    return out;
}

static inline struct bz_reapi_digest store_text(struct store *s, const char *text)
{
    struct bz_reapi_digest d;

    assert_ok(bz_cas_put(s->cas, s->h, text, strlen(text), &d, &s->err), &s->err);
    return d;
}

/* How many files were put aside. */
static inline size_t store_bad(struct store *s)
{
    char path[320];

    snprintf(path, sizeof(path), "%s/bad", s->root);
    return bz_fs_exists(AT_FDCWD, path) ? count_names(path) : 0;
}

static inline size_t store_temps(struct store *s)
{
    char path[320];

    snprintf(path, sizeof(path), "%s/tmp", s->root);
    return count_names(path);
}

/* Inverts a byte, or cuts the file there. The time changes as it does by any write. */
static inline void damage(int dir, const char *path, off_t at, bool cut)
{
    int fd;
    char c;

    assert_int_equal(fchmodat(dir, path, 0644, 0), 0);
    fd = openat(dir, path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    if (cut) {
        assert_int_equal(ftruncate(fd, at), 0);
    } else {
        assert_int_equal(pread(fd, &c, 1, at), 1);
        c = (char)~c;
        assert_int_equal(pwrite(fd, &c, 1, at), 1);
    }
    close(fd);
}

/* A file system of its own at `m`, which only root can mount: skip the test if not. */
static inline bool store_mount(struct store *s, const char *options, char path[320])
{
    snprintf(path, 320, "%s/m", s->scratch->path);
    if ((mkdir(path, 0755) < 0 && errno != EEXIST) ||
        mount("t", path, "tmpfs", 0, options) < 0) {
        if (getenv("BITZEL_MUST_WORK"))
            fail_msg("cannot mount a tmpfs: %d", errno);
        return false;
    }
    return true;
}

#define store_test(f) cmocka_unit_test_setup_teardown(f, store_setup, store_teardown)

#endif
