#include "fetch/fetch_apt.h"

#include "tests/unit/fetch/fetching.h"

#define SUM "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void lists_of_binaries_become_lists_of_sources(void **state)
{
    static const char *const lines[][2] = {
        {"deb http://h/debian stable main",      "deb-src http://h/debian stable main\n"},
        {"  deb [arch=amd64] http://h/ x main ",
         "deb-src [arch=amd64] http://h/ x main \n"                                     },
        {"deb-src http://h/debian stable main",  ""                                     },
        {"# deb http://h/debian stable main",    ""                                     },
        {"",                                     ""                                     },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(lines); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

        bz_fetch_apt_line(bz_str_from(lines[i][0]), &out);
        assert_string_equal(bz_buf_text(&out), lines[i][1]);
    }
}

static void stanzas_keep_all_but_their_type(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, none = {0};

    (void)state;
    bz_fetch_apt_stanza(BZ_STR("Types: deb deb-src\nURIs: http://h/\n# a comment\n"
                               "Architectures: amd64\n arm64\nSigned-By: /k\n more"),
                        &out);
    assert_string_equal(bz_buf_text(&out), "Types: deb-src\nURIs: http://h/\n"
                                           "# a comment\nSigned-By: /k\n more\n\n");
    bz_fetch_apt_stanza(BZ_STR("Types: deb-src\nURIs: http://h/"), &none);
    bz_fetch_apt_stanza((struct bz_str){0}, &none);
    assert_string_equal(bz_buf_text(&none), "");
}

static void a_control_file_lists_its_files(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_fetch_apt_list files = {0};
    struct bz_err err;

    (void)state;
    assert_ok(
        bz_fetch_apt_files(&arena,
                           BZ_STR("Format: 3.0\nChecksums-Sha1:\n abc 1 x\n"
                                  "Checksums-Sha256:\n " SUM " 3 a_1.orig.tar.xz\n " SUM
                                  " 3 a_1-2.debian.tar.xz\nFiles:\n abc 1 x\n"),
                           &files, &err),
        &err);
    assert_int_equal(files.len, 2);
    assert_string_equal(files.at[1].name.p, "a_1-2.debian.tar.xz");
}

static void a_control_file_cannot_name_other_files(void **state)
{
    static const char *const wrong[] = {
        "", "Checksums-Sha256:\n abc 3 a\n", "Checksums-Sha256:\n " SUM " 3 ../a\n",
        "Checksums-Sha256:\n " SUM " 3 /a\n", "Checksums-Sha256:\n " SUM "\n"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        BZ_CLEANUP(bz_vec_release) struct bz_fetch_apt_list files = {0};
        struct bz_err err;

        assert_int_equal(
            bz_fetch_apt_files(&arena, bz_str_from(wrong[i]), &files, &err),
            BZ_E_CORRUPT);
    }
}

static void a_package_that_is_there_is_verified_and_unpacked(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how = BZ_FETCH_DOWNLOADED;

    fetching_sh(f,
                "mkdir -p dl/apt2/hello_1.0-1 hello-1.0 d/debian && "
                "echo code >hello-1.0/main.c && echo rules >d/debian/rules && "
                "tar -czf dl/apt2/hello_1.0-1/hello_1.0.orig.tar.gz hello-1.0 && "
                "tar -C d -czf dl/apt2/hello_1.0-1/hello_1.0-1.debian.tar.gz debian && "
                "cd dl/apt2/hello_1.0-1 && { echo Checksums-Sha256:; for x in "
                "hello_1.0.orig.tar.gz hello_1.0-1.debian.tar.gz; do "
                "echo \" $(sha256sum <$x | cut -c1-64) 1 $x\"; done; } >hello.dsc");
    assert_ok(fetching_get(f, "apt://hello;version=1.0-1", &how), &f->err);
    assert_int_equal(how, BZ_FETCH_PRESENT);
    assert_ok(fetching_unpack(f, "apt://hello;version=1.0-1"), &f->err);
    assert_file(f, "work/hello/main.c", "code\n");
    assert_file(f, "work/hello/debian/rules", "rules\n");
    fetching_sh(f, "echo x >>dl/apt2/hello_1.0-1/hello_1.0.orig.tar.gz");
    fetching_set(f, "BB_NO_NETWORK", NULL, "1");
    assert_int_equal(fetching_get(f, "apt://hello;version=1.0-1", &how), BZ_E_NOSUP);
}

static void an_exact_version_must_be_named(void **state)
{
    struct fetching *f = *state;

    assert_int_equal(fetching_open(f, "apt://hello"), BZ_E_INVAL);
    assert_int_equal(fetching_open(f, "apt://-o;version=1"), BZ_E_INVAL);
    assert_int_equal(fetching_open(f, "apt://hello;version=a/b"), BZ_E_INVAL);
    assert_ok(fetching_open(f, "apt://g++-defaults;version=1:1.2~rc+x-1"), &f->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_binaries_become_lists_of_sources),
        cmocka_unit_test(stanzas_keep_all_but_their_type),
        cmocka_unit_test(a_control_file_lists_its_files),
        cmocka_unit_test(a_control_file_cannot_name_other_files),
        fetching_test(a_package_that_is_there_is_verified_and_unpacked),
        fetching_test(an_exact_version_must_be_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
