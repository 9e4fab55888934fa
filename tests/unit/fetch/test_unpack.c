#include "tests/unit/fetch/fetching.h"

static void archives_are_unpacked_where_they_should_go(void **state)
{
    struct fetching *f = *state;

    fetching_sh(f, "mkdir p && echo x >p/x && tar -czf files/p.tar.gz p && "
                   "echo y >y && gzip -k y && mv y.gz files/");
    assert_ok(fetching_unpack(f, "file://p.tar.gz file://y.gz"), &f->err);
    assert_file(f, "work/p/x", "x\n");
    assert_file(f, "work/y", "y\n");
    assert_ok(fetching_unpack(f, "file://p.tar.gz;subdir=s/t;striplevel=1"), &f->err);
    assert_file(f, "work/s/t/x", "x\n");
    assert_ok(fetching_unpack(f, "file://p.tar.gz;unpack=0"), &f->err);
    assert_true(bz_fs_exists(f->dir->fd, "work/p.tar.gz"));
}

static void local_files_keep_their_directories(void **state)
{
    struct fetching *f = *state;
    struct stat st;

    make_dirs(f->dir->fd, "files/cfg/deep");
    put(f->dir->fd, "files/cfg/deep/a", "a");
    assert_int_equal(fchmodat(f->dir->fd, "files/cfg/deep/a", 0755, 0), 0);
    assert_int_equal(symlinkat("deep/a", f->dir->fd, "files/cfg/link"), 0);
    assert_ok(fetching_unpack(f, "file://cfg/deep/a;subdir=one"), &f->err);
    assert_file(f, "work/one/cfg/deep/a", "a");
    assert_ok(fetching_unpack(f, "file://cfg"), &f->err);
    assert_file(f, "work/cfg/link", "a");
    assert_int_equal(fstatat(f->dir->fd, "work/cfg/deep/a", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
    assert_int_equal(fstatat(f->dir->fd, "work/cfg/link", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void modes_and_times_of_a_checkout_do_not_matter(void **state)
{
    static const struct {
        const char *name;
        unsigned mode;
    } rows[] = {
        {"work/cfg",       0755},
        {"work/cfg/empty", 0755},
        {"work/cfg/a",     0644},
        {"work/cfg/run",   0755},
        {"work/b",         0755},
    };
    struct fetching *f = *state;
    struct stat st;

    fetching_sh(f, "mkdir -p files/cfg/empty files/cfg/.git files/cfg/.svn && "
                   "touch files/cfg/a files/cfg/run files/b files/cfg/.git/x && "
                   "chmod 0600 files/cfg/a && chmod 0700 files/cfg/run files/cfg && "
                   "chmod 0775 files/b && chmod 0777 files/cfg/empty && "
                   "touch -d @1 files/b files/cfg/a");
    assert_ok(fetching_unpack(f, "file://cfg file://b"), &f->err);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        assert_int_equal(fstatat(f->dir->fd, rows[i].name, &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, rows[i].mode);
        assert_true(st.st_mtime > 1);
    }
    assert_false(bz_fs_exists(f->dir->fd, "work/cfg/.git"));
    assert_false(bz_fs_exists(f->dir->fd, "work/cfg/.svn"));
    fetching_set(f, "BB_SIGNATURE_LOCAL_DIRS_EXCLUDE", NULL, "empty");
    fetching_sh(f, "rm -rf work/*");
    assert_ok(fetching_unpack(f, "file://cfg"), &f->err);
    assert_false(bz_fs_exists(f->dir->fd, "work/cfg/empty"));
    assert_false(bz_fs_exists(f->dir->fd, "work/cfg/.git"));
}

static void nothing_goes_elsewhere(void **state)
{
    static const char *const wrong[] = {"file://a;subdir=../x", "file://a;subdir=/etc",
                                        "file://a;unpack=perhaps",
                                        "file://p.tar;striplevel=x"};
    struct fetching *f = *state;
    char inside[600];

    put(f->dir->fd, "files/a", "a");
    fetching_sh(f, "tar -cf files/p.tar -C files a");
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++)
        assert_int_equal(fetching_unpack(f, wrong[i]), BZ_E_INVAL);
    assert_int_equal(symlinkat("..", f->dir->fd, "work/up"), 0);
    assert_int_equal(fetching_unpack(f, "file://a;subdir=up"), BZ_E_INVAL);
    assert_false(bz_fs_exists(f->dir->fd, "a"));
    snprintf(inside, sizeof(inside), "file://a;subdir=%s/work/in", f->dir->path);
    assert_ok(fetching_unpack(f, inside), &f->err);
    assert_file(f, "work/in/a", "a");
}

static void what_cannot_be_unpacked_is_told(void **state)
{
    struct fetching *f = *state;

    put(f->dir->fd, "files/a.7z", "a");
    put(f->dir->fd, "files/b.tar", "no archive");
    assert_int_equal(fetching_unpack(f, "file://a.7z"), BZ_E_NOSUP);
    assert_int_equal(fetching_unpack(f, "file://b.tar"), BZ_E_CORRUPT);
    assert_non_null(strstr(f->err.msg, "unpack file://b.tar: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(archives_are_unpacked_where_they_should_go),
        fetching_test(local_files_keep_their_directories),
        fetching_test(modes_and_times_of_a_checkout_do_not_matter),
        fetching_test(nothing_goes_elsewhere),
        fetching_test(what_cannot_be_unpacked_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
