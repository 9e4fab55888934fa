/* Two machines that share a directory, each with a store of its own. What one stores
 * the other restores, also when system calls fail on the way: then there is an error
 * with a text, or a miss, and never a wrong byte; the directory is well afterwards. */
#include <errno.h>
#include <limits.h>

#include "cache/cache.h"
#include "cache/tier_dir.h"
#include "cache/verify.h"
#include "os/clock.h"
#include "tests/torture/shim.h"
#include "tests/unit/cache/forest.h"

static const struct bz_cache_labels labels = {BZ_STR("zlib"), BZ_STR("do_install")};

struct share {
    struct grove *g;
    char dir[320];
    unsigned machines; /* that there were */
    unsigned hits, misses;
};

static struct bz_digest key_of(unsigned n)
{
    return (struct bz_digest){
        {(uint8_t)n, (uint8_t)(n >> 8), 1}
    };
}

static void share_init(struct share *s, struct grove *g)
{
    *s = (struct share){.g = g};
    g->in.how = BZ_CAS_FILE_COPY;
    snprintf(s->dir, sizeof(s->dir), "%s/shared", g->s->scratch->path);
    assert_int_equal(mkdir(s->dir, 0755), 0);
}

/* A machine that was never there before; NULL if it cannot have a store. */
static struct bz_cache *new_machine(struct share *s)
{
    const struct bz_tier_spec spec = {
        .place = bz_str_from(s->dir), .name = BZ_STR("dir:shared"), .write = true};
    char root[340];
    struct bz_cache_opts opts = {
        .root = root,
        .tiers = {.specs = &spec, .n = 1, .timeout = 60 * BZ_CLOCK_S},
        .flush = 60 * BZ_CLOCK_S
    };
    struct bz_cache *c = NULL;
    struct bz_err err;

    snprintf(root, sizeof(root), "%s/m%u", s->g->s->scratch->path, s->machines++);
    return bz_cache_open(&opts, &c, &err) < 0 ? NULL : c;
}

static int store(struct share *s, struct bz_cache *c, unsigned n)
{
    struct bz_reapi_outdir dir = {.path = BZ_STR(""), .sorted = true};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    struct bz_digest key = key_of(n);
    struct store *of = s->g->s;
    enum bz_action_put how;
    int rc =
        bz_cache_store(c, of->dir, "t", &s->g->in, &dir.tree, &s->g->stats, &of->err);

    return rc < 0 ? rc : bz_cache_put(c, of->h, &key, &r, &labels, &how, &of->err);
}

static int restore(struct share *s, struct bz_cache *c, unsigned n)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_digest key = key_of(n);
    struct store *of = s->g->s;
    struct bz_reapi_result r;
    int rc = bz_cache_get(c, of->h, &key, &a, &r, &of->err);

    if (rc == 0)
        rc = bz_cache_fetch(c, of->h, &key, &r, NULL, &of->err);
    if (rc == 0)
        rc = bz_cache_restore(c, &r.dirs[0].tree, of->dir, "out", &s->g->out,
                              &s->g->stats, &of->err);
    return rc;
}

/* What came out is what went in, or nothing came out and there is a text. */
static bool settle(struct share *s, int rc)
{
    struct store *of = s->g->s;
    struct bz_err err;

    assert_true(rc == 0 || of->err.msg[0] != '\0');
    if (rc == 0) {
        forest_assert_same(of->h, of->dir, "t", "out");
        s->hits++;
    } else {
        s->misses++;
    }
    assert_ok(bz_fs_remove(of->dir, "out", &err), &err);
    return rc == 0;
}

/* Without faults, on a new machine. */
static bool can_restore(struct share *s, unsigned n)
{
    struct bz_cache *c = new_machine(s);
    int rc;

    assert_non_null(c);
    rc = restore(s, c, n);
    bz_cache_close(c);
    assert_true(rc == 0 || rc == BZ_E_NOENT);
    return settle(s, rc);
}

static void assert_well(struct share *s)
{
    const struct bz_verify_opts opts = {.threads = {.pool = s->g->pool}};
    struct bz_verify_stats stats;
    struct bz_cas *cas;
    struct bz_err *err = &s->g->s->err;

    assert_ok(
        bz_cas_open(s->dir, &(struct bz_cas_opts){.access = BZ_SHELF_READ}, &cas, err),
        err);
    assert_ok(bz_verify_run(cas, &opts, &stats, err), err);
    assert_int_equal(stats.bad_blobs + stats.bad_results + stats.incomplete, 0);
    bz_cas_close(cas);
}

static void what_one_machine_stores_the_other_restores(void **state)
{
    struct share s;
    struct bz_cache *c;

    share_init(&s, *state);
    forest_make(s.g->s->dir, "t", 1, 120);
    c = new_machine(&s);
    assert_ok(store(&s, c, 0), &s.g->s->err);
    bz_cache_close(c); /* waits for the upload */
    assert_true(can_restore(&s, 0));
    assert_true(can_restore(&s, 0));
    assert_well(&s);
}

/* One life of each machine, with call number `nth` failing on one of them. */
static unsigned run_reader(struct share *s, int sys, unsigned nth, bool forever)
{
    struct bz_cache *c;
    unsigned calls;
    int rc = BZ_E_IO;

    snprintf(s->g->s->err.msg, sizeof(s->g->s->err.msg), "no store");
    shim_arm(sys, nth, forever);
    c = new_machine(s);
    if (c)
        rc = restore(s, c, 0);
    bz_cache_close(c);
    calls = shim_disarm();
    settle(s, rc);
    return calls;
}

static unsigned run_writer(struct share *s, int sys, unsigned nth, bool forever)
{
    unsigned n = s->machines + 1, calls;
    struct bz_cache *c;

    shim_arm(sys, nth, forever);
    c = new_machine(s);
    if (c)
        (void)!store(s, c, n);
    bz_cache_close(c);
    calls = shim_disarm();
    (void)can_restore(s, n);
    return calls;
}

typedef unsigned (*life)(struct share *s, int sys, unsigned nth, bool forever);

static void every_call(struct share *s, life run, int sys)
{
    unsigned calls = run(s, sys, UINT_MAX, false);
    unsigned step = getenv("BITZEL_TORTURE_FULL") ? 1 : calls / 2 + 1;

    for (int forever = 0; forever < 2; forever++)
        for (unsigned nth = 1; nth <= calls; nth += step)
            run(s, sys, nth, forever);
    assert_true(can_restore(s, 0)); /* what was there before still is */
    assert_well(s);
}

static void with_faults(struct grove *g, int sys)
{
    struct share s;
    struct bz_cache *c;

    share_init(&s, g);
    forest_make(g->s->dir, "t", 2, 8);
    c = new_machine(&s);
    assert_ok(store(&s, c, 0), &g->s->err);
    bz_cache_close(c);
    every_call(&s, run_reader, sys);
    every_call(&s, run_writer, sys);
    assert_true(s.hits > 0 && s.misses > 0);
}

static void a_full_disk_costs_a_miss(void **state)
{
    with_faults(*state, ENOSPC);
}

static void a_disk_that_turns_read_only_costs_a_miss(void **state)
{
    with_faults(*state, EROFS);
}

static void missing_rights_cost_a_miss(void **state)
{
    with_faults(*state, EACCES);
}

static void stale_handles_cost_a_miss(void **state)
{
    with_faults(*state, ESTALE);
}

/* A machine whose disk fails to read once gets it from the others. */
static void what_a_disk_cannot_read_comes_from_the_share(void **state)
{
    struct share s;
    unsigned calls = 1, bad = 0;

    share_init(&s, *state);
    make_dirs(s.g->s->dir, "t");
    put(s.g->s->dir, "t/f", "text");
    assert_int_equal(fchmodat(s.g->s->dir, "t/f", 0444, 0), 0); /* to be linked */
    for (unsigned nth = 1; nth <= calls; nth++) {
        struct bz_cache *c = new_machine(&s);
        char path[64];
        int rc;

        assert_ok(store(&s, c, 0), &s.g->s->err);
        assert_true(bz_cache_flush(c, BZ_CLOCK_NEVER));
        shim_arm(EIO, nth, false);
        rc = restore(&s, c, 0);
        calls = shim_disarm();
        bz_cache_close(c);
        assert_ok(rc, &s.g->s->err);
        settle(&s, rc);
        snprintf(path, sizeof(path), "m%u/bad", s.machines - 1);
        bad += bz_fs_exists(s.g->s->dir, path);
    }
    assert_true(bad >= 2); /* the result and the tree, at least */
    assert_well(&s);
}

/* Where the file server comes back between two calls nothing is noticed. */
static void a_result_is_read_through_one_stale_handle(void **state)
{
    struct grove *g = *state;
    const struct bz_tier_call call = {.h = g->s->h};
    const struct bz_digest key = key_of(7);
    struct bz_reapi_result r = {.exit_code = 3};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tier *t;
    unsigned calls = 1;

    assert_ok(bz_tier_dir_open(g->s->root, &(struct bz_cas_opts){0}, &t, &g->s->err),
              &g->s->err);
    assert_ok(t->ops->put_action(t, &call, &key, &r, &g->s->err), &g->s->err);
    for (unsigned nth = 1; nth <= calls; nth++) {
        int rc;

        shim_arm(ESTALE, nth, false);
        rc = t->ops->get_action(t, &call, &key, &a, &r, &g->s->err);
        calls = shim_disarm();
        assert_ok(rc, &g->s->err);
    }
    shim_arm(ESTALE, 1, true);
    assert_int_equal(t->ops->get_action(t, &call, &key, &a, &r, &g->s->err),
                     BZ_E_NOENT);
    shim_disarm();
    assert_ok(t->ops->get_action(t, &call, &key, &a, &r, &g->s->err), &g->s->err);
    t->ops->close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(what_one_machine_stores_the_other_restores),
        grove_test(a_full_disk_costs_a_miss),
        grove_test(a_disk_that_turns_read_only_costs_a_miss),
        grove_test(missing_rights_cost_a_miss),
        grove_test(stale_handles_cost_a_miss),
        grove_test(what_a_disk_cannot_read_comes_from_the_share),
        grove_test(a_result_is_read_through_one_stale_handle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
