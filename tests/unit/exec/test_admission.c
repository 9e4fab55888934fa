#include "exec/admission.h"

#include <stdlib.h>

#include "tests/unit/bz_test.h"

struct machine {
    struct bz_memory memory;
    struct bz_admission a;
};

static void tell(void *ctx, struct bz_memory *out)
{
    const struct machine *m = ctx;

    *out = m->memory;
}

static int setup(void **state)
{
    struct machine *m = calloc(1, sizeof(*m));

    m->memory.available = 1000;
    m->a.read = tell;
    m->a.ctx = m;
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void peaks_that_fit_run_beside_each_other(void **state)
{
    struct machine *m = *state;

    assert_true(bz_admission_ask(&m->a, 600));
    bz_admission_enter(&m->a, 600);
    assert_false(bz_admission_ask(&m->a, 401)); /* though 1000 are left yet */
    assert_true(m->a.full);
    assert_true(bz_admission_ask(&m->a, 400));
    assert_false(m->a.full);
    bz_admission_enter(&m->a, 400);
    assert_false(bz_admission_ask(&m->a, 1));
    bz_admission_leave(&m->a, 600);
    assert_true(bz_admission_ask(&m->a, 600));
}

static void what_is_left_now_counts_too(void **state)
{
    struct machine *m = *state;

    assert_true(bz_admission_ask(&m->a, 100));
    bz_admission_enter(&m->a, 100);
    m->memory.available = 250; /* somebody else took the rest */
    assert_false(bz_admission_ask(&m->a, 300));
    assert_true(bz_admission_ask(&m->a, 250));
}

static void one_runs_in_any_case(void **state)
{
    struct machine *m = *state;

    m->memory = (struct bz_memory){10, 99};
    assert_true(bz_admission_ask(&m->a, 5000));
    bz_admission_enter(&m->a, 5000);
    assert_false(bz_admission_ask(&m->a, 1));
}

static void unknown_ones_run_unless_memory_is_short(void **state)
{
    struct machine *m = *state;

    bz_admission_enter(&m->a, 5000);
    assert_true(bz_admission_ask(&m->a, 0));
    m->memory.pressure = BZ_ADMISSION_PRESSURE;
    assert_false(bz_admission_ask(&m->a, 0));
    m->memory.pressure--;
    assert_true(bz_admission_ask(&m->a, 0));
}

static void a_system_that_tells_nothing_holds_nothing_back(void **state)
{
    struct machine *m = *state;

    m->memory.available = UINT64_MAX;
    assert_true(bz_admission_ask(&m->a, 5));
    bz_admission_enter(&m->a, 5);
    assert_true(bz_admission_ask(&m->a, (uint64_t)1 << 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(peaks_that_fit_run_beside_each_other),
        TEST(what_is_left_now_counts_too),
        TEST(one_runs_in_any_case),
        TEST(unknown_ones_run_unless_memory_is_short),
        TEST(a_system_that_tells_nothing_holds_nothing_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
