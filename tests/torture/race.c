/* A collector and a writer meet at the one place where they can hurt each other, in
 * every order: see trash.h. Whatever comes first, what the writer relies on is there.
 * The same for two who find a damaged blob, one of whom has stored it again.
 */
#include "cache/trash.h"
#include "os/clock.h"
#include "tests/torture/shim.h"
#include "tests/unit/cache/store.h"

/* One that writes and one that collects, on one blob. */
struct meeting {
    struct store *s;
    struct bz_reapi_digest d;
    int64_t limit; /* before any use in the test */
    enum bz_shelf_claim claim;
    enum bz_trash_fate fate;
};

static void meet(struct meeting *m, struct store *s)
{
    *m = (struct meeting){.s = s, .d = store_text(s, "text")};
    s->cas->root.touch = 0;
    usleep(20000);
    assert_ok(bz_shelf_clock(&s->cas->root, &m->limit, &s->err), &s->err);
    usleep(20000);
}

static void claim(void *ctx)
{
    struct meeting *m = ctx;

    m->claim = bz_shelf_claim(&m->s->cas->blobs, &m->d.hash);
}

static void collect(void *ctx)
{
    struct meeting *m = ctx;
    struct stat st;

    m->fate = bz_trash_remove(&m->s->cas->blobs, &m->d.hash, m->limit, &st);
}

static void assert_there(struct meeting *m)
{
    char *text;

    assert_true(bz_cas_has(m->s->cas, &m->d));
    assert_ok(bz_cas_read(m->s->cas, m->s->h, &m->d, 10, &text, &m->s->err),
              &m->s->err);
    assert_string_equal(text, "text");
    free(text);
}

static void alone_the_collector_removes_it(void **state)
{
    struct meeting m;

    meet(&m, *state);
    collect(&m);
    assert_int_equal(m.fate, BZ_TRASH_REMOVED);
}

static void a_claim_after_the_look_and_before_the_rename_brings_it_back(void **state)
{
    struct meeting m;

    meet(&m, *state);
    shim_before(SHIM_BEFORE_RENAME, claim, &m);
    collect(&m);
    assert_int_equal(m.claim, BZ_SHELF_CLAIMED);
    assert_int_equal(m.fate, BZ_TRASH_KEPT);
    assert_there(&m);
}

static void a_collection_before_the_touch_makes_the_claim_fail(void **state)
{
    struct meeting m;

    meet(&m, *state);
    shim_before(SHIM_BEFORE_TOUCH, collect, &m);
    claim(&m);
    assert_int_equal(m.fate, BZ_TRASH_REMOVED);
    assert_int_equal(m.claim, BZ_SHELF_ABSENT);
}

static void a_writer_who_finds_it_and_loses_it_stores_it_again(void **state)
{
    struct meeting m;

    meet(&m, *state);
    shim_before(SHIM_BEFORE_TOUCH, collect, &m);
    store_text(m.s, "text");
    assert_int_equal(m.fate, BZ_TRASH_REMOVED);
    assert_there(&m);
}

static void store_again(void *ctx)
{
    struct meeting *m = ctx;

    store_text(m->s, "text");
}

static void a_writer_in_between_keeps_what_was_to_go(void **state)
{
    struct meeting m;

    meet(&m, *state);
    shim_before(SHIM_BEFORE_RENAME, store_again, &m);
    collect(&m);
    assert_int_equal(m.fate, BZ_TRASH_KEPT);
    assert_there(&m);
}

static void two_collectors_remove_it_once(void **state)
{
    struct meeting m;
    enum bz_trash_fate outer;
    struct stat st;

    meet(&m, *state);
    shim_before(SHIM_BEFORE_RENAME, collect, &m);
    outer = bz_trash_remove(&m.s->cas->blobs, &m.d.hash, m.limit, &st);
    assert_int_equal(m.fate, BZ_TRASH_REMOVED);
    assert_int_equal(outer, BZ_TRASH_ABSENT);
}

/* Another has found the damage, put the blob aside and stored it anew. */
static void heal(void *ctx)
{
    struct meeting *m = ctx;
    char path[128];

    assert_int_equal(unlinkat(m->s->dir, store_path("cas", &m->d.hash, path), 0), 0);
    store_text(m->s, "text");
}

static void a_good_blob_stored_in_between_is_not_put_aside(void **state)
{
    struct meeting m;
    char path[128], *text;

    meet(&m, *state);
    damage(m.s->dir, store_path("cas", &m.d.hash, path), 1, false);
    shim_before(SHIM_BEFORE_RENAME, heal, &m);
    assert_int_equal(bz_cas_read(m.s->cas, m.s->h, &m.d, 10, &text, &m.s->err),
                     BZ_E_NOENT); /* those bytes were wrong */
    assert_there(&m);
    assert_int_equal(store_bad(m.s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(alone_the_collector_removes_it),
        store_test(a_claim_after_the_look_and_before_the_rename_brings_it_back),
        store_test(a_collection_before_the_touch_makes_the_claim_fail),
        store_test(a_writer_who_finds_it_and_loses_it_stores_it_again),
        store_test(a_writer_in_between_keeps_what_was_to_go),
        store_test(two_collectors_remove_it_once),
        store_test(a_good_blob_stored_in_between_is_not_put_aside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
