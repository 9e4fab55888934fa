#include "os/fs_walk.h"

#include "tests/unit/os/scratch.h"

struct seen {
    char text[4096]; /* the paths, each followed by a newline */
    const char *skip, *stop, *fail;
    int act_dir; /* for the callbacks that change the tree */
    void (*act)(int dir);
    const char *act_at;
    unsigned long count;
};

static int collect(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct seen *seen = ctx;
    size_t n = strlen(seen->text);
    struct stat st;

    seen->count++;
    snprintf(seen->text + n, sizeof(seen->text) - n, "%s%s\n", e->path,
             S_ISDIR(e->st->st_mode)   ? "/"
             : S_ISLNK(e->st->st_mode) ? "@"
                                       : "");
    if (fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        st.st_ino != e->st->st_ino)
        return bz_fail(err, BZ_E_CORRUPT, "%s is not in its directory", e->path);
    if (seen->act_at && strcmp(e->path, seen->act_at) == 0)
        seen->act(seen->act_dir);
    if (seen->skip && strcmp(e->path, seen->skip) == 0)
        return BZ_FS_WALK_SKIP;
    if (seen->stop && strcmp(e->path, seen->stop) == 0)
        return BZ_FS_WALK_STOP;
    if (seen->fail && strcmp(e->path, seen->fail) == 0)
        return bz_fail(err, BZ_E_CANCELED, "enough");
    return BZ_FS_WALK_ON;
}

static void plant(int dir)
{
    make_dirs(dir, "a/b/c");
    make_dirs(dir, "a.d");
    make_dirs(dir, "empty");
    put(dir, "a/b/c/deep", "");
    put(dir, "a/b/z", "");
    put(dir, "a.d/f", "");
    put(dir, "z", "");
    assert_int_equal(symlinkat("a", dir, "to-a"), 0);
    assert_int_equal(symlinkat("nowhere", dir, "a/dangling"), 0);
}

static void the_order_and_the_choices_of_the_visitor_hold(void **state)
{
    static const struct {
        const char *skip, *stop, *fail;
        int rc;
        const char *want;
    } cases[] = {
        {NULL,  NULL,    NULL,    0,
         "a/\na/b/\na/b/c/\na/b/c/deep\na/b/z\na/dangling@\na.d/\na.d/f\nempty/\n"
         "to-a@\nz\n"                                                                   },
        {"a/b", NULL,    NULL,    0,
         "a/\na/b/\na/dangling@\na.d/\na.d/f\nempty/\nto-a@\nz\n"                       },
        {NULL,  "a/b/c", NULL,    0,             "a/\na/b/\na/b/c/\n"                   },
        {NULL,  NULL,    "a/b/z", BZ_E_CANCELED, "a/\na/b/\na/b/c/\na/b/c/deep\na/b/z\n"},
        {"z",   NULL,    NULL,    0,             /* skipping what is no directory is harmless */
         "a/\na/b/\na/b/c/\na/b/c/deep\na/b/z\na/dangling@\na.d/\na.d/f\nempty/\n"
         "to-a@\nz\n"                               },
    };
    struct scratch *s = *state;
    size_t before = count_fds();

    plant(s->fd);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct seen seen = {
            .skip = cases[i].skip, .stop = cases[i].stop, .fail = cases[i].fail};
        struct bz_err err = {0};
        int rc = bz_fs_walk(AT_FDCWD, s->path, collect, &seen, &err);

        if (rc != cases[i].rc)
            fail_msg("case %zu: %d %s", i, rc, err.msg);
        assert_string_equal(seen.text, cases[i].want);
        assert_int_equal(count_fds(), before);
    }
}

static void only_the_root_may_be_a_link(void **state)
{
    struct scratch *s = *state;
    struct seen seen = {0};
    struct bz_err err;

    make_dirs(s->fd, "real");
    put(s->fd, "real/f", "");
    assert_int_equal(symlinkat("real", s->fd, "link"), 0);
    assert_int_equal(symlinkat(".", s->fd, "real/loop"), 0);
    assert_ok(bz_fs_walk(s->fd, "link", collect, &seen, &err), &err);
    assert_string_equal(seen.text, "f\nloop@\n");
}

static void a_root_that_is_none_is_named(void **state)
{
    struct scratch *s = *state;
    struct seen seen = {0};
    struct bz_err err;

    put(s->fd, "f", "");
    assert_int_equal(bz_fs_walk(s->fd, "absent", collect, &seen, &err), BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "absent"));
    assert_int_equal(bz_fs_walk(s->fd, "f", collect, &seen, &err), BZ_E_IO);
    assert_int_equal(seen.count, 0);
}

/* Makes a chain of directories named "d", as deep as told. */
static void dig(int dir, int depth)
{
    int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);

    for (int i = 0; i < depth; i++) {
        int next;

        assert_int_equal(mkdirat(at, "d", 0755), 0);
        next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    close(at);
}

static int count_only(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct seen *seen = ctx;

    (void)e;
    (void)err;
    seen->count++;
    return BZ_FS_WALK_ON;
}

static void depth_is_bounded(void **state)
{
    struct scratch *s = *state;
    size_t before = count_fds();
    struct seen fits = {0}, over = {0};
    struct bz_err err;

    make_dirs(s->fd, "fits");
    make_dirs(s->fd, "over");
    {
        int dir = openat(s->fd, "fits", O_RDONLY | O_CLOEXEC);

        dig(dir, BZ_FS_WALK_DEPTH - 1); /* the root is a level too */
        close(dir);
        dir = openat(s->fd, "over", O_RDONLY | O_CLOEXEC);
        dig(dir, BZ_FS_WALK_DEPTH);
        close(dir);
    }
    assert_ok(bz_fs_walk(s->fd, "fits", count_only, &fits, &err), &err);
    assert_int_equal(fits.count, BZ_FS_WALK_DEPTH - 1);
    assert_int_equal(bz_fs_walk(s->fd, "over", count_only, &over, &err), BZ_E_LIMIT);
    assert_int_equal(count_fds(), before);
}

static void remove_z_and_empty(int dir)
{
    assert_int_equal(unlinkat(dir, "z", 0), 0);
    assert_int_equal(unlinkat(dir, "empty", AT_REMOVEDIR), 0);
}

static void what_vanishes_during_the_walk_is_passed_over(void **state)
{
    struct scratch *s = *state;
    struct seen seen = {.act_at = "a", .act = remove_z_and_empty, .act_dir = s->fd};
    struct bz_err err;

    plant(s->fd);
    assert_ok(bz_fs_walk(s->fd, ".", collect, &seen, &err), &err);
    assert_null(strstr(seen.text, "z\nto-a"));
    assert_null(strstr(seen.text, "empty"));
    assert_non_null(strstr(seen.text, "to-a@\n"));
}

static void exchange_empty_for_a_link(int dir)
{
    assert_int_equal(unlinkat(dir, "empty", AT_REMOVEDIR), 0);
    assert_int_equal(symlinkat("a", dir, "empty"), 0);
}

static void a_directory_exchanged_for_a_link_is_not_entered(void **state)
{
    struct scratch *s = *state;
    struct seen seen = {
        .act_at = "empty", .act = exchange_empty_for_a_link, .act_dir = s->fd};
    struct bz_err err;

    plant(s->fd);
    assert_int_equal(bz_fs_walk(s->fd, ".", collect, &seen, &err), BZ_E_IO);
    assert_non_null(strstr(err.msg, "empty changed"));
    assert_null(strstr(seen.text, "empty/b"));
}

static void a_directory_that_cannot_be_read_is_named(void **state)
{
    struct scratch *s = *state;
    struct seen seen = {0};
    struct bz_err err;
    int rc;

    make_dirs(s->fd, "x/shut");
    assert_int_equal(fchmodat(s->fd, "x/shut", 0, 0), 0);
    assert_int_equal(fchmodat(s->fd, ".", 0755, 0), 0);
    /* Root reads everything, so it is somebody else meanwhile. */
    if (getuid() == 0)
        assert_int_equal(seteuid(65534), 0);
    rc = bz_fs_walk(s->fd, ".", collect, &seen, &err);
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(rc, BZ_E_IO);
    assert_non_null(strstr(err.msg, "x/shut"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(the_order_and_the_choices_of_the_visitor_hold),
        scratch_test(only_the_root_may_be_a_link),
        scratch_test(a_root_that_is_none_is_named),
        scratch_test(depth_is_bounded),
        scratch_test(what_vanishes_during_the_walk_is_passed_over),
        scratch_test(a_directory_exchanged_for_a_link_is_not_entered),
        scratch_test(a_directory_that_cannot_be_read_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
