#include "exec/trial.h"

#include "tests/unit/exec/kitchen.h"

/* For machines where there is nothing to be tried. */
static void need(struct kitchen *k, int rc)
{
    if (rc == BZ_E_NOSUP && !getenv("BITZEL_MUST_WORK"))
        skip();
    assert_ok(rc, &k->err);
}

static void nothing_stays_but_that_it_worked(void **state)
{
    struct kitchen *k = *state;

    need(k, bz_trial_run(k->store, &k->err));
    kitchen_make(k, "test -z \"$(ls -A store | grep -e trial -e sandbox)\"");
    need(k, bz_trial_recall(k->store, &k->err));
    kitchen_make(k, "test -z \"$(ls -A store | grep trial)\"; test -s store/sandbox");
    need(k, bz_trial_recall(k->store, &k->err));
    kitchen_make(k, "echo other >store/sandbox"); /* of another boot, say */
    need(k, bz_trial_recall(k->store, &k->err));
    kitchen_make(k, "! grep other store/sandbox");
}

static void a_store_that_is_not_there_is_not_made(void **state)
{
    struct kitchen *k = *state;
    char path[400];

    snprintf(path, sizeof(path), "%s/none/at/all", k->scratch->path);
    need(k, bz_trial_recall(path, &k->err));
    kitchen_make(k, "test \"$(ls -A)\" = store");
    assert_int_not_equal(bz_trial_run("/proc/none", &k->err), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, kitchen_setup, kitchen_teardown)
        TEST(nothing_stays_but_that_it_worked),
        TEST(a_store_that_is_not_there_is_not_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
