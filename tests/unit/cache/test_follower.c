#include "cache/follower.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/os/scratch.h"

#define BIG (2 * (size_t)BZ_FOLLOWER_LAG + 12345)

struct growing {
    void *scratch;
    struct bz_pool *pool;
    struct bz_digest_hasher *h, *own;
    int fd;
    char *bytes;
    struct bz_follower *f;
    struct bz_err err;
};

static int grow_setup(void **state)
{
    static const struct bz_pool_opts opts = {.compute = 1, .io = 1};
    struct growing *g = calloc(1, sizeof(*g));

    if (scratch_setup(&g->scratch) < 0 || bz_pool_new(&opts, &g->pool, &g->err) < 0 ||
        bz_digest_hasher_new(&g->h, &g->err) < 0 ||
        bz_digest_hasher_new(&g->own, &g->err) < 0)
        return -1;
    g->fd = openat(((struct scratch *)g->scratch)->fd, "f",
                   O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    g->bytes = malloc(BIG);
    for (size_t i = 0; i < BIG; i++)
        g->bytes[i] = (char)(i ^ (i >> 8) ^ (i >> 16));
    g->f = bz_follower_new(g->pool, g->h, g->fd);
    *state = g;
    return g->fd < 0;
}

static int grow_teardown(void **state)
{
    struct growing *g = *state;
    int rc;

    bz_follower_free(g->f);
    bz_pool_free(g->pool);
    bz_digest_hasher_free(g->h);
    bz_digest_hasher_free(g->own);
    free(g->bytes);
    close(g->fd);
    rc = scratch_teardown(&g->scratch);
    free(g);
    return rc;
}

/* Writes bytes [from, to) in steps, as they would come. */
static void write_some(struct growing *g, size_t from, size_t to, size_t step)
{
    for (size_t at = from; at < to; at += step) {
        size_t n = to - at < step ? to - at : step;

        assert_int_equal(pwrite(g->fd, g->bytes + at, n, (off_t)at), n);
        bz_follower_grow(g->f, at + n);
    }
}

static void assert_hashed(struct growing *g, const void *p, size_t n)
{
    struct bz_digest got, want;

    assert_ok(bz_follower_finish(g->f, &g->err), &g->err);
    bz_digest_end(g->h, &got);
    bz_digest_bytes(g->own, p, n, &want);
    assert_true(bz_digest_eq(&got, &want));
}

static void what_is_written_is_hashed_whatever_its_pieces(void **state)
{
    static const struct {
        size_t n, step;
    } cases[] = {
        {0,             1     },
        {1,             1     },
        {100,           7     },
        {1 << 20,       16384 },
        {(4 << 20) + 1, 999983},
        {BIG,           65536 },
        {BIG,           BIG   },
    };
    struct growing *g = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        assert_int_equal(ftruncate(g->fd, 0), 0);
        bz_follower_begin(g->f);
        write_some(g, 0, cases[i].n, cases[i].step);
        assert_hashed(g, g->bytes, cases[i].n);
    }
}

static void another_beginning_drops_what_was_hashed(void **state)
{
    struct growing *g = *state;
    char *other = malloc(2 << 20);

    memset(other, 'x', 2 << 20);
    for (size_t n = 1 << 20; n <= 8 << 20; n += 1 << 20) {
        bz_follower_begin(g->f);
        write_some(g, 0, n, 16384); /* and while that is hashed: */
        assert_int_equal(ftruncate(g->fd, 0), 0);
        bz_follower_begin(g->f);
        assert_int_equal(pwrite(g->fd, other, 2 << 20, 0), 2 << 20);
        bz_follower_grow(g->f, 2 << 20);
        assert_hashed(g, other, 2 << 20);
    }
    free(other);
}

static void a_hole_at_the_end_is_zeros(void **state)
{
    struct growing *g = *state;

    memset(g->bytes + 1000, 0, 3 << 20);
    write_some(g, 0, 1000, 1000);
    bz_follower_grow(g->f, 1000 + (3 << 20));
    assert_hashed(g, g->bytes, 1000 + (3 << 20));
}

struct gate {
    struct bz_sync_mutex mu;
    struct bz_sync_cond changed;
    bool held, open; /* mu */
};

static void hold(struct bz_worker *w, void *arg)
{
    struct gate *gate = arg;

    (void)w;
    bz_sync_lock(&gate->mu);
    gate->held = true;
    bz_sync_broadcast(&gate->changed);
    while (!gate->open)
        (void)bz_sync_wait(&gate->changed, &gate->mu, 0);
    bz_sync_unlock(&gate->mu);
}

/* The pool's only thread is kept busy: the item waits in its queue, and outlives the
 * follower's owner. */
static void the_writer_needs_no_thread_but_its_own(void **state)
{
    struct growing *g = *state;
    struct gate gate = {0};
    struct bz_pool_item item = {.body = hold, .arg = &gate};

    bz_pool_submit(g->pool, NULL, BZ_LANE_COMPUTE, &item);
    bz_sync_lock(&gate.mu);
    while (!gate.held)
        (void)bz_sync_wait(&gate.changed, &gate.mu, 0);
    bz_sync_unlock(&gate.mu);
    write_some(g, 0, BIG, 1 << 20);
    assert_hashed(g, g->bytes, BIG);
    bz_follower_free(g->f);
    g->f = NULL;
    bz_sync_lock(&gate.mu);
    gate.open = true;
    bz_sync_broadcast(&gate.changed);
    bz_sync_unlock(&gate.mu);
    assert_int_equal(bz_pool_wait(&item, 0), 0);
}

static void one_that_is_freed_half_way_touches_nothing_more(void **state)
{
    struct growing *g = *state;
    struct bz_digest got, want;

    for (int i = 0; i < 20; i++) {
        write_some(g, 0, 2 << 20, 1 << 20);
        bz_follower_free(g->f);
        bz_digest_bytes(g->h, "abc", 3, &got); /* the hasher is ours */
        bz_digest_bytes(g->own, "abc", 3, &want);
        assert_true(bz_digest_eq(&got, &want));
        g->f = bz_follower_new(g->pool, g->h, g->fd);
    }
}

static void a_file_that_cannot_be_read_is_a_failure(void **state)
{
    struct growing *g = *state;
    struct bz_follower *f;
    int fd = openat(((struct scratch *)g->scratch)->fd, "f", O_WRONLY | O_CLOEXEC);

    f = bz_follower_new(g->pool, g->h, fd);
    bz_follower_grow(f, 1 << 20);
    assert_int_equal(bz_follower_finish(f, &g->err), BZ_E_IO);
    bz_follower_free(f);
    close(fd);
}

#define grow_test(f) cmocka_unit_test_setup_teardown(f, grow_setup, grow_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        grow_test(what_is_written_is_hashed_whatever_its_pieces),
        grow_test(another_beginning_drops_what_was_hashed),
        grow_test(a_hole_at_the_end_is_zeros),
        grow_test(the_writer_needs_no_thread_but_its_own),
        grow_test(one_that_is_freed_half_way_touches_nothing_more),
        grow_test(a_file_that_cannot_be_read_is_a_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
