#include "os/stamp.h"

#include <string.h>

#include "os/clock.h"
#include "tests/unit/os/scratch.h"

static struct bz_stamp stamp_of(struct scratch *s, const char *path)
{
    struct bz_stamp stamp;

    bz_stamp_path(s->fd, path, &stamp);
    return stamp;
}

static void nothing_is_a_stamp_too(void **state)
{
    struct scratch *s = *state;
    struct bz_stamp before = stamp_of(s, "a"), after;

    assert_int_equal(before.kind, BZ_STAMP_ABSENT);
    assert_true(bz_stamp_same(&before, &before));
    put(s->fd, "a", "");
    after = stamp_of(s, "a");
    assert_int_equal(after.kind, BZ_STAMP_FILE);
    assert_false(bz_stamp_same(&before, &after));
    assert_int_equal(stamp_of(s, "a/b").kind, BZ_STAMP_ABSENT);
}

static void a_descriptor_has_the_stamp_of_its_path(void **state)
{
    struct scratch *s = *state;
    struct bz_stamp by_path, by_fd;
    int fd;

    put(s->fd, "a", "text");
    assert_int_equal(symlinkat("a", s->fd, "link"), 0);
    fd = openat(s->fd, "link", O_RDONLY | O_CLOEXEC);
    assert_true(bz_stamp_fd(fd, &by_fd));
    by_path = stamp_of(s, "link");
    assert_true(bz_stamp_same(&by_path, &by_fd));
    assert_int_equal(by_fd.size, 4);
    close(fd);
    assert_false(bz_stamp_fd(fd, &by_fd));
}

static void every_part_counts_but_being_settled(void **state)
{
    struct bz_stamp a = {1, 2, 3, 4, 5, BZ_STAMP_FILE, 0}, b = a;

    (void)state;
    b.settled = 1;
    assert_true(bz_stamp_same(&a, &b));
    for (size_t i = 0; i < 6; i++) {
        b = a;
        if (i < 5)
            ((uint64_t *)&b)[i]++;
        else
            b.kind = BZ_STAMP_DIR;
        assert_false(bz_stamp_same(&a, &b));
    }
}

static void a_file_replaced_under_its_name_is_another(void **state)
{
    struct scratch *s = *state;
    struct bz_stamp before, after;
    struct timespec times[2] = {
        {1000, 0},
        {1000, 0}
    };

    put(s->fd, "a", "one");
    put(s->fd, "b", "two");
    assert_int_equal(utimensat(s->fd, "a", times, 0), 0);
    assert_int_equal(utimensat(s->fd, "b", times, 0), 0);
    before = stamp_of(s, "a");
    assert_int_equal(renameat(s->fd, "b", s->fd, "a"), 0);
    after = stamp_of(s, "a");
    assert_int_equal(before.size, after.size);
    assert_int_equal(before.mtime, after.mtime);
    assert_false(bz_stamp_same(&before, &after));
}

/* When a change lies far enough back that another could not look the same. */
static void a_stamp_settles_with_time(void **state)
{
    static const struct {
        int64_t changed, ago; /* nanoseconds */
        bool settled;
    } cases[] = {
        {1234567890123456789, 0,                               false},
        {1234567890123456789, 50 * BZ_CLOCK_MS,                false},
        {1234567890123456789, 200 * BZ_CLOCK_MS,               true },
        {1234567890123456789, -5 * BZ_CLOCK_S,                 false}, /* in the future */
        {1234567890000000000, 200 * BZ_CLOCK_MS,               false}, /* whole seconds */
        {1234567890000000000, 2050 * BZ_CLOCK_MS,              false},
        {1234567890000000000, 2 * BZ_CLOCK_S + 1 * BZ_CLOCK_S, true },
        {1234567890123000000, 200 * BZ_CLOCK_MS,               false}, /* milliseconds */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct timespec t = {cases[i].changed / BZ_CLOCK_S,
                             cases[i].changed % BZ_CLOCK_S};
        struct stat st = {.st_mode = S_IFREG, .st_ctim = t};
        struct bz_stamp stamp;

        st.st_mtim = (struct timespec){1000, 1};
        bz_stamp_stat(&st, cases[i].changed + cases[i].ago, &stamp);
        assert_int_equal(stamp.settled, cases[i].settled);
        st.st_ctim = st.st_mtim; /* either time may be the late one */
        st.st_mtim = t;
        bz_stamp_stat(&st, cases[i].changed + cases[i].ago, &stamp);
        assert_int_equal(stamp.settled, cases[i].settled);
    }
}

static void a_file_just_written_is_not_settled(void **state)
{
    struct scratch *s = *state;

    put(s->fd, "a", "x");
    assert_false(stamp_of(s, "a").settled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(nothing_is_a_stamp_too),
        scratch_test(a_descriptor_has_the_stamp_of_its_path),
        cmocka_unit_test(every_part_counts_but_being_settled),
        scratch_test(a_file_replaced_under_its_name_is_another),
        cmocka_unit_test(a_stamp_settles_with_time),
        scratch_test(a_file_just_written_is_not_settled),
    };

    return cmocka_run_group_tests_name("os/stamp", tests, NULL, NULL);
}
