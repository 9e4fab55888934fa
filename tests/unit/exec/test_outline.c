#include "exec/outline.h"

#include "tests/unit/bz_test.h"

static void each_kind_of_task_has_a_line_of_its_own(void **state)
{
    struct bz_arena a = {0};
    struct bz_digest_hasher *hasher;
    struct bz_signing_policy p, again;
    struct bz_ground ground;
    struct bz_err err;

    (void)state;
    assert_ok(bz_digest_hasher_new(&hasher, &err), &err);
    bz_ground_usual(&ground);
    bz_outline_describe(&p, &ground, hasher, &a);
    bz_outline_describe(&again, &ground, hasher, &a);
    assert_true(bz_str_starts(p.line[0][0],
                              BZ_STR("namespaces, network none, user 1000, view ")));
    assert_true(
        bz_str_starts(p.line[1][1], BZ_STR("namespaces, network host, user 0, view ")));
    for (int i = 0; i < 4; i++) {
        assert_true(bz_str_eq(p.line[i / 2][i % 2], again.line[i / 2][i % 2]));
        for (int k = 0; k < i; k++)
            assert_false(bz_str_eq(
                bz_str_drop(p.line[i / 2][i % 2], p.line[i / 2][i % 2].n - 12),
                bz_str_drop(p.line[k / 2][k % 2], p.line[k / 2][k % 2].n - 12)));
    }
    bz_digest_hasher_free(hasher);
    bz_arena_release(&a);
}

static void bare_ground_is_told_with_its_place(void **state)
{
    struct bz_arena a = {0};
    struct bz_digest_hasher *hasher;
    struct bz_signing_policy here, there;
    struct bz_ground ground;
    struct bz_err err;

    (void)state;
    assert_ok(bz_digest_hasher_new(&hasher, &err), &err);
    bz_ground_bare(&ground, "/tmp/here");
    bz_outline_describe(&here, &ground, hasher, &a);
    bz_ground_bare(&ground, "/tmp/there");
    bz_outline_describe(&there, &ground, hasher, &a);
    assert_true(bz_str_starts(
        here.line[0][0], BZ_STR("landlock at /tmp/here/root, network none, view ")));
    assert_true(bz_str_starts(
        there.line[1][0], BZ_STR("landlock at /tmp/there/root, network host, view ")));
    bz_digest_hasher_free(hasher);
    bz_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_task_has_a_line_of_its_own),
        cmocka_unit_test(bare_ground_is_told_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
