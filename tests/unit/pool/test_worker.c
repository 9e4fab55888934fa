#include "pool/worker.h"

#include <string.h>

#include "tests/unit/bz_test.h"

struct fixture {
    struct bz_lane lane;
    struct bz_scope_store store;
};

/* A lane whose threads have ended, so that its workers can be driven by hand. */
static void stopped_lane(struct fixture *f, unsigned limit)
{
    struct bz_err err;

    memset(f, 0, sizeof(*f));
    assert_ok(bz_lane_init(&f->lane, "test", limit, limit, &f->store, &err), &err);
    bz_lane_stop(&f->lane);
}

static void release(struct fixture *f)
{
    bz_lane_release(&f->lane);
    bz_scope_store_release(&f->store);
}

static void work_is_found_in_own_deque_then_main_then_others_then_outside(void **state)
{
    static struct fixture f;
    struct bz_work own = {0}, mains = {0}, others = {0}, injected[2] = {{0}};
    struct bz_worker *me, *other, *main_worker;

    (void)state;
    stopped_lane(&f, 2);
    me = &f.lane.worker[0];
    other = &f.lane.worker[1];
    main_worker = &f.lane.worker[2];
    bz_lane_inject(&f.lane, &injected[0]);
    bz_lane_inject(&f.lane, &injected[1]);
    bz_worker_push(other, &others);
    bz_worker_push(main_worker, &mains);
    bz_worker_push(me, &own);
    assert_true(bz_lane_has_work(&f.lane));
    assert_ptr_equal(bz_worker_find(me), &own);
    assert_ptr_equal(bz_worker_find(me), &mains);
    assert_ptr_equal(bz_worker_find(me), &others);
    assert_ptr_equal(bz_worker_find(me), &injected[0]);
    assert_ptr_equal(bz_worker_find(other), &injected[1]); /* stolen from me */
    assert_null(bz_worker_find(me));
    assert_false(bz_lane_has_work(&f.lane));
    assert_int_equal(atomic_load(&me->stats.stolen), 2);
    assert_int_equal(atomic_load(&me->stats.injected), 2);
    assert_int_equal(atomic_load(&other->stats.stolen), 1);
    release(&f);
}

static void injected_items_are_run_in_the_order_they_came(void **state)
{
    static struct fixture f;
    struct bz_work item[5] = {{0}};

    (void)state;
    stopped_lane(&f, 1);
    for (int i = 0; i < 5; i++)
        bz_lane_inject(&f.lane, &item[i]);
    for (int i = 0; i < 5; i++)
        assert_ptr_equal(bz_worker_find(&f.lane.worker[0]), &item[i]);
    release(&f);
}

struct counted {
    struct bz_work work;
    struct bz_latch *last;
    int *left;
};

static void count_down(struct bz_worker *w, struct bz_work *work)
{
    struct counted *c = BZ_CONTAINER(work, struct counted, work);

    (void)w;
    if (--*c->left == 0)
        bz_latch_set(c->last);
}

static void waiting_for_a_latch_means_working_until_it_is_set(void **state)
{
    static struct fixture f;
    struct bz_worker *me;
    struct counted item[100];
    struct bz_latch latch;
    int left = 100;

    (void)state;
    stopped_lane(&f, 1);
    me = &f.lane.worker[1];
    bz_latch_init(&latch, &f.lane.sleep, me->index);
    for (int i = 0; i < 100; i++) {
        item[i] = (struct counted){
            {count_down, NULL},
            &latch, &left
        };
        bz_worker_push(me, &item[i].work);
    }
    bz_worker_wait(me, &latch);
    assert_int_equal(left, 0);
    assert_int_equal(atomic_load(&me->stats.executed), 100);
    assert_int_equal(bz_sleep_inactive(atomic_load(&f.lane.sleep.counters)), 0);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_found_in_own_deque_then_main_then_others_then_outside),
        cmocka_unit_test(injected_items_are_run_in_the_order_they_came),
        cmocka_unit_test(waiting_for_a_latch_means_working_until_it_is_set),
    };

    return cmocka_run_group_tests_name("pool/worker", tests, NULL, NULL);
}
