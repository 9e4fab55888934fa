#include "project/plainpath.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "os/fs.h"
#include "tests/unit/project/project_test.h"

static const char *in_scratch(struct bz_arena *a, const struct scratch *s,
                              const char *path)
{
    return bz_arena_printf(a, "%s%s", s->path, path).p;
}

static void a_path_that_words_can_hold_is_its_own_name(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *links = in_scratch(&a, s, "/links");
    struct bz_path name;
    struct bz_err err;

    assert_ok(bz_plainpath_make(links, "/gro\xc3\x9f/a-b_c.d+e", &name, &err), &err);
    assert_string_equal(name.s, "/gro\xc3\x9f/a-b_c.d+e");
    assert_false(bz_fs_exists(AT_FDCWD, links));
}

static void any_other_is_named_by_a_link_that_stays(void **state)
{
    static const char *const dirs[] = {"/a b", "/a\tb",  "/a\"b",
                                       "/a'b", "/a${b}", "/a\\b"};
    struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *links = in_scratch(&a, s, "/links");
    struct bz_path name, again, before = {.s = ""};
    struct bz_err err;

    for (size_t i = 0; i < BZ_COUNTOF(dirs); i++) {
        char *to = NULL;

        assert_ok(bz_plainpath_make(links, dirs[i], &name, &err), &err);
        assert_ok(bz_plainpath_make(links, dirs[i], &again, &err), &err);
        assert_string_equal(name.s, again.s);
        assert_string_not_equal(name.s, before.s);
        assert_memory_equal(name.s, links, strlen(links));
        assert_ok(bz_fs_readlink(AT_FDCWD, name.s, &to, &err), &err);
        assert_string_equal(to, dirs[i]);
        free(to);
        before = name;
    }
}

static void what_others_may_write_to_is_refused(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *links = in_scratch(&a, s, "/links");
    struct bz_path name;
    struct bz_err err = {0};

    assert_int_equal(mkdirat(s->fd, "links", 0700), 0);
    assert_int_equal(fchmodat(s->fd, "links", 0777, 0), 0);
    assert_int_equal(bz_plainpath_make(links, "/a b", &name, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, links));
    assert_int_equal(unlinkat(s->fd, "links", AT_REMOVEDIR), 0);
    assert_int_equal(symlinkat(s->path, s->fd, "links"), 0);
    assert_int_equal(bz_plainpath_make(links, "/a b", &name, &err), BZ_E_INVAL);
    assert_int_equal(bz_plainpath_make("/with a blank", "/a b", &name, &err),
                     BZ_E_INVAL);
}

static void a_link_that_leads_elsewhere_is_an_error(void **state)
{
    struct scratch *s = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *links = in_scratch(&a, s, "/links");
    struct bz_path name;
    struct bz_err err;

    assert_ok(bz_plainpath_make(links, "/a b", &name, &err), &err);
    assert_int_equal(unlink(name.s), 0);
    assert_int_equal(symlink("/elsewhere", name.s), 0);
    assert_int_equal(bz_plainpath_make(links, "/a b", &name, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "remove it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_path_that_words_can_hold_is_its_own_name),
        scratch_test(any_other_is_named_by_a_link_that_stays),
        scratch_test(what_others_may_write_to_is_refused),
        scratch_test(a_link_that_leads_elsewhere_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
