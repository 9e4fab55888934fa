#include "jobs/task.h"

#include <stdlib.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

static void a_task_has_its_own_copy_of_the_request(void **state)
{
    char text[] = "{\"opcode\":1}";
    struct bz_task *t = bz_task_new_by(NULL, bz_str_from(text));

    (void)state;
    text[0] = 'x';
    assert_true(bz_str_eq(t->text, BZ_STR("{\"opcode\":1}")));
    bz_task_free(t);
}

static void memory_of_a_short_task_serves_another(void **state)
{
    char text[BZ_TASK_SHORT];
    struct bz_task *t = bz_task_new_short(NULL, NULL, BZ_STR("x")), *next;

    (void)state;
    assert_true(t->is_short);
    t->id = 7;
    t->refusal = (struct bz_result *)t;
    memset(text, 'y', sizeof(text));
    next = bz_task_new_short(t, NULL, bz_str_of(text, sizeof(text)));
    assert_ptr_equal(next, t);
    assert_int_equal(next->id, 0);
    assert_null(next->refusal);
    assert_int_equal(next->text.n, sizeof(text));
    assert_memory_equal(next->text.p, text, sizeof(text));
    bz_task_free(next);
}

static void results_have_bytes_or_a_reason(void **state)
{
    struct bz_task *t = bz_task_new_by(NULL, BZ_STR(""));
    struct bz_result *r;

    (void)state;
    t->id = 9;
    r = bz_task_result(t, BZ_TASK_OK, false, "a\0b", 3);
    assert_int_equal(r->id, 9);
    assert_int_equal(r->size, 3);
    assert_memory_equal(r->data, "a\0b", 4);
    assert_false(r->final);
    free(r);
    r = bz_task_failure(9, BZ_TASK_FAILED, "why");
    assert_true(r->final);
    assert_null(r->data);
    assert_string_equal(r->error, "why");
    free(r);
    bz_task_free(t);
}

/* Allocates with an attempt that is to succeed, if there is one. */
static _Thread_local unsigned tries, good;

static void *alloc_late(size_t n)
{
    return ++tries == good ? malloc(n) : NULL;
}

static void memory_that_is_short_is_asked_for_again(void **state)
{
    int64_t begin = bz_clock_now();
    struct bz_task *t;
    void *p;

    (void)state;
    tries = 0;
    good = 4;
    p = bz_task_try(alloc_late, 10);
    assert_non_null(p);
    assert_int_equal(tries, 4);
    assert_true(bz_clock_now() - begin >= (1 + 2 + 4) * BZ_CLOCK_MS);
    free(p);
    tries = 0;
    good = 0;
    assert_null(bz_task_try(alloc_late, 10));
    assert_int_equal(tries, 5);
    assert_null(bz_task_new_by(alloc_late, BZ_STR("x")));
    tries = 0;
    good = 1;
    t = bz_task_new_by(alloc_late, BZ_STR("x"));
    assert_non_null(t);
    assert_null(bz_task_result(t, 0, true, "", 0)); /* the same, for its results */
    bz_task_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_has_its_own_copy_of_the_request),
        cmocka_unit_test(memory_of_a_short_task_serves_another),
        cmocka_unit_test(results_have_bytes_or_a_reason),
        cmocka_unit_test(memory_that_is_short_is_asked_for_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
