#include "exec/running.h"

#include <sys/eventfd.h>

#include "os/clock.h"
#include "tests/unit/exec/worktop.h"

static void a_failure_blocks_what_waits_for_it(void **state)
{
    struct worktop *b = *state;

    b->scripts[Y] = "exit 3";
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "D0 F1 ");
    assert_int_equal(b->counts.blocked, 2);
    assert_string_equal(b->k->err.msg, "1 task failed");
    b->scripts[Y] = "true";
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C0 D1 D3 ");
}

static void hear_starts(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;
    size_t n = strlen(b->told);

    if (e->kind == BZ_EVENT_STARTED)
        snprintf(b->told + n, sizeof(b->told) - n, "s%u ", e->task);
    worktop_hear(ctx, e);
}

static void no_more_tasks_run_at_a_time_than_are_allowed(void **state)
{
    struct worktop *b = *state;

    b->task_facts[Z].noexec = false;
    b->scripts[Z] = b->scripts[W] = "sleep 0.1";
    b->opts.event = hear_starts;
    assert_ok(worktop_run(b), &b->k->err);
    assert_non_null(strstr(b->told, "s0 D0 s1 D1 s2 s3 "));
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = b->bases[t].b[1] = 1;
    b->opts.jobs = 1;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "s0 D0 s1 D1 s2 D2 s3 D3 ");
}

/* Who gets what it made sees something else: that is not their fault. */
static void a_task_that_makes_something_else_of_the_same_is_told(void **state)
{
    struct worktop *b = *state;

    b->scripts[X] = "echo 1 >f";
    b->scripts[Y] = "cat f >g";
    assert_ok(worktop_run(b), &b->k->err);
    b->opts.plan.no_cache = true;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
    b->scripts[X] = "echo 2 >f"; /* with the same signature */
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "!0 D0 D1 D3 ");
}

static void the_longer_chain_goes_first(void **state)
{
    struct worktop *b = *state;

    b->task_facts[Z].noexec = false;
    b->opts.event = hear_starts;
    b->opts.jobs = 1;
    for (uint32_t slow = Z; slow <= W; slow++) {
        for (int t = 0; t < TASKS; t++)
            b->keys[t].b[1] = b->bases[t].b[1] = (uint8_t)slow;
        bz_index_note_cost(bz_cache_index(b->k->cache),
                           &(struct bz_index_task){.recipe = BZ_STR("b"),
                                                   .task = b->task_facts[slow].name},
                           &(struct bz_index_cost){(int64_t)90000000000, 0});
        assert_ok(bz_index_flush(bz_cache_index(b->k->cache), &b->k->err), &b->k->err);
        assert_ok(worktop_run(b), &b->k->err);
        assert_string_equal(b->told, slow == Z ? "s0 D0 s1 D1 s2 D2 s3 D3 "
                                               : "s0 D0 s1 D1 s3 D3 s2 D2 ");
    }
}

/* Z waits for nothing now, and for long enough that Y could start beside it. */
static void waves_end_before_the_next_begins(void **state)
{
    static const struct bz_dag_edge edges[] = {
        {Y, X},
        {W, Y}
    };
    struct worktop *b = *state;

    bz_dag_release(&b->graph.dag);
    bz_vec_release(&b->graph.order);
    bz_dag_build(&b->graph.dag, TASKS, edges, BZ_COUNTOF(edges));
    assert_ok(bz_dag_order(&b->graph.dag, &b->graph.order, &b->k->err), &b->k->err);
    b->task_facts[Z].noexec = false;
    b->scripts[Z] = "sleep 0.3";
    b->opts.event = hear_starts;
    b->opts.waves = true;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "s0 s2 D0 D2 s1 D1 s3 D3 ");
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = b->bases[t].b[1] = 1;
    b->opts.waves = false;
    assert_ok(worktop_run(b), &b->k->err);
    assert_non_null(strstr(b->told, "D0 s1 "));
}

/* All wait for nothing, and the second of two at a time takes longer than the others.
 */
static void the_next_starts_before_the_last_is_filed(void **state)
{
    struct worktop *b = *state;

    bz_dag_release(&b->graph.dag);
    bz_vec_release(&b->graph.order);
    bz_dag_build(&b->graph.dag, TASKS, NULL, 0);
    BZ_VEC_PUSH(&b->graph.targets, X);
    BZ_VEC_PUSH(&b->graph.targets, Y);
    assert_ok(bz_dag_order(&b->graph.dag, &b->graph.order, &b->k->err), &b->k->err);
    b->task_facts[Z].noexec = false;
    b->scripts[Y] = "sleep 1";
    b->opts.event = hear_starts;
    assert_ok(worktop_run(b), &b->k->err);
    assert_ptr_equal(strstr(b->told, "s0 s1 s2 D0 "), b->told);
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = b->bases[t].b[1] = 1;
    b->scripts[X] = "exit 1"; /* then there is no next */
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_ptr_equal(strstr(b->told, "s0 s1 F0 "), b->told);
    assert_null(strstr(b->told, "s2"));
}

static void hear_plan(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;
    size_t n = strlen(b->told);

    if (e->kind != BZ_EVENT_STARTED && e->kind != BZ_EVENT_ENDED)
        return;
    if (e->kind == BZ_EVENT_STARTED)
        assert_string_equal(e->log, b->log);
    snprintf(b->told + n, sizeof(b->told) - n, "%u:%d/%d/%d ", e->task, (int)e->expect,
             (int)e->ahead, (int)e->work);
}

static void a_start_tells_the_log_and_how_long_it_may_take(void **state)
{
    struct worktop *b = *state;
    struct bz_index *index = bz_cache_index(b->k->cache);

    b->opts.event = hear_plan;
    bz_index_note_cost(
        index, &(struct bz_index_task){.recipe = BZ_STR("a"), .task = BZ_STR("do_x")},
        &(struct bz_index_cost){3, 0});
    assert_ok(bz_index_flush(index, &b->k->err), &b->k->err);
    b->scripts[X] = "false";
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "0:3/9/-1 0:0/0/-1 "); /* of one in three: a guess */
    bz_index_note_cost(
        index, &(struct bz_index_task){.recipe = BZ_STR("a"), .task = BZ_STR("do_y")},
        &(struct bz_index_cost){5, 0});
    assert_ok(bz_index_flush(index, &b->k->err), &b->k->err);
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "0:3/12/12 0:0/0/0 "); /* what is blocked is no work */
}

/* What W is handed came from a:do_x, and then comes from c:do_x, with other names. */
static void a_result_found_by_content_names_the_tasks_of_this_graph(void **state)
{
    struct worktop *b = *state;
    struct bz_digest_hasher *hasher;
    struct bz_reapi_result result;
    struct bz_output out;
    struct bz_arena arena = {0};

    b->scripts[X] = "echo 1 >f";
    b->scripts[Y] = "echo 2 >f";
    b->scripts[W] = "cat f >g; mkdir b; cp g b";
    assert_ok(worktop_run(b), &b->k->err);
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = 1;
    b->bases[X].b[1] = b->bases[Y].b[1] = 1;
    b->names[X] = BZ_STR("c:do_x");
    b->names[Y] = BZ_STR("c:do_y");
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 C3 ");
    assert_ok(bz_digest_hasher_new(&hasher, &b->k->err), &b->k->err);
    assert_ok(
        bz_cache_get(b->k->cache, hasher, &b->keys[W], &arena, &result, &b->k->err),
        &b->k->err);
    assert_ok(bz_output_read(&out, &result, &b->k->err), &b->k->err);
    assert_int_equal(out.own.len, 1);
    assert_true(bz_str_eq(out.own.at[0].task, BZ_STR("b:do_w")));
    assert_int_equal(out.shared.len, 3);
    assert_true(bz_str_eq(out.shared.at[0].task, BZ_STR("b:do_w")));
    assert_true(bz_str_eq(out.shared.at[1].task, BZ_STR("c:do_y")));
    assert_true(bz_str_eq(out.shared.at[2].task, BZ_STR("c:do_x")));
    bz_output_release(&out);
    bz_digest_hasher_free(hasher);
    bz_arena_release(&arena);
}

static void little_memory(void *ctx, struct bz_memory *out)
{
    (void)ctx;
    *out = (struct bz_memory){100 << 20, 0};
}

static void need(struct worktop *b, uint32_t t, uint64_t mib)
{
    bz_index_note_cost(
        bz_cache_index(b->k->cache),
        &(struct bz_index_task){.recipe = BZ_STR("b"), .task = b->task_facts[t].name},
        &(struct bz_index_cost){1, mib << 20});
    assert_ok(bz_index_flush(bz_cache_index(b->k->cache), &b->k->err), &b->k->err);
}

static void tasks_that_need_too_much_together_run_one_after_another(void **state)
{
    struct worktop *b = *state;

    b->task_facts[Z].noexec = false;
    b->scripts[Z] = b->scripts[W] = "sleep 0.1";
    b->opts.event = hear_starts;
    b->opts.memory = little_memory;
    need(b, Z, 60);
    need(b, W, 60);
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "s0 D0 s1 D1 s2 D2 s3 D3 ");
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = b->bases[t].b[1] = 1;
    need(b, Z, 60);
    need(b, W, 30);
    assert_ok(worktop_run(b), &b->k->err);
    assert_non_null(strstr(b->told, "s2 s3 "));
}

static void hear_memory(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;
    size_t n = strlen(b->told);

    if (e->kind == BZ_EVENT_DONE)
        snprintf(b->told + n, sizeof(b->told) - n, "%u ", (unsigned)(e->memory >> 20));
}

static void the_peak_of_a_task_is_its_own_and_not_ours(void **state)
{
    enum { MIB = 1 << 20, OURS = 64 };
    struct worktop *b = *state;
    char *ours = malloc((size_t)OURS * MIB);
    unsigned small = 0, large = 0;

    assert_non_null(ours);
    memset(ours, 1, (size_t)OURS * MIB);
    b->opts.event = hear_memory;
    b->scripts[X] = "true";
    b->scripts[W] = "head -c 40000000 /dev/zero | tail -c 39000000 | wc -c";
    assert_ok(worktop_run(b), &b->k->err);
    assert_int_equal(sscanf(b->told, "%u %*u %u", &small, &large), 2);
    assert_true(small < 16);
    assert_true(large >= 37 && large < 60);
    free(ours);
}

static int slow_job(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                    struct bz_err *err)
{
    int rc = worktop_job(ctx, task, a, out, err);

    out->timeout = 50 * BZ_CLOCK_MS;
    return rc;
}

static void hear_timeout(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;

    worktop_hear(ctx, e);
    if (e->kind == BZ_EVENT_FAILED)
        snprintf(b->told, sizeof(b->told), "%d ms, signal %d, exit %d",
                 (int)(e->timeout / BZ_CLOCK_MS), e->signal, e->exit_code);
}

static void a_task_that_takes_too_long_is_stopped_and_has_failed(void **state)
{
    struct worktop *b = *state;

    b->opts.job = slow_job;
    b->opts.event = hear_timeout;
    b->scripts[X] = "sleep 60";
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    assert_string_equal(b->told, "50 ms, signal 15, exit -1");
    b->scripts[X] = "trap 'exit 0' TERM; sleep 60 & wait";
    assert_int_equal(worktop_run(b), BZ_E_TASK);
    /* On a busy machine the signal may come before the trap. */
    assert_true(strcmp(b->told, "50 ms, signal 0, exit -1") == 0 ||
                strcmp(b->told, "50 ms, signal 15, exit -1") == 0);
}

static void interrupt(void *ctx)
{
    struct worktop *b = ctx;

    if (strlen(b->told) < 2) /* where nobody reads the descriptor there may be more */
        strcat(b->told, "i");
}

/* Interrupts when a task has run for a while. */
static void interrupt_late(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;
    const uint64_t one = 1;

    if (e->kind == BZ_EVENT_TICK)
        assert_int_equal(write(b->opts.interrupt_fd, &one, sizeof(one)), sizeof(one));
}

static void what_has_not_begun_does_not_begin_after_an_interrupt(void **state)
{
    struct worktop *b = *state;

    b->opts.interrupt_fd = eventfd(1, EFD_CLOEXEC);
    b->opts.interrupt = interrupt;
    b->opts.interrupt_ctx = b;
    assert_int_equal(worktop_run(b), BZ_E_CANCELED);
    assert_string_equal(b->told, "i");
    close(b->opts.interrupt_fd);
}

/* That nothing is left of it is for the sanitizers to see. */
static void what_runs_is_killed_at_the_second_interrupt(void **state)
{
    struct worktop *b = *state;

    b->scripts[X] = "trap '' TERM; sleep 9";
    b->opts.interrupt_fd =
        eventfd(0, EFD_CLOEXEC); /* nobody reads it: again and again */
    b->opts.event = interrupt_late;
    b->opts.tick = 300 * BZ_CLOCK_MS;
    b->opts.interrupt = interrupt;
    b->opts.interrupt_ctx = b;
    assert_int_equal(worktop_run(b), BZ_E_CANCELED);
    assert_string_equal(b->told, "ii");
    close(b->opts.interrupt_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(a_failure_blocks_what_waits_for_it),
        TEST(no_more_tasks_run_at_a_time_than_are_allowed),
        TEST(a_task_that_makes_something_else_of_the_same_is_told),
        TEST(the_longer_chain_goes_first),
        TEST(tasks_that_need_too_much_together_run_one_after_another),
        TEST(the_peak_of_a_task_is_its_own_and_not_ours),
        TEST(a_task_that_takes_too_long_is_stopped_and_has_failed),
        TEST(waves_end_before_the_next_begins),
        TEST(the_next_starts_before_the_last_is_filed),
        TEST(a_start_tells_the_log_and_how_long_it_may_take),
        TEST(what_has_not_begun_does_not_begin_after_an_interrupt),
        TEST(what_runs_is_killed_at_the_second_interrupt),
        TEST(a_result_found_by_content_names_the_tasks_of_this_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
