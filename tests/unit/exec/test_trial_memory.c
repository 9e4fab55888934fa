#include "exec/trial_memory.h"

#include <stdlib.h>

#include "tests/unit/bz_test.h"

struct memory {
    struct bz_entries catalog;
};

static int setup(void **state)
{
    struct memory *m = calloc(1, sizeof(*m));

    bz_entries_open(&m->catalog, NULL, "test");
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct memory *m = *state;

    bz_entries_close(&m->catalog);
    free(m);
    return 0;
}

static void an_outcome_is_found_again(void **state)
{
    struct memory *m = *state;
    struct bz_ground sandboxes, bare, found;

    bz_ground_usual(&sandboxes);
    sandboxes.tried = true;
    bz_ground_here(&bare);
    assert_false(bz_trial_memory_find(&m->catalog, "/tmp", &found));
    bz_trial_memory_keep(&m->catalog, "/tmp", &sandboxes);
    assert_true(bz_trial_memory_find(&m->catalog, "/tmp", &found));
    assert_false(found.bare);
    assert_string_equal(found.root, sandboxes.root);
    bz_trial_memory_keep(&m->catalog, "/tmp", &bare);
    assert_true(bz_trial_memory_find(&m->catalog, "/tmp", &found));
    assert_true(found.bare);
    assert_string_equal(found.root, bare.root);
    assert_string_equal(found.top, bare.top);
}

static void another_store_is_another_matter(void **state)
{
    struct memory *m = *state;
    struct bz_ground g, found;

    bz_ground_here(&g);
    bz_trial_memory_keep(&m->catalog, "/tmp/none/at/all", &g);
    assert_true(bz_trial_memory_find(&m->catalog, "/tmp/none/at/all", &found));
    assert_false(bz_trial_memory_find(&m->catalog, "/tmp/none/at", &found));
    assert_false(bz_trial_memory_find(&m->catalog, NULL, &found));
}

static void what_was_not_tried_is_not_kept(void **state)
{
    struct memory *m = *state;
    struct bz_ground g, found;

    bz_ground_usual(&g);
    bz_trial_memory_keep(&m->catalog, "/tmp", &g);
    assert_false(bz_trial_memory_find(&m->catalog, "/tmp", &found));
}

static void what_is_known_is_not_written_again(void **state)
{
    struct memory *m = *state;
    struct bz_ground g;

    bz_ground_here(&g);
    bz_trial_memory_keep(&m->catalog, "/tmp", &g);
    bz_trial_memory_keep(&m->catalog, "/tmp", &g);
    assert_int_equal(m->catalog.nnew, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_outcome_is_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(another_store_is_another_matter, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_not_tried_is_not_kept, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_known_is_not_written_again, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
