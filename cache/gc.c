#include "cache/gc.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cache/gc_plan.h"
#include "cache/trash.h"
#include "os/clock.h"
#include "os/fs_list.h"

#define BAD_KEPT                                                                       \
    (INT64_C(7) * 86400 * BZ_CLOCK_S) /* a week to look at what was damaged */

const char *bz_gc_reason_text(enum bz_gc_reason why)
{
    static const char *const texts[] = {
        [BZ_GC_KEPT] = "kept",   [BZ_GC_BROKEN] = "broken", [BZ_GC_AGE] = "age",
        [BZ_GC_COUNT] = "count", [BZ_GC_SIZE] = "size",
    };

    return texts[why];
}

static int available(const struct bz_cas *cas, uint64_t *out, struct bz_err *err)
{
    struct statvfs fs;

    if (fstatvfs(cas->root.top, &fs) < 0)
        return bz_fail_sys(err, "ask for free space of the store");
    *out = (uint64_t)fs.f_bavail * fs.f_frsize;
    return 0;
}

static uint64_t sweep_bad(struct bz_cas *cas, int64_t now, bool dry_run)
{
    BZ_CLEANUP(bz_fs_closep)
    int dir = openat(cas->root.top, "bad", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bz_fs_list list;
    struct bz_err err;
    uint64_t n = 0;

    if (dir < 0 || bz_fs_list_dir(dir, ".", &list, &err) < 0)
        return 0;
    for (size_t i = 0; i < list.n; i++) {
        struct stat st;

        if (fstatat(dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - st.st_ctim.tv_sec * BZ_CLOCK_S > BAD_KEPT)
            n += dry_run || unlinkat(dir, list.names[i], 0) == 0;
    }
    bz_fs_list_release(&list);
    return n;
}

static void forget(const struct bz_gc_opts *opts, const struct bz_digest *what,
                   bool blob)
{
    if (!opts->index || opts->dry_run)
        return;
    if (blob)
        bz_index_forget_blob(opts->index, what);
    else
        bz_index_forget_action(opts->index, what);
}

/* A result that somebody claimed meanwhile stays, with its blobs. */
static void remove_results(struct bz_cas *cas, const struct bz_gc_opts *opts,
                           struct bz_gc_plan *p, struct bz_gc_stats *stats)
{
    for (size_t i = 0; i < p->v->results.len; i++) {
        const struct bz_inventory_result *r = &p->v->results.at[i];
        enum bz_gc_reason why = p->why[i];
        struct stat st;

        if (why == BZ_GC_KEPT)
            continue;
        if (!opts->dry_run &&
            bz_trash_remove(&cas->actions, &r->key, p->limit, &st) == BZ_TRASH_KEPT) {
            bz_gc_plan_keep(p, i);
            continue;
        }
        stats->results_gone++;
        stats->bytes_gone += r->bytes;
        stats->bytes_freed += r->bytes;
        forget(opts, &r->key, false);
        if (opts->dropped)
            opts->dropped(opts->ctx, p->v, r, why);
    }
}

static void remove_blobs(struct bz_cas *cas, const struct bz_gc_opts *opts,
                         struct bz_gc_plan *p, struct bz_gc_stats *stats)
{
    for (size_t i = 0; i < p->v->blobs.len; i++) {
        const struct bz_inventory_blob *b = &p->v->blobs.at[i];
        struct stat st;

        if (b->used >= p->limit)
            stats->bytes_recent += b->bytes;
        if (b->refs > 0 || b->used >= p->limit)
            continue;
        if (!opts->dry_run &&
            bz_trash_remove(&cas->blobs, &b->hash, p->limit, &st) == BZ_TRASH_KEPT) {
            p->left += b->bytes;
            p->freed -= b->alone ? b->bytes : 0;
            continue;
        }
        stats->blobs_gone++;
        stats->bytes_gone += b->bytes;
        stats->bytes_freed += b->alone ? b->bytes : 0;
        forget(opts, &b->hash, true);
    }
}

static int collect(struct bz_cas *cas, const struct bz_gc_opts *opts, int64_t now,
                   int64_t limit, struct bz_gc_stats *stats, struct bz_err *err)
{
    BZ_CLEANUP(bz_inventory_release) struct bz_inventory v = {0};
    BZ_CLEANUP(bz_gc_plan_release) struct bz_gc_plan plan = {0};
    uint64_t room = 0;
    int rc = available(cas, &room, err);

    if (rc == 0)
        rc = bz_inventory_take(cas, opts->progress, opts->ctx, &v, err);
    if (rc < 0)
        return rc;
    stats->results = v.results.len;
    stats->blobs = v.blobs.len;
    stats->bytes = v.bytes;
    bz_gc_plan_make(&v, &opts->policy, now, limit, room, &plan);
    remove_results(cas, opts, &plan, stats);
    remove_blobs(cas, opts, &plan, stats);
    stats->bytes_left = stats->bytes - stats->bytes_gone;
    stats->enough = bz_gc_plan_enough(&plan, &opts->policy, room);
    return 0;
}

int bz_gc_run(struct bz_cas *cas, const struct bz_gc_opts *opts,
              struct bz_gc_stats *stats, struct bz_err *err)
{
    struct bz_shelf *const shelves[] = {&cas->blobs, &cas->actions};
    int64_t grace = opts->grace > 0 ? opts->grace : BZ_GC_GRACE * BZ_CLOCK_S;
    int64_t now, oldest;
    int rc;

    *stats = (struct bz_gc_stats){0};
    if (cas->root.readonly && !opts->dry_run)
        return bz_fail(err, BZ_E_NOSUP,
                       "the store cannot be written: nothing is removed");
    if (!opts->dry_run) {
        stats->temps = bz_shelf_sweep(&cas->root);
        bz_trash_restore(shelves, BZ_COUNTOF(shelves));
    }
    rc = bz_shelf_clock(&cas->root, &now, err);
    if (rc < 0)
        return rc;
    stats->bad = sweep_bad(cas, now, opts->dry_run);
    /* The leases after the clock: see (3). */
    oldest = bz_lease_oldest(cas->root.top, &cas->root.self, now);
    rc = collect(cas, opts, now, oldest - grace, stats, err);
    if (rc == 0 && opts->index && !opts->dry_run)
        rc = bz_index_flush(opts->index, err);
    return rc;
}
