#include "pool/lane.h"

#include <sched.h>
#include <string.h>

#include "pool/scope.h"
#include "pool/worker.h"
#include "tests/unit/bz_test.h"

struct fixture {
    struct bz_lane lane;
    struct bz_scope_store store;
};

static void start(struct fixture *f, unsigned limit, unsigned eager)
{
    struct bz_err err;

    memset(f, 0, sizeof(*f));
    assert_ok(bz_lane_init(&f->lane, "test", limit, eager, &f->store, &err), &err);
}

static void stop(struct fixture *f)
{
    bz_lane_stop(&f->lane);
    bz_lane_release(&f->lane);
    bz_scope_store_release(&f->store);
}

/* Work that blocks until it is let go, and how many do so at once. */
struct crowd {
    atomic_int inside, most, done;
    atomic_bool let_go;
};

struct blocker {
    struct bz_work work;
    struct crowd *crowd;
};

static void block(struct bz_worker *w, struct bz_work *work)
{
    struct crowd *c = BZ_CONTAINER(work, struct blocker, work)->crowd;
    int inside = atomic_fetch_add(&c->inside, 1) + 1;
    int most = atomic_load(&c->most);

    (void)w;
    while (inside > most && !atomic_compare_exchange_weak(&c->most, &most, inside))
        ;
    while (!atomic_load(&c->let_go))
        sched_yield();
    atomic_fetch_sub(&c->inside, 1);
    atomic_fetch_add(&c->done, 1);
}

static void threads_start_on_demand_up_to_the_limit(void **state)
{
    static struct fixture f;
    struct crowd crowd = {0};
    struct blocker item[10];

    (void)state;
    start(&f, 4, 1);
    assert_int_equal(atomic_load(&f.lane.started), 1);
    for (int i = 0; i < 10; i++) {
        item[i] = (struct blocker){
            {block, NULL},
            &crowd
        };
        bz_lane_inject(&f.lane, &item[i].work);
    }
    while (atomic_load(&crowd.inside) < 4)
        sched_yield();
    assert_int_equal(atomic_load(&f.lane.started), 4);
    atomic_store(&crowd.let_go, true);
    while (atomic_load(&crowd.done) < 10)
        sched_yield();
    assert_int_equal(atomic_load(&crowd.most), 4);
    stop(&f);
}

struct spawner {
    struct bz_work work;
    struct blocker *item;
};

/* Pushes onto the deque of the worker it runs on, and stays busy like the others. */
static void spawn_blockers(struct bz_worker *w, struct bz_work *work)
{
    struct spawner *s = BZ_CONTAINER(work, struct spawner, work);

    for (int i = 1; i < 4; i++)
        bz_worker_push(w, &s->item[i].work);
    block(w, &s->item[0].work);
}

static void work_pushed_by_a_busy_worker_brings_in_more_threads(void **state)
{
    static struct fixture f;
    struct crowd crowd = {0};
    struct blocker item[4];
    struct spawner spawner = {
        {spawn_blockers, NULL},
        item
    };

    (void)state;
    start(&f, 4, 1);
    for (int i = 0; i < 4; i++)
        item[i] = (struct blocker){
            {block, NULL},
            &crowd
        };
    bz_lane_inject(&f.lane, &spawner.work);
    while (atomic_load(&crowd.inside) < 4) /* for ever, if they waited for the first */
        sched_yield();
    atomic_store(&crowd.let_go, true);
    while (atomic_load(&crowd.done) < 4)
        sched_yield();
    stop(&f);
}

static void one_thread_at_a_time_is_the_main_worker(void **state)
{
    static struct fixture f;
    struct bz_worker *w;

    (void)state;
    start(&f, 1, 1);
    w = bz_lane_enter(&f.lane);
    assert_non_null(w);
    assert_int_equal(w->index, 1);
    assert_null(bz_lane_enter(&f.lane));
    bz_lane_leave(&f.lane, w);
    assert_ptr_equal(bz_lane_enter(&f.lane), w);
    bz_lane_leave(&f.lane, w);
    stop(&f);
}

/* Work is handed to workers that have had every chance to fall asleep. */
static void a_sleeping_lane_is_woken_by_every_single_item(void **state)
{
    static struct fixture f;

    (void)state;
    start(&f, 2, 2);
    for (int i = 0; i < 2000; i++) {
        struct crowd crowd = {.let_go = true};
        struct blocker item = {
            {block, NULL},
            &crowd
        };

        if (i % 4 == 0)
            while (bz_sleep_sleeping(atomic_load(&f.lane.sleep.counters)) < 2)
                sched_yield();
        bz_lane_inject(&f.lane, &item.work);
        while (atomic_load(&crowd.done) == 0)
            sched_yield();
    }
    assert_true(atomic_load(&f.lane.outside_wakes) >= 500);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_start_on_demand_up_to_the_limit),
        cmocka_unit_test(work_pushed_by_a_busy_worker_brings_in_more_threads),
        cmocka_unit_test(one_thread_at_a_time_is_the_main_worker),
        cmocka_unit_test(a_sleeping_lane_is_woken_by_every_single_item),
    };

    return cmocka_run_group_tests_name("pool/lane", tests, NULL, NULL);
}
