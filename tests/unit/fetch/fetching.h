/* fetching.h - a recipe's variables, a directory for downloads, and what was said, for
 * tests of fetching. */
#ifndef BZ_TEST_FETCH_FETCHING_H
#define BZ_TEST_FETCH_FETCHING_H

#include "fetch/fetch.h"
#include "tests/unit/os/scratch.h"

enum { FETCHING_VARS = 32 };

struct fetching {
    struct scratch *dir;
    struct {
        const char *name, *flag;
        char value[600];
    } vars[FETCHING_VARS];
    size_t nvars;
    struct bz_fetch_client *client;
    struct bz_fetch *fetch;
    struct bz_revisions *revisions; /* or NULL */
    bool offline;
    struct bz_buf notes;
    struct bz_err err;
    uint64_t seen;  /* bytes, by progress */
    char got[1024]; /* "ADDRESS BYTES;" for each that gave something */
    char path[600];
};

static inline int fetching_var(void *ctx, struct bz_str name, struct bz_str flag,
                               struct bz_str *out, struct bz_err *err)
{
    struct fetching *f = ctx;

    (void)err;
    *out = (struct bz_str){0};
    for (size_t i = 0; i < f->nvars; i++)
        if (bz_str_eq(name, bz_str_from(f->vars[i].name)) &&
            bz_str_eq(flag, f->vars[i].flag ? bz_str_from(f->vars[i].flag)
                                            : (struct bz_str){0}))
            *out = bz_str_from(f->vars[i].value);
    return 0;
}

static inline void fetching_set(struct fetching *f, const char *name, const char *flag,
                                const char *fmt, ...) BZ_PRINTF(4, 5);
static inline void fetching_set(struct fetching *f, const char *name, const char *flag,
                                const char *fmt, ...)
{
    va_list ap;

    assert_true(f->nvars < FETCHING_VARS);
    f->vars[f->nvars].name = name;
    f->vars[f->nvars].flag = flag;
    va_start(ap, fmt);
    vsnprintf(f->vars[f->nvars++].value, sizeof(f->vars[0].value), fmt, ap);
    va_end(ap);
}

static inline void fetching_note(void *ctx, const char *text)
{
    struct fetching *f = ctx;

    bz_buf_addf(&f->notes, "%s\n", text);
}

static inline void fetching_fetched(void *ctx, const char *shown, uint64_t n,
                                    int64_t ns)
{
    struct fetching *f = ctx;
    size_t at = strlen(f->got);

    assert_true(ns >= 0);
    snprintf(f->got + at, sizeof(f->got) - at, "%s %llu;", shown,
             (unsigned long long)n);
}

static inline void fetching_progress(void *ctx, const char *shown, uint64_t n,
                                     uint64_t total)
{
    struct fetching *f = ctx;

    (void)shown;
    (void)total;
    f->seen = n;
}

static inline int fetching_setup(void **state)
{
    struct fetching *f = calloc(1, sizeof(*f));
    void *dir = NULL;
    int rc = scratch_setup(&dir);

    f->dir = dir;
    *state = f;
    fetching_set(f, "PN", NULL, "demo");
    fetching_set(f, "DL_DIR", NULL, "%s/dl", f->dir->path);
    fetching_set(f, "FILESPATH", NULL, "%s/none:%s/files", f->dir->path, f->dir->path);
    make_dirs(f->dir->fd, "files");
    make_dirs(f->dir->fd, "dl");
    make_dirs(f->dir->fd, "work");
    return rc < 0 ? rc : bz_fetch_client_new(&f->client, &f->err);
}

static inline int fetching_teardown(void **state)
{
    struct fetching *f = *state;
    void *dir = f->dir;
    int rc;

    bz_fetch_close(f->fetch);
    bz_fetch_client_free(f->client);
    bz_revision_close(f->revisions);
    bz_buf_release(&f->notes);
    free(f);
    rc = scratch_teardown(&dir);
    return rc;
}

#define fetching_test(t)                                                               \
    cmocka_unit_test_setup_teardown(t, fetching_setup, fetching_teardown)

static inline int fetching_open(struct fetching *f, const char *src_uri)
{
    struct bz_fetch_opts opts = {
        .vars = {fetching_var,   f},
        .client = f->client,
        .revisions = f->revisions,
        .offline = f->offline,
        .watch = { fetching_progress, fetching_fetched, fetching_note, f},
    };

    bz_fetch_close(f->fetch);
    f->fetch = NULL;
    return bz_fetch_open(&opts, bz_str_from(src_uri), &f->fetch, &f->err);
}

/* Opens, and fetches all. */
static inline int fetching_get(struct fetching *f, const char *src_uri,
                               enum bz_fetch_how *how)
{
    int rc = fetching_open(f, src_uri);

    if (rc == 0)
        rc = bz_fetch_resolve(f->fetch, &f->err);
    for (size_t i = 0; rc == 0 && i < bz_fetch_count(f->fetch); i++)
        rc = bz_fetch_get(f->fetch, i, how, &f->err);
    return rc;
}

/* And unpacks them into work/. */
static inline int fetching_unpack(struct fetching *f, const char *src_uri)
{
    int rc = fetching_get(f, src_uri, NULL);

    snprintf(f->path, sizeof(f->path), "%s/work", f->dir->path);
    return rc < 0 ? rc : bz_fetch_unpack(f->fetch, f->path, &f->err);
}

static inline void assert_file(const struct fetching *f, const char *path,
                               const char *want)
{
    struct bz_err err;
    char *text;
    size_t n;

    assert_ok(bz_fs_read(f->dir->fd, path, 1 << 20, &text, &n, &err), &err);
    assert_string_equal(text, want);
    free(text);
}

/* A shell command in the scratch directory. */
static inline void fetching_sh(struct fetching *f, const char *fmt, ...)
    BZ_PRINTF(2, 3);
static inline void fetching_sh(struct fetching *f, const char *fmt, ...)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    va_list ap;

    bz_buf_addf(&text, "cd '%s' && { ", f->dir->path);
    va_start(ap, fmt);
    bz_buf_addv(&text, fmt, ap);
    va_end(ap);
    bz_buf_addf(&text, "; } >/dev/null 2>&1 </dev/null");
    assert_int_equal(system(bz_buf_text(&text)), 0); /* NOLINT(cert-env33-c) */
}

#define FETCHING_GIT                                                                   \
    "git -c user.name=n -c user.email=e -c init.defaultBranch=main "                   \
    "-c protocol.file.allow=always "

#endif
