#include "codec/reapi_check.h"

#include "tests/unit/bz_test.h"

#define SOME                                                                           \
    {                                                                                  \
        {{1}}, 5                                                                       \
    }

static int check(const struct bz_reapi_dir *d, bool *escape)
{
    struct bz_err err;

    *escape = false;
    return bz_reapi_check_dir(d, escape, &err);
}

static void a_name_of_two_kinds_is_found(void **state)
{
    struct bz_reapi_file files[] = {
        {.name = BZ_STR("a"), .digest = SOME}
    };
    struct bz_reapi_subdir dirs[] = {
        {BZ_STR("b"), SOME},
        {BZ_STR("a"), SOME}
    };
    struct bz_str gone[] = {BZ_STR("b")};
    struct bz_reapi_dir d = {.files = files, .nfiles = 1, .dirs = dirs, .ndirs = 1};
    bool escape;

    (void)state;
    assert_null(bz_reapi_check_twice(&d).p);
    assert_int_equal(check(&d, &escape), 0);
    d.ndirs = 2;
    assert_true(bz_str_eq(bz_reapi_check_twice(&d), BZ_STR("a")));
    assert_int_equal(check(&d, &escape), BZ_E_INVAL);
    d.ndirs = 1;
    d.whiteouts = gone;
    d.nwhiteouts = 1;
    assert_true(bz_str_eq(bz_reapi_check_twice(&d), BZ_STR("b")));
}

static void one_name_or_target_that_is_not_utf8_asks_for_escapes(void **state)
{
    struct bz_reapi_link link = {.name = BZ_STR("l"), .target = BZ_STR("t")};
    struct bz_str gone = BZ_STR("w");
    struct bz_reapi_dir d = {
        .links = &link, .nlinks = 1, .whiteouts = &gone, .nwhiteouts = 1};
    bool escape;

    (void)state;
    assert_int_equal(check(&d, &escape), 0);
    assert_false(escape);
    gone = BZ_STR("\xff");
    assert_int_equal(check(&d, &escape), 0);
    assert_true(escape);
    gone = BZ_STR("w");
    link.target = BZ_STR("\xff");
    assert_int_equal(check(&d, &escape), 0);
    assert_true(escape);
}

static void what_decoding_would_refuse_is_not_written(void **state)
{
    struct bz_reapi_prop twice[] = {
        {BZ_STR("p"), BZ_STR("1")},
        {BZ_STR("q"), BZ_STR("1")},
        {BZ_STR("p"), BZ_STR("2")}
    };
    struct bz_reapi_prop own[] = {
        {BZ_STR("bitzel.whiteout.x"), BZ_STR("1")}
    };
    struct bz_reapi_file none = {.name = BZ_STR("a")};
    struct bz_reapi_file up = {.name = BZ_STR(".."), .digest = SOME};
    struct bz_reapi_file mode = {
        .name = BZ_STR("a"),
        .digest = SOME,
        .props = {.has_mode = true, .mode = 0100644}
    };
    struct bz_reapi_subdir nodir = {.name = BZ_STR("a")};
    struct bz_reapi_link nolink = {.name = BZ_STR("a")};
    struct bz_reapi_dir cases[] = {
        {.files = &none,   .nfiles = 1},
        {.files = &up,                .nfiles = 1},
        {.files = &mode,.nfiles = 1},
        {.dirs = &nodir,   .ndirs = 1},
        {.links = &nolink,                .nlinks = 1},
        {.props = {.at = twice, .n = 3}   },
        {.props = {.at = own, .n = 1}},
        {.props = {.mtime = {.set = true, .ns = -1}}               },
    };
    bool escape;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(check(&cases[i], &escape), BZ_E_INVAL);
}

static void outputs_lie_below_the_working_directory(void **state)
{
    static const struct {
        struct bz_str path;
        bool ok;
    } cases[] = {
        {BZ_STR("a/b"),    true },
        {BZ_STR("/a"),     false},
        {BZ_STR("../a"),   false},
        {BZ_STR("a/../b"), false},
        {BZ_STR("\xff"),   false},
        {BZ_STR("a\0b"),   false},
    };
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_reapi_outfile f = {.path = cases[i].path, .digest = SOME};
        struct bz_reapi_outdir d = {.path = cases[i].path, .tree = SOME};
        struct bz_reapi_link l = {.name = cases[i].path, .target = BZ_STR("t")};
        struct bz_reapi_result rf = {.files = &f, .nfiles = 1};
        struct bz_reapi_result rd = {.dirs = &d, .ndirs = 1};
        struct bz_reapi_result rl = {.links = &l, .nlinks = 1};

        assert_int_equal(bz_reapi_check_result(&rf, &err) == 0, cases[i].ok);
        assert_int_equal(bz_reapi_check_result(&rd, &err) == 0, cases[i].ok);
        assert_int_equal(bz_reapi_check_result(&rl, &err) == 0, cases[i].ok);
    }
}

static void an_output_without_a_digest_is_refused(void **state)
{
    struct bz_reapi_outfile f = {.path = BZ_STR("a")};
    struct bz_reapi_outdir d = {.path = BZ_STR("")};
    struct bz_reapi_result rf = {.files = &f, .nfiles = 1};
    struct bz_reapi_result rd = {.dirs = &d, .ndirs = 1};
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_reapi_check_result(&rf, &err), BZ_E_INVAL);
    assert_int_equal(bz_reapi_check_result(&rd, &err), BZ_E_INVAL);
    d.root.hash.b[0] = 1;
    assert_int_equal(bz_reapi_check_result(&rd, &err), 0);
}

static void utf8_is_told_from_other_bytes(void **state)
{
    (void)state;
    assert_true(bz_reapi_check_utf8(BZ_STR("")));
    assert_true(bz_reapi_check_utf8(BZ_STR("\xc3\xbc")));
    assert_false(bz_reapi_check_utf8(BZ_STR("a\xc3")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_of_two_kinds_is_found),
        cmocka_unit_test(one_name_or_target_that_is_not_utf8_asks_for_escapes),
        cmocka_unit_test(what_decoding_would_refuse_is_not_written),
        cmocka_unit_test(outputs_lie_below_the_working_directory),
        cmocka_unit_test(an_output_without_a_digest_is_refused),
        cmocka_unit_test(utf8_is_told_from_other_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
