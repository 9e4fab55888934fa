#include "os/fs_source.h"

#include "tests/unit/os/scratch.h"

/* The paths, each with its mode if it is no link, and a blank after it. */
static int collect(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    char *text = ctx;

    (void)err;
    if (S_ISLNK(e->st->st_mode))
        sprintf(text + strlen(text), "%s@ ", e->path);
    else
        sprintf(text + strlen(text), "%s:%o ", e->path,
                (unsigned)bz_fs_source_mode(e->st->st_mode));
    return BZ_FS_WALK_ON;
}

static void put_tree(const struct scratch *dir)
{
    static const char *const dirs[] = {".git/x", "a/.svn", "a/CVS", "a/.hg",
                                       "a/out",  "b",      "e"};

    for (size_t i = 0; i < BZ_COUNTOF(dirs); i++)
        make_dirs(dir->fd, dirs[i]);
    put(dir->fd, "a/.svn/f", "");
    put(dir->fd, "a/out/f", "");
    put(dir->fd, "b/.git", "gitdir: elsewhere");
    put(dir->fd, "b/CVS", "a file of that name");
    put(dir->fd, "p", "");
    put(dir->fd, "q", "");
    assert_int_equal(fchmodat(dir->fd, "p", 0711, 0), 0);
    assert_int_equal(fchmodat(dir->fd, "q", 0676, 0), 0);
    assert_int_equal(fchmodat(dir->fd, "e", 0700, 0), 0);
    assert_int_equal(symlinkat("a", dir->fd, "l"), 0);
}

static void version_control_is_left_out_and_modes_are_normalised(void **state)
{
    static const struct {
        struct bz_str excluded;
        const char *want;
    } rows[] = {
        {BZ_STR(""),
         "a:755 a/out:755 a/out/f:644 b:755 b/CVS:644 e:755 l@ p:755 q:644 "          },
        {BZ_STR("out"), "a:755 a/.hg:755 b:755 b/CVS:644 e:755 l@ p:755 q:644 "       },
        {BZ_STR("f p"),
         "a:755 a/.hg:755 a/out:755 a/out/f:644 b:755 b/CVS:644 e:755 l@ p:755 q:644 "},
    };
    struct scratch *dir = *state;

    put_tree(dir);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        char text[1000] = "";
        struct bz_err err;

        assert_ok(bz_fs_source_walk(dir->path, bz_fs_source_excluded(rows[i].excluded),
                                    collect, text, &err),
                  &err);
        assert_string_equal(text, rows[i].want);
    }
}

static void a_fifo_is_refused_with_its_path(void **state)
{
    struct scratch *dir = *state;
    char text[1000] = "", want[300];
    struct bz_err err;

    make_dirs(dir->fd, "d");
    assert_int_equal(mkfifoat(dir->fd, "d/pipe", 0600), 0);
    assert_int_equal(bz_fs_source_walk(dir->path, BZ_STR(""), collect, text, &err),
                     BZ_E_INVAL);
    snprintf(want, sizeof(want), "%s/d/pipe is no file", dir->path);
    assert_non_null(strstr(err.msg, want));
    make_dirs(dir->fd, ".git");
    assert_int_equal(renameat(dir->fd, "d/pipe", dir->fd, ".git/pipe"), 0);
    assert_ok(bz_fs_source_walk(dir->path, BZ_STR(""), collect, text, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            version_control_is_left_out_and_modes_are_normalised, scratch_setup,
            scratch_teardown),
        cmocka_unit_test_setup_teardown(a_fifo_is_refused_with_its_path, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
