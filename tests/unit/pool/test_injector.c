#include "pool/injector.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/bz_test.h"

static void items_come_out_in_the_order_they_went_in(void **state)
{
    struct bz_injector q = {.head = NULL};
    struct bz_work item[3], *w;

    (void)state;
    assert_true(bz_injector_empty(&q));
    assert_null(bz_injector_take(&q));
    assert_true(bz_injector_push(&q, &item[0]));
    assert_false(bz_injector_push(&q, &item[1]));
    assert_false(bz_injector_push(&q, &item[2]));
    assert_false(bz_injector_empty(&q));
    w = bz_injector_take(&q);
    for (int i = 0; i < 3; i++, w = w->next)
        assert_ptr_equal(w, &item[i]);
    assert_null(w);
    assert_true(bz_injector_empty(&q));
    assert_true(bz_injector_push(&q, &item[0]));
}

enum { PRODUCERS = 4, EACH = 5000 };

struct letter {
    struct bz_work work;
    int from, number;
};

struct post {
    struct bz_injector *q;
    struct letter *letter; /* [EACH] */
};

static void *produce(void *arg)
{
    struct post *p = arg;

    for (int i = 0; i < EACH; i++)
        bz_injector_push(p->q, &p->letter[i].work);
    return NULL;
}

static void many_producers_lose_nothing_and_keep_their_own_order(void **state)
{
    struct bz_injector *q = bz_mem_padded(sizeof(*q));
    struct letter *all = bz_mem_array((size_t)PRODUCERS * EACH, sizeof(*all));
    struct post post[PRODUCERS];
    pthread_t thread[PRODUCERS];
    int next[PRODUCERS] = {0}, got = 0;

    (void)state;
    for (int p = 0; p < PRODUCERS; p++) {
        post[p] = (struct post){q, &all[(size_t)p * EACH]};
        for (int i = 0; i < EACH; i++) {
            post[p].letter[i].from = p;
            post[p].letter[i].number = i;
        }
        assert_int_equal(pthread_create(&thread[p], NULL, produce, &post[p]), 0);
    }
    while (got < PRODUCERS * EACH) {
        struct bz_work *w = bz_injector_take(q);

        for (; w; w = w->next, got++) {
            struct letter *l = BZ_CONTAINER(w, struct letter, work);

            assert_int_equal(l->number, next[l->from]);
            next[l->from]++;
        }
    }
    for (int p = 0; p < PRODUCERS; p++)
        pthread_join(thread[p], NULL);
    assert_true(bz_injector_empty(q));
    free(all);
    free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_in_the_order_they_went_in),
        cmocka_unit_test(many_producers_lose_nothing_and_keep_their_own_order),
    };

    return cmocka_run_group_tests_name("pool/injector", tests, NULL, NULL);
}
