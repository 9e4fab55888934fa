#include "cache/gc.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cache/expanded.h"
#include "cache/gc_plan.h"
#include "cache/shelf_dir.h"
#include "cache/trash.h"
#include "os/clock.h"
#include "os/fs_list.h"

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

static uint64_t sweep_bad(struct bz_cas *cas, const struct bz_gc_opts *opts,
                          int64_t now)
{
    BZ_CLEANUP(bz_fs_closep) int dir = bz_shelf_dir_open(&cas->root, "bad", false);
    int64_t kept = opts->bad_kept > 0 ? opts->bad_kept : BZ_GC_BAD_KEPT * BZ_CLOCK_S;
    struct bz_fs_list list;
    struct bz_err err;
    uint64_t n = 0;

    if (dir < 0 || bz_fs_list_dir(dir, ".", &list, &err) < 0)
        return 0;
    for (size_t i = 0; i < list.n; i++) {
        struct stat st;

        if (fstatat(dir, list.names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - (st.st_ctim.tv_sec * BZ_CLOCK_S + st.st_ctim.tv_nsec) > kept)
            n += opts->dry_run || unlinkat(dir, list.names[i], 0) == 0;
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

/* One collection. */
struct collection {
    struct bz_cas *cas;
    const struct bz_gc_opts *opts;
    int64_t now, limit;
    uint64_t room;
    struct bz_expanded laid_out;
    struct bz_gc_stats *stats;
};

static void remove_blobs(struct collection *c, struct bz_gc_plan *p)
{
    struct bz_gc_stats *stats = c->stats;

    for (size_t i = 0; i < p->v->blobs.len; i++) {
        const struct bz_inventory_blob *b = &p->v->blobs.at[i];
        struct stat st;

        if (b->used >= p->limit)
            stats->bytes_recent += b->bytes;
        if (b->refs > 0 || b->used >= p->limit)
            continue;
        if (!c->opts->dry_run &&
            bz_trash_remove(&c->cas->blobs, &b->hash, p->limit, &st) == BZ_TRASH_KEPT) {
            p->left += b->bytes;
            p->freed -= b->alone ? b->bytes : 0;
            continue;
        }
        stats->blobs_gone++;
        stats->bytes_gone += b->bytes;
        stats->bytes_freed += b->alone ? b->bytes : 0;
        forget(c->opts, &b->hash, true);
    }
}

static bool is_tree(const struct bz_expanded_item *item)
{
    return item->kind == BZ_EXPANDED_TREE || item->kind == BZ_EXPANDED_MERGED;
}

static bool is_old(const struct collection *c, const struct bz_expanded_item *item)
{
    int64_t age = c->now - item->used, most = c->opts->policy.max_age;

    if (item->kind == BZ_EXPANDED_FAILED && age > BZ_GC_FAILED_KEPT * BZ_CLOCK_S)
        return true;
    return most > 0 && age > most;
}

static bool is_left(const struct bz_expanded_item *item)
{
    return item->kind == BZ_EXPANDED_LEFT || item->kind == BZ_EXPANDED_WORK;
}

/* Leftovers go whatever else there is, and the others by age; all of these that may if
 * the disk is too full; or as many as it takes, the longest unused first. */
static void doom_laid_out(struct collection *c, uint64_t others)
{
    const struct bz_gc_policy *policy = &c->opts->policy;
    bool crowded = c->room < policy->min_free;

    for (size_t i = 0; i < c->laid_out.items.len; i++) {
        struct bz_expanded_item *item = &c->laid_out.items.at[i];
        bool large =
            policy->max_size > 0 && others + c->laid_out.bytes > policy->max_size;

        c->stats->trees += is_tree(item);
        c->stats->failed += item->kind == BZ_EXPANDED_FAILED;
        if (is_left(item) || crowded || large || is_old(c, item))
            bz_expanded_doom(&c->laid_out, item, c->limit);
    }
}

/* Trees that would keep what goes on the disk. What a merged one is made of is not
 * known. */
static void doom_pinning(struct collection *c, const struct bz_gc_plan *p)
{
    for (size_t i = 0; i < c->laid_out.items.len; i++) {
        struct bz_expanded_item *item = &c->laid_out.items.at[i];
        uint32_t blob = item->kind == BZ_EXPANDED_TREE
                            ? bz_inventory_find(p->v, &item->tree)
                            : BZ_INVENTORY_NONE;

        if (item->kind == BZ_EXPANDED_FAILED)
            continue; /* nothing in it is a blob's */
        if (item->kind == BZ_EXPANDED_MERGED
                ? c->stats->results_gone > 0
                : blob == BZ_INVENTORY_NONE || p->v->blobs.at[blob].refs == 0)
            bz_expanded_doom(&c->laid_out, item, c->limit);
    }
}

/* Whose bytes would be freed, with the trees that go. */
static void recount(const struct collection *c, struct bz_inventory *v)
{
    for (size_t i = 0; i < v->blobs.len; i++) {
        struct bz_inventory_blob *b = &v->blobs.at[i];

        if (b->names > 1)
            b->alone = b->names == 1 + bz_expanded_names(&c->laid_out, b->inode);
    }
}

static void remove_laid_out(struct collection *c)
{
    struct bz_gc_stats *stats = c->stats;

    for (size_t i = 0; i < c->laid_out.items.len; i++) {
        struct bz_expanded_item *item = &c->laid_out.items.at[i];

        if (!item->doomed ||
            (!c->opts->dry_run &&
             !bz_expanded_remove(&c->cas->root, &c->laid_out, item, c->limit)))
            continue;
        if (is_tree(item))
            stats->trees_gone++;
        else if (item->kind == BZ_EXPANDED_FAILED)
            stats->failed_gone++;
        else
            stats->temps++;
        stats->bytes_gone += item->bytes;
        stats->bytes_freed += item->bytes;
    }
}

static int collect(struct collection *c, struct bz_err *err)
{
    BZ_CLEANUP(bz_inventory_release) struct bz_inventory v = {0};
    BZ_CLEANUP(bz_gc_plan_release) struct bz_gc_plan plan = {0};
    const struct bz_gc_opts *opts = c->opts;
    struct bz_gc_policy policy = opts->policy;
    struct bz_gc_stats *stats = c->stats;
    int rc = available(c->cas, &c->room, err);

    bz_expanded_take(&c->cas->root, c->now, &c->laid_out);
    if (rc == 0)
        rc = bz_inventory_take(c->cas, opts->progress, opts->ctx, &v, err);
    if (rc < 0)
        return rc;
    stats->results = v.results.len;
    stats->blobs = v.blobs.len;
    stats->bytes = v.bytes + c->laid_out.bytes;
    doom_laid_out(c, v.bytes);
    recount(c, &v);
    c->room += stats->bytes - v.bytes - c->laid_out.bytes;
    if (policy.max_size > 0) /* what is left for all else; 0 would be no limit */
        policy.max_size = policy.max_size > c->laid_out.bytes
                              ? policy.max_size - c->laid_out.bytes
                              : 1;
    rc = bz_gc_plan_make(&v, &policy, c->now, c->limit, c->room, &plan, err);
    if (rc < 0)
        return rc;
    remove_results(c->cas, opts, &plan, stats);
    rc = opts->dry_run ? 0 : bz_gc_plan_look_again(&plan, c->cas, err);
    if (rc < 0)
        return rc;
    doom_pinning(c, &plan);
    recount(c, &v);
    remove_blobs(c, &plan);
    remove_laid_out(c);
    stats->bytes_left = stats->bytes - stats->bytes_gone;
    stats->enough =
        bz_gc_plan_enough(&plan, &policy, c->room) &&
        (opts->policy.max_size == 0 || stats->bytes_left <= opts->policy.max_size);
    return 0;
}

int bz_gc_run(struct bz_cas *cas, const struct bz_gc_opts *opts,
              struct bz_gc_stats *stats, struct bz_err *err)
{
    struct bz_shelf *const shelves[] = {&cas->blobs, &cas->actions};
    int64_t grace = opts->grace > 0 ? opts->grace : BZ_GC_GRACE * BZ_CLOCK_S;
    struct collection c = {.cas = cas, .opts = opts, .stats = stats};
    int64_t oldest;
    int rc;

    *stats = (struct bz_gc_stats){0};
    if (cas->root.readonly && !opts->dry_run)
        return bz_fail(err, BZ_E_NOSUP,
                       "the store cannot be written: nothing is removed");
    if (!opts->dry_run) {
        stats->temps = bz_shelf_sweep(&cas->root);
        bz_trash_restore(shelves, BZ_COUNTOF(shelves));
    }
    rc = bz_shelf_clock(&cas->root, &c.now, err);
    if (rc < 0)
        return rc;
    stats->bad = sweep_bad(cas, opts, c.now);
    /* The leases after the clock: see (3). */
    rc = bz_lease_oldest(cas->root.top, &cas->root.self, c.now, !opts->dry_run, &oldest,
                         err);
    if (rc < 0)
        return bz_err_wrap(err, "who uses the store cannot be known: nothing goes");
    c.limit = oldest - grace;
    rc = collect(&c, err);
    bz_expanded_release(&c.laid_out);
    if (rc == 0 && opts->index && !opts->dry_run)
        rc = bz_index_flush(opts->index, err);
    return rc;
}
