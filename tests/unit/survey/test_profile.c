#include "survey/profile.h"

#include <time.h>

#include "tests/unit/bz_test.h"

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){0, 3000000}, NULL);
}

static const struct bz_profile_time *find(const struct bz_map *times, const char *name)
{
    const struct bz_map_entry *e = bz_map_get(times, bz_str_from(name));

    assert_non_null(e);
    return e->p;
}

static void own_time_is_without_what_is_inside(void **state)
{
    struct bz_profile p = {0};
    const struct bz_eval_watch *w = bz_profile_watch(&p);
    const struct bz_profile_time *outer, *inner;

    (void)state;
    w->begin(w->ctx, "outer");
    for (int i = 0; i < 2; i++) {
        w->begin(w->ctx, "inner");
        w->expressions.begin(w->expressions.ctx, BZ_STR("1 + 1"));
        wait_a_little();
        w->expressions.end(w->expressions.ctx, BZ_STR("1 + 1"));
        w->end(w->ctx, "inner");
    }
    w->end(w->ctx, "outer");
    outer = find(&p.files.times, "outer");
    inner = find(&p.files.times, "inner");
    assert_int_equal(outer->times, 1);
    assert_int_equal(inner->times, 2);
    assert_true(inner->own >= 6000000);
    assert_int_equal(inner->own, inner->total);
    assert_int_equal(outer->own, outer->total - inner->total);
    assert_int_equal(find(&p.expressions.times, "1 + 1")->times, 2);
    bz_profile_release(&p);
}

static void profiles_add_up(void **state)
{
    struct bz_profile a = {0}, b = {0};
    struct bz_profile_time top[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct bz_eval_watch *w = bz_profile_watch(i ? &a : &b);

        w->begin(w->ctx, "same");
        wait_a_little();
        w->end(w->ctx, "same");
    }
    bz_profile_watch(&b)->begin(&b, "quick");
    b.watch.end(&b, "quick");
    bz_profile_merge(&a, &b);
    bz_profile_release(&b);
    assert_int_equal(bz_profile_top(&a.files.times, top, 3), 2);
    assert_true(bz_str_eq(top[0].name, BZ_STR("same")));
    assert_int_equal(top[0].times, 3);
    assert_true(bz_str_eq(top[1].name, BZ_STR("quick")));
    assert_int_equal(bz_profile_top(&a.files.times, top, 1), 1);
    assert_int_equal(bz_profile_top(&a.expressions.times, top, 3), 0);
    bz_profile_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_time_is_without_what_is_inside),
        cmocka_unit_test(profiles_add_up),
    };

    return cmocka_run_group_tests_name("survey/profile", tests, NULL, NULL);
}
