#include "cache/gc_plan.h"

#include "base/mem.h"
#include "os/clock.h"
#include "tests/unit/bz_test.h"

#define NOW (1000 * BZ_CLOCK_S)
#define LIMIT (900 * BZ_CLOCK_S)

/* One blob of its own for each result, and one for all of them. */
struct world {
    struct bz_inventory v;
    struct bz_gc_plan plan;
};

struct row {
    uint64_t bytes;
    int64_t used, duration; /* seconds */
    const char *recipe;
};

static void make(struct world *w, const struct row *rows, size_t n)
{
    *w = (struct world){0};
    BZ_VEC_PUSH(&w->v.blobs, (struct bz_inventory_blob){.bytes = 1000, .alone = true});
    w->v.bytes = 1000;
    for (size_t i = 0; i < n; i++) {
        struct bz_inventory_result r = {
            .used = rows[i].used * BZ_CLOCK_S,
            .duration = rows[i].duration * BZ_CLOCK_S,
            .first = w->v.edges.len,
            .n = 2,
            .recipe = bz_intern_add(&w->v.names, bz_str_from(rows[i].recipe)),
        };

        BZ_VEC_PUSH(&w->v.blobs, (struct bz_inventory_blob){.bytes = rows[i].bytes,
                                                            .used = r.used,
                                                            .alone = true});
        BZ_VEC_PUSH(&w->v.edges, 0);
        BZ_VEC_PUSH(&w->v.edges, (uint32_t)i + 1);
        BZ_VEC_PUSH(&w->v.results, r);
        w->v.bytes += rows[i].bytes;
    }
}

static void plan(struct world *w, const struct bz_gc_policy *policy)
{
    struct bz_err err;

    assert_ok(bz_gc_plan_make(&w->v, policy, NOW, LIMIT, 500, &w->plan, &err), &err);
}

static void done(struct world *w)
{
    bz_gc_plan_release(&w->plan);
    bz_inventory_release(&w->v);
}

static void without_a_policy_only_what_nobody_names_goes(void **state)
{
    static const struct row rows[] = {
        {10, 100, 1, "a"}
    };
    struct world w;

    (void)state;
    make(&w, rows, 1);
    BZ_VEC_PUSH(&w.v.blobs, (struct bz_inventory_blob){.bytes = 7, .alone = true});
    BZ_VEC_PUSH(&w.v.blobs, (struct bz_inventory_blob){.bytes = 5, .used = LIMIT});
    w.v.bytes += 12;
    plan(&w, &(struct bz_gc_policy){0});
    assert_int_equal(w.plan.why[0], BZ_GC_KEPT);
    assert_int_equal(w.plan.left, 1015); /* what is young stays */
    assert_int_equal(w.plan.freed, 7);
    done(&w);
}

static void the_big_cheap_and_long_unused_go_first(void **state)
{
    /* Each pair differs in one thing; the first of a pair goes before the second. */
    static const struct row pairs[][2] = {
        {{900, 500, 10, "a"}, {100, 500, 10, "b"} },
        {{500, 100, 10, "a"}, {500, 800, 10, "b"} },
        {{500, 500, 1, "a"},  {500, 500, 100, "b"}},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(pairs); i++) {
        struct world w;

        make(&w, pairs[i], 2);
        plan(&w, &(struct bz_gc_policy){.max_size = w.v.bytes - 1});
        assert_int_equal(w.plan.why[0], BZ_GC_SIZE);
        assert_int_equal(w.plan.why[1], BZ_GC_KEPT);
        assert_int_equal(w.plan.left, w.v.bytes - pairs[i][0].bytes);
        done(&w);
    }
}

static void what_is_shared_goes_with_the_last_that_needs_it(void **state)
{
    static const struct row rows[] = {
        {100, 100, 1, "a"},
        {100, 200, 1, "b"}
    };
    struct world w;

    (void)state;
    make(&w, rows, 2);
    plan(&w, &(struct bz_gc_policy){.max_size = 1});
    assert_int_equal(w.plan.left, 0);
    assert_int_equal(w.plan.freed, 1200);
    assert_true(bz_gc_plan_enough(&w.plan, &(struct bz_gc_policy){.max_size = 1}, 0));
    bz_gc_plan_keep(&w.plan, 1);
    assert_int_equal(w.plan.left, 1100);
    assert_int_equal(w.plan.freed, 100);
    assert_int_equal(w.v.blobs.at[0].refs, 1);
    done(&w);
}

static void what_was_used_since_the_limit_stays_whatever_the_policy(void **state)
{
    static const struct row rows[] = {
        {100, 950, 0, "a"},
        {100, 950, 0, "a"},
        {100, 100, 0, "a"}
    };
    struct bz_gc_policy all = {
        .max_size = 1, .max_age = 1, .keep_last = 1, .min_free = 1 << 30};
    struct world w;

    (void)state;
    make(&w, rows, 3);
    plan(&w, &all);
    assert_int_equal(w.plan.why[0], BZ_GC_KEPT);
    assert_int_equal(w.plan.why[1], BZ_GC_KEPT);
    assert_int_equal(w.plan.why[2], BZ_GC_AGE);
    assert_false(bz_gc_plan_enough(&w.plan, &all, 500));
    done(&w);
}

static void the_last_used_of_each_label_are_kept(void **state)
{
    static const struct row rows[] = {
        {1, 100, 0, "a"},
        {1, 300, 0, "a"},
        {1, 200, 0, "b"},
        {1, 200, 0, "a"},
        {1, 100, 0, "" },
        {1, 110, 0, "" }
    };
    static const enum bz_gc_reason want[] = {BZ_GC_COUNT, BZ_GC_KEPT, BZ_GC_KEPT,
                                             BZ_GC_KEPT,  BZ_GC_KEPT, BZ_GC_KEPT};
    struct world w;

    (void)state;
    make(&w, rows, BZ_COUNTOF(rows));
    plan(&w, &(struct bz_gc_policy){.keep_last = 2});
    assert_memory_equal(w.plan.why, want, sizeof(want));
    done(&w);
    make(&w, rows, BZ_COUNTOF(rows));
    plan(&w, &(struct bz_gc_policy){.keep_last = 1});
    assert_int_equal(w.plan.why[3], BZ_GC_COUNT);
    assert_int_equal(w.plan.why[4], BZ_GC_KEPT); /* without a label, none of many */
    done(&w);
}

static void broken_results_go_whatever_they_cost(void **state)
{
    static const struct row rows[] = {
        {1, 100, 9999, "a"},
        {1, 100, 9999, "b"}
    };
    struct world w;

    (void)state;
    make(&w, rows, 2);
    w.v.results.at[1].broken = true;
    plan(&w, &(struct bz_gc_policy){0});
    assert_int_equal(w.plan.why[0], BZ_GC_KEPT);
    assert_int_equal(w.plan.why[1], BZ_GC_BROKEN);
    done(&w);
}

static void room_on_the_disk_counts_only_what_has_no_other_name(void **state)
{
    static const struct row rows[] = {
        {500, 100, 0, "a"},
        {400, 100, 0, "b"}
    };
    struct world w;

    (void)state;
    make(&w, rows, 2);
    w.v.blobs.at[1].alone = false;
    plan(&w, &(struct bz_gc_policy){.min_free = 900}); /* 500 are free */
    assert_int_equal(w.plan.freed, 400 + 1000);
    assert_int_equal(w.plan.why[0], BZ_GC_SIZE); /* the larger one, in vain */
    assert_int_equal(w.plan.why[1], BZ_GC_SIZE);
    done(&w);
}

/* Two results and the record of the second; *own and *record are their places. */
static void make_record(struct world *w, const struct row *rows, size_t *own,
                        size_t *record)
{
    struct bz_digest_hasher *h;
    struct bz_inventory_result *r;
    struct bz_digest key = {.b = {0x77}};
    struct bz_err err;

    make(w, rows, 3);
    r = w->v.results.at;
    r[2].key = key;
    r[2].record = true;
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    bz_action_record_key(h, &key, &r[2].key);
    bz_digest_hasher_free(h);
    r[1].key = key;
    *own = 1;
    *record = 2;
    if (bz_digest_cmp(&r[1].key, &r[2].key) > 0) {
        struct bz_inventory_result swap = r[1];

        r[1] = r[2];
        r[2] = swap;
        *own = 2;
        *record = 1;
    }
}

static void a_record_stays_and_goes_with_its_result(void **state)
{
    static const struct row used[] = {
        {10, 100, 1, "a"},
        {10, 800, 1, "a"},
        {10, 100, 1, "a"}
    };
    static const struct row unused[] = {
        {10, 800, 1, "a"},
        {10, 100, 1, "a"},
        {10, 800, 1, "a"}
    };
    const struct bz_gc_policy policies[] = {
        {.max_age = 500 * BZ_CLOCK_S},
        {.keep_last = 1},
        {.max_size = 1025},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(policies); i++) {
        size_t own, record;
        struct world w;

        make_record(&w, used, &own, &record);
        plan(&w, &policies[i]);
        assert_int_not_equal(w.plan.why[0], BZ_GC_KEPT);
        assert_int_equal(w.plan.why[own], BZ_GC_KEPT);
        assert_int_equal(w.plan.why[record], BZ_GC_KEPT);
        done(&w);
        make_record(&w, unused, &own, &record);
        plan(&w, &policies[i]);
        assert_int_equal(w.plan.why[0], BZ_GC_KEPT);
        assert_int_not_equal(w.plan.why[own], BZ_GC_KEPT);
        assert_int_equal(w.plan.why[record], w.plan.why[own]);
        done(&w);
    }
}

static void a_record_of_nothing_goes_by_its_own_age(void **state)
{
    static const struct row rows[] = {
        {10, 800, 1, "a"},
        {10, 100, 1, "a"}
    };
    struct world w;

    (void)state;
    make(&w, rows, 2);
    w.v.results.at[1].key.b[0] = 1;
    w.v.results.at[1].record = true;
    plan(&w, &(struct bz_gc_policy){.max_age = 500 * BZ_CLOCK_S});
    assert_int_equal(w.plan.why[0], BZ_GC_KEPT);
    assert_int_equal(w.plan.why[1], BZ_GC_AGE);
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_policy_only_what_nobody_names_goes),
        cmocka_unit_test(the_big_cheap_and_long_unused_go_first),
        cmocka_unit_test(what_is_shared_goes_with_the_last_that_needs_it),
        cmocka_unit_test(what_was_used_since_the_limit_stays_whatever_the_policy),
        cmocka_unit_test(the_last_used_of_each_label_are_kept),
        cmocka_unit_test(broken_results_go_whatever_they_cost),
        cmocka_unit_test(room_on_the_disk_counts_only_what_has_no_other_name),
        cmocka_unit_test(a_record_stays_and_goes_with_its_result),
        cmocka_unit_test(a_record_of_nothing_goes_by_its_own_age),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
