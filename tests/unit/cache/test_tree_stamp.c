#include "cache/tree_stamp.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/os/scratch.h"

static void sh(const struct scratch *s, const char *what)
{
    char line[2000];

    snprintf(line, sizeof(line), "cd %s && { %s; }", s->path, what);
    assert_int_equal(system(line), 0);
}

static void make(const struct scratch *s, char path[300])
{
    sh(s, "rm -rf t; mkdir -p t/d; echo x >t/f; echo y >t/d/g; ln t/d/g t/h; "
          "ln -s f t/l; find t -exec touch -hd @1000 {} +");
    snprintf(path, 300, "%s/t", s->path);
    bz_tree_stamp_set(path);
    if (bz_tree_stamp_check(path) == BZ_TREE_STAMP_NONE)
        skip(); /* no extended attributes here */
}

static void a_tree_without_a_stamp_has_none(void **state)
{
    struct scratch *s = *state;
    char path[300];

    sh(s, "mkdir t");
    snprintf(path, sizeof(path), "%s/t", s->path);
    assert_int_equal(bz_tree_stamp_check(path), BZ_TREE_STAMP_NONE);
    snprintf(path, sizeof(path), "%s/none", s->path);
    assert_int_equal(bz_tree_stamp_check(path), BZ_TREE_STAMP_NONE);
}

static void reading_moving_and_linking_change_nothing(void **state)
{
    struct scratch *s = *state;
    char path[300];

    make(s, path);
    sh(s, "cat t/* t/d/* >/dev/null 2>&1 || true; touch t; ln t/d/g elsewhere; "
          "mv t u; mv u t");
    assert_int_equal(bz_tree_stamp_check(path), BZ_TREE_STAMP_SAME);
}

static void any_change_is_seen(void **state)
{
    static const char *const changes[] = {
        "echo z >t/f; touch -d @1000 t/f", /* the time it had */
        "chmod 600 t/f",
        "truncate -s 1 t/h",
        "echo more >t/new",
        "rm t/d/g",
        "rm t/l; ln -s g t/l; touch -hd @1000 t t/l",
        "chmod 700 t/d",
        "ln t/f other",
        "rm t/f; mkfifo t/f; touch -d @1000 t/f",
        "mv t/f x; mv t/h t/f; mv x t/h; touch -d @1000 t",
    };
    struct scratch *s = *state;
    char path[300];

    for (size_t i = 0; i < BZ_COUNTOF(changes); i++) {
        make(s, path);
        sh(s, changes[i]);
        assert_int_equal(bz_tree_stamp_check(path), BZ_TREE_STAMP_CHANGED);
        sh(s, "rm -f other");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(a_tree_without_a_stamp_has_none),
        TEST(reading_moving_and_linking_change_nothing),
        TEST(any_change_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
