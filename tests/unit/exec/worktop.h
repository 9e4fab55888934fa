/* worktop.h - a small graph of tasks with scripts, and a store, to run it. */
#ifndef BZ_TEST_EXEC_WORKTOP_H
#define BZ_TEST_EXEC_WORKTOP_H

#include "base/mem.h"
#include "exec/state.h"
#include "os/clock.h"
#include "tests/unit/exec/kitchen.h"

/* Four tasks of two recipes: a:do_x, a:do_y after it, b:do_z after that, which is
 * noexec, and b:do_w after a:do_y. */
enum { X, Y, Z, W, TASKS };

struct worktop {
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
    void *extra; /* a test's own */
    bool hold;   /* likewise */
    struct bz_event_counts counts;
    char told[500];          /* a letter for each event, and its task */
    int64_t saved;           /* by stored results */
    int64_t spared, planned; /* by what is not needed, one by one and in all */
    unsigned unneeded;
};

static inline int worktop_job(void *ctx, uint32_t task, struct bz_arena *a,
                              struct bz_job *out, struct bz_err *err)
{
    struct worktop *b = ctx;

    (void)a;
    (void)err;
    *out = (struct bz_job){.script = bz_str_from(b->scripts[task]),
                           .workdir =
                               task <= Y ? BZ_STR("/bitzel/a") : BZ_STR("/bitzel/b"),
                           .run = b->run,
                           .log = b->log};
    return 0;
}

static inline void worktop_hear(void *ctx, const struct bz_event *e)
{
    static const char letters[] = "pCs.DFe";
    struct worktop *b = ctx;
    size_t n = strlen(b->told);

    if (e->kind == BZ_EVENT_CACHED || e->kind == BZ_EVENT_DONE ||
        e->kind == BZ_EVENT_FAILED)
        snprintf(b->told + n, sizeof(b->told) - n, "%c%u ", letters[e->kind], e->task);
    if (e->kind == BZ_EVENT_DIFFERS)
        snprintf(b->told + n, sizeof(b->told) - n, "!%u ", e->task);
    if (e->kind == BZ_EVENT_CACHED)
        b->saved += e->saved;
    if (e->kind == BZ_EVENT_UNNEEDED) {
        b->spared += e->saved;
        b->unneeded++;
    }
    if (e->kind == BZ_EVENT_PLANNED)
        b->planned = e->saved;
}

/* A machine that is short of memory must not change what tests see. */
static inline void worktop_memory(void *ctx, struct bz_memory *out)
{
    (void)ctx;
    *out = (struct bz_memory){UINT64_MAX, 0};
}

static inline int worktop_setup(void **state)
{
    static const struct bz_dag_edge edges[] = {
        {Y, X},
        {Z, Y},
        {W, Y}
    };
    static const char *const names[] = {"a:do_x", "a:do_y", "b:do_z", "b:do_w"};
    struct worktop *b = calloc(1, sizeof(*b));
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
    b->opts = (struct bz_exec_opts){
        .plan = {.graph = &b->graph,
                 .keys = b->keys,
                 .bases = b->bases,
                 .names = b->names},
        .cache = b->k->cache,
        .store = b->k->store,
        .pool = b->k->pool,
        .jobs = 2,
        .job = worktop_job,
        .job_ctx = b,
        .memory = worktop_memory,
        .event = worktop_hear,
        .event_ctx = b,
        .interrupt_fd = -1
    };
    return 0;
}

static inline int worktop_teardown(void **state)
{
    struct worktop *b = *state;
    void *k = b->k;

    bz_dag_release(&b->graph.dag);
    bz_vec_release(&b->graph.order);
    bz_vec_release(&b->graph.targets);
    free(b);
    return kitchen_teardown(&k);
}

static inline int worktop_run(struct worktop *b)
{
    struct bz_err *err = &b->k->err;
    int rc;

    b->told[0] = '\0';
    b->saved = 0;
    rc = bz_exec_run(&b->opts, &b->counts, err);
    if (strstr(err->msg, "user namespaces do not work") && !getenv("BITZEL_MUST_WORK"))
        skip();
    return rc;
}

/* A build that has not begun, for what works on one. */
static inline void worktop_open(struct worktop *b, struct bz_exec *x)
{
    *x = (struct bz_exec){.o = &b->opts, .counts = &b->counts, .n = TASKS};
    assert_ok(bz_digest_hasher_new(&x->hasher, &b->k->err), &b->k->err);
    x->tasks = bz_mem_array(TASKS, sizeof(*x->tasks));
    bz_cancel_init(&x->cancel, NULL, BZ_CLOCK_NEVER);
    assert_ok(bz_exec_open(x, &b->k->err), &b->k->err);
}

static inline void worktop_close(struct bz_exec *x)
{
    free(x->tasks);
    bz_plan_release(&x->plan);
    bz_lookup_release(&x->lookup);
    bz_map_release(&x->lost);
    bz_bitset_release(&x->ran);
    for (size_t k = 0; k < BZ_EXEC_KINDS; k++)
        bz_vec_release(&x->queues[k].ready);
    bz_digest_hasher_free(x->hasher);
    bz_arena_release(&x->arena);
}

#endif
