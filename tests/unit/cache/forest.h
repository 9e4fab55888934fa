/* forest.h - trees for tests: random ones, and a text that says all about one. */
#ifndef BZ_TEST_CACHE_FOREST_H
#define BZ_TEST_CACHE_FOREST_H

#include <sys/sysmacros.h>

#include "base/buf.h"
#include "cache/tree.h"
#include "os/fs_walk.h"
#include "tests/unit/cache/store.h"

struct forest {
    uint64_t random;
    unsigned left; /* entries that may still be made */
};

static inline unsigned forest_below(struct forest *f, unsigned n)
{
    f->random =
        f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(f->random >> 33) % n;
}

/* Short and long ones, of letters or of any bytes. */
static inline void forest_name(struct forest *f, char out[256])
{
    unsigned n = forest_below(f, 20) == 0 ? 255 : 1 + forest_below(f, 12);
    bool any = forest_below(f, 4) == 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned byte = any ? 1 + forest_below(f, 255) : 'a' + forest_below(f, 26);

        if (byte == '/' || byte == '.')
            byte = '%';
        memcpy(&out[i], &(unsigned char){(unsigned char)byte}, 1); /* any value */
    }
    out[n] = '\0';
}

static inline void forest_file(struct forest *f, int dir, const char *name)
{
    static const mode_t modes[] = {0644, 0644, 0755, 0444, 0555, 0600, 0777, 04755, 0};
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    unsigned kind = forest_below(f, 10), n = forest_below(f, 3000);
    char bytes[3000];

    if (fd < 0)
        return; /* the name is taken */
    memset(bytes, (int)forest_below(f, 256), sizeof(bytes));
    if (kind == 0)
        n = 0;
    if (kind == 1)
        assert_int_equal(lseek(fd, 1 << 17, SEEK_SET), 1 << 17); /* a hole */
    assert_int_equal(write(fd, bytes, n), n);
    assert_int_equal(fchmod(fd, modes[forest_below(f, BZ_COUNTOF(modes))]), 0);
    close(fd);
}

static inline void forest_special(struct forest *f, int dir, const char *name)
{
    char target[256];

    forest_name(f, target);
    if (forest_below(f, 3) == 0)
        mknodat(dir, name, S_IFCHR, makedev(0, 0));
    else
        (void)!symlinkat(target, dir, name);
}

static inline void forest_grow(struct forest *f, int at, unsigned depth)
{
    static const mode_t modes[] = {0755, 0755, 0700, 0555, 01777, 02755};

    for (unsigned n = forest_below(f, 12) + 1; n > 0 && f->left > 0; n--) {
        unsigned kind = forest_below(f, 10);
        char name[256];

        f->left--;
        forest_name(f, name);
        if (kind < 6) {
            forest_file(f, at, name);
        } else if (kind < 7) {
            forest_special(f, at, name);
        } else if (depth < 12 && mkdirat(at, name, 0755) == 0) {
            int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

            if (forest_below(f, 4) > 0)
                forest_grow(f, fd, depth + 1);
            fchmod(fd, modes[forest_below(f, BZ_COUNTOF(modes))]);
            close(fd);
        }
    }
}

static inline void forest_make(int dir, const char *path, uint64_t seed,
                               unsigned entries)
{
    struct forest f = {.random = seed * 77 + 1, .left = entries};
    int fd;

    assert_int_equal(mkdirat(dir, path, 0755), 0);
    fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (f.left > 0)
        forest_grow(&f, fd, 0);
    close(fd);
}

struct forest_text {
    struct bz_digest_hasher *h;
    struct bz_buf text;
};

static inline int forest_tell(void *ctx, const struct bz_fs_walk_entry *e,
                              struct bz_err *err)
{
    struct forest_text *t = ctx;
    struct bz_digest d = {{0}};
    char hex[BZ_DIGEST_HEX_LEN + 1], target[4096] = "";
    uint64_t size = 0;
    ssize_t n;

    if (S_ISREG(e->st->st_mode) &&
        bz_digest_file(t->h, e->dir, e->name, &d, &size, err) < 0)
        return err->code;
    if (S_ISLNK(e->st->st_mode) &&
        (n = readlinkat(e->dir, e->name, target, sizeof(target) - 1)) > 0)
        target[n] = '\0';
    bz_digest_hex(&d, hex);
    bz_buf_addf(&t->text, "%s %o %llu %s %s\n", e->path, e->st->st_mode,
                (unsigned long long)size, hex, target);
    return BZ_FS_WALK_ON;
}

/* Names, types, modes, contents and targets. The caller frees it. */
static inline char *forest_describe(struct bz_digest_hasher *h, int dir,
                                    const char *path)
{
    struct forest_text t = {.h = h};
    struct bz_err err;

    assert_ok(bz_fs_walk(dir, path, forest_tell, &t, &err), &err);
    return bz_buf_detach(&t.text);
}

static inline void forest_assert_same(struct bz_digest_hasher *h, int dir,
                                      const char *one, const char *two)
{
    char *a = forest_describe(h, dir, one), *b = forest_describe(h, dir, two);

    assert_string_equal(a, b);
    free(a);
    free(b);
}

/* A store, and a pool to work with it. */
struct grove {
    struct store *s;
    struct bz_pool *pool;
    struct bz_tree_in in;
    struct bz_tree_out out;
    struct bz_tree_stats stats;
};

static inline int grove_setup(void **state)
{
    struct grove *g = calloc(1, sizeof(*g));
    struct bz_pool_opts opts = {.compute = 3};
    void *s;
    struct bz_err err;

    if (store_setup(&s) < 0 || bz_pool_new(&opts, &g->pool, &err) < 0)
        return -1;
    g->s = s;
    g->in = (struct bz_tree_in){.threads = {.pool = g->pool}, .how = BZ_CAS_FILE_ADOPT};
    g->out = (struct bz_tree_out){.threads = {.pool = g->pool},
                                  .how = BZ_CAS_FILE_LINK,
                                  .check = BZ_CAS_FILE_CHANGED};
    *state = g;
    return 0;
}

static inline int grove_teardown(void **state)
{
    struct grove *g = *state;
    void *s = g->s;

    bz_pool_free(g->pool);
    free(g);
    return store_teardown(&s);
}

static inline struct bz_reapi_digest grove_store(struct grove *g, const char *path)
{
    struct bz_reapi_digest d;

    assert_ok(
        bz_tree_store(g->s->cas, g->s->dir, path, &g->in, &d, &g->stats, &g->s->err),
        &g->s->err);
    return d;
}

static inline int grove_restore(struct grove *g, const struct bz_reapi_digest *d,
                                const char *path)
{
    return bz_tree_restore(g->s->cas, d, g->s->dir, path, &g->out, &g->stats,
                           &g->s->err);
}

#define grove_test(f) cmocka_unit_test_setup_teardown(f, grove_setup, grove_teardown)

#endif
