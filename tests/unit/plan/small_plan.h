/* small_plan.h - a graph of tasks to plan, and results that are only said to be stored.
 */
#ifndef BZ_TEST_PLAN_SMALL_PLAN_H
#define BZ_TEST_PLAN_SMALL_PLAN_H

#include <stdio.h>

#include "plan/plan.h"
#include "tests/unit/graph/random_dag.h"

enum { SMALL_MAX = 24, SMALL_STORED = 256 };

/* What is stored: a key, and the tree that the task wrote. */
struct small_stored {
    struct bz_digest key;
    struct bz_reapi_result result;
};

struct small_plan {
    struct bz_facts facts[SMALL_MAX];
    struct bz_facts_task task_facts[SMALL_MAX];
    struct bz_tgraph_recipe recipes[SMALL_MAX + 1];
    struct bz_tgraph_task tasks[SMALL_MAX];
    struct bz_tgraph graph;
    struct bz_digest keys[SMALL_MAX], bases[SMALL_MAX];
    struct bz_str names[SMALL_MAX];
    char text[SMALL_MAX][24];
    struct bz_plan_in in;
    struct bz_plan plan;
    struct bz_plan_store store;
    struct small_stored stored[SMALL_STORED];
    size_t nstored, asked, rounds;
    size_t near; /* of the asked: not of remote caches */
    struct bz_arena arena;
};

static inline void small_ask(void *ctx, struct bz_plan_ask *at, size_t n)
{
    struct small_plan *s = ctx;

    s->rounds++;
    s->asked += n;
    for (size_t i = 0; i < n; i++)
        s->near += at[i].near;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s->nstored; k++)
            if (bz_digest_eq(&s->stored[k].key, &at[i].key)) {
                at[i].found = true;
                at[i].result = s->stored[k].result;
            }
}

/* Each task is the only one of its recipe. The graph's dag and order are taken. */
static inline void small_init(struct small_plan *s, struct bz_dag *dag,
                              struct bz_dag_ids *order)
{
    *s = (struct small_plan){
        .graph = {.recipes = s->recipes,
                  .nrecipes = dag->n,
                  .tasks = s->tasks,
                  .dag = *dag,
                  .order = *order}
    };
    for (uint32_t t = 0; t < dag->n; t++) {
        snprintf(s->text[t], sizeof(s->text[t]), "r%u:do_it", t);
        s->names[t] = bz_str_from(s->text[t]);
        s->tasks[t] = (struct bz_tgraph_task){&s->task_facts[t], t};
        s->recipes[t] = (struct bz_tgraph_recipe){&s->facts[t], 0, t};
        s->keys[t].b[0] = (uint8_t)(t + 1);
        s->bases[t].b[0] = (uint8_t)(t + 101);
    }
    *dag = (struct bz_dag){0};
    *order = (struct bz_dag_ids){0};
    s->in = (struct bz_plan_in){
        .graph = &s->graph, .keys = s->keys, .bases = s->bases, .names = s->names};
    s->store = (struct bz_plan_store){.ask = small_ask, .ctx = s};
}

static inline void small_release(struct small_plan *s)
{
    bz_plan_release(&s->plan);
    bz_dag_release(&s->graph.dag);
    bz_vec_release(&s->graph.order);
    bz_vec_release(&s->graph.targets);
    bz_arena_release(&s->arena);
}

static inline void small_make(struct small_plan *s)
{
    struct bz_err err;

    bz_plan_release(&s->plan);
    s->asked = s->rounds = s->near = 0;
    assert_ok(bz_plan_open(&s->plan, &s->in, &err), &err);
    bz_plan_make(&s->plan, &s->store);
}

/* Says that an output is stored under the key. */
static inline void small_put(struct small_plan *s, const struct bz_digest *key,
                             const struct bz_output *out)
{
    struct small_stored *it = &s->stored[s->nstored++];

    assert_true(s->nstored < SMALL_STORED);
    it->key = *key;
    it->result = (struct bz_reapi_result){0};
    bz_output_write(out, &s->arena, &it->result);
}

/* A shared layer that the task itself wrote. */
static inline void small_layer(struct small_plan *s, struct bz_output *out, uint32_t t,
                               uint8_t tree)
{
    struct bz_output_layer layer = {.task = s->names[t]};

    layer.tree.hash.b[0] = tree;
    BZ_VEC_PUSH(&out->shared, layer);
}

/* Says that the task, without dependencies, has written the tree. */
static inline void small_have(struct small_plan *s, uint32_t t, uint8_t tree)
{
    struct bz_output out = {0};

    small_layer(s, &out, t, tree);
    small_put(s, &s->keys[t], &out);
    bz_output_release(&out);
}

/* 0 is the target and noexec; it depends on 1, that on 2 and 3, and 3 on 4. */
static inline int small_setup(void **state)
{
    static const struct bz_dag_edge edges[] = {
        {0, 1},
        {1, 2},
        {1, 3},
        {3, 4}
    };
    struct small_plan *s = test_calloc(1, sizeof(*s));
    struct bz_dag_ids order = {0};
    struct bz_dag dag;
    struct bz_err err;

    bz_dag_build(&dag, 5, edges, BZ_COUNTOF(edges));
    assert_ok(bz_dag_order(&dag, &order, &err), &err);
    small_init(s, &dag, &order);
    s->task_facts[0].noexec = true;
    BZ_VEC_PUSH(&s->graph.targets, 0);
    *state = s;
    return 0;
}

static inline int small_teardown(void **state)
{
    struct small_plan *s = *state;

    small_release(s);
    test_free(s);
    return 0;
}

#endif
