#include "sig/deps_item.h"

#include "tests/unit/vars/script.h"

static void only_one_step_is_taken(void **state)
{
    struct script s = {0};
    struct bz_deps_opts opts = {.ignored = BZ_STR("I")};
    struct bz_deps d;
    struct bz_map deps = {0};
    struct bz_str value;
    struct bz_err err = {0};

    (void)state;
    assert_ok(script_run(&s, "A=${B} ${I}\nB=${C}\nC=c", &err), &err);
    assert_ok(bz_deps_open(&d, script_store(&s), &opts, &err), &err);
    assert_ok(bz_deps_item_read(&d, BZ_STR("A"), &deps, &value, &err), &err);
    assert_int_equal(deps.len, 1);
    assert_non_null(bz_map_get(&deps, BZ_STR("B")));
    assert_true(bz_str_eq(value, BZ_STR("${B} ${I}")));
    assert_int_equal(d.items.len, 0);
    bz_map_release(&deps);
    bz_deps_close(&d);
    script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_one_step_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
