#include "cache/cas_copy.h"

#include "tests/unit/os/scratch.h"

/* Data at both ends and in the middle of a file of `size` bytes. */
static int make(int dir, const char *name, off_t size)
{
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    if (size >= 3) {
        assert_int_equal(pwrite(fd, "a", 1, 0), 1);
        assert_int_equal(pwrite(fd, "b", 1, size / 2), 1);
        assert_int_equal(pwrite(fd, "c", 1, size - 1), 1);
    }
    return fd;
}

static void hash(struct bz_digest_hasher *h, int fd, struct bz_digest *out)
{
    struct bz_err err;
    uint64_t size;

    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_ok(bz_digest_fd(h, fd, out, &size, &err), &err);
}

static void bytes_and_holes_arrive_with_and_without_hashing(void **state)
{
    static const off_t sizes[] = {0,      1,      3,       131071,
                                  131072, 131073, 5000000, INT64_C(1) << 30};
    struct scratch *s = *state;
    struct bz_digest_hasher *h;
    struct bz_err err;

    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    for (size_t i = 0; i < 2 * BZ_COUNTOF(sizes); i++) {
        off_t size = sizes[i / 2];
        bool hashing = i % 2;
        struct bz_digest want, got;
        struct stat st;
        int from, to;

        if (hashing && size > INT64_C(1) << 29)
            continue; /* reads as slowly as it would any file */
        from = make(s->fd, "from", size);
        to = openat(s->fd, "to", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        bz_digest_begin(h);
        assert_ok(bz_cas_copy(from, to, (uint64_t)size, hashing ? h : NULL, &err),
                  &err);
        bz_digest_end(h, &got);
        assert_int_equal(fstat(to, &st), 0);
        assert_int_equal(st.st_size, size);
        assert_true(st.st_blocks * 512 <= size + 4096 && st.st_blocks < 1000);
        if (size <= 5000000) {
            hash(h, from, &want);
            assert_true(!hashing || bz_digest_eq(&want, &got));
            hash(h, to, &got);
            assert_true(bz_digest_eq(&want, &got));
        }
        close(from);
        close(to);
        unlinkat(s->fd, "from", 0);
        unlinkat(s->fd, "to", 0);
    }
    bz_digest_hasher_free(h);
}

static void a_file_that_got_shorter_is_no_copy(void **state)
{
    struct scratch *s = *state;
    struct bz_digest_hasher *h;
    struct bz_err err;
    int from = make(s->fd, "from", 100);
    int to = openat(s->fd, "to", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    assert_int_equal(bz_cas_copy(from, to, 101, NULL, &err), BZ_E_BUSY);
    bz_digest_begin(h);
    assert_int_equal(bz_cas_copy(from, to, 101, h, &err), BZ_E_BUSY);
    bz_digest_hasher_free(h);
    close(from);
    close(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(bytes_and_holes_arrive_with_and_without_hashing),
        scratch_test(a_file_that_got_shorter_is_no_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
