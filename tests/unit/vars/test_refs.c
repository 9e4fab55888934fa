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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_copied_and_counted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
