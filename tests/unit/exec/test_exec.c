#include "exec/exec.h"

#include "base/log.h"
#include "tests/unit/exec/kitchen.h"

/* Four tasks of two recipes: a:do_x, a:do_y after it, b:do_z after that, which is
 * noexec, and b:do_w after a:do_y. */
enum { X, Y, Z, W, TASKS };

struct bench {
    struct kitchen *k;
    struct bz_facts facts[2];
    struct bz_facts_task task_facts[TASKS];
    struct bz_tgraph_recipe recipes[3];
    struct bz_tgraph_task tasks[TASKS];
    struct bz_tgraph graph;
    struct bz_digest keys[TASKS], bases[TASKS];
    struct bz_str names[TASKS];
    const char *scripts[TASKS];
    char log[320], run[320];
    struct bz_exec_opts opts;
    struct bz_event_counts counts;
    char told[500]; /* a letter for each event, and its task */
};

static int make_job(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                    struct bz_err *err)
{
    struct bench *b = ctx;

    (void)a;
    (void)err;
    *out = (struct bz_job){.script = bz_str_from(b->scripts[task]),
                           .workdir =
                               task <= Y ? BZ_STR("/bitzel/a") : BZ_STR("/bitzel/b"),
                           .run = b->run,
                           .log = b->log};
    return 0;
}

static void hear(void *ctx, const struct bz_event *e)
{
    static const char letters[] = "pCs.DFe";
    struct bench *b = ctx;
    size_t n = strlen(b->told);

    if (e->kind == BZ_EVENT_CACHED || e->kind == BZ_EVENT_DONE ||
        e->kind == BZ_EVENT_FAILED)
        snprintf(b->told + n, sizeof(b->told) - n, "%c%u ", letters[e->kind], e->task);
}

static int setup(void **state)
{
    static const struct bz_dag_edge edges[] = {
        {Y, X},
        {Z, Y},
        {W, Y}
    };
    static const char *const names[] = {"a:do_x", "a:do_y", "b:do_z", "b:do_w"};
    struct bench *b = calloc(1, sizeof(*b));
    struct bz_err err;
    void *k;

    if (kitchen_setup(&k) < 0)
        return -1;
    *state = b;
    b->k = k;
    snprintf(b->run, sizeof(b->run), "%s/t/run", b->k->scratch->path);
    snprintf(b->log, sizeof(b->log), "%s/t/log", b->k->scratch->path);
    b->facts[0].pn = BZ_STR("a");
    b->facts[1].pn = BZ_STR("b");
    for (uint32_t t = 0; t < TASKS; t++) {
        b->names[t] = bz_str_from(names[t]);
        b->task_facts[t].name = bz_str_drop(b->names[t], 2);
        b->tasks[t] = (struct bz_tgraph_task){&b->task_facts[t], t / 2};
        b->keys[t].b[0] = (uint8_t)(t + 1);
        b->bases[t].b[0] = (uint8_t)(t + 101);
        b->scripts[t] = "true";
    }
    b->task_facts[Z].noexec = true;
    for (uint32_t r = 0; r < 3; r++)
        b->recipes[r] = (struct bz_tgraph_recipe){&b->facts[r % 2], 0, 2 * r};
    b->graph =
        (struct bz_tgraph){.recipes = b->recipes, .nrecipes = 2, .tasks = b->tasks};
    bz_dag_build(&b->graph.dag, TASKS, edges, BZ_COUNTOF(edges));
    assert_ok(bz_dag_order(&b->graph.dag, &b->graph.order, &err), &err);
    BZ_VEC_PUSH(&b->graph.targets, Z);
    BZ_VEC_PUSH(&b->graph.targets, W);
    b->opts = (struct bz_exec_opts){.graph = &b->graph,
                                    .keys = b->keys,
                                    .bases = b->bases,
                                    .names = b->names,
                                    .cache = b->k->cache,
                                    .store = b->k->store,
                                    .pool = b->k->pool,
                                    .jobs = 2,
                                    .job = make_job,
                                    .job_ctx = b,
                                    .event = hear,
                                    .event_ctx = b,
                                    .interrupt_fd = -1};
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    void *k = b->k;

    bz_dag_release(&b->graph.dag);
    bz_vec_release(&b->graph.order);
    bz_vec_release(&b->graph.targets);
    free(b);
    return kitchen_teardown(&k);
}

static int run(struct bench *b)
{
    struct bz_err *err = &b->k->err;
    int rc;

    b->told[0] = '\0';
    rc = bz_exec_run(&b->opts, &b->counts, err);
    if (strstr(err->msg, "user namespaces do not work") && !getenv("BITZEL_MUST_WORK"))
        skip();
    return rc;
}

static void tasks_run_in_order_and_then_not_at_all(void **state)
{
    struct bench *b = *state;

    b->scripts[X] = "mkdir a; echo 1 >a/f; echo 2 >shared";
    b->scripts[Y] = "set -e; test -e a/f; cat shared >>a/f";
    b->scripts[W] = "set -e; test ! -e a/f; test -e shared"; /* of another recipe */
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
    assert_int_equal(b->counts.executed, 3);
    assert_int_equal(b->counts.noexec, 1);
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "C3 C1 ");
    assert_int_equal(b->counts.unneeded, 1);
}

static void a_key_that_changed_runs_but_equal_output_stops_there(void **state)
{
    struct bench *b = *state;

    b->scripts[X] = "echo same >f";
    assert_ok(run(b), &b->k->err);
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = 1; /* all signatures */
    b->bases[X].b[1] = 1;    /* because of this one */
    b->scripts[X] = "printf 'same\\n' >f";
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "D0 C1 C3 ");
    b->keys[X].b[1] = b->bases[X].b[1] = 2;
    for (int t = 0; t < TASKS; t++)
        b->keys[t].b[1] = 2;
    b->scripts[X] = "echo other >f";
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 ");
}

static void a_failure_blocks_what_waits_for_it(void **state)
{
    struct bench *b = *state;

    b->scripts[Y] = "exit 3";
    assert_int_equal(run(b), BZ_E_TASK);
    assert_string_equal(b->told, "D0 F1 ");
    assert_int_equal(b->counts.blocked, 2);
    assert_string_equal(b->k->err.msg, "1 task failed");
    b->scripts[Y] = "true";
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "C0 D1 D3 ");
}

static void a_nostamp_task_and_what_waits_for_it_run_every_time(void **state)
{
    struct bench *b = *state;

    b->task_facts[Y].nostamp = true;
    assert_ok(run(b), &b->k->err);
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "C0 D1 D3 ");
}

static void show(void *ctx, uint32_t task, const char *own, const char *shared)
{
    struct bench *b = ctx;
    size_t n = strlen(b->told);

    snprintf(b->told + n, sizeof(b->told) - n, "t%u%s%s ", task, own ? "o" : "",
             shared ? "s" : "");
}

static void targets_are_shown_and_made_again_if_they_are_gone(void **state)
{
    struct bench *b = *state;

    b->opts.target = show;
    b->opts.target_ctx = b;
    b->scripts[X] = "echo 1 >f";
    b->scripts[W] = "mkdir b; echo 2 >b/g";
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "D0 D1 D3 t2s t3os ");
    kitchen_make(b->k,
                 "test -e store/trees/merged-*/b/g; rm -rf store/trees store/cas/*");
    bz_log_set_level(BZ_LOG_ERROR);
    assert_ok(run(b), &b->k->err);
    assert_non_null(strstr(b->told, "t2s t3os"));
    kitchen_make(b->k, "test -e store/trees/merged-*/b/g");
}

static void what_is_gone_from_the_store_is_made_again(void **state)
{
    struct bench *b = *state;

    b->scripts[X] = "echo 1 >f";
    b->scripts[W] = "exit 1";
    assert_int_equal(run(b), BZ_E_TASK);
    assert_string_equal(b->told, "D0 D1 F3 ");
    kitchen_make(b->k, "rm -rf store/trees store/cas/*");
    b->scripts[W] = "test -e f";
    bz_log_set_level(BZ_LOG_ERROR);
    assert_ok(run(b), &b->k->err);
    assert_string_equal(b->told, "C1 D0 D1 D3 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(tasks_run_in_order_and_then_not_at_all),
        TEST(a_key_that_changed_runs_but_equal_output_stops_there),
        TEST(a_failure_blocks_what_waits_for_it),
        TEST(a_nostamp_task_and_what_waits_for_it_run_every_time),
        TEST(what_is_gone_from_the_store_is_made_again),
        TEST(targets_are_shown_and_made_again_if_they_are_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
