#include "graph/recurse.h"

#include <string.h>

#include "tests/unit/bz_test.h"

/* Four recipes of three tasks each, named 0, 1 and 2, unless a test says otherwise. */
enum { RECIPES = 4, NAMES = 3, TASKS = RECIPES * NAMES };

#define TASK(recipe, name) ((uint32_t)((recipe)*NAMES + (name)))

struct fixture {
    bool edge[TASKS][TASKS];
    uint32_t first[RECIPES + 1], name[TASKS];
    struct bz_recurse_task tasks[TASKS];
    uint32_t names[TASKS][NAMES], also[TASKS][NAMES];
    size_t ntasks;
    bool out[TASKS][TASKS]; /* of recursive tasks */
};

static void fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    for (uint32_t i = 0; i <= RECIPES; i++)
        f->first[i] = i * NAMES;
    for (uint32_t t = 0; t < TASKS; t++)
        f->name[t] = t % NAMES;
}

/* A recursive task that wants one name. */
static struct bz_recurse_task *make_recursive(struct fixture *f, uint32_t task,
                                              uint32_t name)
{
    struct bz_recurse_task *t = &f->tasks[f->ntasks];

    f->names[f->ntasks][0] = name;
    *t = (struct bz_recurse_task){
        .task = task, .names = f->names[f->ntasks], .nnames = 1};
    t->also = f->also[f->ntasks++];
    return t;
}

static void run(struct fixture *f)
{
    struct bz_dag_edge edges[TASKS * TASKS];
    struct bz_recurse_edges out = {0};
    struct bz_dag d;
    struct bz_recurse r = {&d, RECIPES, f->first, f->name, f->tasks, f->ntasks};
    size_t n = 0;

    for (uint32_t a = 0; a < TASKS; a++)
        for (uint32_t b = 0; b < TASKS; b++)
            if (f->edge[a][b])
                edges[n++] = (struct bz_dag_edge){a, b};
    bz_dag_build(&d, TASKS, edges, n);
    bz_recurse_run(&r, &out);
    memset(f->out, 0, sizeof(f->out));
    for (size_t i = 0; i < out.len; i++)
        f->out[out.at[i].from][out.at[i].to] = true;
    bz_vec_release(&out);
    bz_dag_release(&d);
}

static void a_chain_of_recipes_is_followed_to_its_end(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    /* r0 configures (0) after r1 installs (1), r1 after r2, r2 after r3. */
    for (int i = 0; i < 3; i++) {
        f.edge[TASK(i, 0)][TASK(i + 1, 1)] = true;
        f.edge[TASK(i + 1, 1)][TASK(i + 1, 0)] = true;
    }
    f.edge[TASK(0, 2)][TASK(0, 0)] = true;
    make_recursive(&f, TASK(0, 2), 2);
    run(&f);
    assert_true(f.out[TASK(0, 2)][TASK(0, 0)]); /* what it had stays */
    assert_true(f.out[TASK(0, 2)][TASK(1, 2)]);
    assert_true(f.out[TASK(0, 2)][TASK(2, 2)]);
    assert_true(f.out[TASK(0, 2)][TASK(3, 2)]);
    assert_false(f.out[TASK(0, 2)][TASK(0, 2)]);
}

static void tasks_that_want_each_other_are_no_cycle(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.edge[TASK(0, 2)][TASK(1, 2)] = true;
    f.edge[TASK(1, 2)][TASK(0, 2)] = true;
    f.edge[TASK(0, 2)][TASK(0, 1)] = true;
    make_recursive(&f, TASK(0, 2), 2);
    make_recursive(&f, TASK(1, 2), 2);
    run(&f);
    assert_false(f.out[TASK(0, 2)][TASK(1, 2)]);
    assert_false(f.out[TASK(1, 2)][TASK(0, 2)]);
    assert_true(f.out[TASK(0, 2)][TASK(0, 1)]);
}

static void another_tasks_edges_count_as_its_own(void **state)
{
    struct fixture f;
    struct bz_recurse_task *t;

    (void)state;
    fixture_init(&f);
    f.edge[TASK(0, 1)][TASK(1, 1)] = true; /* [recideptask] names r0's task 1 */
    f.edge[TASK(1, 1)][TASK(2, 0)] = true;
    t = make_recursive(&f, TASK(0, 2), 0);
    f.also[0][0] = TASK(0, 1);
    t->nalso = 1;
    run(&f);
    assert_true(f.out[TASK(0, 2)][TASK(1, 0)]);
    assert_true(f.out[TASK(0, 2)][TASK(2, 0)]);
    assert_false(f.out[TASK(0, 2)][TASK(3, 0)]);
}

/* The rule spelled out with matrices and no thought of speed. */
struct model {
    const struct fixture *f;
    bool edge[TASKS][TASKS];
    bool behind[TASKS][RECIPES];
    bool settled[TASKS];
};

static bool settle_one(struct model *m)
{
    for (int t = 0; t < TASKS; t++) {
        bool waits = m->settled[t];

        for (int d = 0; d < TASKS; d++)
            waits |= m->f->edge[t][d] && !m->settled[d];
        if (waits)
            continue;
        m->settled[t] = true;
        return true;
    }
    return false;
}

static void look_behind(struct model *m)
{
    while (settle_one(m))
        ;
    for (int round = 0; round < TASKS; round++)
        for (int t = 0; t < TASKS; t++)
            for (int d = 0; d < TASKS; d++) {
                if (!m->f->edge[t][d] || !m->settled[d])
                    continue;
                m->behind[t][d / NAMES] = true;
                for (int r = 0; r < RECIPES; r++)
                    m->behind[t][r] |= m->behind[d][r];
            }
}

static const struct bz_recurse_task *recursion_of(const struct model *m, uint32_t task)
{
    for (size_t i = 0; i < m->f->ntasks; i++)
        if (m->f->tasks[i].task == task)
            return &m->f->tasks[i];
    return NULL;
}

static bool wants(const struct bz_recurse_task *t, uint32_t name)
{
    for (size_t i = 0; t && i < t->nnames; i++)
        if (t->names[i] == name)
            return true;
    return false;
}

static bool put(struct model *m, uint32_t from, uint32_t to)
{
    bool news = !m->edge[from][to];

    m->edge[from][to] = true;
    return news;
}

static bool add_behind(struct model *m, const struct bz_recurse_task *t, uint32_t dep)
{
    bool news = false;

    for (uint32_t r = 0; r < RECIPES; r++)
        for (size_t i = 0; m->behind[dep][r] && i < t->nnames; i++)
            if (TASK(r, t->names[i]) != t->task)
                news |= put(m, t->task, TASK(r, t->names[i]));
    return news;
}

static bool grow(struct model *m, const struct bz_recurse_task *t)
{
    bool news = false;

    for (size_t i = 0; i < t->nalso; i++) {
        news |= add_behind(m, t, t->also[i]);
        for (uint32_t d = 0; d < TASKS; d++)
            if (m->edge[t->also[i]][d])
                news |= add_behind(m, t, d);
    }
    for (uint32_t d = 0; d < TASKS; d++) {
        if (!m->edge[t->task][d])
            continue;
        news |= add_behind(m, t, d);
        for (uint32_t x = 0; recursion_of(m, d) && x < TASKS; x++)
            if (m->edge[d][x] && wants(t, x % NAMES))
                news |= put(m, t->task, x);
    }
    return news;
}

static bool over_itself(const struct model *m, uint32_t task)
{
    return wants(recursion_of(m, task), task % NAMES);
}

static void model_run(struct model *m, const struct fixture *f)
{
    bool news = true;

    memset(m, 0, sizeof(*m));
    m->f = f;
    memcpy(m->edge, f->edge, sizeof(m->edge));
    look_behind(m);
    while (news) {
        news = false;
        for (size_t i = 0; i < f->ntasks; i++)
            news |= grow(m, &f->tasks[i]);
    }
    for (uint32_t a = 0; a < TASKS; a++)
        for (uint32_t b = 0; b < TASKS; b++)
            if (over_itself(m, a) && over_itself(m, b))
                m->edge[a][b] = false;
}

static uint32_t below(uint64_t *r, uint32_t n)
{
    *r = *r * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*r >> 33) % n;
}

static void random_fixture(struct fixture *f, uint64_t *r)
{
    uint32_t edges = below(r, 20);

    fixture_init(f);
    for (uint32_t i = 0; i < edges; i++)
        f->edge[below(r, TASKS)][below(r, TASKS)] = true;
    for (uint32_t t = 0; t < TASKS; t++) {
        struct bz_recurse_task *task;

        f->edge[t][t] = false;
        if (below(r, 3) > 0)
            continue;
        task = make_recursive(f, t, below(r, NAMES));
        if (below(r, 2)) {
            f->names[f->ntasks - 1][1] = (task->names[0] + 1) % NAMES;
            task->nnames = 2;
        }
        if (below(r, 4) == 0) {
            f->also[f->ntasks - 1][0] = TASK(t / NAMES, below(r, NAMES));
            task->nalso = 1;
        }
    }
}

static void random_graphs_grow_as_the_rule_says(void **state)
{
    uint64_t r = 4;
    struct fixture f;
    struct model m;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        random_fixture(&f, &r);
        run(&f);
        model_run(&m, &f);
        for (uint32_t t = 0; t < TASKS; t++)
            if (recursion_of(&m, t))
                assert_memory_equal(f.out[t], m.edge[t], sizeof(f.out[t]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_recipes_is_followed_to_its_end),
        cmocka_unit_test(tasks_that_want_each_other_are_no_cycle),
        cmocka_unit_test(another_tasks_edges_count_as_its_own),
        cmocka_unit_test(random_graphs_grow_as_the_rule_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
