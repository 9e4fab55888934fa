#include "codec/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

#define HEX_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HEX_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HEX_MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

/* One hasher and one scratch directory for a test. */
struct fixture {
    struct bz_digest_hasher *h;
    char dir[32];
    int dirfd;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct bz_err err;

    if (!f || bz_digest_hasher_new(&f->h, &err) < 0)
        return -1;
    strcpy(f->dir, "/tmp/bz_digest.XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    f->dirfd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = f;
    return f->dirfd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    unlinkat(f->dirfd, "file", 0);
    close(f->dirfd);
    rmdir(f->dir);
    bz_digest_hasher_free(f->h);
    free(f);
    return 0;
}

static void assert_hex(const struct bz_digest *d, const char *want)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(d, hex);
    assert_string_equal(hex, want);
}

static void known_answers_come_out(void **state)
{
    static const struct {
        const char *unit;
        size_t times;
        const char *want;
    } cases[] = {
        {"",                                                         0,       HEX_EMPTY    },
        {"abc",                                                      1,       HEX_ABC      },
        {"a",                                                        1000000, HEX_MILLION_A},
        {"aaaaaaaaaa",                                               100000,  HEX_MILLION_A},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"                },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_digest d;

        bz_digest_begin(f->h);
        for (size_t k = 0; k < cases[i].times; k++)
            bz_digest_add(f->h, cases[i].unit, strlen(cases[i].unit));
        bz_digest_end(f->h, &d);
        assert_hex(&d, cases[i].want);
    }
}

static void adding_nothing_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct bz_digest d;

    bz_digest_begin(f->h);
    bz_digest_add(f->h, NULL, 0);
    bz_digest_add(f->h, "abc", 3);
    bz_digest_add(f->h, NULL, 0);
    bz_digest_end(f->h, &d);
    assert_hex(&d, HEX_ABC);
}

static void begin_drops_an_unfinished_message(void **state)
{
    struct fixture *f = *state;
    struct bz_digest d;

    bz_digest_begin(f->h);
    bz_digest_add(f->h, "left behind", 11);
    bz_digest_bytes(f->h, "abc", 3, &d);
    assert_hex(&d, HEX_ABC);
}

static void two_hashers_do_not_disturb_each_other(void **state)
{
    struct fixture *f = *state;
    struct bz_digest_hasher *other;
    struct bz_digest mine, theirs;
    struct bz_err err;

    assert_ok(bz_digest_hasher_new(&other, &err), &err);
    bz_digest_begin(f->h);
    bz_digest_add(f->h, "a", 1);
    bz_digest_begin(other);
    bz_digest_add(f->h, "bc", 2);
    bz_digest_end(other, &theirs);
    bz_digest_end(f->h, &mine);
    bz_digest_hasher_free(other);
    assert_hex(&mine, HEX_ABC);
    assert_hex(&theirs, HEX_EMPTY);
}

static void a_field_is_tag_length_and_bytes(void **state)
{
    static const uint8_t flat[] = {7,   3,   0, 0, 0, 0, 0, 0, 0, 'a', 'b',
                                   'c', 255, 0, 1, 0, 0, 0, 0, 0, 0};
    struct fixture *f = *state;
    char big[256] = {0};
    struct bz_digest want, got;

    bz_digest_begin(f->h);
    bz_digest_add(f->h, flat, sizeof(flat));
    bz_digest_add(f->h, big, sizeof(big));
    bz_digest_end(f->h, &want);

    bz_digest_begin(f->h);
    bz_digest_add_field(f->h, 7, "abc", 3);
    bz_digest_add_field(f->h, 255, big, sizeof(big));
    bz_digest_end(f->h, &got);
    assert_true(bz_digest_eq(&want, &got));
}

/* Each list would give the same bytes as another if fields were only joined. */
static void moving_a_boundary_between_fields_changes_the_digest(void **state)
{
    static const struct {
        const char *one, *two;
        uint8_t tag1, tag2;
    } lists[] = {
        {"ab",  "c",   1, 1},
        {"a",   "bc",  1, 1},
        {"",    "abc", 1, 1},
        {"abc", "",    1, 1},
        {"ab",  "c",   2, 1},
        {"ab",  "c",   1, 2},
    };
    struct fixture *f = *state;
    struct bz_digest d[BZ_COUNTOF(lists)];

    for (size_t i = 0; i < BZ_COUNTOF(lists); i++) {
        bz_digest_begin(f->h);
        bz_digest_add_field(f->h, lists[i].tag1, lists[i].one, strlen(lists[i].one));
        bz_digest_add_field(f->h, lists[i].tag2, lists[i].two, strlen(lists[i].two));
        bz_digest_end(f->h, &d[i]);
        for (size_t k = 0; k < i; k++)
            assert_false(bz_digest_eq(&d[i], &d[k]));
    }
}

/* Writes n bytes of a fixed pattern to "file" and returns it open at its start. */
static int pattern_file(struct fixture *f, size_t n)
{
    int fd = openat(f->dirfd, "file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    uint8_t *p = malloc(n + 1);

    assert_true(fd >= 0);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(i * 31 + (i >> 9));
    assert_int_equal(write(fd, p, n), n);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    free(p);
    return fd;
}

static void files_hash_as_sha256sum_says(void **state)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 131071, 131072, 300001};
    struct fixture *f = *state;

    for (size_t i = 0; i < BZ_COUNTOF(sizes); i++) {
        int fd = pattern_file(f, sizes[i]);
        char cmd[64], want[BZ_DIGEST_HEX_LEN + 1] = "";
        struct bz_digest by_fd, by_name;
        struct bz_err err;
        uint64_t size;
        FILE *tool;

        assert_ok(bz_digest_fd(f->h, fd, &by_fd, &size, &err), &err);
        assert_int_equal(size, sizes[i]);
        close(fd);
        assert_ok(bz_digest_file(f->h, f->dirfd, "file", &by_name, &size, &err), &err);
        assert_int_equal(size, sizes[i]);

        snprintf(cmd, sizeof(cmd), "sha256sum < %s/file", f->dir);
        tool = popen(cmd, "r");
        assert_non_null(tool);
        assert_int_equal(fread(want, 1, BZ_DIGEST_HEX_LEN, tool), BZ_DIGEST_HEX_LEN);
        pclose(tool);
        assert_hex(&by_fd, want);
        assert_hex(&by_name, want);
    }
}

static void an_fd_is_hashed_from_its_offset(void **state)
{
    struct fixture *f = *state;
    struct bz_digest d;
    struct bz_err err;
    uint64_t size = 99;
    int fd = pattern_file(f, 100);

    assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
    assert_ok(bz_digest_fd(f->h, fd, &d, &size, &err), &err);
    close(fd);
    assert_int_equal(size, 0);
    assert_hex(&d, HEX_EMPTY);
}

/* Data and holes in turns, from every kind of place; what is read tells the truth. */
static void holes_are_zeros(void **state)
{
    static const struct {
        off_t data[3]; /* where a byte is; -1: none */
        off_t size, from;
    } cases[] = {
        {{-1, -1, -1},                  1 << 20,       0      },
        {{0, -1, -1},                   (1 << 20) + 7, 0      },
        {{1 << 20, -1, -1},             (1 << 20) + 1, 0      },
        {{1, 1 << 19, (1 << 20) + 300}, (3 << 20) + 1, 0      },
        {{1, 1 << 19, (1 << 20) + 300}, (3 << 20) + 1, 300000 },
        {{1, 1 << 19, -1},              3 << 20,       2 << 20},
        {{-1, -1, -1},                  1 << 20,       2 << 20}, /* past the end */
    };
    struct fixture *f = *state;
    char *bytes = calloc(1, 4 << 20);

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        int fd = openat(f->dirfd, "file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        off_t size = cases[i].size, from = cases[i].from;
        struct bz_digest got, want;
        struct bz_err err;
        uint64_t n;

        assert_true(fd >= 0);
        for (size_t k = 0; k < 3; k++)
            if (cases[i].data[k] >= 0)
                assert_int_equal(pwrite(fd, "x", 1, cases[i].data[k]), 1);
        assert_int_equal(ftruncate(fd, size), 0);
        memset(bytes, 0, 4 << 20);
        assert_int_equal(pread(fd, bytes, 4 << 20, 0), size);
        assert_int_equal(lseek(fd, from, SEEK_SET), from);
        assert_int_equal(bz_digest_fd(f->h, fd, &got, &n, &err), 0);
        assert_int_equal(n, from < size ? size - from : 0);
        bz_digest_bytes(f->h, bytes + from, (size_t)n, &want);
        assert_true(bz_digest_eq(&got, &want));
        close(fd);
    }
    free(bytes);
}

static void what_is_no_readable_regular_file_is_refused(void **state)
{
    struct fixture *f = *state;
    struct bz_digest d;
    struct bz_err err;
    uint64_t size;

    assert_int_equal(bz_digest_file(f->h, f->dirfd, "absent", &d, &size, &err),
                     BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "absent"));
    assert_int_equal(bz_digest_file(f->h, f->dirfd, ".", &d, &size, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "digest .: not a regular file");
    /* Nobody ever opens the other end of this pipe. */
    assert_int_equal(mkfifoat(f->dirfd, "file", 0600), 0);
    assert_int_equal(bz_digest_file(f->h, f->dirfd, "file", &d, &size, &err),
                     BZ_E_INVAL);
    assert_int_equal(bz_digest_fd(f->h, f->dirfd, &d, &size, &err), BZ_E_IO);
    assert_int_equal(err.sys, EISDIR);
}

static void a_hasher_works_again_after_a_failed_read(void **state)
{
    struct fixture *f = *state;
    struct bz_digest d;
    struct bz_err err;
    uint64_t size;

    assert_int_equal(bz_digest_fd(f->h, -1, &d, &size, &err), BZ_E_IO);
    bz_digest_bytes(f->h, "abc", 3, &d);
    assert_hex(&d, HEX_ABC);
}

static void hex_goes_both_ways(void **state)
{
    struct bz_digest d, back;
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(d.b); i++)
        d.b[i] = (uint8_t)(i * 9 - 8);
    bz_digest_hex(&d, hex);
    assert_int_equal(strlen(hex), BZ_DIGEST_HEX_LEN);
    assert_ok(bz_digest_parse(bz_str_from(hex), &back, &err), &err);
    assert_memory_equal(back.b, d.b, sizeof(d.b));
}

static void malformed_hex_is_refused_and_changes_nothing(void **state)
{
    static const struct {
        size_t at; /* where `bad` replaces a digit; 64 for nowhere */
        char bad;
        size_t n;
        const char *msg;
    } cases[] = {
        {64, 0,          63, "a SHA-256 has 64 hex digits, not 63"   },
        {64, 0,          65, "a SHA-256 has 64 hex digits, not 65"   },
        {64, 0,          0,  "a SHA-256 has 64 hex digits, not 0"    },
        {0,  'A',        64, "digit 1 of a SHA-256 is not in 0-9a-f" },
        {63, 'g',        64, "digit 64 of a SHA-256 is not in 0-9a-f"},
        {5,  ' ',        64, "digit 6 of a SHA-256 is not in 0-9a-f" },
        {5,  '\0',       64, "digit 6 of a SHA-256 is not in 0-9a-f" },
        {9,  '/',        64, "digit 10 of a SHA-256 is not in 0-9a-f"},
        {9,  ':',        64, "digit 10 of a SHA-256 is not in 0-9a-f"},
        {9,  '`',        64, "digit 10 of a SHA-256 is not in 0-9a-f"},
        {9,  (char)0xff, 64, "digit 10 of a SHA-256 is not in 0-9a-f"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        char hex[BZ_DIGEST_HEX_LEN + 2] = HEX_ABC "0";
        struct bz_digest d = {{42}};
        struct bz_err err;

        if (cases[i].at < BZ_DIGEST_HEX_LEN)
            hex[cases[i].at] = cases[i].bad;
        assert_int_equal(bz_digest_parse(bz_str_of(hex, cases[i].n), &d, &err),
                         BZ_E_INVAL);
        assert_string_equal(err.msg, cases[i].msg);
        assert_int_equal(d.b[0], 42);
    }
}

static void order_is_that_of_the_text_forms(void **state)
{
    struct bz_digest low = {{0}}, high = {{0}};

    (void)state;
    low.b[0] = 0x7f;
    high.b[0] = 0x80;
    assert_true(bz_digest_cmp(&low, &high) < 0);
    assert_true(bz_digest_cmp(&high, &low) > 0);
    assert_int_equal(bz_digest_cmp(&low, &low), 0);
    high = low;
    assert_true(bz_digest_eq(&low, &high));
    high.b[BZ_DIGEST_LEN - 1] = 1;
    assert_false(bz_digest_eq(&low, &high));
}

static void only_all_zero_bytes_are_zero(void **state)
{
    struct bz_digest d = {{0}};

    (void)state;
    assert_true(bz_digest_is_zero(&d));
    d.b[BZ_DIGEST_LEN - 1] = 1;
    assert_false(bz_digest_is_zero(&d));
}

static void freeing_no_hasher_is_fine(void **state)
{
    struct bz_digest_hasher *none = NULL;

    (void)state;
    bz_digest_hasher_free(NULL);
    bz_digest_hasher_freep(&none);
}

#define WITH_HASHER(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_HASHER(known_answers_come_out),
        WITH_HASHER(adding_nothing_changes_nothing),
        WITH_HASHER(begin_drops_an_unfinished_message),
        WITH_HASHER(two_hashers_do_not_disturb_each_other),
        WITH_HASHER(a_field_is_tag_length_and_bytes),
        WITH_HASHER(moving_a_boundary_between_fields_changes_the_digest),
        WITH_HASHER(files_hash_as_sha256sum_says),
        WITH_HASHER(an_fd_is_hashed_from_its_offset),
        WITH_HASHER(holes_are_zeros),
        WITH_HASHER(what_is_no_readable_regular_file_is_refused),
        WITH_HASHER(a_hasher_works_again_after_a_failed_read),
        cmocka_unit_test(hex_goes_both_ways),
        cmocka_unit_test(malformed_hex_is_refused_and_changes_nothing),
        cmocka_unit_test(order_is_that_of_the_text_forms),
        cmocka_unit_test(only_all_zero_bytes_are_zero),
        cmocka_unit_test(freeing_no_hasher_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
