#include "exec/overlap.h"

#include "base/log.h"
#include "tests/unit/exec/worktop.h"

static void hear(void *ctx, const struct bz_event *e)
{
    struct worktop *b = ctx;

    assert_int_equal(e->kind, BZ_EVENT_OVERLAP);
    assert_true((e->task == Z && e->other == W) || (e->task == W && e->other == Z));
    assert_string_equal(e->what, "usr/f");
    assert_int_equal(e->more, 0);
    b->counts.executed++;
}

/* A task that sees what Z and W wrote, which do not wait for each other. */
static size_t warnings(struct worktop *b, const char *z, const char *w, uint32_t first)
{
    struct bz_output handed = {0};
    struct bz_exec x;
    size_t told;

    kitchen_make(b->k, "rm -rf z w; mkdir z w");
    kitchen_make(b->k, z);
    kitchen_make(b->k, w);
    worktop_open(b, &x);
    BZ_VEC_PUSH(&handed.shared, kitchen_store(b->k, "w", "b:do_w"));
    BZ_VEC_PUSH(&handed.shared,
                kitchen_store(b->k, "z", first == Z ? "b:do_z" : "a:do_y"));
    b->opts.event = hear;
    b->counts.executed = 0;
    bz_overlap_check(&x, &handed);
    bz_overlap_check(&x, &handed); /* they are told once */
    told = x.overlap.told;
    assert_int_equal(b->counts.executed, told);
    if (told > 0)
        assert_true(bz_str_eq(x.overlap.clashes.at[0].path, BZ_STR("usr/f")));
    bz_output_release(&handed);
    bz_overlap_release(&x.overlap);
    worktop_close(&x);
    return told;
}

static void the_same_path_with_other_content_is_told_once(void **state)
{
    struct worktop *b = *state;

    assert_int_equal(
        warnings(b, "mkdir z/usr; echo 1 >z/usr/f", "mkdir w/usr; echo 2 >w/usr/f", Z),
        1);
    assert_int_equal(
        warnings(b, "mkdir z/usr; ln -s a z/usr/f", "mkdir w/usr; ln -s b w/usr/f", Z),
        1);
}

static void what_else_differs_is_told_too(void **state)
{
    static const char *const rows[][2] = {
        {"echo 1 >z/usr/f; chmod 755 z/usr/f", "echo 1 >w/usr/f"},
        {"printf a >z/usr/f",                  "ln -s a w/usr/f"},
        {"echo 1 >z/usr/f",                    "mkdir w/usr/f"  },
        {"mkdir -m 700 z/usr/f",               "mkdir w/usr/f"  },
    };
    struct worktop *b = *state;

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        char z[200], w[200];

        snprintf(z, sizeof(z), "mkdir z/usr; %s", rows[i][0]);
        snprintf(w, sizeof(w), "mkdir w/usr; %s", rows[i][1]);
        assert_int_equal(warnings(b, z, w, Z), 1);
    }
}

static void what_is_taken_away_is_written_differently(void **state)
{
    struct worktop *b = *state;

    kitchen_make(b->k, "rm -rf try; mkdir try; mknod try/f c 0 0 2>/dev/null || true");
    if (faccessat(b->k->scratch->fd, "try/f", F_OK, 0) < 0)
        skip(); /* only root may outside of a namespace, and not everywhere */
    assert_int_equal(warnings(b, "mkdir z/usr; mknod z/usr/f c 0 0",
                              "mkdir w/usr; echo 1 >w/usr/f", Z),
                     1);
    assert_int_equal(warnings(b, "mkdir z/usr; mknod z/usr/f c 0 0",
                              "mkdir -p w/usr/f; echo 1 >w/usr/f/g", Z),
                     1);
    assert_int_equal(warnings(b, "mkdir z/usr; mknod z/usr/f c 0 0",
                              "mkdir w/usr; mknod w/usr/f c 0 0", Z),
                     0);
}

static void beyond_a_limit_that_is_said(void **state)
{
    struct worktop *b = *state;
    struct bz_output handed = {0};
    struct bz_exec x;

    kitchen_make(b->k, "mkdir z w; echo 1 >z/f; echo 2 >w/f; echo 3 >w/a");
    worktop_open(b, &x);
    BZ_VEC_PUSH(&handed.shared, kitchen_store(b->k, "w", "b:do_w"));
    BZ_VEC_PUSH(&handed.shared, kitchen_store(b->k, "z", "b:do_z"));
    b->opts.event = NULL;
    x.overlap.most = 1;
    bz_log_set_level(BZ_LOG_ERROR);
    bz_overlap_check(&x, &handed);
    assert_true(x.overlap.full);
    bz_output_release(&handed);
    bz_overlap_release(&x.overlap);
    worktop_close(&x);
}

static void directories_and_equal_content_are_fine(void **state)
{
    struct worktop *b = *state;

    assert_int_equal(warnings(b, "mkdir z/usr; echo 1 >z/usr/f; echo 1 >z/g",
                              "mkdir w/usr; echo 1 >w/usr/f; echo 2 >w/h", Z),
                     0);
}

static void whoever_waits_may_change_what_is_there(void **state)
{
    struct worktop *b = *state;

    assert_int_equal(
        warnings(b, "mkdir z/usr; echo 1 >z/usr/f", "mkdir w/usr; echo 2 >w/usr/f", Y),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(the_same_path_with_other_content_is_told_once),
        TEST(directories_and_equal_content_are_fine),
        TEST(what_else_differs_is_told_too),
        TEST(what_is_taken_away_is_written_differently),
        TEST(beyond_a_limit_that_is_said),
        TEST(whoever_waits_may_change_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
