#include "sig/seal.h"

#include "base/mem.h"
#include "os/path.h"
#include "tests/unit/os/scratch.h"

static const struct bz_seal_kind kind = {"a-kind-1"};

static int read_back(const char *path, struct bz_seal_kind as, const char *want)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_str content = {0};
    struct bz_err err;
    int rc;

    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    rc = bz_seal_read(path, as, h, &bytes, &content, &err);
    if (rc == 0) {
        assert_true(bz_str_eq(content, bz_str_from(want)));
        assert_int_equal((uintptr_t)content.p % 8, 0);
    }
    return rc;
}

static const char *write_one(const struct scratch *s, const char *text,
                             struct bz_path *path)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_err err;

    assert_ok(bz_path_join(bz_str_from(s->path), BZ_STR("deep/er/file"), path, &err),
              &err);
    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    assert_ok(bz_seal_write(path->s, kind, h, bz_str_from(text), &err), &err);
    return path->s;
}

static void what_is_written_is_read(void **state)
{
    struct bz_path path;

    assert_int_equal(read_back(write_one(*state, "content", &path), kind, "content"),
                     0);
    assert_int_equal(read_back(write_one(*state, "", &path), kind, ""), 0);
}

static void another_kind_is_corrupt_and_none_is_not_there(void **state)
{
    struct bz_path path;
    const char *file = write_one(*state, "content", &path);

    assert_int_equal(read_back(file, (struct bz_seal_kind){"a-kind-2"}, ""),
                     BZ_E_CORRUPT);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(read_back(file, kind, ""), BZ_E_NOENT);
}

static void no_byte_may_be_other_and_none_missing(void **state)
{
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_path path;
    const char *file = write_one(*state, "some content", &path);
    struct bz_err err;
    size_t n;

    assert_ok(bz_fs_read(AT_FDCWD, file, 1000, &bytes, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (char)(bytes[i] ^ 1);
        assert_ok(bz_fs_write(AT_FDCWD, file, bytes, n, 0644, BZ_FS_NOSYNC, &err),
                  &err);
        assert_int_equal(read_back(file, kind, ""), BZ_E_CORRUPT);
        bytes[i] = (char)(bytes[i] ^ 1);
        assert_ok(bz_fs_write(AT_FDCWD, file, bytes, i, 0644, BZ_FS_NOSYNC, &err),
                  &err);
        assert_int_equal(read_back(file, kind, ""), BZ_E_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(what_is_written_is_read),
        scratch_test(another_kind_is_corrupt_and_none_is_not_there),
        scratch_test(no_byte_may_be_other_and_none_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
