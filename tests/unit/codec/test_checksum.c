#include "codec/checksum.h"

#include <stdio.h>

#include "tests/unit/bz_test.h"

#define ABC_MD5 "900150983cd24fb0d6963f7d28e17f72"
#define ABC_SHA1 "a9993e364706816aba3e25717850c26c9cd0d89d"
#define ABC_SHA256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void all_kinds_come_from_one_pass(void **state)
{
    struct bz_checksums sums;
    struct bz_err err;
    FILE *f = tmpfile();

    (void)state;
    fputs("abc", f);
    fflush(f);
    assert_ok(bz_checksum_fd(fileno(f), ~0u, &sums, &err), &err);
    assert_string_equal(sums.hex[BZ_CHECKSUM_MD5], ABC_MD5);
    assert_string_equal(sums.hex[BZ_CHECKSUM_SHA1], ABC_SHA1);
    assert_string_equal(sums.hex[BZ_CHECKSUM_SHA256], ABC_SHA256);
    assert_true(strncmp(sums.hex[BZ_CHECKSUM_SHA384], "cb00753f45a35e8b", 16) == 0);
    assert_true(strncmp(sums.hex[BZ_CHECKSUM_SHA512], "ddaf35a193617aba", 16) == 0);
    for (int i = 0; i < BZ_CHECKSUM_KINDS; i++)
        assert_int_equal(strlen(sums.hex[i]),
                         bz_checksum_digits((enum bz_checksum_kind)i));
    fclose(f);
}

static void only_what_is_wanted_is_computed(void **state)
{
    struct bz_checksums sums;
    struct bz_err err;
    FILE *f = tmpfile();

    (void)state;
    assert_ok(bz_checksum_fd(fileno(f), 1u << BZ_CHECKSUM_MD5, &sums, &err), &err);
    assert_string_equal(sums.hex[BZ_CHECKSUM_MD5], "d41d8cd98f00b204e9800998ecf8427e");
    assert_string_equal(sums.hex[BZ_CHECKSUM_SHA256], "");
    assert_int_equal(bz_checksum_fd(-1, 1u, &sums, &err), BZ_E_IO);
    fclose(f);
}

static void names_lead_to_kinds(void **state)
{
    enum bz_checksum_kind kind;

    (void)state;
    for (int i = 0; i < BZ_CHECKSUM_KINDS; i++) {
        const char *name = bz_checksum_name((enum bz_checksum_kind)i);

        assert_true(bz_checksum_find(bz_str_from(name), &kind));
        assert_int_equal(kind, i);
    }
    assert_false(bz_checksum_find(BZ_STR("sha3"), &kind));
}

static void integrity_is_read_exactly(void **state)
{
    static const char *const wrong[] = {"",
                                        "sha1",
                                        "sha1-",
                                        "sha9-AAAA",
                                        "sha1-qZk",
                                        "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=AAAA",
                                        "sha1-!Zk+NkcGgWq6PiVxeFDCbJzQ2J0="};
    enum bz_checksum_kind kind;
    char hex[BZ_CHECKSUM_HEX];
    struct bz_err err;

    (void)state;
    assert_ok(bz_checksum_integrity(BZ_STR("sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0="), &kind,
                                    hex, &err),
              &err);
    assert_int_equal(kind, BZ_CHECKSUM_SHA1);
    assert_string_equal(hex, ABC_SHA1);
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++)
        assert_int_equal(bz_checksum_integrity(bz_str_from(wrong[i]), &kind, hex, &err),
                         BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_come_from_one_pass),
        cmocka_unit_test(only_what_is_wanted_is_computed),
        cmocka_unit_test(names_lead_to_kinds),
        cmocka_unit_test(integrity_is_read_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
