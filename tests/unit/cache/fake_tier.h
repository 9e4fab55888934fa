/* fake_tier.h - a tier that behaves as a test wants: it works, and then it fails,
 * stalls, hangs, lies or refuses. It keeps what it is given in a store of its own. */
#ifndef BZ_TEST_CACHE_FAKE_TIER_H
#define BZ_TEST_CACHE_FAKE_TIER_H

#include <stdatomic.h>

#include "base/sync.h"
#include "cache/tiers.h"
#include "os/clock.h"
#include "tests/unit/cache/store.h"

enum fake_mood {
    FAKE_WORKS,
    FAKE_ABSENT,  /* cannot be opened */
    FAKE_FAILS,   /* every call fails */
    FAKE_STALLS,  /* every call waits until it is canceled */
    FAKE_HANGS,   /* the same, but does not notice; until fake_release */
    FAKE_LIES,    /* says that it copied blobs */
    FAKE_REFUSES, /* takes no writes */
    FAKE_FULL,    /* has no room for writes */
};

struct fake {
    struct bz_tier tier;
    _Atomic(enum fake_mood) mood;
    struct bz_cas *cas;
    atomic_uint gets, puts, blob_gets, blob_puts; /* calls */
    atomic_bool early;                            /* a result came before its blobs */
    bool skips; /* as a web server: tells of blobs that it has them */
    void (*meanwhile)(struct fake *f); /* before a result is filed; or NULL */
    struct bz_sync_mutex mu;
    struct bz_sync_cond freed;
    bool released; /* mu */
};

#define FAKES 3
static struct fake fakes[FAKES];

static inline void fake_release(struct fake *f)
{
    bz_sync_lock(&f->mu);
    f->released = true;
    bz_sync_broadcast(&f->freed);
    bz_sync_unlock(&f->mu);
}

/* What the mood makes of a call, or 0 to go on. */
static inline int fake_mood(struct fake *f, struct bz_cancel *cancel, bool writes,
                            struct bz_err *err)
{
    enum fake_mood mood = atomic_load(&f->mood);

    bz_sync_lock(&f->mu);
    while (!f->released && (mood == FAKE_HANGS ||
                            (mood == FAKE_STALLS && bz_cancel_check(cancel) == 0)))
        (void)bz_sync_wait(&f->freed, &f->mu, bz_clock_in(5 * BZ_CLOCK_MS));
    bz_sync_unlock(&f->mu);
    if (mood == FAKE_FAILS)
        return bz_fail(err, BZ_E_IO, "it is broken");
    if (mood == FAKE_STALLS || mood == FAKE_HANGS)
        return bz_fail(err, BZ_E_CANCELED, "stopped");
    if (mood == FAKE_REFUSES && writes)
        return bz_fail(err, BZ_E_NOSUP, "405");
    if (mood == FAKE_FULL && writes) {
        errno = ENOSPC;
        return bz_fail_sys(err, "write");
    }
    return 0;
}

static inline struct fake *fake_of(struct bz_tier *t)
{
    return BZ_CONTAINER(t, struct fake, tier);
}

static inline int fake_get_action(struct bz_tier *t, const struct bz_tier_call *call,
                                  const struct bz_digest *key, struct bz_arena *a,
                                  struct bz_reapi_result *out, struct bz_err *err)
{
    struct fake *f = fake_of(t);
    int rc;

    atomic_fetch_add(&f->gets, 1);
    rc = fake_mood(f, call->cancel, false, err);
    return rc < 0 ? rc
                  : bz_action_get(f->cas, call->h, key, BZ_ACTION_OURS, a, out, err);
}

static inline int fake_put_action(struct bz_tier *t, const struct bz_tier_call *call,
                                  const struct bz_digest *key,
                                  const struct bz_reapi_result *r, struct bz_err *err)
{
    struct fake *f = fake_of(t);
    enum bz_action_put how;
    int rc;

    atomic_fetch_add(&f->puts, 1);
    for (size_t i = 0; i < r->nfiles; i++)
        if (!bz_cas_has(f->cas, &r->files[i].digest))
            atomic_store(&f->early, true);
    rc = fake_mood(f, call->cancel, true, err);
    if (f->meanwhile)
        f->meanwhile(f);
    return rc < 0 ? rc : bz_action_put(f->cas, call->h, key, r, &how, err);
}

static inline int fake_copy(struct bz_cas *from, struct bz_cas *into,
                            const struct bz_tier_call *call, struct bz_tier_blob *blobs,
                            size_t n, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < n; i++) {
        struct bz_reapi_digest got;
        char *bytes = NULL;

        blobs[i].status =
            bz_cas_read(from, call->h, &blobs[i].digest, 1 << 20, &bytes, err);
        if (blobs[i].status == 0)
            blobs[i].status =
                bz_cas_put(into, call->h, bytes, blobs[i].digest.size, &got, err);
        free(bytes);
        if (blobs[i].status == 0)
            bz_tier_note_moved(call, &blobs[i].digest);
        if (rc == 0)
            rc = blobs[i].status;
    }
    return rc;
}

static inline int fake_get_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                                 struct bz_tier_blob *blobs, size_t n,
                                 struct bz_cas *into, struct bz_err *err)
{
    struct fake *f = fake_of(t);
    int rc;

    atomic_fetch_add(&f->blob_gets, 1);
    rc = fake_mood(f, call->cancel, false, err);
    for (size_t i = 0; i < n; i++)
        blobs[i].status = rc;
    if (rc < 0 || atomic_load(&f->mood) == FAKE_LIES)
        return rc;
    return fake_copy(f->cas, into, call, blobs, n, err);
}

static inline int fake_put_blobs(struct bz_tier *t, const struct bz_tier_call *call,
                                 struct bz_tier_blob *blobs, size_t n,
                                 struct bz_cas *from, struct bz_err *err)
{
    struct fake *f = fake_of(t);
    int rc;

    atomic_fetch_add(&f->blob_puts, 1);
    rc = fake_mood(f, call->cancel, true, err);
    for (size_t i = 0; i < n; i++) {
        blobs[i].status = rc;
        blobs[i].found = f->skips && bz_cas_has(f->cas, &blobs[i].digest);
    }
    return rc < 0 ? rc : fake_copy(from, f->cas, call, blobs, n, err);
}

static inline void fake_close(struct bz_tier *t)
{
    (void)t;
}

/* The place of a spec is the number of the fake. */
static inline int fake_open(const struct bz_tier_spec *spec, struct bz_tier **out,
                            struct bz_err *err)
{
    static const struct bz_tier_ops ops = {
        "fake",         fake_get_action, fake_put_action,
        fake_get_blobs, fake_put_blobs,  fake_close,
    };
    struct fake *f = &fakes[spec->place.p[0] - '0'];

    if (atomic_load(&f->mood) == FAKE_ABSENT)
        return bz_fail(err, BZ_E_NOENT, "there is no such directory");
    f->tier.ops = &ops;
    *out = &f->tier;
    return 0;
}

static const struct bz_tier_spec fake_specs[FAKES] = {
    {.place = {"0", 1}, .name = {"fake:0", 6}, .write = true },
    {.place = {"1", 1}, .name = {"fake:1", 6}, .write = true },
    {.place = {"2", 1}, .name = {"fake:2", 6}, .write = false},
};

/* Fresh fakes that work, with empty stores `f0`... beside the store. */
static inline void fakes_init(struct store *s)
{
    for (int i = 0; i < FAKES; i++) {
        char path[340];

        fakes[i] = (struct fake){.mood = FAKE_WORKS};
        snprintf(path, sizeof(path), "%s/f%d", s->scratch->path, i);
        assert_ok(bz_cas_open(path, &(struct bz_cas_opts){0}, &fakes[i].cas, &s->err),
                  &s->err);
    }
}

static inline void fakes_release(void)
{
    for (int i = 0; i < FAKES; i++)
        bz_cas_close(fakes[i].cas);
}

/* The result of `key`: one file with this text, in the i-th fake. */
static inline struct bz_reapi_digest
fake_fill(struct store *s, int i, const struct bz_digest *key, const char *text)
{
    struct bz_reapi_outfile file = {.path = BZ_STR("out")};
    struct bz_reapi_result r = {.files = &file, .nfiles = 1};
    enum bz_action_put how;

    assert_ok(bz_cas_put(fakes[i].cas, s->h, text, strlen(text), &file.digest, &s->err),
              &s->err);
    assert_ok(bz_action_put(fakes[i].cas, s->h, key, &r, &how, &s->err), &s->err);
    return file.digest;
}

#endif
