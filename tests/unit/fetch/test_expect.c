#include "fetch/expect.h"

#include "tests/unit/fetch/fetching.h"

#define ABC_MD5 "900150983cd24fb0d6963f7d28e17f72"
#define ABC_SHA256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static int read_sums(struct fetching *f, struct bz_arena *arena, const char *text,
                     struct bz_expect *v)
{
    struct bz_policy p = {
        .vars = {fetching_var, f}
    };
    struct bz_uri u;

    assert_ok(bz_uri_parse(arena, bz_str_from(text), &u, &f->err), &f->err);
    return bz_expect_read(v, arena, &u, &p, true, &f->err);
}

static int abc(struct fetching *f)
{
    put(f->dir->fd, "abc", "abc");
    return openat(f->dir->fd, "abc", O_RDONLY);
}

static void checksums_come_from_the_entry_or_from_flags(void **state)
{
    static const struct {
        const char *text;
        unsigned kinds;
    } cases[] = {
        {"http://h/x",                            1u << BZ_CHECKSUM_MD5   },
        {"http://h/x;name=n",                     1u << BZ_CHECKSUM_SHA256},
        {"http://h/x;name=other",                 0                       },
        {"http://h/x;name=other;md5sum=" ABC_MD5, 1u << BZ_CHECKSUM_MD5   },
        {"http://h/x;sha256sum=" ABC_SHA256,
         1u << BZ_CHECKSUM_MD5 | 1u << BZ_CHECKSUM_SHA256                 },
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct fetching *f = *state;
    int fd = abc(f);

    fetching_set(f, "SRC_URI", "md5sum", ABC_MD5);
    fetching_set(f, "SRC_URI", "n.sha256sum", ABC_SHA256);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_expect v;
        char got[BZ_CHECKSUM_HEX];

        assert_ok(read_sums(f, &arena, cases[i].text, &v), &f->err);
        assert_int_equal(v.kinds, cases[i].kinds);
        assert_ok(bz_expect_file(&v, fd, "abc", got, &f->err), &f->err);
    }
    close(fd);
}

static void other_bytes_are_named_with_both_checksums(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct fetching *f = *state;
    struct bz_expect v;
    char got[BZ_CHECKSUM_HEX];
    int fd = abc(f);

    assert_ok(
        read_sums(f, &arena, "http://h/x;md5sum=" ABC_MD5 ";sha256sum=" ZEROS, &v),
        &f->err);
    assert_int_equal(bz_expect_file(&v, fd, "abc", got, &f->err), BZ_E_CORRUPT);
    assert_string_equal(got, ABC_SHA256);
    assert_non_null(strstr(f->err.msg, ZEROS));
    close(fd);
}

static void a_checksum_of_another_length_is_an_error(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct fetching *f = *state;
    struct bz_expect v;

    fetching_set(f, "SRC_URI", "sha256sum", "abc");
    assert_int_equal(read_sums(f, &arena, "http://h/x", &v), BZ_E_INVAL);
    assert_string_equal(f->err.msg, "SRC_URI[sha256sum] has 3 characters, but a sha256 "
                                    "has 64 digits");
}

static void the_missing_line_is_written(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf line = {0};
    struct fetching *f = *state;
    struct bz_expect v;
    int fd = abc(f);

    assert_ok(read_sums(f, &arena, "http://h/x;name=n", &v), &f->err);
    assert_ok(bz_expect_line(&v, fd, &line, &f->err), &f->err);
    assert_string_equal(bz_buf_text(&line),
                        "SRC_URI[n.sha256sum] = \"" ABC_SHA256 "\"");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(checksums_come_from_the_entry_or_from_flags),
        fetching_test(other_bytes_are_named_with_both_checksums),
        fetching_test(a_checksum_of_another_length_is_an_error),
        fetching_test(the_missing_line_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
