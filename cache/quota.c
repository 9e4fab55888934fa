#include "cache/quota.h"

#include <sys/statvfs.h>

#include "base/log.h"
#include "cache/expanded.h"
#include "os/clock.h"
#include "os/fs_lock.h"

#define HALF_BLOCK 2048 /* what a file wastes on the disk, on average */
#define PAUSE (60 * BZ_CLOCK_S)
#define SHARE 20 /* a collection of a second is followed by a pause of so many */

/* A part of the whole that cannot overflow. */
static uint64_t share_of(uint64_t whole, int64_t percent)
{
    return whole / 100 * (uint64_t)percent;
}

uint64_t bz_quota_max_size(const struct bz_cas *cas, int64_t setting, uint64_t bytes)
{
    struct statvfs fs;

    if (setting >= 0)
        return (uint64_t)setting;
    if (fstatvfs(cas->root.top, &fs) < 0)
        return 0;
    return share_of((uint64_t)fs.f_bavail * fs.f_frsize + bytes, -setting);
}

uint64_t bz_quota_min_free(const struct bz_cas *cas, int64_t setting)
{
    struct statvfs fs;

    if (setting >= 0)
        return (uint64_t)setting;
    if (fstatvfs(cas->root.top, &fs) < 0)
        return 0;
    return share_of((uint64_t)fs.f_blocks * fs.f_frsize, -setting);
}

void bz_quota_open(struct bz_quota *q, struct bz_cas *cas, struct bz_index *index,
                   struct bz_pool *pool, const struct bz_quota_opts *opts)
{
    q->cas = cas;
    q->index = index;
    q->pool = pool;
    q->lock = opts->lock;
    q->share = opts->max_size < 0 ? (unsigned)-opts->max_size : 0;
    q->policy =
        (struct bz_gc_policy){.max_size = q->share > 0 ? 0 : (uint64_t)opts->max_size,
                              .min_free = bz_quota_min_free(cas, opts->min_free),
                              .max_age = opts->max_age};
}

void bz_quota_close(struct bz_quota *q)
{
    bz_sync_lock(&q->mu);
    while (q->running)
        (void)bz_sync_wait(&q->idle, &q->mu, BZ_CLOCK_NEVER);
    bz_sync_unlock(&q->mu);
}

uint64_t bz_quota_estimate(struct bz_cas *cas, struct bz_index *index)
{
    struct bz_index_totals t;

    bz_index_get_totals(index, &t);
    return t.bytes + t.blobs * HALF_BLOCK + t.actions * 2 * HALF_BLOCK +
           bz_expanded_estimate(&cas->root);
}

/* How large a store that takes `bytes` may be; 0: no limit. */
static uint64_t limit_of(const struct bz_quota *q, uint64_t bytes)
{
    return q->share > 0 ? bz_quota_max_size(q->cas, -(int64_t)q->share, bytes)
                        : q->policy.max_size;
}

bool bz_quota_limits(const struct bz_quota *q)
{
    return q->policy.max_size > 0 || q->share > 0 || q->policy.min_free > 0;
}

static bool is_short_of_room(const struct bz_quota *q)
{
    struct statvfs fs;

    return q->policy.min_free > 0 && fstatvfs(q->cas->root.top, &fs) == 0 &&
           (uint64_t)fs.f_bavail * fs.f_frsize < q->policy.min_free;
}

static void say(struct bz_quota *q, const struct bz_gc_stats *s, uint64_t limit)
{
    bool said;

    if (s->results_gone > 0)
        bz_log_info("cache", "collected: %llu results and %llu blobs went",
                    (unsigned long long)s->results_gone,
                    (unsigned long long)s->blobs_gone);
    if (s->enough || (q->policy.min_free == 0 && s->bytes_left <= limit))
        return;
    bz_sync_lock(&q->mu);
    said = q->said;
    q->said = true;
    bz_sync_unlock(&q->mu);
    if (!said)
        bz_log_warn("cache",
                    "the store is larger than cache.max_size or cache.min_free allow "
                    "(%llu MiB), but what it holds is in use; it is tried again later",
                    (unsigned long long)(s->bytes_left >> 20));
}

/* Returns whether *stats means something. */
static bool collect(struct bz_quota *q, uint64_t limit, struct bz_gc_stats *stats)
{
    BZ_CLEANUP(bz_fs_closep) int lock = -1;
    struct bz_gc_opts opts = {
        .policy = q->policy, .grace = q->grace, .index = q->index};
    struct bz_err err;

    /* Another process that collects does it for us. */
    if (q->lock && bz_fs_lock(AT_FDCWD, q->lock, BZ_FS_LOCK_EXCLUSIVE, bz_clock_in(0),
                              &lock, &err) < 0)
        return false;
    opts.policy.max_size = limit / 10 * 9;
    if (bz_gc_run(q->cas, &opts, stats, &err) == 0) {
        say(q, stats, limit);
        return true;
    }
    bz_log_warn("cache", "the store cannot be collected: %s", err.msg);
    return false;
}

static void run(struct bz_quota *q)
{
    int64_t begun = bz_clock_now(), took;
    struct bz_gc_stats stats;
    uint64_t bytes;
    bool known;

    bz_sync_lock(&q->mu);
    bytes = q->bytes;
    bz_sync_unlock(&q->mu);
    known = collect(q, limit_of(q, bytes), &stats);
    took = (bz_clock_now() - begun) * SHARE;
    bz_sync_lock(&q->mu);
    if (known)
        q->bytes = stats.bytes_left;
    q->not_before = bz_clock_in(took > PAUSE ? took : PAUSE);
    q->runs++;
    q->running = false;
    bz_sync_broadcast(&q->idle);
    bz_sync_unlock(&q->mu);
}

static void body(struct bz_worker *w, void *arg)
{
    (void)w;
    (void)arg; /* all is done in `finish`, which is the last to touch the item */
}

static void finish(struct bz_pool_item *item, int status)
{
    (void)status;
    run(item->arg);
}

void bz_quota_note(struct bz_quota *q, uint64_t bytes)
{
    uint64_t whole = 0, free_now = 0, limit;
    bool known, due, crowded;

    if (!bz_quota_limits(q))
        return;
    crowded = is_short_of_room(q);
    if (q->share > 0) /* what is free counts as much as what the store takes */
        free_now = limit_of(q, 0);
    bz_sync_lock(&q->mu);
    known = q->known;
    bz_sync_unlock(&q->mu);
    if (!known)
        whole = bz_quota_estimate(
            q->cas, q->index); /* not under the lock: it may take a moment */
    bz_sync_lock(&q->mu);
    if (!q->known)
        q->bytes += whole;
    q->known = true;
    q->bytes += bytes;
    limit = q->share > 0 ? free_now + share_of(q->bytes, q->share) : q->policy.max_size;
    due = !q->running && bz_clock_now() >= q->not_before &&
          (crowded || (limit > 0 && q->bytes > limit));
    q->running |= due;
    bz_sync_unlock(&q->mu);
    if (due && q->pool) {
        q->item = (struct bz_pool_item){.body = body, .arg = q, .finish = finish};
        bz_pool_submit(q->pool, NULL, BZ_LANE_IO, &q->item);
    } else if (due) {
        run(q);
    }
}
