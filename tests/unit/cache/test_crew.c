#include "cache/crew.h"

#include "tests/unit/bz_test.h"

static void a_hasher_given_back_is_taken_again(void **state)
{
    struct bz_digest_hasher *a, *b;
    struct bz_crew c;

    (void)state;
    bz_crew_init(&c, NULL);
    a = bz_crew_take(&c);
    b = bz_crew_take(&c);
    assert_non_null(a);
    assert_ptr_not_equal(a, b);
    bz_crew_give(&c, a);
    assert_ptr_equal(bz_crew_take(&c), a);
    bz_crew_give(&c, a);
    bz_crew_give(&c, b);
    bz_crew_release(&c);
}

static void the_first_failure_counts(void **state)
{
    struct bz_crew c;
    struct bz_err err = {0};

    (void)state;
    bz_crew_init(&c, NULL);
    assert_false(bz_crew_stopped(&c));
    assert_int_equal(bz_crew_result(&c, &err), 0);
    bz_fail(&err, BZ_E_NOENT, "first");
    bz_crew_fail(&c, &err);
    bz_fail(&err, BZ_E_IO, "second");
    bz_crew_fail(&c, &err);
    assert_true(bz_crew_stopped(&c));
    assert_int_equal(bz_crew_result(&c, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "first");
    bz_crew_release(&c);
}

static void a_canceled_crew_stops_and_says_why(void **state)
{
    struct bz_cancel cancel;
    struct bz_crew c;
    struct bz_err err;

    (void)state;
    bz_cancel_init(&cancel, NULL, 0);
    bz_crew_init(&c, &cancel);
    assert_false(bz_crew_stopped(&c));
    bz_cancel_now(&cancel);
    assert_true(bz_crew_stopped(&c));
    assert_int_equal(bz_crew_result(&c, &err), BZ_E_CANCELED);
    bz_crew_release(&c);
}

struct probe {
    struct bz_crew_threads threads;
    unsigned runs;
    bool nested;
};

static void probe_body(struct bz_worker *w, void *arg)
{
    struct probe *p = arg;

    assert_non_null(w);
    p->runs++;
    if (p->nested) {
        p->nested = false;
        p->threads.worker = w;
        bz_crew_run(&p->threads, probe_body, p);
    }
}

static void work_runs_from_outside_and_on_a_worker(void **state)
{
    struct probe p = {.nested = true};
    struct bz_err err;

    (void)state;
    assert_ok(bz_pool_new(&(struct bz_pool_opts){0}, &p.threads.pool, &err), &err);
    bz_crew_run(&p.threads, probe_body, &p);
    assert_int_equal(p.runs, 2);
    bz_pool_free(p.threads.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hasher_given_back_is_taken_again),
        cmocka_unit_test(the_first_failure_counts),
        cmocka_unit_test(a_canceled_crew_stops_and_says_why),
        cmocka_unit_test(work_runs_from_outside_and_on_a_worker),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
