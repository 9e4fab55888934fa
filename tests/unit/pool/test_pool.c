#include "pool/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "pool/scope.h"
#include "pool/worker.h"
#include "tests/unit/bz_test.h"

static struct bz_pool *new_pool(unsigned compute, unsigned io)
{
    struct bz_pool *pool = NULL;
    struct bz_err err;
    struct bz_pool_opts opts = {compute, io};

    assert_ok(bz_pool_new(&opts, &pool, &err), &err);
    return pool;
}

struct fib {
    int n;
    long result;
};

static void fib(struct bz_worker *w, void *arg)
{
    struct fib *f = arg, a = {f->n - 1, 0}, b = {f->n - 2, 0};

    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    bz_pool_join(w, fib, &a, fib, &b);
    f->result = a.result + b.result;
}

static void join_runs_both_and_nests(void **state)
{
    struct bz_pool *pool = new_pool(3, 1);

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct fib f = {18, 0};

        bz_pool_call(pool, fib, &f);
        assert_int_equal(f.result, 2584);
    }
    bz_pool_free(pool);
}

/* A body that leaves work on the deque above the joined one. */
struct messy {
    struct bz_scope scope;
    atomic_int ran;
    int b_ran;
};

static void bump(struct bz_worker *w, void *arg)
{
    (void)w;
    atomic_fetch_add(&((struct messy *)arg)->ran, 1);
}

static void leave_some(struct bz_worker *w, void *arg)
{
    struct messy *m = arg;

    for (int i = 0; i < 10; i++)
        bz_scope_spawn(&m->scope, w, bump, m);
}

static void note_b(struct bz_worker *w, void *arg)
{
    (void)w;
    ((struct messy *)arg)->b_ran++;
}

static void join_messy(struct bz_worker *w, void *arg)
{
    struct messy *m = arg;

    bz_scope_begin(&m->scope, w, NULL);
    bz_pool_join(w, leave_some, m, note_b, m);
    bz_scope_end(&m->scope, w);
}

static void join_copes_with_work_that_its_first_half_left_behind(void **state)
{
    struct bz_pool *pool = new_pool(2, 1);
    struct messy *m = bz_mem_padded(sizeof(*m));

    (void)state;
    bz_pool_call(pool, join_messy, m);
    assert_int_equal(m->b_ran, 1);
    assert_int_equal(atomic_load(&m->ran), 10);
    free(m);
    bz_pool_free(pool);
}

struct marks {
    size_t begin, end, grain;
    atomic_uchar *hit;
    atomic_size_t longest;
};

static void mark(struct bz_worker *w, size_t begin, size_t end, void *arg)
{
    struct marks *m = arg;

    (void)w;
    if (end - begin > atomic_load(&m->longest))
        atomic_store(&m->longest, end - begin);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&m->hit[i], 1);
}

static void mark_all(struct bz_worker *w, void *arg)
{
    struct marks *m = arg;

    bz_pool_for(w, m->begin, m->end, m->grain, mark, m);
}

static void for_covers_a_range_exactly_once_in_pieces_of_the_grain(void **state)
{
    static const struct {
        size_t begin, end, grain;
    } t[] = {
        {0, 0,    0   },
        {5, 5,    1   },
        {7, 3,    1   },
        {0, 1,    0   },
        {0, 1,    100 },
        {3, 1000, 1   },
        {0, 1000, 7   },
        {0, 1000, 0   },
        {0, 1000, 1000},
        {0, 1000, 999 },
    };
    struct bz_pool *pool = new_pool(2, 1);

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(t); i++) {
        atomic_uchar *hit = bz_mem_array(1000, sizeof(*hit));
        struct marks m = {t[i].begin, t[i].end, t[i].grain, hit, 0};

        bz_pool_call(pool, mark_all, &m);
        for (size_t k = 0; k < 1000; k++)
            assert_int_equal(atomic_load(&hit[k]),
                             k >= t[i].begin && k < t[i].end ? 1 : 0);
        if (t[i].grain)
            assert_true(atomic_load(&m.longest) <= t[i].grain);
        free(hit);
    }
    bz_pool_free(pool);
}

struct caller {
    struct bz_pool *pool;
    pthread_t thread;
    long result;
};

static void *call_fib(void *arg)
{
    struct caller *c = arg;
    struct fib f = {15, 0};

    for (int i = 0; i < 20; i++) {
        bz_pool_call(c->pool, fib, &f);
        c->result += f.result;
    }
    return NULL;
}

static void many_threads_may_call_at_once(void **state)
{
    struct bz_pool *pool = new_pool(2, 1);
    struct caller c[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        c[i] = (struct caller){.pool = pool};
        assert_int_equal(pthread_create(&c[i].thread, NULL, call_fib, &c[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(c[i].thread, NULL);
        assert_int_equal(c[i].result, 20 * 610);
    }
    bz_pool_free(pool);
}

static void add_one(struct bz_worker *w, void *arg)
{
    (void)w;
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void submitted_items_run_once_on_either_lane(void **state)
{
    struct bz_pool *pool = new_pool(2, 3);
    struct bz_pool_item item[40];
    atomic_int ran = 0;

    (void)state;
    for (int i = 0; i < 40; i++) {
        item[i] = (struct bz_pool_item){.body = add_one, .arg = &ran};
        bz_pool_submit(pool, NULL, i % 2 ? BZ_LANE_IO : BZ_LANE_COMPUTE, &item[i]);
    }
    for (int i = 0; i < 40; i++)
        assert_int_equal(bz_pool_wait(&item[i], 0), 0);
    assert_int_equal(atomic_load(&ran), 40);
    bz_pool_free(pool);
}

struct finishing {
    struct bz_pool_item item;
    atomic_int *ran, *finished;
    int want;
    atomic_int *wrong;
};

static void finish_and_free(struct bz_pool_item *item, int status)
{
    struct finishing *f = BZ_CONTAINER(item, struct finishing, item);

    if (status != f->want)
        atomic_fetch_add(f->wrong, 1);
    atomic_fetch_add(f->finished, 1);
    free(f);
}

static void a_finish_callback_may_free_the_item_and_hears_the_status(void **state)
{
    struct bz_pool *pool = new_pool(2, 2);
    atomic_int ran = 0, finished = 0, wrong = 0;
    struct bz_cancel canceled, late;

    (void)state;
    bz_cancel_init(&canceled, NULL, 0);
    bz_cancel_now(&canceled);
    bz_cancel_init(&late, NULL, 1);
    for (int i = 0; i < 300; i++) {
        static const int want[] = {0, BZ_E_CANCELED, BZ_E_TIMEOUT};
        struct bz_cancel *token[] = {NULL, &canceled, &late};
        struct finishing *f = bz_mem_zalloc(sizeof(*f));

        f->item.body = add_one;
        f->item.arg = &ran;
        f->item.finish = finish_and_free;
        f->item.cancel = token[i % 3];
        f->want = want[i % 3];
        f->finished = &finished;
        f->wrong = &wrong;
        bz_pool_submit(pool, NULL, BZ_LANE_COMPUTE, &f->item);
    }
    bz_pool_free(pool); /* waits for what was submitted */
    assert_int_equal(atomic_load(&finished), 300);
    assert_int_equal(atomic_load(&ran), 100);
    assert_int_equal(atomic_load(&wrong), 0);
}

static void hold(struct bz_worker *w, void *arg)
{
    (void)w;
    while (!atomic_load((atomic_bool *)arg))
        sched_yield();
}

static void blocked_io_items_do_not_keep_compute_from_running(void **state)
{
    enum { IO = 8 };
    struct bz_pool *pool = new_pool(1, IO);
    struct bz_pool_item blocked[2 * IO], item;
    atomic_bool let_go = false;
    atomic_int ran = 0;

    (void)state;
    for (int i = 0; i < 2 * IO; i++) {
        blocked[i] = (struct bz_pool_item){.body = hold, .arg = &let_go};
        bz_pool_submit(pool, NULL, BZ_LANE_IO, &blocked[i]);
    }
    for (int i = 0; i < 100; i++) {
        item = (struct bz_pool_item){.body = add_one, .arg = &ran};
        bz_pool_submit(pool, NULL, BZ_LANE_COMPUTE, &item);
        assert_int_equal(bz_pool_wait(&item, bz_clock_in(30 * BZ_CLOCK_S)), 0);
    }
    assert_int_equal(atomic_load(&ran), 100);
    atomic_store(&let_go, true);
    for (int i = 0; i < 2 * IO; i++)
        assert_int_equal(bz_pool_wait(&blocked[i], 0), 0);
    bz_pool_free(pool);
}

static void waiting_gives_up_at_its_deadline_and_the_item_goes_on(void **state)
{
    struct bz_pool *pool = new_pool(1, 1);
    atomic_bool let_go = false;
    struct bz_pool_item item = {.body = hold, .arg = &let_go};

    (void)state;
    bz_pool_submit(pool, NULL, BZ_LANE_IO, &item);
    assert_int_equal(bz_pool_wait(&item, bz_clock_in(BZ_CLOCK_MS)), BZ_E_BUSY);
    atomic_store(&let_go, true);
    assert_int_equal(bz_pool_wait(&item, 0), 0);
    bz_pool_free(pool);
}

static void an_item_canceled_while_it_waits_its_turn_is_not_run(void **state)
{
    struct bz_pool *pool = new_pool(1, 1);
    atomic_bool let_go = false;
    atomic_int ran = 0;
    struct bz_cancel parent, child;
    struct bz_pool_item first = {.body = hold, .arg = &let_go};
    struct bz_pool_item second = {.body = add_one, .arg = &ran, .cancel = &child};

    (void)state;
    bz_cancel_init(&parent, NULL, 0);
    bz_cancel_init(&child, &parent, 0);
    bz_pool_submit(pool, NULL, BZ_LANE_IO, &first);
    bz_pool_submit(pool, NULL, BZ_LANE_IO, &second);
    bz_cancel_now(&parent);
    atomic_store(&let_go, true);
    assert_int_equal(bz_pool_wait(&second, 0), BZ_E_CANCELED);
    assert_int_equal(atomic_load(&ran), 0);
    assert_int_equal(bz_pool_wait(&first, 0), 0);
    bz_pool_free(pool);
}

struct hop {
    struct bz_pool *pool;
    struct bz_pool_item item[3];
    atomic_int done;
};

static void hop_home(struct bz_worker *w, void *arg)
{
    (void)w;
    atomic_fetch_add(&((struct hop *)arg)->done, 1);
}

static void hop_over(struct bz_worker *w, void *arg)
{
    struct hop *h = arg;

    h->item[1] = (struct bz_pool_item){.body = hop_home, .arg = h};
    h->item[2] = (struct bz_pool_item){.body = hop_home, .arg = h};
    bz_pool_submit(h->pool, w, BZ_LANE_COMPUTE, &h->item[1]);
    bz_pool_submit(h->pool, w, BZ_LANE_IO, &h->item[2]);
}

static void bodies_submit_to_their_own_lane_and_to_the_other(void **state)
{
    struct bz_pool *pool = new_pool(1, 1);
    struct hop h = {.pool = pool};

    (void)state;
    for (int lane = 0; lane < BZ_LANE_COUNT; lane++) {
        h.item[0] = (struct bz_pool_item){.body = hop_over, .arg = &h};
        bz_pool_submit(pool, NULL, lane, &h.item[0]);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(bz_pool_wait(&h.item[i], 0), 0);
        }
    }
    assert_int_equal(atomic_load(&h.done), 4);
    bz_pool_free(pool);
}

static void freeing_a_pool_runs_what_is_left_also_what_that_submits(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct bz_pool *pool = new_pool(2, 2);
        struct hop h = {.pool = pool};

        h.item[0] = (struct bz_pool_item){.body = hop_over, .arg = &h};
        bz_pool_submit(pool, NULL, i % 2 ? BZ_LANE_IO : BZ_LANE_COMPUTE, &h.item[0]);
        bz_pool_free(pool);
        assert_int_equal(atomic_load(&h.done), 2);
    }
    bz_pool_free(NULL);
}

static void statistics_add_up_over_the_workers(void **state)
{
    struct bz_pool *pool = new_pool(2, 1);
    struct bz_pool_stats one, sum = {0}, all;
    struct bz_pool_item item[10];
    struct fib f = {15, 0};
    atomic_int ran = 0;

    (void)state;
    bz_pool_call(pool, fib, &f); /* 986 joins, each executes one queued half */
    for (int i = 0; i < 10; i++) {
        item[i] = (struct bz_pool_item){.body = add_one, .arg = &ran};
        bz_pool_submit(pool, NULL, BZ_LANE_COMPUTE, &item[i]);
        assert_int_equal(bz_pool_wait(&item[i], 0), 0);
    }
    assert_int_equal(bz_pool_workers(pool, BZ_LANE_COMPUTE), 3);
    for (unsigned i = 0; i < 3; i++) {
        bz_pool_stats(pool, BZ_LANE_COMPUTE, i, &one);
        sum.executed += one.executed;
        sum.injected += one.injected;
        sum.stolen += one.stolen;
    }
    bz_pool_stats(pool, BZ_LANE_COMPUTE, 3, &all);
    assert_int_equal(all.executed, sum.executed);
    assert_int_equal(all.executed, 986 + 10);
    assert_int_equal(all.injected, 10);
    assert_int_equal(all.injected, sum.injected);
    assert_int_equal(all.stolen, sum.stolen);
    bz_pool_free(pool);
}

static void the_number_of_threads_is_found_or_refused(void **state)
{
    struct bz_pool *pool = new_pool(0, 0);
    struct bz_err err;
    struct bz_pool_opts too_many = {.compute = 1000000};

    (void)state;
    assert_int_equal(bz_pool_workers(pool, BZ_LANE_COMPUTE), bz_cpu_count() + 1);
    bz_pool_free(pool);
    assert_int_equal(bz_pool_new(&too_many, &pool, &err), BZ_E_LIMIT);
    too_many = (struct bz_pool_opts){.io = 1000000};
    assert_int_equal(bz_pool_new(&too_many, &pool, &err), BZ_E_LIMIT);
}

static void *thread_id_of_compute;

static void note_thread(struct bz_worker *w, void *arg)
{
    (void)arg;
    thread_id_of_compute = w;
}

static void threads_persist_from_one_item_to_the_next(void **state)
{
    struct bz_pool *pool = new_pool(1, 1);

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct bz_pool_item item = {.body = note_thread};

        thread_id_of_compute = NULL;
        bz_pool_submit(pool, NULL, BZ_LANE_COMPUTE, &item);
        assert_int_equal(bz_pool_wait(&item, 0), 0);
        assert_ptr_equal(thread_id_of_compute,
                         &bz_pool_lane(pool, BZ_LANE_COMPUTE)->worker[0]);
    }
    bz_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_runs_both_and_nests),
        cmocka_unit_test(join_copes_with_work_that_its_first_half_left_behind),
        cmocka_unit_test(for_covers_a_range_exactly_once_in_pieces_of_the_grain),
        cmocka_unit_test(many_threads_may_call_at_once),
        cmocka_unit_test(submitted_items_run_once_on_either_lane),
        cmocka_unit_test(a_finish_callback_may_free_the_item_and_hears_the_status),
        cmocka_unit_test(blocked_io_items_do_not_keep_compute_from_running),
        cmocka_unit_test(waiting_gives_up_at_its_deadline_and_the_item_goes_on),
        cmocka_unit_test(an_item_canceled_while_it_waits_its_turn_is_not_run),
        cmocka_unit_test(bodies_submit_to_their_own_lane_and_to_the_other),
        cmocka_unit_test(freeing_a_pool_runs_what_is_left_also_what_that_submits),
        cmocka_unit_test(statistics_add_up_over_the_workers),
        cmocka_unit_test(the_number_of_threads_is_found_or_refused),
        cmocka_unit_test(threads_persist_from_one_item_to_the_next),
    };

    return cmocka_run_group_tests_name("pool/pool", tests, NULL, NULL);
}
