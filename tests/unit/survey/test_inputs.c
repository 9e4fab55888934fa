#include "survey/inputs.h"

#include <sys/stat.h>

#include "tests/unit/survey/sample.h"

/* What one path was, whether that is old enough to be trusted, and what became of it.
 */
struct checked {
    bool changed, renewed;
};

static struct bz_library_look look_at(struct world *w, const char *path)
{
    struct bz_library *lib = bz_library_new();
    struct bz_hashing hashing = {0};
    struct bz_library_look look;
    const struct bz_ast *ast;

    bz_library_set_hash(lib, bz_hashing_bytes, &hashing);
    if (!bz_library_list(lib, at(w, path)))
        (void)!bz_library_get(lib, at(w, path), BZ_PARSE_BB, &ast, &w->err);
    look = *bz_library_look(lib, at(w, path));
    look.path = at(w, path);
    bz_library_free(lib);
    bz_hashing_release(&hashing);
    return look;
}

static struct checked check(struct world *w, const struct bz_library_look *look)
{
    struct bz_entries catalog;
    struct bz_deltas d = {0};
    const struct bz_snapshot *s;
    struct bz_inputs in = {0};
    struct bz_hashing hashing = {0};
    struct checked result;

    bz_entries_open(&catalog, NULL, "");
    sample_base(&catalog, &look, 1);
    assert_ok(bz_deltas_open(&d, &catalog, &w->err), &w->err);
    assert_ok(bz_inputs_read(&in, &d, &w->err), &w->err);
    bz_inputs_check(&in, &hashing);
    s = bz_deltas_base(&d);
    assert_int_equal(in.n, 2);
    assert_false(in.changed[1]); /* the one of the configuration */
    result = (struct checked){in.changed[0], in.nrenewed > 0};
    assert_int_equal(bz_inputs_any_changed(&in, s, (struct bz_snapshot_range){0, 1}),
                     result.changed);
    assert_false(bz_inputs_any_changed(&in, s, (struct bz_snapshot_range){1, 1}));
    assert_true(bz_inputs_any_changed(&in, s, (struct bz_snapshot_range){1, 9}));
    bz_inputs_release(&in);
    bz_hashing_release(&hashing);
    bz_deltas_close(&d);
    bz_entries_close(&catalog);
    return result;
}

static void what_is_settled_is_not_read_again(void **state)
{
    struct world *w = *state;
    struct bz_library_look look;
    struct checked c;

    put_file(w, "a.bb", "A = \"1\"\n");
    look = look_at(w, "a.bb");
    look.stamp.settled = 1;
    look.content[0] ^= 1; /* would show if it were */
    c = check(w, &look);
    assert_false(c.changed || c.renewed);
    look.stamp.settled = 0;
    assert_true(check(w, &look).changed);
}

static void a_change_that_stamps_do_not_show_is_noticed(void **state)
{
    struct world *w = *state;
    struct timespec times[2] = {
        {1000, 1},
        {1000, 1}
    };
    struct bz_library_look look;

    put_file(w, "a.bb", "A = \"1\"\n");
    utimensat(w->dir->fd, "a.bb", times, 0);
    look = look_at(w, "a.bb");
    assert_false(look.stamp.settled); /* by the time of its inode */
    put_file(w, "a.bb", "A = \"2\"\n");
    utimensat(w->dir->fd, "a.bb", times, 0);
    assert_true(check(w, &look).changed);
    /* Even if the clock had not moved on: the stamp is the same in every part. */
    bz_stamp_path(w->dir->fd, "a.bb", &look.stamp);
    assert_false(look.stamp.settled);
    assert_true(check(w, &look).changed);
}

static void a_file_that_is_only_touched_is_the_same(void **state)
{
    struct world *w = *state;
    struct bz_library_look look;
    struct checked c;

    put_file(w, "a.bb", "A = \"1\"\n");
    look = look_at(w, "a.bb");
    look.stamp.mtime -= 5000000000;
    look.stamp.settled = 1;
    c = check(w, &look);
    assert_true(!c.changed && c.renewed);
    look.stamp.ino++; /* a copy under the same name */
    assert_false(check(w, &look).changed);
    put_file(w, "a.bb", "A = \"12\"\n");
    assert_true(check(w, &look).changed);
}

static void what_appears_or_vanishes_is_a_change(void **state)
{
    struct world *w = *state;
    struct bz_library_look look = look_at(w, "a.bb");

    assert_int_equal(look.stamp.kind, BZ_STAMP_ABSENT);
    assert_false(check(w, &look).changed);
    put_file(w, "a.bb", "");
    assert_true(check(w, &look).changed);
    look = look_at(w, "a.bb");
    assert_false(check(w, &look).changed);
    unlinkat(w->dir->fd, "a.bb", 0);
    assert_true(check(w, &look).changed);
    make_dirs(w->dir->fd, "a.bb");
    assert_true(check(w, &look).changed);
}

static void a_directory_is_what_it_lists(void **state)
{
    struct world *w = *state;
    struct bz_library_look look;

    put_file(w, "d/a", "");
    look = look_at(w, "d");
    assert_int_equal(look.stamp.kind, BZ_STAMP_DIR);
    assert_false(check(w, &look).changed);
    put_file(w, "d/a", "another content");
    assert_false(check(w, &look).changed);
    put_file(w, "d/b", "");
    assert_true(check(w, &look).changed);
    unlinkat(w->dir->fd, "d/b", 0);
    assert_false(check(w, &look).changed); /* as before, but for its times */
    unlinkat(w->dir->fd, "d/a", 0);
    make_dirs(w->dir->fd, "d/a");
    assert_true(check(w, &look).changed); /* a file became a directory */
}

static void a_path_that_nobody_read_need_only_be_there(void **state)
{
    struct world *w = *state;
    struct bz_library_look look;

    put_file(w, "a.bb", "A = \"1\"\n");
    look = look_at(w, "a.bb");
    look.read = false;
    put_file(w, "a.bb", "quite different\n");
    assert_false(check(w, &look).changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(what_is_settled_is_not_read_again),
        world_test(a_change_that_stamps_do_not_show_is_noticed),
        world_test(a_file_that_is_only_touched_is_the_same),
        world_test(what_appears_or_vanishes_is_a_change),
        world_test(a_directory_is_what_it_lists),
        world_test(a_path_that_nobody_read_need_only_be_there),
    };

    return cmocka_run_group_tests_name("survey/inputs", tests, NULL, NULL);
}
