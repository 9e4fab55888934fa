#include "exec/queue.h"

#include <stdlib.h>

#include "tests/unit/bz_test.h"

static void each_rule_counts_where_those_before_it_do_not_decide(void **state)
{
    static const struct bz_queue_item in_order[] = {
        {true,  9, 1, 7, 0}, /* takes no time */
        {true,  9, 1, 8, 1},
        {false, 0, 5, 9, 2}, /* an earlier wave */
        {false, 1, 6, 4, 3}, /* more to come */
        {false, 1, 5, 2, 4}, /* earlier in the graph */
        {false, 1, 5, 3, 5},
    };
    struct bz_queue q = {0};

    (void)state;
    for (size_t first = 0; first < BZ_COUNTOF(in_order); first++) {
        for (size_t i = 0; i < BZ_COUNTOF(in_order); i++)
            bz_queue_push(&q, &in_order[(first + 5 * i) % BZ_COUNTOF(in_order)]);
        for (size_t i = 0; i < BZ_COUNTOF(in_order); i++) {
            assert_int_equal(bz_queue_peek(&q)->task, i);
            bz_queue_pop(&q);
        }
        assert_int_equal(q.len, 0);
    }
    bz_vec_release(&q);
}

static void many_come_out_sorted_however_they_go_in(void **state)
{
    enum { MANY = 500 };
    uint32_t seed = 1;
    struct bz_queue q = {0};

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        seed = seed * 1664525 + 1013904223;
        bz_queue_push(&q, &(struct bz_queue_item){
                              .ahead = (seed >> 16) % 50, .rank = i, .task = i});
        if (i % 3 == 2)
            bz_queue_pop(&q);
    }
    while (q.len > 1) {
        struct bz_queue_item a = *bz_queue_peek(&q), b;

        bz_queue_pop(&q);
        b = *bz_queue_peek(&q);
        assert_true(a.ahead > b.ahead || (a.ahead == b.ahead && a.rank < b.rank));
    }
    bz_vec_release(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_counts_where_those_before_it_do_not_decide),
        cmocka_unit_test(many_come_out_sorted_however_they_go_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
