#include "pool/scope.h"

#include "pool/pool.h"
#include "pool/worker.h"
#include "tests/unit/bz_test.h"

struct tally {
    struct bz_pool *pool;
    atomic_int ran;
    struct bz_scope *scope;
    struct bz_cancel *cancel;
    int wanted, seen_at_end;
};

static struct bz_pool *new_pool(unsigned compute)
{
    struct bz_pool *pool = NULL;
    struct bz_err err;

    assert_ok(bz_pool_new(&(struct bz_pool_opts){.compute = compute}, &pool, &err),
              &err);
    return pool;
}

static void count(struct bz_worker *w, void *arg)
{
    struct tally *t = arg;

    (void)w;
    atomic_fetch_add_explicit(&t->ran, 1, memory_order_relaxed);
}

static void spawn_many(struct bz_worker *w, void *arg)
{
    struct tally *t = arg;
    struct bz_scope s;

    bz_scope_begin(&s, w, t->cancel);
    for (int i = 0; i < t->wanted; i++)
        bz_scope_spawn(&s, w, count, t);
    bz_scope_end(&s, w);
    t->seen_at_end = atomic_load_explicit(&t->ran, memory_order_relaxed);
}

static void ending_a_scope_waits_for_all_it_spawned(void **state)
{
    static const int sizes[] = {0, 1, 2, 127, 128, 129, 1000, 20000};
    struct bz_pool *pool = new_pool(3);

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(sizes); i++) {
        struct tally t = {.wanted = sizes[i]};

        bz_pool_call(pool, spawn_many, &t);
        assert_int_equal(t.seen_at_end, sizes[i]);
    }
    bz_pool_free(pool);
}

/* A tree of spawns into one scope: 1 + 3 + 9 + ... bodies, spawned by whoever runs. */
struct branch {
    struct tally *t;
    int depth;
};

static struct branch branches[8];

static void grow(struct bz_worker *w, void *arg)
{
    struct branch *b = arg;

    count(w, b->t);
    for (int i = 0; b->depth > 0 && i < 3; i++)
        bz_scope_spawn(b->t->scope, w, grow, b - 1);
}

static void grow_tree(struct bz_worker *w, void *arg)
{
    struct tally *t = arg;
    struct bz_scope s;

    bz_scope_begin(&s, w, NULL);
    t->scope = &s;
    for (int d = 0; d < 8; d++)
        branches[d] = (struct branch){t, d};
    bz_scope_spawn(&s, w, grow, &branches[7]);
    bz_scope_end(&s, w);
    t->seen_at_end = atomic_load_explicit(&t->ran, memory_order_relaxed);
}

static void bodies_may_spawn_into_the_scope_they_run_in(void **state)
{
    struct bz_pool *pool = new_pool(2);

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct tally t = {.wanted = 3280}; /* (3^8 - 1) / 2 */

        bz_pool_call(pool, grow_tree, &t);
        assert_int_equal(t.seen_at_end, t.wanted);
    }
    bz_pool_free(pool);
}

static void nest(struct bz_worker *w, void *arg)
{
    struct tally *outer = arg;
    struct tally inner = {.wanted = 50};

    spawn_many(w, &inner);
    if (inner.seen_at_end == 50)
        count(w, outer);
}

static void spawn_nested(struct bz_worker *w, void *arg)
{
    struct tally *t = arg;
    struct bz_scope s;

    bz_scope_begin(&s, w, NULL);
    for (int i = 0; i < t->wanted; i++)
        bz_scope_spawn(&s, w, nest, t);
    bz_scope_end(&s, w);
    t->seen_at_end = atomic_load_explicit(&t->ran, memory_order_relaxed);
}

static void scopes_nest(void **state)
{
    struct bz_pool *pool = new_pool(3);
    struct tally t = {.wanted = 200};

    (void)state;
    bz_pool_call(pool, spawn_nested, &t);
    assert_int_equal(t.seen_at_end, 200);
    bz_pool_free(pool);
}

static void cancel_then_count(struct bz_worker *w, void *arg)
{
    struct tally *t = arg;

    count(w, t);
    bz_cancel_now(t->cancel);
}

static void spawn_and_cancel(struct bz_worker *w, void *arg)
{
    struct tally *t = arg;
    struct bz_scope s;

    bz_scope_begin(&s, w, t->cancel);
    for (int i = 0; i < t->wanted; i++)
        bz_scope_spawn(&s, w, count, t);
    bz_scope_spawn(&s, w, cancel_then_count, t);
    bz_scope_end(&s, w);
}

static void bodies_not_started_when_the_token_is_canceled_are_dropped(void **state)
{
    struct bz_pool *pool = new_pool(1);
    struct bz_cancel cancel;
    struct tally before = {.wanted = 100, .cancel = &cancel};
    struct tally during = {.wanted = 100000, .cancel = &cancel};

    (void)state;
    bz_cancel_init(&cancel, NULL, 0);
    bz_pool_call(pool, spawn_and_cancel, &during);
    assert_true(atomic_load(&during.ran) >= 1);
    assert_true(atomic_load(&during.ran) <= 100001);
    bz_pool_call(pool, spawn_many, &before);
    assert_int_equal(before.seen_at_end, 0);
    bz_pool_free(pool);
}

/* One worker holds credits of a finished body while it is busy with something that has
 * nothing to do with the scope: the scope must still end. */
struct hostage {
    atomic_bool scope_over;
    atomic_int quick;
    struct bz_pool_item busy;
};

static void wait_for_scope(struct bz_worker *w, void *arg)
{
    struct hostage *h = arg;

    if (w->index == w->lane->limit)
        return; /* taken by the thread that is to end the scope */
    while (!atomic_load(&h->scope_over))
        ;
}

static void quick(struct bz_worker *w, void *arg)
{
    struct hostage *h = arg;

    (void)w;
    atomic_fetch_add(&h->quick, 1);
}

static void short_scope(struct bz_worker *w, void *arg)
{
    struct hostage *h = arg;
    struct bz_scope s;

    bz_scope_begin(&s, w, NULL);
    for (int i = 0; i < 64; i++)
        bz_scope_spawn(&s, w, quick, h);
    bz_scope_end(&s, w);
    atomic_store(&h->scope_over, true);
}

static void a_worker_busy_elsewhere_does_not_keep_a_scope_open(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct bz_pool *pool = new_pool(1);
        struct hostage h = {.busy = {.body = wait_for_scope}};

        h.busy.arg = &h;
        bz_pool_submit(pool, NULL, BZ_LANE_COMPUTE, &h.busy);
        bz_pool_call(pool, short_scope, &h);
        assert_int_equal(bz_pool_wait(&h.busy, 0), 0);
        assert_int_equal(atomic_load(&h.quick), 64);
        bz_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ending_a_scope_waits_for_all_it_spawned),
        cmocka_unit_test(bodies_may_spawn_into_the_scope_they_run_in),
        cmocka_unit_test(scopes_nest),
        cmocka_unit_test(bodies_not_started_when_the_token_is_canceled_are_dropped),
        cmocka_unit_test(a_worker_busy_elsewhere_does_not_keep_a_scope_open),
    };

    return cmocka_run_group_tests_name("pool/scope", tests, NULL, NULL);
}
