#include "cache/tier_dir.h"

#include <errno.h>

#include "base/mem.h"
#include "base/sync.h"
#include "cache/cas_copy.h"

#define REOPENS 64 /* in a run: a server that is stale more often is of no use */

struct dir_tier {
    struct bz_tier tier;
    char *root;
    struct bz_cas_opts opts;
    struct bz_sync_mutex mu;
    struct bz_cas *cas[REOPENS + 1]; /* mu; the last is in use, others may still be */
    size_t n;                        /* mu */
};

static struct dir_tier *own_of(struct bz_tier *t)
{
    return BZ_CONTAINER(t, struct dir_tier, tier);
}

static struct bz_cas *current(struct dir_tier *own)
{
    struct bz_cas *cas;

    bz_sync_lock(&own->mu);
    cas = own->cas[own->n - 1];
    bz_sync_unlock(&own->mu);
    return cas;
}

/* After a server came back, or a directory was replaced, open handles are stale. True
 * if it is worth trying again with what is there now. */
static bool reopen(struct dir_tier *own, const struct bz_cas *stale)
{
    struct bz_cas *cas;
    struct bz_err err;
    bool worth = true;

    if (current(own) != stale)
        return true; /* somebody else has done it */
    if (bz_cas_open(own->root, &own->opts, &cas, &err) < 0)
        return false;
    bz_sync_lock(&own->mu);
    if (own->n <= REOPENS) {
        own->cas[own->n++] = cas;
        cas = NULL;
    } else {
        worth = false;
    }
    bz_sync_unlock(&own->mu);
    bz_cas_close(cas);
    return worth;
}

static bool is_stale(int rc, const struct bz_err *err)
{
    return rc < 0 && err->sys == ESTALE;
}

static int get_action(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, struct bz_arena *a,
                      struct bz_reapi_result *out, struct bz_err *err)
{
    struct bz_cas *cas = current(own_of(t));
    int rc = bz_action_get(cas, call->h, key, BZ_ACTION_OURS, a, out, err);

    if (is_stale(rc, err) && reopen(own_of(t), cas))
        rc = bz_action_get(current(own_of(t)), call->h, key, BZ_ACTION_OURS, a, out,
                           err);
    /* A file that is not for us is as good as none. */
    if (rc < 0 && (err->sys == EACCES || err->sys == ESTALE))
        err->code = rc = BZ_E_NOENT;
    return rc;
}

static int put_action(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, const struct bz_reapi_result *r,
                      struct bz_err *err)
{
    struct bz_cas *cas = current(own_of(t));
    enum bz_action_put how;
    int rc = bz_action_put(cas, call->h, key, r, &how, err);

    if (is_stale(rc, err) && reopen(own_of(t), cas))
        rc = bz_action_put(current(own_of(t)), call->h, key, r, &how, err);
    return rc;
}

/* Hashed as it is copied: what arrives is the blob or nothing. A source that is wrong
 * is put aside in its own store. */
static int copy_blob(struct bz_cas *from, struct bz_cas *into,
                     const struct bz_tier_call *call, const struct bz_reapi_digest *d,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    BZ_CLEANUP(bz_cas_abort) struct bz_cas_writer w = {.temp.fd = -1};
    struct bz_reapi_digest got;
    struct stat st;
    int rc;

    /* What is relied on is claimed, or a collector could take it. */
    if (bz_cas_claim(into, d))
        return 0;
    rc = bz_cas_fd(from, NULL, d, &fd, err);
    if (rc < 0 && err->sys == EACCES)
        err->code = rc = BZ_E_NOENT; /* not for us: as good as none */
    if (rc == 0)
        rc = bz_cas_begin(into, call->h, &w, err);
    if (rc < 0)
        return rc;
    rc = bz_cas_copy(fd, w.temp.fd, d->size, call->h, err);
    if (rc < 0)
        return bz_cas_not_copied(from, d, fd, err);
    w.size = d->size;
    rc = bz_cas_end(&w, d, &got, err);
    if (rc == 0)
        bz_tier_note_moved(call, d);
    if (rc != BZ_E_CORRUPT)
        return rc;
    if (fstat(fd, &st) == 0)
        bz_shelf_quarantine(&from->blobs, &d->hash, &st, "wrong bytes");
    return bz_fail(err, BZ_E_NOENT, "a blob with wrong bytes");
}

enum way { GET, PUT };

static int copy_either_way(enum way way, struct bz_cas *here, struct bz_cas *there,
                           const struct bz_tier_call *call,
                           const struct bz_reapi_digest *d, struct bz_err *err)
{
    return way == GET ? copy_blob(there, here, call, d, err)
                      : copy_blob(here, there, call, d, err);
}

static int move_blob(struct dir_tier *own, enum way way, struct bz_cas *here,
                     const struct bz_tier_call *call, const struct bz_reapi_digest *d,
                     struct bz_err *err)
{
    struct bz_cas *there = current(own);
    int rc = copy_either_way(way, here, there, call, d, err);

    if (is_stale(rc, err) && reopen(own, there))
        rc = copy_either_way(way, here, current(own), call, d, err);
    if (way == GET && is_stale(rc, err))
        err->code = rc = BZ_E_NOENT;
    return rc;
}

/* Whether there is no point in going on with a batch: neither a blob that is missing
 * nor one that is bad says anything about the next. */
static bool fatal(int rc)
{
    return rc < 0 && rc != BZ_E_NOENT;
}

static int move_blobs(struct bz_tier *t, enum way way, struct bz_cas *here,
                      const struct bz_tier_call *call, struct bz_tier_blob *blobs,
                      size_t n, struct bz_err *err)
{
    struct bz_err one;
    int rc = 0;

    for (size_t i = 0; i < n; i++) {
        int status = fatal(rc) ? rc : bz_cancel_check(call->cancel);

        if (fatal(status) && !fatal(rc))
            rc = bz_fail(err, status, "stopped");
        if (!fatal(status)) {
            status = move_blob(own_of(t), way, here, call, &blobs[i].digest, &one);
            if (fatal(status) || (status < 0 && rc == 0)) {
                *err = one;
                rc = status;
            }
        }
        blobs[i].status = status;
    }
    return rc;
}

static int get_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *into,
                     struct bz_err *err)
{
    return move_blobs(t, GET, into, call, blobs, n, err);
}

static int put_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *from,
                     struct bz_err *err)
{
    return move_blobs(t, PUT, from, call, blobs, n, err);
}

static void close_tier(struct bz_tier *t)
{
    struct dir_tier *own = own_of(t);

    for (size_t i = 0; i < own->n; i++)
        bz_cas_close(own->cas[i]);
    free(own->root);
    free(own);
}

int bz_tier_dir_open(const char *root, const struct bz_cas_opts *opts,
                     struct bz_tier **out, struct bz_err *err)
{
    static const struct bz_tier_ops ops = {
        "directory", get_action, put_action, get_blobs, put_blobs, close_tier,
    };
    struct bz_cas *cas;
    struct dir_tier *own;
    int rc = bz_cas_open(root, opts, &cas, err);

    if (rc < 0)
        return rc;
    own = bz_mem_zalloc(sizeof(*own));
    own->tier.ops = &ops;
    own->root = bz_mem_dup(root, strlen(root));
    own->opts = *opts;
    own->cas[own->n++] = cas;
    *out = &own->tier;
    return 0;
}
