#include "cache/quota.h"

#include "os/clock.h"
#include "os/fs_lock.h"
#include "tests/unit/cache/forest.h"

static const struct bz_cas_opts writing = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};

struct fixture {
    struct grove *g;
    struct bz_index *index;
    struct bz_quota q;
};

/* Twenty results of a blob each, which nobody protects any longer. */
static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    enum bz_index_state how;
    struct store *s;
    void *g;

    if (grove_setup(&g) < 0)
        return -1;
    f->g = g;
    s = f->g->s;
    for (uint8_t i = 1; i <= 20; i++) {
        struct bz_reapi_outfile file = {.path = BZ_STR("f")};
        struct bz_reapi_result r = {.files = &file, .nfiles = 1};
        char text[8192] = {(char)i};
        enum bz_action_put put_how;

        if (bz_cas_put(s->cas, s->h, text, sizeof(text), &file.digest, &s->err) < 0 ||
            bz_action_put(s->cas, s->h, &(struct bz_digest){{i}}, &r, &put_how,
                          &s->err) < 0)
            return -1;
    }
    bz_cas_close(s->cas);
    usleep(20000);
    *state = f;
    return bz_cas_open(s->root, &writing, &s->cas, &s->err) < 0 ||
           bz_index_open(NULL, NULL, &f->index, &how, &s->err) < 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    void *g = f->g;

    bz_quota_close(&f->q);
    bz_index_close(f->index);
    free(f);
    return grove_teardown(&g);
}

static void open_quota(struct fixture *f, const struct bz_quota_opts *opts,
                       struct bz_pool *pool)
{
    bz_quota_open(&f->q, f->g->s->cas, f->index, pool, opts);
    f->q.grace = BZ_CLOCK_MS;
}

static size_t results(struct fixture *f)
{
    struct bz_inventory v;
    size_t n;

    assert_ok(bz_inventory_take(f->g->s->cas, NULL, NULL, &v, &f->g->s->err),
              &f->g->s->err);
    n = v.results.len;
    bz_inventory_release(&v);
    return n;
}

static void below_the_limit_nothing_is_looked_at(void **state)
{
    struct fixture *f = *state;

    open_quota(f, &(struct bz_quota_opts){.max_size = 1000000}, NULL);
    for (int i = 0; i < 10; i++)
        bz_quota_note(&f->q, 90000);
    assert_int_equal(f->q.runs, 0);
    open_quota(f, &(struct bz_quota_opts){0}, NULL);
    bz_quota_note(&f->q, UINT64_MAX / 4); /* no limit at all */
    assert_int_equal(f->q.runs, 0);
    assert_int_equal(results(f), 20);
}

static void above_it_the_store_is_brought_down_once(void **state)
{
    struct fixture *f = *state;

    open_quota(f, &(struct bz_quota_opts){.max_size = 100000}, NULL);
    bz_quota_note(&f->q, 100001);
    assert_int_equal(f->q.runs, 1);
    assert_true(f->q.bytes <= 90000 && f->q.bytes > 0);
    assert_in_range(results(f), 3, 15);
    bz_quota_note(&f->q, 1000000); /* not again so soon */
    assert_int_equal(f->q.runs, 1);
}

/* The file system is large, and so is what the store is said to take. */
static void a_share_is_of_the_room_that_other_files_leave(void **state)
{
    struct fixture *f = *state;
    const struct bz_cas *cas = f->g->s->cas;
    uint64_t none = bz_quota_max_size(cas, -50, 0), much = none * 2;

    assert_int_equal(bz_quota_max_size(cas, 7, 1), 7);
    assert_int_equal(bz_quota_max_size(cas, 0, 1), 0);
    assert_true(none > 0);
    /* What is free may change meanwhile, but not that much. */
    assert_in_range(bz_quota_max_size(cas, -50, much), much / 4 * 3, much / 4 * 5);
    assert_true(bz_quota_min_free(cas, -1) > 0);
    assert_int_equal(bz_quota_min_free(cas, 7), 7);
    open_quota(f, &(struct bz_quota_opts){.max_size = -50}, NULL);
    assert_true(bz_quota_limits(&f->q));
    bz_quota_note(&f->q, none / 2);
    assert_int_equal(f->q.runs, 0);
    bz_quota_note(&f->q, much * 2);
    assert_int_equal(f->q.runs, 1);
    assert_int_equal(results(f), 20); /* by then it is known that they take little */
}

static void what_the_index_knows_counts(void **state)
{
    struct fixture *f = *state;
    struct bz_reapi_digest d = {{{1}}, 200000};

    bz_index_note_blob(f->index, &d, 1, NULL, 0);
    assert_ok(bz_index_flush(f->index, &f->g->s->err), &f->g->s->err);
    open_quota(f, &(struct bz_quota_opts){.max_size = 100000}, NULL);
    bz_quota_note(&f->q, 0);
    assert_int_equal(f->q.runs, 1);
}

static void what_was_laid_out_counts(void **state)
{
    struct fixture *f = *state;
    struct store *s = f->g->s;
    static const char *const places[] = {"s/trees/one", "s/failed/a:do_x"};

    open_quota(f, &(struct bz_quota_opts){.max_size = 200000}, NULL);
    bz_quota_note(&f->q, 0);
    for (size_t i = 0; i < BZ_COUNTOF(places); i++) {
        char path[64], text[64 * 1024] = "";

        make_dirs(s->dir, places[i]);
        snprintf(path, sizeof(path), "%s/f", places[i]);
        assert_ok(
            bz_fs_write(s->dir, path, text, sizeof(text), 0644, BZ_FS_NOSYNC, &s->err),
            &s->err);
    }
    assert_int_equal(f->q.runs, 0);
    f->q.known = false; /* another process */
    bz_quota_note(&f->q, 100000);
    assert_int_equal(f->q.runs, 1);
}

static void too_little_room_is_a_reason_too(void **state)
{
    struct fixture *f = *state;

    open_quota(f, &(struct bz_quota_opts){.min_free = UINT64_MAX / 2}, NULL);
    bz_quota_note(&f->q, 1);
    assert_int_equal(f->q.runs, 1);
    assert_int_equal(results(f), 0);
    assert_true(f->q.said); /* it was not enough */
}

static void a_pool_does_it_in_the_background(void **state)
{
    struct fixture *f = *state;

    open_quota(f, &(struct bz_quota_opts){.max_size = 100000}, f->g->pool);
    bz_quota_note(&f->q, 100001);
    bz_quota_close(&f->q);
    assert_int_equal(f->q.runs, 1);
    assert_in_range(results(f), 3, 15);
}

static void one_process_collects_for_all(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_fs_closep) int lock = -1;
    char path[320];

    snprintf(path, sizeof(path), "%s/lock", f->g->s->scratch->path);
    assert_ok(bz_fs_lock(AT_FDCWD, path, BZ_FS_LOCK_EXCLUSIVE, bz_clock_in(0), &lock,
                         &f->g->s->err),
              &f->g->s->err);
    open_quota(f, &(struct bz_quota_opts){.max_size = 100000, .lock = path}, NULL);
    bz_quota_note(&f->q, 100001);
    assert_int_equal(results(f), 20);
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(below_the_limit_nothing_is_looked_at),
        test(above_it_the_store_is_brought_down_once),
        test(a_share_is_of_the_room_that_other_files_leave),
        test(what_the_index_knows_counts),
        test(what_was_laid_out_counts),
        test(too_little_room_is_a_reason_too),
        test(a_pool_does_it_in_the_background),
        test(one_process_collects_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
