#include "tests/unit/vars/script.h"

#include "vars/refs.h"

static bool has_item(const struct bz_refs *r, struct bz_str name, struct bz_str item)
{
    const struct bz_map_entry *e = bz_map_get(&r->contains, name);

    return e && bz_map_get(e->p, item);
}

static void names_are_copied_and_counted_once(void **state)
{
    struct bz_arena arena = {0};
    struct bz_refs r;
    char name[] = "ABC";

    (void)state;
    bz_refs_init(&r, &arena);
    bz_refs_read(&r, bz_str_from(name));
    bz_refs_read(&r, BZ_STR("ABC"));
    bz_refs_exec(&r, bz_str_from(name));
    bz_refs_contains(&r, bz_str_from(name), bz_str_from(name));
    bz_refs_contains(&r, BZ_STR("ABC"), BZ_STR("x y"));
    bz_refs_contains(&r, BZ_STR("ABC"), BZ_STR("x y"));
    name[0] = 'x';
    assert_int_equal(r.reads.len, 1);
    assert_int_equal(r.execs.len, 1);
    assert_int_equal(r.contains.len, 1);
    assert_non_null(bz_map_get(&r.reads, BZ_STR("ABC")));
    assert_non_null(bz_map_get(&r.execs, BZ_STR("ABC")));
    assert_true(has_item(&r, BZ_STR("ABC"), BZ_STR("ABC")));
    assert_true(has_item(&r, BZ_STR("ABC"), BZ_STR("x y")));
    assert_false(has_item(&r, BZ_STR("ABC"), BZ_STR("x")));
    bz_refs_release(&r);
    bz_arena_release(&arena);
}

static void merging_unites_all_three_kinds(void **state)
{
    struct bz_arena one = {0}, two = {0};
    struct bz_refs a, b;

    (void)state;
    bz_refs_init(&a, &one);
    bz_refs_init(&b, &two);
    bz_refs_read(&a, BZ_STR("A"));
    bz_refs_read(&b, BZ_STR("A"));
    bz_refs_read(&b, BZ_STR("B"));
    bz_refs_exec(&b, BZ_STR("f"));
    bz_refs_contains(&a, BZ_STR("C"), BZ_STR("1"));
    bz_refs_contains(&b, BZ_STR("C"), BZ_STR("2"));
    bz_refs_contains(&b, BZ_STR("D"), BZ_STR("3"));
    bz_refs_merge(&a, &b);
    bz_refs_release(&b);
    bz_arena_release(&two); /* nothing of it is needed any more */
    assert_int_equal(a.reads.len, 2);
    assert_non_null(bz_map_get(&a.reads, BZ_STR("B")));
    assert_non_null(bz_map_get(&a.execs, BZ_STR("f")));
    assert_true(has_item(&a, BZ_STR("C"), BZ_STR("1")));
    assert_true(has_item(&a, BZ_STR("C"), BZ_STR("2")));
    assert_true(has_item(&a, BZ_STR("D"), BZ_STR("3")));
    bz_refs_release(&a);
    bz_arena_release(&one);
}

static void empty_references_merge_and_release(void **state)
{
    struct bz_arena arena = {0};
    struct bz_refs a, b;

    (void)state;
    bz_refs_init(&a, &arena);
    bz_refs_init(&b, &arena);
    bz_refs_merge(&a, &b);
    assert_int_equal(a.reads.len + a.execs.len + a.contains.len, 0);
    bz_refs_release(&a);
    bz_refs_release(&b);
    bz_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_copied_and_counted_once),
        cmocka_unit_test(merging_unites_all_three_kinds),
        cmocka_unit_test(empty_references_merge_and_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
