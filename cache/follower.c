#include "cache/follower.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sync.h"

/* Stays in the CPU's cache. */
#define PIECE ((size_t)128 << 10)

struct bz_follower {
    struct bz_pool_item item;
    struct bz_pool *pool;
    struct bz_digest_hasher *h; /* of whoever set `busy` */
    char *piece;                /* too */
    int fd;
    struct bz_sync_mutex mu;
    struct bz_sync_cond idle; /* `busy` was cleared */
    uint64_t there, hashed;   /* mu */
    bool busy;                /* mu; somebody is hashing */
    bool queued;              /* mu; the item is the pool's, and so are we */
    bool closed;              /* mu; no more is to be hashed */
    bool orphan;              /* mu; the pool frees it */
    int rc;                   /* mu; of a file that cannot be read */
    struct bz_err err;        /* mu */
};

static void destroy(struct bz_follower *f)
{
    free(f->piece);
    free(f);
}

/* What follows the end of the file is a hole that is not there yet. */
static int read_piece(const struct bz_follower *f, uint64_t at, size_t n,
                      struct bz_err *err)
{
    size_t got = 0;

    while (got < n) {
        ssize_t more = pread(f->fd, f->piece + got, n - got, (off_t)(at + got));

        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return bz_fail_sys(err, "read what was received");
        if (more == 0) {
            memset(f->piece + got, 0, n - got);
            break;
        }
        got += (size_t)more;
    }
    return 0;
}

/* Hashes until it has caught up. Others may let the file grow, or close, meanwhile. */
static void catch_up_locked(struct bz_follower *f) BZ_REQUIRES(f->mu)
{
    f->busy = true;
    while (!f->closed && f->rc == 0 && f->hashed < f->there) {
        uint64_t at = f->hashed, left = f->there - at;
        size_t n = left < PIECE ? (size_t)left : PIECE;
        struct bz_err err;
        int rc;

        bz_sync_unlock(&f->mu);
        rc = read_piece(f, at, n, &err);
        if (rc == 0)
            bz_digest_add(f->h, f->piece, n);
        bz_sync_lock(&f->mu);
        if (rc < 0) {
            f->rc = rc;
            f->err = err;
        }
        f->hashed = at + n;
    }
    f->busy = false;
    bz_sync_broadcast(&f->idle);
}

static void body(struct bz_worker *w, void *arg)
{
    struct bz_follower *f = arg;

    (void)w;
    bz_sync_lock(&f->mu);
    if (!f->busy)
        catch_up_locked(f);
    bz_sync_unlock(&f->mu);
}

static void done(struct bz_pool_item *item, int status)
{
    struct bz_follower *f = BZ_CONTAINER(item, struct bz_follower, item);
    bool orphan;

    (void)status;
    bz_sync_lock(&f->mu);
    f->queued = false;
    orphan = f->orphan;
    bz_sync_unlock(&f->mu);
    if (orphan)
        destroy(f);
}

struct bz_follower *bz_follower_new(struct bz_pool *pool, struct bz_digest_hasher *h,
                                    int fd)
{
    struct bz_follower *f = bz_mem_zalloc(sizeof(*f));

    f->pool = pool;
    f->h = h;
    f->fd = fd;
    f->piece = bz_mem_alloc(PIECE);
    bz_digest_begin(h);
    return f;
}

static void wait_idle_locked(struct bz_follower *f) BZ_REQUIRES(f->mu)
{
    while (f->busy)
        (void)bz_sync_wait(&f->idle, &f->mu, 0);
}

void bz_follower_begin(struct bz_follower *f)
{
    bz_sync_lock(&f->mu);
    f->there = 0; /* so that it soon is idle */
    wait_idle_locked(f);
    f->hashed = 0;
    f->rc = 0;
    bz_digest_begin(f->h);
    bz_sync_unlock(&f->mu);
}

void bz_follower_grow(struct bz_follower *f, uint64_t n)
{
    bool submit;

    bz_sync_lock(&f->mu);
    f->there = n;
    submit = !f->queued && n - f->hashed >= BZ_FOLLOWER_STEP;
    if (submit) {
        f->queued = true;
        f->item = (struct bz_pool_item){.body = body, .arg = f, .finish = done};
    } else if (n - f->hashed >= BZ_FOLLOWER_LAG) {
        if (!f->busy)
            catch_up_locked(f);
        wait_idle_locked(f);
    }
    bz_sync_unlock(&f->mu);
    if (submit)
        bz_pool_submit(f->pool, NULL, BZ_LANE_COMPUTE, &f->item);
}

int bz_follower_finish(struct bz_follower *f, struct bz_err *err)
{
    int rc;

    bz_sync_lock(&f->mu);
    wait_idle_locked(f);
    catch_up_locked(f);
    rc = f->rc;
    if (rc < 0)
        *err = f->err;
    bz_sync_unlock(&f->mu);
    return rc;
}

void bz_follower_free(struct bz_follower *f)
{
    bool orphan;

    if (!f)
        return;
    bz_sync_lock(&f->mu);
    f->closed = true;
    wait_idle_locked(f);
    orphan = f->orphan = f->queued;
    bz_sync_unlock(&f->mu);
    if (!orphan)
        destroy(f);
}
