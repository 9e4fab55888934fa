#include "cache/cache.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sync.h"
#include "base/vec.h"
#include "cache/closure.h"
#include "cache/expanded.h"
#include "cache/quota.h"
#include "cache/reindex.h"
#include "cache/tree_stamp.h"
#include "os/clock.h"
#include "os/fs_walk.h"

/* Of the local store; relaxed all of them: nothing else depends on a count. */
struct sums {
    atomic_ullong hits, misses, read, bytes_read, written, bytes_written;
};

struct bz_cache {
    struct bz_cas *cas; /* NULL if it is only looked at, and not there */
    struct sums sums;
    char *root;
    struct bz_index *index; /* NULL if it is only looked at */
    enum bz_cache_verify verify;
    struct bz_tiers *tiers;   /* or NULL */
    struct bz_upload *upload; /* or NULL */
    int64_t flush;
    bool signs;
    struct bz_trust_signer signer;
    struct bz_sync_mutex mu;
    struct bz_arena keys; /* mu; of the next */
    struct bz_map whole;  /* mu; trees that were stored or hashed by this cache */
    struct bz_map from;   /* mu; the tier of each result found in one, if there is an
                             upload, for then those before it lack the result */
    uint64_t fetched;     /* mu; bytes from tiers of which the quota knows */
    struct bz_quota quota;
    char *gc_lock;       /* owned; or NULL */
    atomic_ullong added; /* bytes of trees since the last result was filed */
    struct bz_cancel closing;
    bool filling; /* the index, by: */
    struct bz_pool_item fill;
};

/* Not having an index is no reason to fail, nor is failing to fill it. */
static void fill_index(struct bz_cache *c)
{
    struct bz_reindex_stats stats = {0};
    struct bz_err err;

    if (bz_reindex_fill(c->cas, c->index, &c->closing, &stats, &err) < 0)
        bz_log_warn("cache", "the index is not complete: %s", err.msg);
    else if (stats.blobs + stats.actions > 0)
        bz_log_info("cache", "the index was made anew: %llu results, %llu blobs",
                    (unsigned long long)stats.actions, (unsigned long long)stats.blobs);
}

static int stop_at_file(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    bool *found = ctx;

    (void)err;
    *found = S_ISREG(e->st->st_mode);
    return *found ? BZ_FS_WALK_STOP : BZ_FS_WALK_ON;
}

static bool has_results(const struct bz_cache *c)
{
    bool found = false;
    struct bz_err err;

    if (c->cas && c->cas->actions.dir >= 0)
        (void)!bz_fs_walk(c->cas->actions.dir, ".", stop_at_file, &found, &err);
    return found;
}

/* A new store has no index, and that is no news. Before anything is stored, or it would
 * be taken for what was there. */
static void tell_missing(const struct bz_cache *c)
{
    if (has_results(c))
        bz_log_warn("cache", "there is no index of %s on this machine: it is made anew",
                    c->root);
}

static void fill_body(struct bz_worker *w, void *arg)
{
    (void)w;
    fill_index(arg);
}

/* Who has a pool has other things to do than to wait for an index: nothing that is
 * right or wrong depends on it. What is not done at the end is for the next time. */
static void start_filling(struct bz_cache *c, struct bz_pool *pool)
{
    if (!pool) {
        fill_index(c);
        return;
    }
    c->filling = true;
    c->fill = (struct bz_pool_item){.body = fill_body, .arg = c};
    bz_pool_submit(pool, NULL, BZ_LANE_IO, &c->fill);
}

static void stop_filling(struct bz_cache *c)
{
    bz_cancel_now(&c->closing);
    if (c->filling)
        (void)!bz_pool_wait(&c->fill, BZ_CLOCK_NEVER);
}

/* Without a tier that is written there is nothing to upload. */
static void open_tiers(struct bz_cache *c, const struct bz_cache_opts *opts)
{
    bool write = false;

    if (opts->tiers.n == 0)
        return;
    c->tiers = bz_tiers_new(&opts->tiers);
    for (size_t i = 0; i < opts->tiers.n; i++)
        write = write || opts->tiers.specs[i].write;
    if (write && !opts->keep)
        c->upload = bz_upload_new(c->tiers, c->cas, opts->pool);
}

/* The lock lies beside the index: both are this machine's own. */
static void open_quota(struct bz_cache *c, const struct bz_cache_opts *opts)
{
    struct bz_quota_opts quota = {.max_size = opts->max_size,
                                  .min_free = opts->min_free,
                                  .max_age = opts->max_age};
    size_t n = opts->index ? strlen(opts->index) : 0;

    if (n > 0) {
        c->gc_lock = bz_mem_alloc(n + sizeof(".gc"));
        memcpy(c->gc_lock, opts->index, n);
        memcpy(c->gc_lock + n, ".gc", sizeof(".gc"));
    }
    quota.lock = c->gc_lock;
    bz_quota_open(&c->quota, c->cas, c->index, opts->pool, &quota);
}

static int open_look(struct bz_cache *c, const struct bz_cache_opts *opts,
                     struct bz_err *err)
{
    const struct bz_cas_opts store = {.access = BZ_SHELF_READ,
                                      .sync = opts->store.sync};
    int rc = bz_fs_exists(AT_FDCWD, opts->root)
                 ? bz_cas_open(opts->root, &store, &c->cas, err)
                 : 0;

    if (rc == 0 && opts->tiers.n > 0)
        c->tiers = bz_tiers_new(&opts->tiers);
    return rc;
}

int bz_cache_open(const struct bz_cache_opts *opts, struct bz_cache **out,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = bz_mem_zalloc(sizeof(*c));
    bool missing = opts->index && !bz_fs_exists(AT_FDCWD, opts->index);
    enum bz_index_state state = BZ_INDEX_MEMORY;
    struct bz_cas_opts store = opts->store;
    int rc;

    bz_cancel_init(&c->closing, NULL, BZ_CLOCK_NEVER);
    c->verify = opts->verify;
    c->flush = opts->flush;
    c->signs = opts->signer != NULL;
    if (c->signs)
        c->signer = *opts->signer;
    c->root = bz_mem_dup(opts->root, strlen(opts->root));
    if (opts->look) {
        rc = open_look(c, opts, err);
        if (rc < 0)
            return rc;
        *out = c;
        c = NULL; /* the caller owns it now */
        return 0;
    }
    if (store.access == BZ_SHELF_WRITE)
        store.access = BZ_SHELF_MEND; /* a build cannot do without it */
    rc = bz_cas_open(opts->root, &store, &c->cas, err);
    if (rc == 0)
        rc = bz_index_open(opts->index, opts->pool, &c->index, &state, err);
    if (rc < 0)
        return rc;
    if (missing)
        tell_missing(c);
    open_tiers(c, opts);
    open_quota(c, opts);
    if (bz_index_next_part(c->index) != BZ_INDEX_FILLED)
        start_filling(c, opts->pool);
    *out = c;
    c = NULL; /* the caller owns it now */
    return 0;
}

void bz_cache_close(struct bz_cache *c)
{
    if (!c)
        return;
    stop_filling(c);
    bz_quota_close(&c->quota);
    bz_upload_close(c->upload, bz_clock_in(c->flush));
    bz_index_close(c->index);
    /* A call that hangs in the kernel may go on one day and use the store. */
    if (bz_tiers_close(c->tiers))
        bz_cas_close(c->cas);
    bz_map_release(&c->from);
    bz_map_release(&c->whole);
    bz_arena_release(&c->keys);
    free(c->gc_lock);
    free(c->root);
    bz_signature_forget(&c->signer.secret);
    free(c);
}

bool bz_cache_flush(struct bz_cache *c, int64_t deadline)
{
    return !c->upload || bz_upload_flush(c->upload, deadline);
}

void bz_cache_hurry(struct bz_cache *c)
{
    c->flush = 0;
}

static void count(atomic_ullong *n, uint64_t by)
{
    atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}

static uint64_t sum(const atomic_ullong *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

size_t bz_cache_places(const struct bz_cache *c)
{
    return 1 + (c->tiers ? bz_tiers_count(c->tiers) : 0);
}

void bz_cache_traffic(struct bz_cache *c, size_t i, struct bz_cache_traffic *out)
{
    const struct sums *own = &c->sums;
    struct bz_tiers_stats tier;

    if (i == 0) {
        *out = (struct bz_cache_traffic){
            .name = c->root,
            .kind = "local",
            .hits = sum(&own->hits),
            .misses = sum(&own->misses),
            .read = {sum(&own->read),    sum(&own->bytes_read)   },
            .written = {sum(&own->written), sum(&own->bytes_written)},
        };
        return;
    }
    bz_tiers_stats(c->tiers, i - 1, &tier);
    *out = (struct bz_cache_traffic){
        .name = tier.name,
        .kind = tier.kind == BZ_TIER_SPEC_HTTP ? "http" : "directory",
        .hits = tier.hits,
        .misses = tier.misses,
        .read = tier.read,
        .written = tier.sent,
    };
}

struct bz_cas *bz_cache_cas(struct bz_cache *c)
{
    return c->cas;
}

struct bz_index *bz_cache_index(struct bz_cache *c)
{
    return c->index;
}

struct bz_tiers *bz_cache_tiers(struct bz_cache *c)
{
    return c->tiers;
}

struct bz_upload *bz_cache_upload(struct bz_cache *c)
{
    return c->upload;
}

static struct bz_str key_of(const struct bz_digest *key)
{
    return bz_str_of((const char *)key->b, sizeof(key->b));
}

static void note_origin(struct bz_cache *c, const struct bz_digest *key, size_t tier)
{
    struct bz_map_entry *e;

    if (!c->upload || tier == 0)
        return;
    bz_sync_lock(&c->mu);
    e = bz_map_get(&c->from, key_of(key));
    if (!e)
        e = bz_map_put(&c->from, bz_arena_dup(&c->keys, key_of(key)));
    e->u = tier;
    bz_sync_unlock(&c->mu);
}

/* How many tiers come before the one where a result was found. */
static size_t nearer_tiers(struct bz_cache *c, const struct bz_digest *key)
{
    const struct bz_map_entry *e;
    size_t n;

    bz_sync_lock(&c->mu);
    e = bz_map_get(&c->from, key_of(key));
    n = e ? e->u : 0;
    bz_sync_unlock(&c->mu);
    return n;
}

static void note_whole(struct bz_cache *c, const struct bz_digest *tree)
{
    bz_index_note_checked(c->index, tree);
    bz_sync_lock(&c->mu);
    if (!bz_map_get(&c->whole, key_of(tree)))
        bz_map_put(&c->whole, bz_arena_dup(&c->keys, key_of(tree)));
    bz_sync_unlock(&c->mu);
}

static bool is_whole(struct bz_cache *c, const struct bz_digest *tree)
{
    bool whole;

    bz_sync_lock(&c->mu);
    whole = bz_map_get(&c->whole, key_of(tree)) != NULL;
    bz_sync_unlock(&c->mu);
    return whole;
}

bool bz_cache_has(const struct bz_cache *c, const struct bz_digest *key)
{
    return c->cas && bz_action_has(c->cas, key);
}

bool bz_cache_is_empty(const struct bz_cache *c)
{
    return !c->tiers && !has_results(c);
}

int bz_cache_get(struct bz_cache *c, struct bz_digest_hasher *h,
                 const struct bz_digest *key, struct bz_arena *a,
                 struct bz_reapi_result *out, struct bz_err *err)
{
    return bz_cache_seek(c, h, key, NULL, a, out, err);
}

int bz_cache_seek(struct bz_cache *c, struct bz_digest_hasher *h,
                  const struct bz_digest *key, struct bz_cancel *cancel,
                  struct bz_arena *a, struct bz_reapi_result *out, struct bz_err *err)
{
    struct bz_tiers_found found;
    int rc = c->cas ? bz_action_get(c->cas, h, key, BZ_ACTION_OURS, a, out, err)
                    : bz_fail(err, BZ_E_NOENT, "there is no store");

    count(rc == 0 ? &c->sums.hits : &c->sums.misses, 1);
    if (rc == 0 && c->index)
        bz_index_note_hit(c->index, key);
    if (rc != BZ_E_NOENT || !c->tiers)
        return rc;
    rc = bz_tiers_get_action(c->tiers, h, key, cancel, a, &found, err);
    if (rc < 0)
        return rc;
    *out = found.result;
    note_origin(c, key, found.from);
    return 0;
}

/* The tree itself, to look into it, and then all it names. */
static int fetch_tree(struct bz_cache *c, struct bz_digest_hasher *h,
                      const struct bz_reapi_digest *tree, struct bz_cancel *cancel,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};
    int rc = bz_tiers_get_blobs(c->tiers, 0, c->cas, tree, 1, cancel, err);

    if (rc == 0)
        rc = bz_closure_tree(c->cas, h, tree, &blobs, err);
    if (rc == 0)
        rc = bz_tiers_get_blobs(c->tiers, 0, c->cas, blobs.at, blobs.len, cancel, err);
    if (rc == 0)
        bz_index_note_blob(c->index, tree, bz_clock_wall(), blobs.at, blobs.len);
    return rc;
}

/* What came from tiers takes room as well. */
static void note_fetched(struct bz_cache *c)
{
    uint64_t all = 0, more = 0;

    for (size_t i = 0; i < bz_tiers_count(c->tiers); i++) {
        struct bz_tiers_stats stats;

        bz_tiers_stats(c->tiers, i, &stats);
        all += stats.read.bytes;
    }
    bz_sync_lock(&c->mu);
    if (all > c->fetched) {
        more = all - c->fetched;
        c->fetched = all;
    }
    bz_sync_unlock(&c->mu);
    if (more > 0)
        bz_quota_note(&c->quota, more);
}

/* Puts all blobs of a tree aside that are damaged, so that they are stored anew.
 * Whether there is none, and none is missing. */
static bool put_damaged_aside(struct bz_cache *c, struct bz_digest_hasher *h,
                              const struct bz_reapi_digest *tree,
                              struct bz_cancel *cancel)
{
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};
    struct bz_err ignored;
    bool whole = bz_closure_tree(c->cas, h, tree, &blobs, &ignored) == 0;

    for (size_t i = 0; i < blobs.len; i++) {
        BZ_CLEANUP(bz_fs_closep) int fd = -1;

        if (cancel && bz_cancel_check(cancel) < 0)
            return false;
        if (bz_cas_fd(c->cas, h, &blobs.at[i], &fd, &ignored) < 0)
            whole = false;
    }
    return whole;
}

/* What is missing, or was damaged and put aside, may be in a tier. BZ_E_NOENT if it is
 * not. */
static int heal(struct bz_cache *c, struct bz_digest_hasher *h,
                const struct bz_reapi_digest *tree, struct bz_cancel *cancel,
                struct bz_err *err)
{
    int rc;

    if (put_damaged_aside(c, h, tree, cancel))
        return 0;
    if (!c->tiers)
        return bz_fail(err, BZ_E_NOENT, "a tree without all its blobs");
    rc = fetch_tree(c, h, tree, cancel, err);
    note_fetched(c);
    return rc;
}

/* In doubt, looks at all blobs before a result is used: one look for all that is
 * damaged costs less than a plan anew for each. */
static int examine(struct bz_cache *c, struct bz_digest_hasher *h,
                   const struct bz_reapi_result *r, struct bz_cancel *cancel,
                   struct bz_err *err)
{
    int rc = 0;

    /* relaxed: a flag that only rises; what it does not stop is found later */
    if (c->verify == BZ_CACHE_NEVER ||
        !atomic_load_explicit(&c->cas->root.doubt, memory_order_relaxed))
        return 0;
    for (size_t i = 0; rc == 0 && i < r->ndirs; i++) {
        const struct bz_reapi_digest *tree = &r->dirs[i].tree;

        if (bz_reapi_digest_none(tree) || is_whole(c, &tree->hash))
            continue;
        rc = heal(c, h, tree, cancel, err);
        if (rc == 0)
            note_whole(c, &tree->hash);
    }
    return rc;
}

int bz_cache_fetch(struct bz_cache *c, struct bz_digest_hasher *h,
                   const struct bz_digest *key, const struct bz_reapi_result *r,
                   struct bz_cancel *cancel, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs own = {0};
    enum bz_action_put how;
    int rc = 0;

    if (!c->tiers || bz_action_has(c->cas, key))
        return examine(c, h, r, cancel, err);
    for (size_t i = 0; rc == 0 && i < r->ndirs; i++)
        if (!bz_reapi_digest_none(&r->dirs[i].tree))
            rc = fetch_tree(c, h, &r->dirs[i].tree, cancel, err);
    bz_closure_own(r, &own);
    if (rc == 0)
        rc = bz_tiers_get_blobs(c->tiers, 0, c->cas, own.at, own.len, cancel, err);
    note_fetched(c);
    if (rc == 0)
        rc = bz_action_put(c->cas, h, key, r, &how, err);
    if (rc < 0)
        return rc;
    bz_reindex_result(c->index, key, r, bz_clock_wall());
    bz_index_note_hit(c->index, key);
    if (c->upload && nearer_tiers(c, key) > 0)
        bz_upload_add(c->upload, h, key, r, nearer_tiers(c, key));
    return 0;
}

int bz_cache_put(struct bz_cache *c, struct bz_digest_hasher *h,
                 const struct bz_digest *key, const struct bz_reapi_result *r,
                 const struct bz_cache_labels *labels, enum bz_action_put *how,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result labelled = *r;
    int rc;

    labelled.naux = r->naux + 2;
    labelled.aux = BZ_ARENA_ARRAY(&a, struct bz_reapi_aux, labelled.naux);
    for (size_t i = 0; i < r->naux; i++)
        labelled.aux[i] = r->aux[i];
    labelled.aux[r->naux] =
        (struct bz_reapi_aux){BZ_STR(BZ_ACTION_RECIPE), labels->recipe};
    labelled.aux[r->naux + 1] =
        (struct bz_reapi_aux){BZ_STR(BZ_ACTION_TASK), labels->task};
    labelled = bz_action_bind(&a, &labelled, key);
    rc =
        c->signs ? bz_trust_sign(&a, h, &c->signer, key, &labelled, &labelled, err) : 0;
    if (rc == 0)
        rc = bz_action_put(c->cas, h, key, &labelled, how, err);
    if (rc == 0)
        bz_reindex_result(c->index, key, &labelled, bz_clock_wall());
    if (rc == 0 && c->upload && *how == BZ_ACTION_STORED)
        bz_upload_add(c->upload, h, key, &labelled, bz_tiers_count(c->tiers));
    if (rc == 0) /* relaxed: a sum, of which each byte is taken once */
        bz_quota_note(&c->quota,
                      atomic_exchange_explicit(&c->added, 0, memory_order_relaxed));
    return rc;
}

int bz_cache_store(struct bz_cache *c, int dir, const char *path,
                   const struct bz_tree_in *in, struct bz_reapi_digest *out,
                   struct bz_tree_stats *stats, struct bz_err *err)
{
    int rc = bz_tree_store(c->cas, dir, path, in, out, stats, err);

    if (rc == 0) {
        bz_index_note_blob(c->index, out, bz_clock_wall(), NULL, 0);
        if (stats->unseen == 0) /* all of it was hashed just now */
            note_whole(c, &out->hash);
        atomic_fetch_add_explicit(&c->added, stats->bytes, memory_order_relaxed);
        count(&c->sums.written, stats->files);
        count(&c->sums.bytes_written, stats->bytes);
    }
    return rc;
}

/* By the policy; `known`: the tree was hashed before. */
static enum bz_cas_file_check how_to_check(const struct bz_cache *c, bool known)
{
    if (c->verify == BZ_CACHE_NEVER)
        return BZ_CAS_FILE_UNCHECKED;
    return c->verify == BZ_CACHE_FIRST_USE && known ? BZ_CAS_FILE_CHANGED
                                                    : BZ_CAS_FILE_CHECK;
}

static int restore(struct bz_cache *c, const struct bz_reapi_digest *tree, int dir,
                   const char *path, const struct bz_tree_out *out,
                   struct bz_tree_stats *stats, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    int rc = bz_tree_restore(c->cas, tree, dir, path, out, stats, err);
    struct bz_err ignored;

    if (rc == BZ_E_NOENT && bz_digest_hasher_new(&h, &ignored) == 0 &&
        heal(c, h, tree, out->cancel, &ignored) == 0)
        rc = bz_tree_restore(c->cas, tree, dir, path, out, stats, err);
    if (rc == 0) {
        count(&c->sums.read, stats->files);
        count(&c->sums.bytes_read, stats->bytes);
    }
    if (rc == 0 && out->check == BZ_CAS_FILE_CHECK) {
        bz_index_note_blob(c->index, tree, bz_clock_wall(), NULL, 0);
        note_whole(c, &tree->hash);
    }
    return rc;
}

int bz_cache_restore(struct bz_cache *c, const struct bz_reapi_digest *tree, int dir,
                     const char *path, const struct bz_tree_out *out,
                     struct bz_tree_stats *stats, struct bz_err *err)
{
    struct bz_tree_out own = *out;

    own.check = how_to_check(c, bz_index_checked(c->index, &tree->hash));
    return restore(c, tree, dir, path, &own, stats, err);
}

int bz_cache_lay_out(struct bz_cache *c, const struct bz_reapi_digest *tree,
                     const char *path, const struct bz_tree_out *out,
                     struct bz_err *err)
{
    /* Between two builds, blobs may have changed places, which no time tells. */
    const struct bz_tree_out how = {.threads = out->threads,
                                    .how = out->plain ? BZ_CAS_FILE_PRIVATE
                                                      : BZ_CAS_FILE_LINK,
                                    .check = how_to_check(c, is_whole(c, &tree->hash)),
                                    .plain = out->plain};
    struct bz_tree_stats stats;
    int rc = restore(c, tree, AT_FDCWD, path, &how, &stats, err);

    if (rc == 0)
        bz_cache_vouch(c, path);
    return rc;
}

int bz_cache_inspect(struct bz_cache *c, const struct bz_reapi_digest *tree,
                     const char *path, const struct bz_tree_out *out,
                     struct bz_err *err)
{
    struct bz_tree_out how = {
        .threads = out->threads, .check = BZ_CAS_FILE_CHECK, .plain = out->plain};
    int rc;

    if (bz_cache_believes(c, path))
        return 0;
    /* A tree that has changed is hashed whatever the policy. */
    if (c->verify == BZ_CACHE_NEVER && bz_tree_stamp_check(path) == BZ_TREE_STAMP_NONE)
        how.check = BZ_CAS_FILE_UNCHECKED;
    rc = bz_tree_check(c->cas, tree, AT_FDCWD, path, &how, err);
    if (rc == 0)
        bz_cache_vouch(c, path);
    return rc;
}

bool bz_cache_believes(const struct bz_cache *c, const char *path)
{
    return c->verify != BZ_CACHE_ALWAYS &&
           (c->verify == BZ_CACHE_NEVER || bz_expanded_checked(&c->cas->root, path)) &&
           bz_tree_stamp_check(path) == BZ_TREE_STAMP_SAME;
}

void bz_cache_vouch(struct bz_cache *c, const char *path)
{
    bz_tree_stamp_set(path);
    if (c->verify != BZ_CACHE_NEVER)
        bz_expanded_note_checked(&c->cas->root, path);
}

void bz_cache_laid_out(struct bz_cache *c, const char *path)
{
    if (bz_quota_limits(&c->quota))
        bz_quota_note(&c->quota, bz_expanded_size(AT_FDCWD, path));
}
