#include "jobs/ring.h"

#include "base/mem.h"
#include "tests/unit/jobs/crowd.h"

static void what_goes_in_comes_out_in_order(void **state)
{
    struct bz_ring r;
    int items[8];

    (void)state;
    bz_ring_init(&r, 5); /* rounded up to 8 */
    assert_null(bz_ring_pop(&r));
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 8; i++)
            assert_true(bz_ring_push(&r, &items[i]));
        assert_false(bz_ring_push(&r, &items[0]));
        assert_int_equal(bz_ring_len(&r), 8);
        for (int i = 0; i < 8; i++)
            assert_ptr_equal(bz_ring_pop(&r), &items[i]);
        assert_null(bz_ring_pop(&r));
    }
    bz_ring_release(&r);
}

static bool push(void *ring, void *item)
{
    return bz_ring_push(ring, item);
}

static void *pop(void *ring)
{
    return bz_ring_pop(ring);
}

static void everything_comes_out_exactly_once(void **state)
{
    struct bz_ring *r = bz_mem_padded(sizeof(*r));

    (void)state;
    bz_ring_init(r, 64);
    crowd_run(r, push, pop);
    bz_ring_release(r);
    free(r);
}

static void without_memory_there_is_no_ring(void **state)
{
    struct bz_ring r;
    int item;

    (void)state;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which abort */
    /* More than can be addressed. */
    assert_false(bz_ring_try_init(&r, (size_t)1 << 60));
#endif
    assert_true(bz_ring_try_init(&r, 3));
    for (int i = 0; i < 4; i++)
        assert_true(bz_ring_push(&r, &item));
    assert_false(bz_ring_push(&r, &item));
    assert_ptr_equal(bz_ring_pop(&r), &item);
    bz_ring_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_there_is_no_ring),
        cmocka_unit_test(what_goes_in_comes_out_in_order),
        cmocka_unit_test(everything_comes_out_exactly_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
