#include "build/outdir.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cache/tree_stamp.h"
#include "os/fs.h"
#include "tests/unit/task/workshop.h"

static void assert_link(struct world *w, const char *name, struct bz_str want)
{
    char *target;

    assert_ok(bz_fs_readlink(AT_FDCWD, at(w, name).p, &target, &w->err), &w->err);
    assert_string_equal(target, want.p);
    free(target);
}

static void links_lead_to_what_there_is(void **state)
{
    struct world *w = *state;
    struct workshop b;

    workshop_open(&b, w);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, at(w, "own/tmp/work/app/image").p, 0755, &w->err),
              &w->err);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, at(w, "shared/tmp/deploy").p, 0755, &w->err),
              &w->err);
    for (int again = 0; again < 2; again++) /* the first time they are new */
        assert_int_equal(
            bz_outdir_link(&b.j, 0, at(w, "own").p, at(w, "shared").p, &w->err),
            again ? 0 : 1);
    assert_link(w, "build/bitzel-out/app/image", at(w, "own/tmp/work/app/image"));
    assert_link(w, "build/bitzel-out/app/work", at(w, "own/tmp/work/app"));
    assert_link(w, "build/bitzel-out/app/deploy", at(w, "shared/tmp/deploy"));
    workshop_close(&b);
}

static void what_there_is_not_any_more_has_no_link(void **state)
{
    struct world *w = *state;
    struct workshop b;

    workshop_open(&b, w);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, at(w, "shared/tmp/deploy").p, 0755, &w->err),
              &w->err);
    assert_int_equal(bz_outdir_link(&b.j, 0, NULL, at(w, "shared").p, &w->err), 1);
    assert_true(bz_fs_exists(AT_FDCWD, at(w, "build/bitzel-out/app/deploy").p));
    assert_ok(bz_outdir_link(&b.j, 0, NULL, NULL, &w->err), &w->err);
    assert_false(bz_fs_exists(AT_FDCWD, at(w, "build/bitzel-out/app/deploy").p));
    workshop_close(&b);
}

static void of_what_all_share_the_deployed_part_is_shown(void **state)
{
    struct world *w = *state;
    struct bz_arena a = {0};
    struct workshop b;

    workshop_open(&b, w);
    assert_true(bz_str_eq(bz_outdir_part(&b.j, 0, &a), BZ_STR("tmp/deploy")));
    bz_arena_release(&a);
    workshop_close(&b);
}

static void a_change_behind_a_link_is_seen(void **state)
{
    struct world *w = *state;
    const char *top = at(w, "").p, *store = at(w, "store").p;
    const char *tree = at(w, "store/out/tree").p;
    BZ_CLEANUP(bz_buf_release) struct bz_buf seen = {0};
    int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_ok(bz_fs_mkdirs(AT_FDCWD, at(w, "store/out/tree/d").p, 0755, &w->err),
              &w->err);
    assert_int_equal(symlink(at(w, "store/out/tree/d").p, at(w, "link").p), 0);
    assert_int_equal(symlink(top, at(w, "stray").p), 0);
    assert_true(bz_outdir_is_untouched(dir, "store", store, &seen)); /* no link */
    assert_false(bz_outdir_is_untouched(dir, "stray", store, &seen));
    assert_false(bz_outdir_is_untouched(dir, "link", store, &seen)); /* no stamp */
    bz_tree_stamp_set(tree);
    bz_buf_truncate(&seen, 0);
    if (bz_tree_stamp_check(tree) != BZ_TREE_STAMP_NONE) {
        assert_true(bz_outdir_is_untouched(dir, "link", store, &seen));
        assert_int_equal(mkdir(at(w, "store/out/tree/more").p, 0755), 0);
        assert_true(bz_outdir_is_untouched(dir, "link", store, &seen)); /* known */
        bz_buf_truncate(&seen, 0);
        assert_false(bz_outdir_is_untouched(dir, "link", store, &seen));
    }
    close(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_lead_to_what_there_is, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(what_there_is_not_any_more_has_no_link,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(of_what_all_share_the_deployed_part_is_shown,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_change_behind_a_link_is_seen, world_setup,
                                        world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
