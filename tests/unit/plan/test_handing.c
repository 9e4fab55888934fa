#include "plan/handing.h"

#include "tests/unit/plan/small_plan.h"

/* As small_setup, but 1 and 2 are of one recipe. */
static int setup(void **state)
{
    struct small_plan *s;

    if (small_setup(state) < 0)
        return -1;
    s = *state;
    s->tasks[2].recipe = 1;
    small_make(s);
    bz_plan_link(&s->plan);
    return 0;
}

static void push(struct bz_output_layers *to, const char *task, uint8_t tree)
{
    struct bz_output_layer layer = {.task = bz_str_from(task)};

    layer.tree.hash.b[0] = tree;
    BZ_VEC_PUSH(to, layer);
}

static void later_tasks_lie_on_top_and_others_see_only_what_is_shared(void **state)
{
    struct small_plan *s = *state;
    struct bz_output out;

    push(&s->plan.tasks[3].output.own, "r4:do_it", 1);
    push(&s->plan.tasks[3].output.shared, "gone:do_it", 2);
    push(&s->plan.tasks[3].output.shared, "r4:do_it", 3);
    push(&s->plan.tasks[3].output.shared, "r3:do_it", 4);
    bz_handing_collect(&s->plan, 1, &out);
    assert_int_equal(out.own.len, 0);
    assert_int_equal(out.shared.len, 3);
    assert_int_equal(out.shared.at[0].tree.hash.b[0], 4);
    bz_output_release(&out);
    push(&s->plan.tasks[2].output.own, "r2:do_it", 1);
    bz_handing_collect(&s->plan, 1, &out);
    assert_int_equal(out.own.len, 1);
    bz_output_release(&out);
}

/* As if other targets had been asked for: then the order of the graph is another. */
static void the_order_of_the_graph_does_not_count(void **state)
{
    struct small_plan *s = *state;
    struct bz_output out;

    for (uint32_t reversed = 0; reversed < 2; reversed++) {
        for (uint32_t t = 0; t < s->plan.n; t++)
            s->plan.tasks[t].rank = reversed ? s->plan.n - t : t;
        push(&s->plan.tasks[3].output.shared, "r3:do_it", 1);
        push(&s->plan.tasks[3].output.shared, "r2:do_it", 2); /* two of one level */
        push(&s->plan.tasks[3].output.shared, "r4:do_it", 3);
        bz_handing_collect(&s->plan, 1, &out);
        assert_int_equal(out.shared.len, 3);
        for (uint8_t i = 0; i < 3; i++)
            assert_int_equal(out.shared.at[i].tree.hash.b[0], i + 1);
        bz_output_release(&out);
        bz_output_release(&s->plan.tasks[3].output);
    }
}

/* Of the tasks o:a to o:d nobody here knows anything. */
static void tasks_of_another_graph_stay_in_their_order(void **state)
{
    static const char want[] = "adzbc"; /* b and c have nothing to do with each other */
    struct small_plan *s = *state;
    struct bz_output out;

    push(&s->plan.tasks[2].output.shared, "o:d", 'd');
    push(&s->plan.tasks[2].output.shared, "o:c", 'c');
    push(&s->plan.tasks[3].output.shared, "o:a", 'a');
    push(&s->plan.tasks[3].output.shared, "o:d", 'd');
    push(&s->plan.tasks[3].output.shared, "r4:do_it", 'z');
    push(&s->plan.tasks[3].output.shared, "o:b", 'b');
    bz_handing_collect(&s->plan, 1, &out);
    assert_int_equal(out.shared.len, 5);
    for (size_t i = 0; i < out.shared.len; i++)
        assert_int_equal(out.shared.at[i].tree.hash.b[0], want[i]);
    bz_output_release(&out);
}

static void a_content_key_is_of_the_task_and_the_trees_in_order(void **state)
{
    struct small_plan *s = *state;
    struct bz_output ab = {0}, ba = {0};
    struct bz_digest key, other;

    push(&ab.shared, "r2:do_it", 'a');
    push(&ab.shared, "r3:do_it", 'b');
    push(&ba.shared, "r2:do_it", 'b');
    push(&ba.shared, "r3:do_it", 'a');
    bz_handing_sign(&s->plan, 1, &ab, &key);
    bz_handing_sign(&s->plan, 1, &ba, &other);
    assert_false(bz_digest_eq(&key, &other));
    bz_handing_sign(&s->plan, 2, &ab, &other);
    assert_false(bz_digest_eq(&key, &other));
    ab.shared.at[0].task = BZ_STR("r4:do_it"); /* names do not count */
    bz_handing_sign(&s->plan, 1, &ab, &other);
    assert_true(bz_digest_eq(&key, &other));
    bz_output_release(&ab);
    bz_output_release(&ba);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, small_teardown)
        TEST(later_tasks_lie_on_top_and_others_see_only_what_is_shared),
        TEST(the_order_of_the_graph_does_not_count),
        TEST(tasks_of_another_graph_stay_in_their_order),
        TEST(a_content_key_is_of_the_task_and_the_trees_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
