#include "tools/dpkg.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tests/unit/bz_test.h"

#define STANZA(name, more)                                                             \
    "Package: " name "\nStatus: install ok installed\nArchitecture: amd64\n" more "\n"

static const char status[] =
    STANZA("dpkg", "Essential: yes\nPre-Depends: libc6 (>= 2.15), tar\n") STANZA(
        "libc6",
        "Multi-Arch: same\nDepends: libgcc-s1\nDescription: x\n Package: no\n .\n")
        STANZA("libgcc-s1", "Depends: libc6\n") STANZA("tar", "Depends: awk\n") STANZA(
            "mawk", "Provides: awk\n") STANZA("gawk", "Provides: awk (= 1), other\n")
            STANZA(
                "gcc",
                "Depends: cpp:any (= 4), nothing | clang [amd64] | c-compiler, gone\n")
                STANZA(
                    "clang",
                    "Provides: c-compiler\n") "Package: cpp\nStatus: deinstall ok "
                                              "config-files\nArchitecture: amd64\n\n"
                                              "Package: half\nStatus: install ok "
                                              "triggers-pending\nArchitecture: all\n\n"
                                              "Package: libc6\nStatus: install ok "
                                              "installed\nArchitecture: "
                                              "i386\nMulti-Arch: same\n";

static void read_status(struct bz_dpkg *d)
{
    struct bz_err err;

    assert_ok(bz_dpkg_read(d, bz_str_from(status), &err), &err);
}

/* The packages of a set, one blank between them. */
static void check_set(const struct bz_dpkg *d, const struct bz_bitset *set,
                      const char *expected)
{
    struct bz_buf names = {0};

    for (size_t i = bz_bitset_next(set, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(set, i + 1))
        bz_buf_addf(&names, "%s%.*s", names.len ? " " : "",
                    BZ_STR_ARG(d->packages.at[i].name));
    assert_string_equal(bz_buf_text(&names), expected);
    bz_buf_release(&names);
}

static void a_package_counts_if_its_files_are_there(void **state)
{
    struct bz_dpkg d;
    uint32_t i = 0;

    (void)state;
    read_status(&d);
    assert_int_equal(d.packages.len, 10);
    assert_false(bz_dpkg_find(&d, BZ_STR("cpp"), &i));
    assert_true(bz_dpkg_find(&d, BZ_STR("half"), &i));
    assert_true(bz_dpkg_find(&d, BZ_STR("libc6"), &i));
    assert_true(bz_str_eq(d.packages.at[i].arch, BZ_STR("amd64")));
    assert_true(d.packages.at[i].same && !d.packages.at[i].essential);
    assert_true(bz_dpkg_find(&d, BZ_STR("libc6:i386"), &i));
    assert_true(bz_str_eq(d.packages.at[i].arch, BZ_STR("i386")));
    assert_false(bz_dpkg_find(&d, BZ_STR("libc6:arm64"), &i));
    assert_true(bz_dpkg_find(&d, BZ_STR("dpkg"), &i));
    assert_true(d.packages.at[i].essential);
    bz_dpkg_release(&d);
}

static void a_closure_has_what_is_installed_of_alternatives(void **state)
{
    static const struct {
        const char *from, *closure;
    } rows[] = {
        {"libc6", "libc6 libgcc-s1"                   },
        {"mawk",  "mawk"                              },
        {"tar",   "tar mawk gawk"                     },
        {"dpkg",  "dpkg libc6 libgcc-s1 tar mawk gawk"},
        {"gcc",   "gcc clang"                         },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_bitset set = {0};
        struct bz_dpkg d;
        uint32_t package = 0;

        read_status(&d);
        assert_true(bz_dpkg_find(&d, bz_str_from(rows[i].from), &package));
        bz_bitset_set(&set, package);
        bz_dpkg_close(&d, &set);
        check_set(&d, &set, rows[i].closure);
        bz_bitset_release(&set);
        bz_dpkg_release(&d);
    }
}

static void a_diverted_path_is_elsewhere_for_all_but_one(void **state)
{
    struct bz_dpkg d;
    uint32_t tar = 0, dpkg = 0;
    struct bz_str path;

    (void)state;
    read_status(&d);
    bz_dpkg_read_diversions(&d, BZ_STR("/bin/a\n/bin/a.real\ndpkg\n/bin/b\n/bin/c\n"));
    assert_true(bz_dpkg_find(&d, BZ_STR("tar"), &tar));
    assert_true(bz_dpkg_find(&d, BZ_STR("dpkg"), &dpkg));
    path = bz_dpkg_place(&d, tar, BZ_STR("/bin/a"));
    assert_true(bz_str_eq(path, BZ_STR("/bin/a.real")));
    path = bz_dpkg_place(&d, dpkg, BZ_STR("/bin/a"));
    assert_true(bz_str_eq(path, BZ_STR("/bin/a")));
    path = bz_dpkg_place(&d, tar, BZ_STR("/bin/b")); /* its diversion is cut off */
    assert_true(bz_str_eq(path, BZ_STR("/bin/b")));
    bz_dpkg_release(&d);
}

static void note_link(void *ctx, struct bz_str name, struct bz_str link)
{
    bz_buf_addf(ctx, "%.*s=%.*s ", BZ_STR_ARG(name), BZ_STR_ARG(link));
}

static void an_alternative_has_links_that_follow_it(void **state)
{
    static const struct {
        const char *text, *links;
    } rows[] = {
        {"auto\n/usr/bin/awk\nawk.1.gz\n/usr/share/man/awk.1.gz\n\n/usr/bin/mawk\n5\n",
         "awk=/usr/bin/awk awk.1.gz=/usr/share/man/awk.1.gz "                                                   },
        {"manual\n/usr/bin/cc\n\n/usr/bin/gcc\n20\n\n",                                 "awk=/usr/bin/cc "      },
        {"auto\n/usr/bin/cc\nname\n",                                                   "awk=/usr/bin/cc name= "},
        {"auto",                                                                        ""                      },
        {"",                                                                            ""                      },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_buf links = {0};

        bz_dpkg_links(BZ_STR("awk"), bz_str_from(rows[i].text), note_link, &links);
        assert_string_equal(bz_buf_text(&links), rows[i].links);
        bz_buf_release(&links);
    }
}

static void names_that_leave_the_directory_do_not_count(void **state)
{
    static const char bad[] = STANZA("../x", "") STANZA(".x", "") STANZA(
        "", "") "Package: good\nStatus: install ok installed\nArchitecture: a/b\n\n";
    struct bz_err err;
    struct bz_dpkg d;

    (void)state;
    assert_ok(bz_dpkg_read(&d, bz_str_from(bad), &err), &err);
    assert_int_equal(d.packages.len, 0);
    bz_dpkg_release(&d);
}

static void too_many_packages_are_refused(void **state)
{
    struct bz_buf text = {0};
    struct bz_err err;
    struct bz_dpkg d;

    (void)state;
    for (unsigned i = 0; i <= BZ_DPKG_PACKAGES; i++)
        bz_buf_addf(&text, "Package: p%u\nStatus: a b installed\n\n", i);
    assert_int_equal(bz_dpkg_read(&d, bz_buf_str(&text), &err), BZ_E_LIMIT);
    bz_dpkg_release(&d);
    bz_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_package_counts_if_its_files_are_there),
        cmocka_unit_test(a_closure_has_what_is_installed_of_alternatives),
        cmocka_unit_test(a_diverted_path_is_elsewhere_for_all_but_one),
        cmocka_unit_test(an_alternative_has_links_that_follow_it),
        cmocka_unit_test(names_that_leave_the_directory_do_not_count),
        cmocka_unit_test(too_many_packages_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
