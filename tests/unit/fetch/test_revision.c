#include "fetch/revision.h"

#include "tests/unit/os/scratch.h"

#define ONES "1111111111111111111111111111111111111111"
#define TWOS "2222222222222222222222222222222222222222"

static void path_of(const struct scratch *dir, char path[300])
{
    snprintf(path, 300, "%s/cache/revisions", dir->path);
}

static void add(struct bz_revisions *r, const char *question, const char *commit,
                const char *counts)
{
    char text[BZ_REVISION_HEX];
    struct bz_err err;

    snprintf(text, sizeof(text), "%s", commit);
    bz_revision_add(r, bz_str_from(question), text);
    assert_string_equal(text, counts);
    assert_ok(bz_revision_save(r, &err), &err);
}

/* "" if there is no answer. */
static void check(const char *path, const char *question, const char *want)
{
    struct bz_revisions *r = bz_revision_open(path, false);
    char commit[BZ_REVISION_HEX] = "";
    int64_t when = 0;

    assert_int_equal(bz_revision_find(r, bz_str_from(question), commit, &when),
                     want[0] != '\0');
    assert_string_equal(commit, want);
    assert_true(!want[0] || when > 1600000000);
    bz_revision_close(r);
}

static void an_answer_is_remembered_and_does_not_change(void **state)
{
    struct bz_revisions *r;
    char path[300];

    path_of(*state, path);
    r = bz_revision_open(path, false);
    add(r, "git://h/a v1", ONES, ONES);
    add(r, "git://h/a v1", TWOS, ONES);
    bz_revision_close(r);
    check(path, "git://h/a v1", ONES);
    check(path, "git://h/a v2", "");
    check(path, "git://h/a", "");
    r = bz_revision_open(path, false);
    add(r, "git://h/a v1", TWOS, ONES);
    bz_revision_close(r);
}

static void a_refresh_asks_each_question_once(void **state)
{
    struct bz_revisions *r;
    char path[300], commit[BZ_REVISION_HEX];

    path_of(*state, path);
    r = bz_revision_open(path, false);
    add(r, "a v1", ONES, ONES);
    add(r, "b v1", ONES, ONES);
    bz_revision_close(r);
    r = bz_revision_open(path, true);
    assert_false(bz_revision_find(r, BZ_STR("a v1"), commit, NULL));
    add(r, "a v1", TWOS, TWOS);
    assert_true(bz_revision_find(r, BZ_STR("a v1"), commit, NULL));
    add(r, "a v1", ONES, TWOS);
    bz_revision_close(r);
    check(path, "a v1", TWOS);
    check(path, "b v1", ONES);
}

static void what_others_saved_meanwhile_stays(void **state)
{
    struct bz_revisions *a, *b;
    char path[300];

    path_of(*state, path);
    a = bz_revision_open(path, false);
    b = bz_revision_open(path, false);
    add(a, "a v1", ONES, ONES);
    add(b, "b v1", TWOS, TWOS);
    add(a, "c v1", ONES, ONES);
    check(path, "a v1", ONES);
    check(path, "b v1", TWOS);
    check(path, "c v1", ONES);
    bz_revision_close(a);
    bz_revision_close(b);
}

/* Every prefix, and every file with one byte changed. */
static void a_damaged_file_has_no_answers(void **state)
{
    struct scratch *dir = *state;
    struct bz_revisions *r;
    char path[300], *text;
    struct bz_err err;
    size_t n;

    path_of(dir, path);
    r = bz_revision_open(path, false);
    add(r, "a v1", ONES, ONES);
    bz_revision_close(r);
    assert_ok(bz_fs_read(AT_FDCWD, path, 1 << 20, &text, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_ok(bz_fs_write(AT_FDCWD, path, text, i, 0644, BZ_FS_NOSYNC, &err), &err);
        check(path, "a v1", "");
        text[i] ^= 1;
        assert_ok(bz_fs_write(AT_FDCWD, path, text, n, 0644, BZ_FS_NOSYNC, &err), &err);
        check(path, "a v1", "");
        text[i] ^= 1;
    }
    r = bz_revision_open(path, false);
    add(r, "b v1", TWOS, TWOS);
    bz_revision_close(r);
    check(path, "b v1", TWOS);
    free(text);
}

static void only_whole_hashes_are_commits(void **state)
{
    (void)state;
    assert_true(bz_revision_is_commit(BZ_STR(ONES)));
    assert_true(bz_revision_is_commit(BZ_STR(ONES "abcdefabcdefabcdefabcdef")));
    assert_false(bz_revision_is_commit(BZ_STR("")));
    assert_false(bz_revision_is_commit(BZ_STR("1111111")));
    assert_false(bz_revision_is_commit(BZ_STR(ONES "1")));
    assert_false(
        bz_revision_is_commit(BZ_STR("A111111111111111111111111111111111111111")));
}

#define revision_test(t)                                                               \
    cmocka_unit_test_setup_teardown(t, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        revision_test(an_answer_is_remembered_and_does_not_change),
        revision_test(a_refresh_asks_each_question_once),
        revision_test(what_others_saved_meanwhile_stays),
        revision_test(a_damaged_file_has_no_answers),
        cmocka_unit_test(only_whole_hashes_are_commits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
