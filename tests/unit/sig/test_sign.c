#include "sig/sign.h"

#include "tests/unit/bz_test.h"

/* 3 waits for 1 and 2, both wait for 0; 4 is alone. */
enum { TASKS = 5 };

static const struct bz_dag_edge edges[] = {
    {3, 1},
    {3, 2},
    {1, 0},
    {2, 0}
};

struct signed_graph {
    struct bz_digest base[TASKS], out[TASKS];
};

static void sign(struct signed_graph *g)
{
    struct bz_digest_hasher *h;
    struct bz_dag_ids order = {0};
    struct bz_dag d;
    struct bz_err err;

    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    bz_dag_build(&d, TASKS, edges, BZ_COUNTOF(edges));
    assert_ok(bz_dag_order(&d, &order, &err), &err);
    bz_sign_graph(&d, &order, g->base, h, g->out);
    bz_vec_release(&order);
    bz_dag_release(&d);
    bz_digest_hasher_free(h);
}

static void make(struct signed_graph *g)
{
    for (int i = 0; i < TASKS; i++)
        g->base[i] = (struct bz_digest){{(uint8_t)(i + 1)}};
    sign(g);
}

static void a_change_reaches_what_waits_for_it_and_nothing_else(void **state)
{
    static const bool changes[TASKS][TASKS] = {
        {1, 1, 1, 1, 0},
        {0, 1, 0, 1, 0},
        {0, 0, 1, 1, 0},
        {0, 0, 0, 1, 0},
        {0, 0, 0, 0, 1},
    };
    struct signed_graph was, is;

    (void)state;
    make(&was);
    for (int edited = 0; edited < TASKS; edited++) {
        is = was;
        is.base[edited].b[7] ^= 1;
        sign(&is);
        for (int t = 0; t < TASKS; t++)
            assert_int_equal(!bz_digest_eq(&was.out[t], &is.out[t]),
                             changes[edited][t]);
    }
}

static void equal_inputs_give_equal_signatures(void **state)
{
    struct signed_graph a, b;

    (void)state;
    make(&a);
    make(&b);
    assert_memory_equal(a.out, b.out, sizeof(a.out));
}

static void dependencies_count_as_a_set(void **state)
{
    struct signed_graph a, b;

    (void)state;
    make(&a);
    b = a;
    b.base[1] = a.base[2]; /* 1 and 2 change places; 3 waits for the same two */
    b.base[2] = a.base[1];
    sign(&b);
    assert_true(bz_digest_eq(&a.out[1], &b.out[2]));
    assert_true(bz_digest_eq(&a.out[3], &b.out[3]));
}

static void a_taint_makes_another_base_of_each(void **state)
{
    struct bz_digest one = {{1}}, same = {{1}}, other = {{1}};
    struct bz_digest_hasher *h;
    struct bz_err err;

    (void)state;
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    bz_sign_taint(h, BZ_STR("x"), &one);
    bz_sign_taint(h, BZ_STR("x"), &same);
    bz_sign_taint(h, BZ_STR("y"), &other);
    bz_digest_hasher_free(h);
    assert_true(bz_digest_eq(&one, &same));
    assert_false(bz_digest_eq(&one, &other));
    assert_int_not_equal(one.b[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_reaches_what_waits_for_it_and_nothing_else),
        cmocka_unit_test(equal_inputs_give_equal_signatures),
        cmocka_unit_test(dependencies_count_as_a_set),
        cmocka_unit_test(a_taint_makes_another_base_of_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
