#include "cache/verify.h"

#include <errno.h>

#include "base/log.h"
#include "cache/expanded.h"
#include "cache/shelf_dir.h"
#include "cache/trash.h"

#define AT_ONCE 8

struct verify {
    struct bz_cas *cas;
    const struct bz_verify_opts *opts;
    struct bz_inventory v;
    struct bz_verify_stats *stats;
    struct bz_crew crew;
    struct bz_sync_mutex mu;
    uint64_t done;  /* mu; bytes */
    uint64_t bytes; /* mu; hashed */
};

const char *bz_verify_fault_text(enum bz_verify_fault fault)
{
    static const char *const texts[] = {
        [BZ_VERIFY_BLOB] = "wrong bytes",
        [BZ_VERIFY_RESULT] = "not a result, or a wrong seal",
        [BZ_VERIFY_INCOMPLETE] = "a blob it needs is missing or damaged",
    };

    return texts[fault];
}

/* Whether the bytes are wrong. A blob that went meanwhile is none of our business; one
 * that cannot be read is as good as wrong. */
static int is_bad(struct verify *f, struct bz_digest_hasher *h,
                  const struct bz_digest *want, bool *bad, uint64_t *size,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_digest got;
    int rc = bz_shelf_peek(&f->cas->blobs, want, &fd, err);

    *size = 0;
    if (rc == 0)
        rc = bz_digest_fd(h, fd, &got, size, err);
    if (rc == BZ_E_NOENT || (rc < 0 && err->sys == ESTALE))
        return 0;
    if (rc < 0 && err->sys != EIO)
        return rc;
    *bad = rc < 0 || !bz_digest_eq(&got, want);
    return 0;
}

static void hash_some(struct bz_worker *w, size_t begin, size_t end, void *arg)
{
    struct verify *f = arg;
    struct bz_digest_hasher *h = bz_crew_take(&f->crew);
    uint64_t done = 0, bytes = 0, size;
    struct bz_err err;

    (void)w;
    if (!h)
        return;
    for (size_t i = begin; i < end && !bz_crew_stopped(&f->crew); i++) {
        struct bz_inventory_blob *b = &f->v.blobs.at[i];

        if (is_bad(f, h, &b->hash, &b->bad, &size, &err) < 0)
            bz_crew_fail(&f->crew, &err);
        done += b->bytes;
        bytes += size;
    }
    bz_crew_give(&f->crew, h);
    bz_sync_lock(&f->mu);
    f->done += done;
    f->bytes += bytes;
    if (f->opts->progress)
        f->opts->progress(f->opts->ctx, f->done, f->v.bytes);
    bz_sync_unlock(&f->mu);
}

static void hash_all(struct bz_worker *w, void *arg)
{
    struct verify *f = arg;

    bz_pool_for(w, 0, f->v.blobs.len, AT_ONCE, hash_some, f);
}

/* What builds have laid out holds the same files. */
static void drop_trees(struct verify *f)
{
    BZ_CLEANUP(bz_expanded_release) struct bz_expanded laid_out = {0};
    struct bz_shelf_root *root = &f->cas->root;
    size_t n = 0;

    if (!f->opts->repair || f->stats->bad_blobs == 0)
        return;
    bz_expanded_take(root, bz_shelf_now(root), &laid_out);
    for (size_t i = 0; i < f->v.blobs.len; i++)
        if (f->v.blobs.at[i].bad)
            n += bz_expanded_drop(root, &laid_out, f->v.blobs.at[i].inode);
    if (n > 0)
        bz_log_info("cache", "%zu trees that were laid out with wrong bytes went", n);
}

static void put_aside(struct verify *f, const struct bz_shelf *shelf,
                      const struct bz_digest *key, const char *why)
{
    char name[BZ_SHELF_NAME];
    struct stat st;

    bz_shelf_name(key, name);
    if (bz_shelf_dir_stat(shelf, name, &st) < 0)
        return;
    bz_shelf_quarantine(shelf, key, &st, why);
    f->stats->repaired++;
}

static void found(struct verify *f, enum bz_verify_fault fault,
                  const struct bz_digest *what)
{
    const char *why = bz_verify_fault_text(fault);
    struct stat st;

    if (f->opts->fault)
        f->opts->fault(f->opts->ctx, fault, what);
    if (!f->opts->repair)
        return;
    if (fault == BZ_VERIFY_BLOB)
        put_aside(f, &f->cas->blobs, what, why);
    else if (fault == BZ_VERIFY_RESULT)
        put_aside(f, &f->cas->actions, what, why);
    else if (bz_trash_remove(&f->cas->actions, what, INT64_MAX, &st) ==
             BZ_TRASH_REMOVED)
        f->stats->repaired++;
}

static void judge(struct verify *f)
{
    for (size_t i = 0; i < f->v.blobs.len; i++)
        if (f->v.blobs.at[i].bad) {
            f->stats->bad_blobs++;
            found(f, BZ_VERIFY_BLOB, &f->v.blobs.at[i].hash);
        }
    drop_trees(f);
    bz_inventory_settle(&f->v);
    for (size_t i = 0; i < f->v.results.len; i++) {
        const struct bz_inventory_result *r = &f->v.results.at[i];

        f->stats->unsealed += !r->sealed && !r->damaged;
        if (r->damaged) {
            f->stats->bad_results++;
            found(f, BZ_VERIFY_RESULT, &r->key);
        } else if (r->broken) {
            f->stats->incomplete++;
            found(f, BZ_VERIFY_INCOMPLETE, &r->key);
        }
    }
}

int bz_verify_run(struct bz_cas *cas, const struct bz_verify_opts *opts,
                  struct bz_verify_stats *stats, struct bz_err *err)
{
    struct verify f = {.cas = cas, .opts = opts, .stats = stats};
    int rc;

    *stats = (struct bz_verify_stats){0};
    if (opts->repair && cas->root.readonly)
        return bz_fail(err, BZ_E_NOSUP,
                       "the store cannot be written: nothing to repair");
    rc = bz_inventory_take(cas, NULL, NULL, &f.v, err);
    if (rc == 0) {
        bz_crew_init(&f.crew, opts->cancel);
        bz_crew_run(&opts->threads, hash_all, &f);
        rc = bz_crew_result(&f.crew, err);
        bz_crew_release(&f.crew);
    }
    if (rc == 0) {
        stats->blobs = f.v.blobs.len;
        stats->bytes = f.bytes;
        stats->results = f.v.results.len;
        judge(&f);
    }
    bz_inventory_release(&f.v);
    return rc;
}
