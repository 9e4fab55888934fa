#include "cache/cas.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"

int bz_cas_open(const char *root, const struct bz_cas_opts *opts, struct bz_cas **out,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_cas_closep) struct bz_cas *cas = bz_mem_zalloc(sizeof(*cas));
    int rc;

    cas->blobs.dir = cas->actions.dir = -1;
    cas->blobs.by_content = true;
    rc = bz_shelf_root_open(&cas->root, root, opts->access, opts->sync, err);
    if (rc == 0)
        rc = bz_shelf_open(&cas->blobs, &cas->root, "cas", err);
    if (rc == 0)
        rc = bz_shelf_open(&cas->actions, &cas->root, "ac", err);
    if (rc < 0)
        return rc;
    *out = cas;
    cas = NULL; /* the caller owns it now */
    return 0;
}

void bz_cas_close(struct bz_cas *cas)
{
    if (!cas)
        return;
    bz_shelf_close(&cas->blobs);
    bz_shelf_close(&cas->actions);
    bz_shelf_root_close(&cas->root);
    free(cas);
}

void bz_cas_closep(struct bz_cas **cas)
{
    bz_cas_close(*cas);
}

bool bz_cas_has(const struct bz_cas *cas, const struct bz_reapi_digest *d)
{
    return bz_shelf_has(&cas->blobs, &d->hash);
}

bool bz_cas_claim(const struct bz_cas *cas, const struct bz_reapi_digest *d)
{
    enum bz_shelf_claim got = bz_shelf_claim_sized(&cas->blobs, &d->hash, d->size);

    /* Nothing is filed in a store that is only read. */
    return got == BZ_SHELF_CLAIMED || (got == BZ_SHELF_FOREIGN && cas->root.readonly);
}

int bz_cas_put(struct bz_cas *cas, struct bz_digest_hasher *h, const void *p, size_t n,
               struct bz_reapi_digest *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_shelf_temp_release) struct bz_shelf_temp t = {.fd = -1};
    bool existed;
    int rc;

    bz_digest_bytes(h, p, n, &out->hash);
    out->size = n;
    rc = bz_shelf_temp_open(&cas->root, &t, err);
    if (rc == 0)
        rc = bz_fs_write_all(t.fd, "a blob of the store", p, n, err);
    if (rc == 0)
        rc = bz_shelf_publish(&cas->blobs, &t, &out->hash, &existed, err);
    return rc;
}

int bz_cas_begin(struct bz_cas *cas, struct bz_digest_hasher *h,
                 struct bz_cas_writer *w, struct bz_err *err)
{
    *w = (struct bz_cas_writer){.cas = cas, .h = h, .temp.fd = -1};
    bz_digest_begin(h);
    return bz_shelf_temp_open(&cas->root, &w->temp, err);
}

int bz_cas_end(struct bz_cas_writer *w, const struct bz_reapi_digest *want,
               struct bz_reapi_digest *out, struct bz_err *err)
{
    int rc;

    bz_digest_end(w->h, &out->hash);
    out->size = w->size;
    if (want && (want->size != out->size || !bz_digest_eq(&want->hash, &out->hash))) {
        char hex[BZ_DIGEST_HEX_LEN + 1];

        bz_digest_hex(&want->hash, hex);
        rc = bz_fail(err, BZ_E_CORRUPT, "what came for blob %s is something else", hex);
    } else {
        rc = bz_shelf_publish(&w->cas->blobs, &w->temp, &out->hash, &w->existed, err);
    }
    bz_cas_abort(w);
    return rc;
}

void bz_cas_abort(struct bz_cas_writer *w)
{
    bz_shelf_temp_release(&w->temp);
}

static int miss(const struct bz_reapi_digest *d, const char *why, struct bz_err *err)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(&d->hash, hex);
    return bz_fail(err, BZ_E_NOENT, "blob %s: %s", hex, why);
}

/* As miss(), and the errno stays: whoever can open the directory anew wants it. */
static int lost(const struct bz_reapi_digest *d, struct bz_err *err)
{
    int sys = err->sys;

    (void)miss(d, "cannot be read", err);
    err->sys = sys;
    return BZ_E_NOENT;
}

int bz_cas_unreadable(struct bz_cas *cas, const struct bz_reapi_digest *d,
                      const struct stat *st, struct bz_err *err)
{
    if (err->sys == EIO)
        bz_shelf_quarantine(&cas->blobs, &d->hash, st, "cannot be read");
    return err->sys == EIO || err->sys == ESTALE ? lost(d, err) : (int)err->code;
}

/* Whether the bytes are what the blob's name says. */
static int check_name(struct bz_cas *cas, const struct bz_reapi_digest *d, int fd,
                      const struct stat *st, bool *whole, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_digest got;
    uint64_t size;
    int rc = bz_digest_hasher_new(&h, err);

    if (rc < 0)
        return rc;
    if (bz_digest_fd(h, fd, &got, &size, err) < 0)
        return bz_cas_unreadable(cas, d, st, err);
    *whole = bz_digest_eq(&got, &d->hash);
    return 0;
}

int bz_cas_not_copied(struct bz_cas *cas, const struct bz_reapi_digest *d, int fd,
                      struct bz_err *err)
{
    struct bz_err again;
    struct stat st;
    bool whole;

    if ((err->sys != EIO && err->sys != ESTALE) || fstat(fd, &st) < 0 ||
        lseek(fd, 0, SEEK_SET) < 0 || check_name(cas, d, fd, &st, &whole, &again) == 0)
        return err->code;
    *err = again;
    return err->code;
}

int bz_cas_wrong_size(struct bz_cas *cas, const struct bz_reapi_digest *d, int fd,
                      const struct stat *st, struct bz_err *err)
{
    bool whole = false;

    if (S_ISREG(st->st_mode) && check_name(cas, d, fd, st, &whole, err) < 0)
        return miss(d, "cannot be read", err);
    if (whole)
        return miss(d, "a reference to it tells a wrong size", err);
    bz_shelf_quarantine(&cas->blobs, &d->hash, st, "wrong size");
    return miss(d, "wrong size", err);
}

/* Opens and checks the size; *st is of what was opened. */
static int open_sized(struct bz_cas *cas, const struct bz_reapi_digest *d, int *fd,
                      struct stat *st, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int own = -1;
    int rc = bz_shelf_fd(&cas->blobs, &d->hash, &own, err);

    if (rc < 0 || fstat(own, st) < 0) {
        if (rc == 0)
            rc = bz_fail_sys(err, "stat a blob");
        return err->sys == EIO || err->sys == ESTALE ? lost(d, err) : rc;
    }
    if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size != d->size)
        return bz_cas_wrong_size(cas, d, own, st, err);
    *fd = bz_fs_detach(&own);
    return 0;
}

static int wrong_bytes(struct bz_cas *cas, const struct bz_reapi_digest *d,
                       const struct stat *st, struct bz_err *err)
{
    bz_shelf_quarantine(&cas->blobs, &d->hash, st, "wrong bytes");
    return miss(d, "wrong bytes", err);
}

int bz_cas_read(struct bz_cas *cas, struct bz_digest_hasher *h,
                const struct bz_reapi_digest *d, size_t limit, char **out,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    BZ_CLEANUP(bz_mem_freep) char *data = NULL;
    struct bz_digest got;
    struct stat st;
    size_t n;
    int rc;

    if (d->size > limit)
        return bz_fail(err, BZ_E_LIMIT, "a blob of %llu bytes where %zu are allowed",
                       (unsigned long long)d->size, limit);
    rc = open_sized(cas, d, &fd, &st, err);
    if (rc < 0)
        return rc;
    rc = bz_fs_read_fd(fd, "a blob", d->size, &data, &n, err);
    if (rc == BZ_E_LIMIT)
        return wrong_bytes(cas, d, &st, err); /* it grew meanwhile */
    if (rc < 0)
        return bz_cas_unreadable(cas, d, &st, err);
    bz_digest_bytes(h, data, n, &got);
    if (n != d->size || !bz_digest_eq(&got, &d->hash))
        return wrong_bytes(cas, d, &st, err);
    *out = data;
    data = NULL;
    return 0;
}

int bz_cas_fd(struct bz_cas *cas, struct bz_digest_hasher *h,
              const struct bz_reapi_digest *d, int *fd, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int own = -1;
    struct bz_digest got;
    struct stat st;
    uint64_t size;
    int rc = open_sized(cas, d, &own, &st, err);

    if (rc < 0)
        return rc;
    if (h) {
        rc = bz_digest_fd(h, own, &got, &size, err);
        if (rc < 0)
            return bz_cas_unreadable(cas, d, &st, err);
        if (size != d->size || !bz_digest_eq(&got, &d->hash))
            return wrong_bytes(cas, d, &st, err);
        if (lseek(own, 0, SEEK_SET) < 0)
            return bz_fail_sys(err, "rewind a blob");
    }
    *fd = bz_fs_detach(&own);
    return 0;
}
