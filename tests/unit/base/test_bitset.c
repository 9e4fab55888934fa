#include "base/bitset.h"

#include "base/defs.h"
#include "tests/unit/bz_test.h"

/* Members to build sets from; the list ends with BZ_BITSET_END. */
#define MEMBERS(...) ((const size_t[]){__VA_ARGS__, BZ_BITSET_END})
#define NO_MEMBERS ((const size_t[]){BZ_BITSET_END})

static struct bz_bitset make(const size_t *members)
{
    struct bz_bitset s = {0};

    for (; *members != BZ_BITSET_END; members++)
        bz_bitset_set(&s, *members);
    return s;
}

/* Iterates s, compares with the list, and frees s. */
static void expect(struct bz_bitset *s, const size_t *members)
{
    size_t from = 0, n = 0;

    for (; *members != BZ_BITSET_END; members++, n++) {
        assert_int_equal(bz_bitset_next(s, from), *members);
        from = *members + 1;
    }
    assert_int_equal(bz_bitset_next(s, from), BZ_BITSET_END);
    assert_int_equal(bz_bitset_count(s), n);
    bz_bitset_release(s);
}

static void members_are_those_that_were_set(void **state)
{
    struct bz_bitset s = make(MEMBERS(0, 63, 64, 1000));

    (void)state;
    assert_true(bz_bitset_test(&s, 0));
    assert_false(bz_bitset_test(&s, 1));
    assert_true(bz_bitset_test(&s, 63));
    assert_true(bz_bitset_test(&s, 64));
    assert_false(bz_bitset_test(&s, 65));
    assert_false(bz_bitset_test(&s, 128));
    assert_false(bz_bitset_test(&s, SIZE_MAX));
    bz_bitset_clear(&s, 63);
    bz_bitset_clear(&s, 2);
    bz_bitset_clear(&s, SIZE_MAX); /* beyond its memory: not there anyway */
    expect(&s, MEMBERS(0, 64, 1000));
}

static void empty_set_needs_no_memory(void **state)
{
    struct bz_bitset s = {0}, t = {0};

    (void)state;
    assert_false(bz_bitset_test(&s, 0));
    assert_int_equal(bz_bitset_next(&s, 0), BZ_BITSET_END);
    assert_int_equal(bz_bitset_count(&s), 0);
    bz_bitset_union(&s, &t);
    bz_bitset_intersect(&s, &t);
    bz_bitset_subtract(&s, &t);
    bz_bitset_zero(&s);
    assert_true(bz_bitset_subset(&s, &t));
    assert_null(s.words);
}

static void sets_combine_whatever_their_sizes(void **state)
{
    static const struct {
        size_t a[5], b[5], both[9], common[5], rest[5];
    } cases[] = {
#define END BZ_BITSET_END
        {{1, 2, END},   {2, 3, END},    {1, 2, 3, END},     {2, END},  {1, END}    },
        {{1, END},      {1, 500, END},  {1, 500, END},      {1, END},  {END}       },
        {{1, 500, END}, {1, END},       {1, 500, END},      {1, END},  {500, END}  },
        {{END},         {7, 70, END},   {7, 70, END},       {END},     {END}       },
        {{7, 70, END},  {END},          {7, 70, END},       {END},     {7, 70, END}},
        {{63, 64, END}, {63, 127, END}, {63, 64, 127, END}, {63, END}, {64, END}   },
#undef END
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_bitset b = make(cases[i].b);
        struct bz_bitset s;

        s = make(cases[i].a);
        bz_bitset_union(&s, &b);
        expect(&s, cases[i].both);
        s = make(cases[i].a);
        bz_bitset_intersect(&s, &b);
        expect(&s, cases[i].common);
        s = make(cases[i].a);
        bz_bitset_subtract(&s, &b);
        expect(&s, cases[i].rest);
        expect(&b, cases[i].b); /* the other set is left alone */
    }
}

static void set_may_be_combined_with_itself(void **state)
{
    struct bz_bitset s = make(MEMBERS(3, 300));

    (void)state;
    bz_bitset_union(&s, &s);
    bz_bitset_intersect(&s, &s);
    assert_int_equal(bz_bitset_count(&s), 2);
    bz_bitset_subtract(&s, &s);
    expect(&s, NO_MEMBERS);
}

static void comparing_ignores_spare_memory(void **state)
{
    static const struct {
        size_t a[4], b[4];
        bool subset;
    } cases[] = {
        {{1, 2, BZ_BITSET_END},    {1, 2, BZ_BITSET_END},    true },
        {{1, BZ_BITSET_END},       {1, 2, BZ_BITSET_END},    true },
        {{1, 3, BZ_BITSET_END},    {1, 2, BZ_BITSET_END},    false},
        {{1, BZ_BITSET_END},       {1, 9999, BZ_BITSET_END}, true },
        {{1, 9999, BZ_BITSET_END}, {1, BZ_BITSET_END},       false},
        {{BZ_BITSET_END},          {1, BZ_BITSET_END},       true },
        {{BZ_BITSET_END},          {BZ_BITSET_END},          true },
    };
    size_t i, spare;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        for (spare = 0; spare < 4; spare++) {
            struct bz_bitset a = make(cases[i].a), b = make(cases[i].b);

            bz_bitset_reserve(&a, spare & 1 ? 20000 : 0);
            bz_bitset_reserve(&b, spare & 2 ? 30000 : 0);
            assert_int_equal(bz_bitset_subset(&a, &b), cases[i].subset);
            bz_bitset_release(&a);
            bz_bitset_release(&b);
        }
    }
}

static void next_starts_anywhere(void **state)
{
    struct bz_bitset s = make(MEMBERS(5, 64, 200));

    (void)state;
    assert_int_equal(bz_bitset_next(&s, 5), 5);
    assert_int_equal(bz_bitset_next(&s, 6), 64);
    assert_int_equal(bz_bitset_next(&s, 63), 64);
    assert_int_equal(bz_bitset_next(&s, 65), 200);
    assert_int_equal(bz_bitset_next(&s, 201), BZ_BITSET_END);
    assert_int_equal(bz_bitset_next(&s, 100000), BZ_BITSET_END);
    assert_int_equal(bz_bitset_next(&s, SIZE_MAX), BZ_BITSET_END);
    bz_bitset_release(&s);
}

static void reserved_members_need_no_more_memory(void **state)
{
    struct bz_bitset s = {0};
    const uint64_t *words;
    size_t i;

    (void)state;
    bz_bitset_reserve(&s, 129);
    words = s.words;
    for (i = 0; i < 129; i++)
        bz_bitset_set(&s, i);
    assert_ptr_equal(s.words, words);
    assert_int_equal(s.nwords, 3);
    assert_int_equal(bz_bitset_count(&s), 129);
    bz_bitset_zero(&s);
    assert_ptr_equal(s.words, words);
    expect(&s, NO_MEMBERS);
}

static void counting_up_grows_in_few_steps(void **state)
{
    struct bz_bitset s = {0};
    size_t i, nwords = 0, steps = 0;

    (void)state;
    for (i = 0; i < 1000000; i++) {
        bz_bitset_set(&s, i);
        steps += s.nwords != nwords;
        nwords = s.nwords;
    }
    assert_true(steps < 20);
    assert_int_equal(bz_bitset_count(&s), 1000000);
    bz_bitset_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_those_that_were_set),
        cmocka_unit_test(empty_set_needs_no_memory),
        cmocka_unit_test(sets_combine_whatever_their_sizes),
        cmocka_unit_test(set_may_be_combined_with_itself),
        cmocka_unit_test(comparing_ignores_spare_memory),
        cmocka_unit_test(next_starts_anywhere),
        cmocka_unit_test(reserved_members_need_no_more_memory),
        cmocka_unit_test(counting_up_grows_in_few_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
