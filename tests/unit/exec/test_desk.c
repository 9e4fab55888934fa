#include "exec/desk.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "os/fs.h"
#include "tests/unit/os/scratch.h"

struct room {
    struct scratch *s;
    struct bz_desk_list all;
};

static int setup(void **state)
{
    struct room *r = calloc(1, sizeof(*r));
    void *s;

    if (scratch_setup(&s) < 0)
        return -1;
    r->s = s;
    r->all.scratch = r->s->path;
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct room *r = *state;
    void *s = r->s;

    bz_desk_list_release(&r->all);
    free(r);
    return scratch_teardown(&s);
}

static struct bz_desk *take(struct room *r, const char *path)
{
    struct bz_desk *d = NULL;
    struct bz_err err;

    assert_ok(bz_desk_take(&r->all, bz_str_from(path), &d, &err), &err);
    return d;
}

/* The number of the inode of a directory in the first desk; 0 if there is none. */
static ino_t inode(struct room *r, const char *path)
{
    struct stat st;

    return fstatat(r->s->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_ino : 0;
}

static void make(struct room *r, const char *path)
{
    struct bz_err err;

    assert_ok(bz_fs_mkdirs(r->s->fd, path, 0755, &err), &err);
}

static void what_a_step_has_not_used_is_used_again(void **state)
{
    struct room *r = *state;
    struct bz_desk *d = take(r, "w/a/temp");
    ino_t top = inode(r, "0/upper/w"), last = inode(r, "0/upper/w/a/temp");

    assert_true(last > 0);
    assert_true(bz_desk_unused(d));
    bz_desk_give(&r->all, d);
    assert_ptr_equal(take(r, "w/a/temp"), d);
    assert_int_equal(inode(r, "0/upper/w/a/temp"), last);
    bz_desk_give(&r->all, d);
    assert_ptr_equal(take(r, "w/b/temp"), d);
    assert_int_equal(inode(r, "0/upper/w"), top);
    assert_int_equal(inode(r, "0/upper/w/b/temp"), last);
    assert_int_equal(inode(r, "0/upper/w/a"), 0);
    bz_desk_give(&r->all, d);
    assert_ptr_equal(take(r, "x/c"), d); /* a path of another length is made anew */
    assert_true(inode(r, "0/upper/x/c") > 0);
    assert_int_equal(inode(r, "0/upper/w"), 0);
    assert_true(bz_desk_unused(d));
    bz_desk_give(&r->all, d);
}

static void who_wants_no_path_gets_none(void **state)
{
    struct room *r = *state;
    struct bz_desk *d = take(r, "w/a"), *e;

    bz_desk_give(&r->all, d);
    e = take(r, "");
    assert_ptr_not_equal(e, d);
    assert_true(bz_desk_unused(e));
    assert_int_equal(inode(r, "1/upper/w"), 0);
    bz_desk_give(&r->all, e);
    assert_ptr_equal(take(r, "v/b"), d);
    bz_desk_give(&r->all, d);
}

static void what_a_step_leaves_is_gone_for_the_next(void **state)
{
    static const char *const left[] = {"0/upper/w/a/temp/x", "0/upper/w/y", "0/upper/z",
                                       "0/own/w", "0/tmp/t"};
    struct room *r = *state;

    for (size_t i = 0; i < BZ_COUNTOF(left); i++) {
        struct bz_desk *d = take(r, "w/a/temp");

        make(r, left[i]);
        bz_desk_give(&r->all, d);
        d = take(r, "w/a/temp");
        assert_false(bz_fs_exists(r->s->fd, left[i]));
        assert_true(bz_desk_unused(d));
        bz_desk_give(&r->all, d);
    }
}

static void the_part_of_the_path_that_is_empty_is_no_output(void **state)
{
    struct room *r = *state;
    struct bz_desk *d = take(r, "w/a/temp");

    make(r, "0/upper/w/x");
    assert_false(bz_desk_unused(d));
    assert_false(bz_fs_exists(r->s->fd, "0/upper/w/a"));
    assert_true(bz_fs_exists(r->s->fd, "0/upper/w/x"));
    bz_desk_give(&r->all, d);
    d = take(r, "w/a/temp");
    make(r, "0/upper/w/a/temp/x");
    assert_false(bz_desk_unused(d));
    assert_true(bz_fs_exists(r->s->fd, "0/upper/w/a/temp/x"));
    bz_desk_give(&r->all, d);
}

static void a_mode_or_an_attribute_does_not_last(void **state)
{
    struct room *r = *state;
    struct bz_desk *d = take(r, "w/a");

    assert_int_equal(fchmodat(r->s->fd, "0/upper/w", 0700, 0), 0);
    assert_int_equal(fchmodat(r->s->fd, "0/tmp", 0777, 0), 0);
    assert_false(bz_desk_unused(d));
    bz_desk_give(&r->all, d);
    d = take(r, "w/a");
    assert_true(bz_desk_unused(d));
    if (setxattr(d->upper, "user.mark", "1", 1, 0) == 0)
        assert_false(bz_desk_unused(d));
    bz_desk_give(&r->all, d);
    d = take(r, "w/a");
    assert_true(bz_desk_unused(d));
    bz_desk_give(&r->all, d);
}

static void what_an_overlay_needs_is_new_each_time(void **state)
{
    struct room *r = *state;
    struct bz_desk *d = take(r, "");
    struct bz_err err;

    assert_ok(bz_desk_layer(d, &err), &err);
    make(r, "0/work/work/incompat");
    make(r, "0/links/0");
    bz_desk_give(&r->all, d);
    assert_ptr_equal(take(r, ""), d);
    assert_false(bz_fs_exists(r->s->fd, "0/work"));
    assert_ok(bz_desk_layer(d, &err), &err);
    assert_true(bz_fs_exists(r->s->fd, "0/work"));
    assert_false(bz_fs_exists(r->s->fd, "0/links/0"));
    bz_desk_give(&r->all, d);
}

static void without_the_directory_it_is_an_error(void **state)
{
    struct room *r = *state;
    struct bz_desk *d;
    struct bz_err err;

    r->all.scratch = "/nonexistent/scratch";
    assert_int_equal(bz_desk_take(&r->all, BZ_STR("w"), &d, &err), BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "/nonexistent/scratch/0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(what_a_step_has_not_used_is_used_again),
        TEST(who_wants_no_path_gets_none),
        TEST(what_a_step_leaves_is_gone_for_the_next),
        TEST(the_part_of_the_path_that_is_empty_is_no_output),
        TEST(a_mode_or_an_attribute_does_not_last),
        TEST(what_an_overlay_needs_is_new_each_time),
        TEST(without_the_directory_it_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
