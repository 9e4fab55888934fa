/* Every system call of storing, restoring and collecting fails once, and then for good,
 * with a full disk, a read-only one, missing rights and a stale handle. Each time there
 * is an error with a text, or a miss, or it works; what works is right, what was stored
 * before is still there, and the store is well afterwards. What a disk cannot read is
 * lost, and can be stored again. */
#include <errno.h>
#include <limits.h>

#include "cache/action.h"
#include "cache/gc.h"
#include "cache/verify.h"
#include "os/clock.h"
#include "tests/torture/shim.h"
#include "tests/unit/cache/forest.h"

static const struct bz_cas_opts writing = {BZ_SHELF_WRITE, BZ_FS_SYNC};

struct faults {
    struct grove *g;
    struct bz_cas *cas;
    unsigned number; /* of the run: names differ by it */
    unsigned worked, failed;
};

static struct bz_digest key_of(unsigned n)
{
    return (struct bz_digest){
        {(uint8_t)n, (uint8_t)(n >> 8), 1}
    };
}

/* 0, or a failure that says something. */
static int judge(struct faults *f, int rc)
{
    if (rc < 0)
        f->failed++;
    else
        f->worked++;
    assert_true(rc == 0 || (f->g->s->err.msg[0] != '\0' && rc >= BZ_E_NOSUP));
    return rc;
}

static int store(struct faults *f, struct bz_cas *cas, const char *from, unsigned n)
{
    struct bz_reapi_outdir dir = {.path = BZ_STR(""), .sorted = true};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    struct bz_digest key = key_of(n);
    struct store *s = f->g->s;
    enum bz_action_put how;
    int rc =
        bz_tree_store(cas, s->dir, from, &f->g->in, &dir.tree, &f->g->stats, &s->err);

    return rc < 0 ? rc : bz_action_put(cas, s->h, &key, &r, &how, &s->err);
}

static int restore(struct faults *f, struct bz_cas *cas, const char *to, unsigned n)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_digest key = key_of(n);
    struct bz_reapi_result r;
    struct store *s = f->g->s;
    int rc = bz_action_get(cas, s->h, &key, BZ_ACTION_OURS, &a, &r, &s->err);

    return rc < 0 ? rc
                  : bz_tree_restore(cas, &r.dirs[0].tree, s->dir, to, &f->g->out,
                                    &f->g->stats, &s->err);
}

static void clear(struct faults *f, const char *path)
{
    struct bz_err err;

    assert_ok(bz_fs_remove(f->g->s->dir, path, &err), &err);
}

/* Without faults: it can be restored, and is what it was. */
static void assert_stored(struct faults *f, const char *from, unsigned n)
{
    struct store *s = f->g->s;

    assert_ok(restore(f, s->cas, "check", n), &s->err);
    forest_assert_same(s->h, s->dir, from, "check");
    clear(f, "check");
}

/* One life of a process on a store where call number `nth` fails. Returns how many
 * calls could have. */
static unsigned run(struct faults *f, int sys, unsigned nth, bool forever)
{
    struct bz_gc_opts gc = {.policy.max_age = 1000 * BZ_CLOCK_S};
    struct store *s = f->g->s;
    struct bz_gc_stats stats;
    struct bz_cas *cas = NULL;
    bool stored = false, restored = false;
    unsigned n = ++f->number, calls;

    forest_make(s->dir, "new", n, 6);
    shim_arm(sys, nth, forever);
    if (judge(f, bz_cas_open(s->root, &writing, &cas, &s->err)) == 0) {
        stored = judge(f, store(f, cas, "new", n)) == 0;
        restored = judge(f, restore(f, cas, "out", 0)) == 0;
        judge(f, bz_gc_run(cas, &gc, &stats, &s->err));
        bz_cas_close(cas);
    }
    calls = shim_disarm();
    if (stored)
        assert_stored(f, "new", n);
    if (restored)
        forest_assert_same(s->h, s->dir, "old", "out");
    assert_stored(f, "old", 0);
    clear(f, "out");
    clear(f, "new");
    return calls;
}

static void assert_well(struct faults *f)
{
    struct bz_verify_opts opts = {.threads = {.pool = f->g->pool}};
    struct store *s = f->g->s;
    struct bz_verify_stats stats;

    assert_ok(bz_verify_run(s->cas, &opts, &stats, &s->err), &s->err);
    assert_int_equal(stats.bad_blobs + stats.bad_results + stats.incomplete, 0);
}

static void every_call(struct grove *g, int sys)
{
    struct faults f = {.g = g};
    unsigned step = getenv("BITZEL_TORTURE_FULL") ? 1 : 19, calls;

    g->in.how = BZ_CAS_FILE_COPY;
    g->out.check = BZ_CAS_FILE_CHECK;
    forest_make(g->s->dir, "old", 0, 20);
    assert_ok(store(&f, g->s->cas, "old", 0), &g->s->err);
    calls = run(&f, sys, UINT_MAX, false);
    for (int forever = 0; forever < 2; forever++)
        for (unsigned nth = 1; nth <= calls; nth += step)
            run(&f, sys, nth, forever);
    assert_true(f.failed > 10 && f.worked > 10);
    assert_well(&f);
    /* What was left behind is ours, and we run: the lease and files in tmp stay until
     * then. Nothing of it is under a key. */
    assert_true(store_bad(g->s) == 0);
}

static void a_full_disk_loses_nothing(void **state)
{
    every_call(*state, ENOSPC);
}

static void a_disk_that_turns_read_only_loses_nothing(void **state)
{
    every_call(*state, EROFS);
}

static void missing_rights_lose_nothing(void **state)
{
    every_call(*state, EACCES);
}

static void stale_handles_lose_nothing(void **state)
{
    every_call(*state, ESTALE);
}

/* What is read fails, at once or after a while. */
static int restore_unreadable(struct faults *f, unsigned nth)
{
    struct store *s = f->g->s;
    int rc;

    shim_arm(EIO, nth, true);
    rc = restore(f, s->cas, "out", 0);
    f->number = shim_disarm();
    assert_true(rc == 0 || s->err.msg[0] != '\0');
    if (rc == 0)
        forest_assert_same(s->h, s->dir, "old", "out");
    clear(f, "out");
    return rc;
}

static void what_cannot_be_read_is_a_miss_and_can_be_stored_again(void **state)
{
    struct grove *g = *state;
    struct faults f = {.g = g};
    unsigned calls;
    size_t bad = 0;

    g->in.how = BZ_CAS_FILE_ADOPT;
    g->out.check = BZ_CAS_FILE_CHECK;
    make_dirs(g->s->dir, "old");
    put(g->s->dir, "old/f", "text"); /* linked */
    put(g->s->dir, "old/g", "other");
    assert_int_equal(fchmodat(g->s->dir, "old/g", 0600, 0), 0); /* copied */
    assert_ok(store(&f, g->s->cas, "old", 0), &g->s->err);
    assert_int_equal(restore_unreadable(&f, UINT_MAX), 0);
    calls = f.number;
    for (unsigned nth = 1; nth <= calls; nth++) {
        int rc = restore_unreadable(&f, nth);

        /* That a copy cannot be written is no fault of the blob. */
        assert_true(rc == BZ_E_IO || (rc == BZ_E_NOENT && store_bad(g->s) > bad));
        bad = store_bad(g->s);
        assert_ok(store(&f, g->s->cas, "old", 0), &g->s->err);
        assert_stored(&f, "old", 0);
    }
    assert_true(bad >= 4); /* the result, the tree, either file */
    assert_well(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        grove_test(a_full_disk_loses_nothing),
        grove_test(a_disk_that_turns_read_only_loses_nothing),
        grove_test(missing_rights_lose_nothing),
        grove_test(stale_handles_lose_nothing),
        grove_test(what_cannot_be_read_is_a_miss_and_can_be_stored_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
