#include "os/cgroup.h"

#include "tests/unit/os/scratch.h"

struct seen {
    char text[300];
};

static void note(void *ctx, enum bz_cgroup_version v, const char *dir)
{
    struct seen *s = ctx;
    size_t n = strlen(s->text);

    snprintf(s->text + n, sizeof(s->text) - n, "%d%s ", v == BZ_CGROUP_V2 ? 2 : 1, dir);
}

static void groups_are_told_from_ones_own_up(void **state)
{
    struct scratch *s = *state;
    struct seen seen = {""};
    uint64_t numbers[2] = {0, 7}, field = 0;

    make_dirs(s->fd, "proc/self");
    make_dirs(s->fd, "two/a");
    put(s->fd, "proc/self/cgroup", "5:cpu:/x\n4:blkio,memory:/m/n\n0::/a\n");
    put(s->fd, "proc/self/mountinfo",
        "31 23 0:28 / /two rw - cgroup2 cgroup2 rw\n"
        "32 31 0:29 / /one\\040more rw - cgroup cgroup rw,memory,blkio\n");
    bz_cgroup_walk(s->path, BZ_STR("memory"), note, &seen);
    assert_string_equal(seen.text,
                        "1/one more/m/n 1/one more/m 1/one more 2/two/a 2/two ");
    put(s->fd, "two/a/some", "12 max\n");
    assert_false(bz_cgroup_read(s->path, "/two/a", "some", numbers));
    put(s->fd, "two/a/some", "12\n");
    assert_true(bz_cgroup_read(s->path, "/two/a", "some", numbers));
    assert_int_equal(numbers[0], 12);
    assert_int_equal(numbers[1], 7);
    assert_false(bz_cgroup_read(s->path, "/two/a", "other", numbers));
    put(s->fd, "two/a/stat", "ab 1\na 2\nb x\n");
    assert_true(bz_cgroup_field(s->path, "/two/a", "stat", BZ_STR("a"), &field));
    assert_int_equal(field, 2);
    assert_false(bz_cgroup_field(s->path, "/two/a", "stat", BZ_STR("b"), &field));
    assert_false(bz_cgroup_field(s->path, "/two/a", "stat", BZ_STR("c"), &field));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(groups_are_told_from_ones_own_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
