#include "cache/tiers.h"

#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/crew.h"
#include "cache/tier_watch.h"
#include "os/clock.h"

/* Blobs go in batches, some of them at a time. A tier that bounds silence by itself
 * gets large ones; another is expected to be this fast at least. */
#define BATCH_BLOBS 256
#define BATCH_BLOBS_DIR 64
#define BATCH_BYTES ((uint64_t)8 << 20)
#define BATCHES 4
#define SLOWEST ((uint64_t)1 << 20) /* bytes a second */
#define LONGEST (100 * BZ_CLOCK_MS) /* for a blob, besides */

enum way { READING, WRITING };

struct slot {
    struct bz_tiers *of;
    struct bz_tier_spec spec;
    struct bz_sync_mutex opening;
    struct bz_tier *tier;       /* opening; set once */
    atomic_bool dead, readonly; /* said so in the log */
    atomic_ullong hits, misses, fetched, stored, untrusted;
    struct moved {
        atomic_ullong blobs, bytes;
    } moved[2];                       /* by enum way */
    struct bz_signature_public *keys; /* [nkeys]; those it trusts */
    size_t nkeys;
    atomic_bool warned; /* of what is not signed as it must be */
};

struct bz_tiers {
    struct bz_arena arena;
    struct slot *slots;
    size_t n;
    int64_t timeout;
    bz_tiers_open_fn open;
    struct bz_tier_watch *watch;
    struct bz_crew crew; /* for its hashers */
};

static void choose_keys(struct slot *s, const struct bz_tiers_opts *opts)
{
    s->keys = BZ_ARENA_ARRAY(&s->of->arena, struct bz_signature_public, opts->nkeys);
    for (size_t i = 0; i < opts->nkeys; i++)
        for (size_t k = 0; k < s->spec.ntrust; k++)
            if (bz_str_eq(opts->keys[i].name, s->spec.trust[k])) {
                s->keys[s->nkeys++] = opts->keys[i].key;
                break;
            }
}

struct bz_tiers *bz_tiers_new(const struct bz_tiers_opts *opts)
{
    struct bz_tiers *t = bz_mem_zalloc(sizeof(*t));

    t->watch = bz_tier_watch_new();
    bz_crew_init(&t->crew, NULL);
    t->timeout = opts->timeout ? opts->timeout : BZ_TIERS_TIMEOUT;
    t->open = opts->open ? opts->open : bz_tier_spec_open;
    t->n = opts->n;
    t->slots = BZ_ARENA_ARRAY(&t->arena, struct slot, opts->n);
    for (size_t i = 0; i < opts->n; i++) {
        struct bz_tier_spec *spec = &t->slots[i].spec;

        t->slots[i].of = t;
        *spec = opts->specs[i];
        spec->timeout = t->timeout;
        spec->place = bz_arena_dup(&t->arena, spec->place);
        spec->name = bz_arena_dup(&t->arena, spec->name);
        for (int k = 0; k < BZ_TIER_SPEC_FILES; k++)
            if (spec->file[k].p)
                spec->file[k] = bz_arena_dup(&t->arena, spec->file[k]);
        for (size_t k = 0; k < spec->ntrust; k++)
            spec->trust[k] = bz_arena_dup(&t->arena, spec->trust[k]);
        atomic_init(&t->slots[i].readonly, !spec->write);
        choose_keys(&t->slots[i], opts);
    }
    return t;
}

bool bz_tiers_close(struct bz_tiers *t)
{
    if (!t)
        return true;
    if (!bz_tier_watch_close(t->watch, bz_clock_in(t->timeout)))
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (t->slots[i].tier)
            t->slots[i].tier->ops->close(t->slots[i].tier);
    bz_crew_release(&t->crew);
    bz_arena_release(&t->arena);
    free(t);
    return true;
}

size_t bz_tiers_count(const struct bz_tiers *t)
{
    return t->n;
}

/* relaxed, here and below: flags that only ever rise, and counters; nothing else is
 * read because of them */
static bool works(struct slot *s)
{
    return !atomic_load_explicit(&s->dead, memory_order_relaxed);
}

bool bz_tiers_wants(const struct bz_tiers *t, size_t i)
{
    return t->slots[i].spec.write;
}

static bool takes_results(struct slot *s)
{
    return works(s) && !atomic_load_explicit(&s->readonly, memory_order_relaxed);
}

static void count(atomic_ullong *n, size_t by)
{
    atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}

static bool no_room(int sys)
{
    return sys == ENOSPC || sys == EDQUOT || sys == EROFS;
}

/* What a failure says about the tier; said once. */
static void judge(struct slot *s, enum way way, int rc, const struct bz_err *err)
{
    if (rc == 0 || rc == BZ_E_NOENT || rc == BZ_E_LIMIT || rc == BZ_E_CANCELED ||
        rc == BZ_E_BUSY)
        return;
    if (way == READING && no_room(err->sys))
        return; /* reading needs no room there: it is the local store that is full */
    if (way == WRITING && (rc == BZ_E_NOSUP || no_room(err->sys) ||
                           err->sys == EACCES || err->sys == EPERM)) {
        /* A web server's refusal is news of that tier, told there. */
        if (!atomic_exchange_explicit(&s->readonly, true, memory_order_relaxed) &&
            s->spec.kind != BZ_TIER_SPEC_HTTP)
            bz_log_warn("cache",
                        "%s takes no results (%s): it is only read from now on",
                        s->spec.name.p, err->msg);
        return;
    }
    if (!atomic_exchange_explicit(&s->dead, true, memory_order_relaxed))
        bz_log_warn("cache", "%s is left out from now on: %s", s->spec.name.p,
                    err->msg);
}

/* What every call carries: who is asked, for how long to wait, what came of it. */
struct question {
    struct slot *slot;
    enum way way;
    int64_t silence; /* 0: the tier bounds it */
    int rc;
    struct bz_err err;
};

/* On a thread that may hang: opens the tier if nobody has. */
static int open_tier(struct question *q, struct bz_tier **out)
{
    struct slot *s = q->slot;
    int rc = 0;

    bz_sync_lock(&s->opening);
    if (!s->tier && works(s))
        rc = s->of->open(&s->spec, &s->tier, &q->err);
    *out = s->tier;
    bz_sync_unlock(&s->opening);
    if (rc == BZ_E_NOENT) /* the tier is not there: no miss */
        rc = q->err.code = BZ_E_IO;
    if (rc == 0 && !*out)
        rc = bz_fail(&q->err, BZ_E_NOENT, "left out");
    return rc;
}

static int begin(struct question *q, struct bz_cancel *cancel, struct bz_tier **tier,
                 struct bz_tier_call *call)
{
    int rc = open_tier(q, tier);

    if (rc < 0)
        return rc;
    call->moved = NULL;
    call->cancel = cancel;
    call->pool = bz_tier_watch_pool(q->slot->of->watch);
    call->h = bz_crew_take(&q->slot->of->crew);
    if (!call->h)
        return bz_fail(&q->err, BZ_E_NOSUP, "no SHA-256");
    return 0;
}

static struct question question_to(struct slot *s, enum way way)
{
    struct question q = {.slot = s, .way = way, .silence = s->of->timeout};

    q.rc = bz_fail(&q.err, BZ_E_BUSY, "not run"); /* until it has */
    return q;
}

/* Waits and judges. `q` is in the context of the call, which is the caller's again only
 * if *ours. */
static int await(struct bz_tier_watch_call *call, const struct question *q,
                 struct bz_cancel *cancel, bool *ours, struct bz_err *err)
{
    struct slot *s = q->slot;
    enum way way = q->way;
    int64_t silence = q->silence;
    int rc = bz_tier_watch_wait(call, silence, cancel);

    *ours = rc == 0;
    if (rc == 0) {
        rc = q->rc;
        if (rc < 0)
            *err = q->err;
    } else if (rc == BZ_E_TIMEOUT) {
        rc = bz_fail(err, rc, "no answer for %lld ms",
                     (long long)(silence / BZ_CLOCK_MS));
    } else {
        rc = bz_fail(err, rc, "not waited for");
    }
    judge(s, way, rc, err);
    return rc;
}

struct ask {
    struct question q;
    struct bz_digest key;
    struct bz_arena a;
    struct bz_buf bytes; /* the result, encoded */
};

static void free_ask(void *ctx)
{
    struct ask *k = ctx;

    bz_arena_release(&k->a);
    bz_buf_release(&k->bytes);
    free(k);
}

/* Whether a result may be taken from this tier; said once if one may not. */
static bool trusted(struct slot *s, struct bz_digest_hasher *h,
                    const struct bz_digest *key, const struct bz_reapi_result *r)
{
    static const char *const words[] = {
        [BZ_TRUST_GOOD] = "",
        [BZ_TRUST_UNSIGNED] = "is not signed",
        [BZ_TRUST_STRANGER] = "is signed by a key that is not trusted there",
        [BZ_TRUST_FORGED] = "has a wrong signature: it was changed, or filed wrongly",
    };
    enum bz_trust_verdict verdict = BZ_TRUST_GOOD;
    char hex[BZ_DIGEST_HEX_LEN + 1];

    if (s->spec.ntrust > 0)
        verdict = bz_trust_check(h, s->keys, s->nkeys, key, r);
    if (verdict == BZ_TRUST_GOOD)
        return true;
    count(&s->untrusted, 1);
    bz_digest_hex(key, hex);
    if (!atomic_exchange_explicit(&s->warned, true, memory_order_relaxed))
        bz_log_warn("cache",
                    "%s: result %s %s; such results count as missing, and more of them "
                    "are not mentioned",
                    s->spec.name.p, hex, words[verdict]);
    return false;
}

static void run_ask(struct bz_worker *w, struct bz_cancel *cancel, void *ctx)
{
    struct ask *k = ctx;
    struct bz_reapi_result r;
    struct bz_tier_call call;
    struct bz_tier *tier;

    (void)w;
    k->q.rc = begin(&k->q, cancel, &tier, &call);
    if (k->q.rc < 0)
        return;
    k->q.rc = tier->ops->get_action(tier, &call, &k->key, &k->a, &r, &k->q.err);
    if (k->q.rc == 0 && !trusted(k->q.slot, call.h, &k->key, &r))
        k->q.rc = bz_fail(&k->q.err, BZ_E_NOENT, "a result that is not trusted");
    if (k->q.rc == 0 && bz_reapi_result_encode(&r, call.h, &k->bytes, &k->q.err) < 0)
        k->q.rc = bz_fail(&k->q.err, BZ_E_NOENT, "a result that makes no sense");
    bz_crew_give(&k->q.slot->of->crew, call.h);
}

static int ask_one(struct slot *s, struct bz_digest_hasher *h,
                   const struct bz_digest *key, struct bz_cancel *cancel,
                   struct bz_arena *a, struct bz_reapi_result *out, struct bz_err *err)
{
    struct ask *k = bz_mem_zalloc(sizeof(*k));
    struct bz_tier_watch_call *call;
    bool ours;
    int rc;

    k->q = question_to(s, READING);
    k->key = *key;
    call = bz_tier_watch_start(s->of->watch,
                               &(struct bz_tier_watch_job){run_ask, free_ask, k});
    rc = await(call, &k->q, cancel, &ours, err);
    if (rc == 0)
        rc = bz_reapi_result_decode(a, bz_arena_dup(a, bz_buf_str(&k->bytes)), h, out,
                                    err);
    if (ours)
        free_ask(k);
    count(rc == 0 ? &s->hits : &s->misses, 1);
    return rc;
}

int bz_tiers_get_action(struct bz_tiers *t, struct bz_digest_hasher *h,
                        const struct bz_digest *key, struct bz_cancel *cancel,
                        struct bz_arena *a, struct bz_tiers_found *out,
                        struct bz_err *err)
{
    for (size_t i = 0; i < t->n; i++) {
        int rc;

        if (!works(&t->slots[i]))
            continue;
        rc = ask_one(&t->slots[i], h, key, cancel, a, &out->result, err);
        out->from = i;
        if (rc == 0 || rc == BZ_E_CANCELED)
            return rc;
    }
    return bz_fail(err, BZ_E_NOENT, "no tier has this result");
}

/* Some blobs on their way, either way. */
struct batch {
    struct question q;
    struct bz_cas *store;
    struct bz_tier_moved moved;
    struct bz_tier_blob blobs[BATCH_BLOBS];
    size_t place[BATCH_BLOBS]; /* of each in the list it is from */
    size_t n;
};

static void free_batch(void *ctx)
{
    free(ctx);
}

static void run_batch(struct bz_worker *w, struct bz_cancel *cancel, void *ctx)
{
    struct batch *b = ctx;
    struct bz_tier_call call;
    struct bz_tier *tier;

    (void)w;
    b->q.rc = begin(&b->q, cancel, &tier, &call);
    if (b->q.rc < 0)
        return;
    call.moved = &b->moved;
    b->q.rc = (b->q.way == READING ? tier->ops->get_blobs : tier->ops->put_blobs)(
        tier, &call, b->blobs, b->n, b->store, &b->q.err);
    bz_crew_give(&b->q.slot->of->crew, call.h);
}

/* A batch of the blobs from *at on whose status is not 0. */
static struct batch *next_batch(struct slot *s, enum way way, struct bz_cas *store,
                                const struct bz_tier_blob *all, size_t n, size_t *at)
{
    struct batch *b = bz_mem_zalloc(sizeof(*b));
    bool watches = s->spec.kind == BZ_TIER_SPEC_HTTP;
    size_t most = watches ? BATCH_BLOBS : BATCH_BLOBS_DIR;
    uint64_t bytes = 0;

    b->q = question_to(s, way);
    b->store = store;
    for (; *at < n && b->n < most; ++*at) {
        if (all[*at].status == 0)
            continue;
        if (b->n > 0 && bytes + all[*at].digest.size > BATCH_BYTES)
            break;
        bytes += all[*at].digest.size;
        b->place[b->n] = *at;
        b->blobs[b->n++] = all[*at];
    }
    b->q.silence += (int64_t)(bytes / SLOWEST) * BZ_CLOCK_S + (int64_t)b->n * LONGEST;
    if (watches)
        b->q.silence = 0;
    return b;
}

struct flight {
    struct bz_tier_watch_call *call;
    struct batch *batch;
};

/* Waits for the oldest batch and writes down what became of its blobs. */
static int land(struct flight *f, struct bz_tier_blob *all, struct bz_cancel *cancel,
                struct bz_err *err)
{
    bool ours;
    int rc = await(f->call, &f->batch->q, cancel, &ours, err);

    if (!ours)
        return rc;
    count(&f->batch->q.slot->moved[f->batch->q.way].blobs, f->batch->moved.blobs);
    count(&f->batch->q.slot->moved[f->batch->q.way].bytes, f->batch->moved.bytes);
    for (size_t i = 0; i < f->batch->n; i++) {
        struct bz_tier_blob *b = &f->batch->blobs[i];

        if (f->batch->q.way == READING && b->status == 0 &&
            !bz_cas_has(f->batch->store, &b->digest))
            b->status = BZ_E_NOENT; /* whatever it says */
        all[f->batch->place[i]].status = b->status;
        all[f->batch->place[i]].found = b->found;
    }
    free_batch(f->batch);
    return rc == BZ_E_NOENT || rc == BZ_E_LIMIT ? 0 : rc;
}

/* Moves all blobs whose status is not 0, in batches, some of them under way at any
 * time. Returns 0 or what stopped it; a missing blob does not. */
static int move_blobs(struct slot *s, enum way way, struct bz_cas *store,
                      struct bz_tier_blob *all, size_t n, struct bz_cancel *cancel,
                      struct bz_err *err)
{
    struct flight flights[BATCHES];
    size_t at = 0, first = 0, last = 0;
    struct bz_err one = {0};
    int rc = 0;

    while (first < last || (at < n && rc == 0)) {
        int got;

        if (last - first < BATCHES && at < n && rc == 0) {
            struct flight *f = &flights[last % BATCHES];

            f->batch = next_batch(s, way, store, all, n, &at);
            f->call = bz_tier_watch_start(
                s->of->watch,
                &(struct bz_tier_watch_job){run_batch, free_batch, f->batch});
            last++;
            continue;
        }
        got = land(&flights[first++ % BATCHES], all, cancel, &one);
        if (got < 0 && rc == 0) {
            *err = one;
            rc = got;
        }
    }
    return rc;
}

/* The blobs that the store lacks, with a status to write to. */
static struct bz_tier_blob *list_missing(struct bz_cas *cas,
                                         const struct bz_reapi_digest *blobs, size_t n,
                                         size_t *out)
{
    struct bz_tier_blob *list = bz_mem_array(n ? n : 1, sizeof(*list));

    *out = 0;
    for (size_t i = 0; i < n; i++)
        if (!cas || !bz_cas_claim(cas, &blobs[i]))
            list[(*out)++] =
                (struct bz_tier_blob){.digest = blobs[i], .status = BZ_E_NOENT};
    return list;
}

static size_t count_missing(const struct bz_tier_blob *list, size_t n)
{
    size_t missing = 0;

    for (size_t i = 0; i < n; i++)
        missing += list[i].status != 0;
    return missing;
}

int bz_tiers_get_blobs(struct bz_tiers *t, size_t first, struct bz_cas *into,
                       const struct bz_reapi_digest *blobs, size_t n,
                       struct bz_cancel *cancel, struct bz_err *err)
{
    size_t nlist, missing;
    BZ_CLEANUP(bz_mem_freep)
    struct bz_tier_blob *list = list_missing(into, blobs, n, &nlist);

    missing = nlist;
    for (size_t i = 0; missing > 0 && i < t->n; i++) {
        struct slot *s = &t->slots[(first + i) % t->n];
        size_t before = missing;
        int rc;

        if (!works(s))
            continue;
        rc = move_blobs(s, READING, into, list, nlist, cancel, err);
        missing = count_missing(list, nlist);
        count(&s->fetched, before - missing);
        if (rc == BZ_E_CANCELED || (rc < 0 && no_room(err->sys)))
            return rc;
    }
    if (missing > 0)
        return bz_fail(err, BZ_E_NOENT, "%zu of %zu blobs are in no tier", missing,
                       nlist);
    return 0;
}

struct filing {
    struct question q;
    struct bz_digest key;
    struct bz_buf bytes;
    struct bz_arena a;
};

static void free_filing(void *ctx)
{
    struct filing *f = ctx;

    bz_buf_release(&f->bytes);
    bz_arena_release(&f->a);
    free(f);
}

static void run_filing(struct bz_worker *w, struct bz_cancel *cancel, void *ctx)
{
    struct filing *f = ctx;
    struct bz_reapi_result r;
    struct bz_tier_call call;
    struct bz_tier *tier;

    (void)w;
    f->q.rc = begin(&f->q, cancel, &tier, &call);
    if (f->q.rc < 0)
        return;
    f->q.rc =
        bz_reapi_result_decode(&f->a, bz_buf_str(&f->bytes), call.h, &r, &f->q.err);
    if (f->q.rc == 0)
        f->q.rc = tier->ops->put_action(tier, &call, &f->key, &r, &f->q.err);
    bz_crew_give(&f->q.slot->of->crew, call.h);
}

static int file_result(struct slot *s, const struct bz_tiers_load *load,
                       struct bz_cancel *cancel, struct bz_err *err)
{
    struct filing *f = bz_mem_zalloc(sizeof(*f));
    struct bz_digest_hasher *h = bz_crew_take(&s->of->crew);
    struct bz_tier_watch_call *call;
    bool ours;
    int rc;

    f->q = question_to(s, WRITING);
    f->key = load->key;
    rc = h ? bz_reapi_result_encode(load->result, h, &f->bytes, err)
           : bz_fail(err, BZ_E_NOSUP, "no SHA-256");
    if (h)
        bz_crew_give(&s->of->crew, h);
    if (rc < 0) {
        free_filing(f);
        return rc;
    }
    call = bz_tier_watch_start(s->of->watch,
                               &(struct bz_tier_watch_job){run_filing, free_filing, f});
    rc = await(call, &f->q, cancel, &ours, err);
    if (ours)
        free_filing(f);
    return rc;
}

/* Puts blobs whose status is not 0. */
static int put_blobs(struct slot *s, const struct bz_tiers_load *load,
                     struct bz_tier_blob *list, size_t n, struct bz_cancel *cancel,
                     struct bz_err *err)
{
    int rc = move_blobs(s, WRITING, load->from, list, n, cancel, err);

    if (rc == 0 && count_missing(list, n) > 0)
        rc = bz_fail(err, BZ_E_NOENT, "not all of its blobs could be stored");
    return rc;
}

int bz_tiers_put(struct bz_tiers *t, size_t i, const struct bz_tiers_load *load,
                 struct bz_cancel *cancel, struct bz_err *err)
{
    struct slot *s = &t->slots[i];
    size_t n;
    BZ_CLEANUP(bz_mem_freep)
    struct bz_tier_blob *list = list_missing(NULL, load->blobs, load->n, &n);
    int rc;

    if (!takes_results(s))
        return bz_fail(err, BZ_E_NOSUP, "%s takes no results", s->spec.name.p);
    rc = put_blobs(s, load, list, n, cancel, err);
    if (rc == 0)
        rc = file_result(s, load, cancel, err);
    /* A collector may have taken what was found there before it saw the result. */
    for (size_t k = 0; k < n; k++)
        list[k].status = list[k].found ? BZ_E_NOENT : 0;
    if (rc == 0 && count_missing(list, n) > 0)
        rc = put_blobs(s, load, list, n, cancel, err);
    if (rc == 0)
        count(&s->stored, 1);
    return rc;
}

static struct bz_tier_moved moved_of(struct moved *m)
{
    return (struct bz_tier_moved){
        atomic_load_explicit(&m->blobs, memory_order_relaxed),
        atomic_load_explicit(&m->bytes, memory_order_relaxed)};
}

void bz_tiers_stats(struct bz_tiers *t, size_t i, struct bz_tiers_stats *out)
{
    struct slot *s = &t->slots[i];

    *out = (struct bz_tiers_stats){
        .name = s->spec.name.p,
        .kind = s->spec.kind,
        .write = takes_results(s),
        .works = works(s),
        .hits = atomic_load_explicit(&s->hits, memory_order_relaxed),
        .misses = atomic_load_explicit(&s->misses, memory_order_relaxed),
        .fetched = atomic_load_explicit(&s->fetched, memory_order_relaxed),
        .stored = atomic_load_explicit(&s->stored, memory_order_relaxed),
        .untrusted = atomic_load_explicit(&s->untrusted, memory_order_relaxed),
        .read = moved_of(&s->moved[READING]),
        .sent = moved_of(&s->moved[WRITING]),
    };
}
