/* graph_fixture.h - recipes as literals, for the tests of the graph. */
#ifndef BZ_TEST_GRAPH_FIXTURE_H
#define BZ_TEST_GRAPH_FIXTURE_H

#include "graph/tgraph.h"
#include "tests/unit/bz_test.h"

struct fixture {
    struct bz_vars *settings;
    struct bz_provide *provide[2]; /* of the same facts: the default one, and "other" */
    struct bz_need need;
    struct bz_tgraph g;
};

static const struct bz_str fixture_mcs[] = {
    {"",      0},
    {"other", 5}
};

static inline void fixture_set(struct fixture *f, const char *name, const char *value)
{
    struct bz_vars_at at = {0};
    struct bz_err err;

    assert_ok(
        bz_vars_set(f->settings, bz_str_from(name), bz_str_from(value), 0, &at, &err),
        &err);
}

/* Settings must be made before. */
static inline void fixture_facts(struct fixture *f, const struct bz_facts *facts,
                                 size_t n)
{
    struct bz_err err;

    for (int i = 0; i < 2; i++)
        assert_ok(bz_provide_new(facts, n, f->settings, &f->provide[i], &err), &err);
    bz_need_init(&f->need, f->provide, 2);
}

static inline int fixture_setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->settings = bz_vars_new(NULL);
    *state = f;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *f = *state;

    bz_tgraph_release(&f->g);
    bz_need_release(&f->need);
    for (int i = 0; i < 2; i++)
        bz_provide_free(f->provide[i]);
    bz_vars_free(f->settings);
    test_free(f);
    return 0;
}

#define S(text)                                                                        \
    {                                                                                  \
        text, sizeof(text) - 1                                                         \
    }

/* One package named as the recipe, so that what is needed at run time counts. */
#define RECIPE(pn_, ...)                                                               \
    {                                                                                  \
        .path = S("/l/" pn_ ".bb"), .pn = S(pn_), .variant = S(""), .pv = S("1.0"),    \
        .packages = &(const struct bz_facts_package){.name = S(pn_)}, .npackages = 1,  \
        .pr = S("r0"), __VA_ARGS__                                                     \
    }

#define TASKS(...)                                                                     \
    .tasks = (const struct bz_facts_task[]){__VA_ARGS__},                              \
    .ntasks = sizeof((const struct bz_facts_task[]){__VA_ARGS__}) /                    \
              sizeof(struct bz_facts_task)

#define FACTS(f, ...)                                                                  \
    const struct bz_facts facts[] = {__VA_ARGS__};                                     \
    fixture_facts((f), facts, sizeof(facts) / sizeof(facts[0]))

#define fixture_test(name)                                                             \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
