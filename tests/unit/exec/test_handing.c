#include "exec/handing.h"

#include "tests/unit/exec/worktop.h"

static void push(struct bz_output_layers *to, const char *task, uint8_t tree)
{
    struct bz_output_layer layer = {.task = bz_str_from(task)};

    layer.tree.hash.b[0] = tree;
    BZ_VEC_PUSH(to, layer);
}

static void later_tasks_lie_on_top_and_others_see_only_what_is_shared(void **state)
{
    struct worktop *b = *state;
    struct bz_output out;
    struct bz_exec x;

    worktop_open(b, &x);
    push(&x.tasks[Y].output.own, "a:do_x", 1);
    push(&x.tasks[Y].output.shared, "gone:do_it", 2);
    push(&x.tasks[Y].output.shared, "a:do_x", 3);
    push(&x.tasks[Y].output.shared, "a:do_y", 4);
    bz_handing_collect(&x, W, &out);
    assert_int_equal(out.own.len, 0);
    assert_int_equal(out.shared.len, 3);
    assert_int_equal(out.shared.at[0].tree.hash.b[0], 4);
    bz_output_release(&out);
    push(&x.tasks[X].output.own, "a:do_x", 1);
    bz_handing_collect(&x, Y, &out);
    assert_int_equal(out.own.len, 1);
    bz_output_release(&out);
    worktop_close(&x);
}

/* As if other targets had been asked for: then the order of the graph is another. */
static void the_order_of_the_graph_does_not_count(void **state)
{
    struct worktop *b = *state;
    struct bz_output out;
    struct bz_exec x;

    worktop_open(b, &x);
    for (uint32_t reversed = 0; reversed < 2; reversed++) {
        for (uint32_t t = 0; t < TASKS; t++)
            x.tasks[t].rank = reversed ? TASKS - t : t;
        push(&x.tasks[Y].output.shared, "b:do_w", 1); /* two of one level */
        push(&x.tasks[Y].output.shared, "b:do_z", 2);
        push(&x.tasks[Y].output.shared, "a:do_x", 3);
        bz_handing_collect(&x, W, &out);
        assert_int_equal(out.shared.len, 3);
        for (uint8_t i = 0; i < 3; i++)
            assert_int_equal(out.shared.at[i].tree.hash.b[0], i + 1);
        bz_output_release(&out);
        bz_output_release(&x.tasks[Y].output);
    }
    worktop_close(&x);
}

/* Z and Y are what W waits for now; of the tasks a to d nobody here knows anything. */
static void tasks_of_another_graph_stay_in_their_order(void **state)
{
    static const struct bz_dag_edge edges[] = {
        {W, Y},
        {W, Z}
    };
    static const char want[] = "adzbc"; /* b and c have nothing to do with each other */
    struct worktop *b = *state;
    struct bz_output out;
    struct bz_exec x;

    bz_dag_release(&b->graph.dag);
    bz_dag_build(&b->graph.dag, TASKS, edges, BZ_COUNTOF(edges));
    worktop_open(b, &x);
    push(&x.tasks[Y].output.shared, "o:d", 'd');
    push(&x.tasks[Y].output.shared, "o:c", 'c');
    push(&x.tasks[Z].output.shared, "o:a", 'a');
    push(&x.tasks[Z].output.shared, "o:d", 'd');
    push(&x.tasks[Z].output.shared, "b:do_z", 'z');
    push(&x.tasks[Z].output.shared, "o:b", 'b');
    bz_handing_collect(&x, W, &out);
    assert_int_equal(out.shared.len, 5);
    for (size_t i = 0; i < out.shared.len; i++)
        assert_int_equal(out.shared.at[i].tree.hash.b[0], want[i]);
    bz_output_release(&out);
    worktop_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(later_tasks_lie_on_top_and_others_see_only_what_is_shared),
        TEST(the_order_of_the_graph_does_not_count),
        TEST(tasks_of_another_graph_stay_in_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
