#include "pool/deque.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/bz_test.h"

static void owner_pops_newest_first_thieves_take_oldest_first(void **state)
{
    struct bz_work item[4];
    struct bz_deque d;
    bool retry = false;

    (void)state;
    bz_deque_init(&d, false);
    assert_null(bz_deque_pop(&d));
    assert_null(bz_deque_steal(&d, &retry));
    for (int i = 0; i < 4; i++)
        bz_deque_push(&d, &item[i]);
    assert_int_equal(bz_deque_len(&d), 4);
    assert_ptr_equal(bz_deque_steal(&d, &retry), &item[0]);
    assert_ptr_equal(bz_deque_pop(&d), &item[3]);
    assert_ptr_equal(bz_deque_steal(&d, &retry), &item[1]);
    assert_ptr_equal(bz_deque_pop(&d), &item[2]);
    assert_null(bz_deque_pop(&d));
    assert_null(bz_deque_steal(&d, &retry));
    assert_int_equal(bz_deque_len(&d), 0);
    assert_false(retry);
    bz_deque_release(&d);
}

static void growing_keeps_every_item_in_order(void **state)
{
    enum { N = 10000 };
    struct bz_work *item = bz_mem_array(N, sizeof(*item));
    struct bz_deque d;
    bool retry = false;

    (void)state;
    bz_deque_init(&d, false);
    /* Off zero first, so that the ring's seam lies inside what is copied. */
    for (int i = 0; i < 100; i++) {
        bz_deque_push(&d, &item[0]);
        assert_ptr_equal(bz_deque_steal(&d, &retry), &item[0]);
    }
    for (int i = 0; i < N; i++)
        bz_deque_push(&d, &item[i]);
    for (int i = 0; i < N / 2; i++)
        assert_ptr_equal(bz_deque_steal(&d, &retry), &item[i]);
    for (int i = N - 1; i >= N / 2; i--)
        assert_ptr_equal(bz_deque_pop(&d), &item[i]);
    assert_null(bz_deque_pop(&d));
    bz_deque_release(&d);
    free(item);
}

struct marked {
    struct bz_work work;
    int payload; /* plain: a missing happens-before edge is a race TSan reports */
    atomic_int taken;
};

struct raid {
    struct bz_deque d;
    struct marked *item;
    atomic_bool over;
    atomic_int wrong_payload;
};

static void take(struct raid *r, struct bz_work *work)
{
    struct marked *m = BZ_CONTAINER(work, struct marked, work);

    if (m->payload != (int)(m - r->item))
        atomic_fetch_add(&r->wrong_payload, 1);
    atomic_fetch_add_explicit(&m->taken, 1, memory_order_relaxed);
}

static void *thief(void *arg)
{
    struct raid *r = arg;

    while (!atomic_load(&r->over) || bz_deque_len(&r->d) > 0) {
        bool retry = false;
        struct bz_work *work = bz_deque_steal(&r->d, &retry);

        if (work)
            take(r, work);
    }
    return NULL;
}

static void each_item_is_taken_once_by_owner_or_thief(bool fenced)
{
    enum { N = 60000, THIEVES = 3 };
    struct raid *r = bz_mem_padded(sizeof(*r));
    pthread_t thread[THIEVES];
    struct bz_work *work;

    r->item = bz_mem_array(N, sizeof(*r->item));
    bz_deque_init(&r->d, fenced);
    for (int i = 0; i < THIEVES; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, thief, r), 0);
    for (int i = 0; i < N; i++) {
        r->item[i].payload = i;
        bz_deque_push(&r->d, &r->item[i].work);
        /* Short and long queues, so that the last-item race happens often. */
        if (i % 3 == 0 && (work = bz_deque_pop(&r->d)))
            take(r, work);
        if (i % 1000 == 999)
            while ((work = bz_deque_pop(&r->d)))
                take(r, work);
    }
    while ((work = bz_deque_pop(&r->d)))
        take(r, work);
    atomic_store(&r->over, true);
    for (int i = 0; i < THIEVES; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&r->wrong_payload), 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(atomic_load(&r->item[i].taken), 1);
    bz_deque_release(&r->d);
    free(r->item);
    free(r);
}

static void each_item_is_taken_once_with_plain_pushes(void **state)
{
    (void)state;
    each_item_is_taken_once_by_owner_or_thief(false);
}

static void each_item_is_taken_once_with_fenced_pushes(void **state)
{
    (void)state;
    each_item_is_taken_once_by_owner_or_thief(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owner_pops_newest_first_thieves_take_oldest_first),
        cmocka_unit_test(growing_keeps_every_item_in_order),
        cmocka_unit_test(each_item_is_taken_once_with_plain_pushes),
        cmocka_unit_test(each_item_is_taken_once_with_fenced_pushes),
    };

    return cmocka_run_group_tests_name("pool/deque", tests, NULL, NULL);
}
