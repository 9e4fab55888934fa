#include "codec/reapi_name.h"

#include "tests/unit/bz_test.h"

static void names_that_could_lead_elsewhere_are_refused(void **state)
{
    static const struct {
        struct bz_str name;
        bool ok;
    } cases[] = {
        {BZ_STR("a"),     true },
        {BZ_STR("..."),   true },
        {BZ_STR(".a"),    true },
        {BZ_STR("\xff"),  true },
        {BZ_STR("a b\n"), true },
        {BZ_STR(""),      false},
        {BZ_STR("."),     false},
        {BZ_STR(".."),    false},
        {BZ_STR("/"),     false},
        {BZ_STR("a/b"),   false},
        {BZ_STR("a\0b"),  false},
        {BZ_STR("\0"),    false},
        {BZ_STR("/etc"),  false},
        {BZ_STR("../x"),  false},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_reapi_name_ok(cases[i].name), cases[i].ok);
}

static void a_name_may_have_255_bytes_and_a_target_4095(void **state)
{
    char text[BZ_REAPI_TARGET_MAX + 1];

    (void)state;
    memset(text, 'x', sizeof(text));
    assert_true(bz_reapi_name_ok(bz_str_of(text, 255)));
    assert_false(bz_reapi_name_ok(bz_str_of(text, 256)));
    assert_true(bz_reapi_name_target_ok(bz_str_of(text, 4095)));
    assert_false(bz_reapi_name_target_ok(bz_str_of(text, 4096)));
}

static void a_target_may_lead_anywhere_but_not_hold_a_nul(void **state)
{
    (void)state;
    assert_true(bz_reapi_name_target_ok(BZ_STR("../../etc")));
    assert_true(bz_reapi_name_target_ok(BZ_STR("/")));
    assert_false(bz_reapi_name_target_ok(BZ_STR("")));
    assert_false(bz_reapi_name_target_ok(BZ_STR("a\0b")));
}

static void every_byte_comes_back_from_its_escaped_form(void **state)
{
    struct bz_arena a = {0};
    struct bz_err err;

    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        char raw[3] = {(char)(i & 255), (char)(i >> 8), 'z'};
        struct bz_str in = bz_str_of(raw, 3), text, back;

        text = bz_reapi_name_escape(&a, in);
        assert_ok(bz_reapi_name_unescape(&a, text, &back, &err), &err);
        assert_true(bz_str_eq(in, back));
        bz_arena_reset(&a);
    }
    bz_arena_release(&a);
}

static void only_what_is_not_utf8_is_escaped(void **state)
{
    static const struct {
        struct bz_str raw, text;
    } cases[] = {
        {BZ_STR("plain"),              BZ_STR("plain")             },
        {BZ_STR("gr\xc3\xbc\xc3\x9f"), BZ_STR("gr\xc3\xbc\xc3\x9f")},
        {BZ_STR("100%"),               BZ_STR("100%25")            },
        {BZ_STR("\xff\xfe"),           BZ_STR("%FF%FE")            },
        {BZ_STR("\xc3(\xc3"),          BZ_STR("%C3(%C3")           },
    };
    struct bz_arena a = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_true(bz_str_eq(bz_reapi_name_escape(&a, cases[i].raw), cases[i].text));
    bz_arena_release(&a);
}

static void a_text_that_no_name_has_is_refused(void **state)
{
    static const struct bz_str cases[] = {
        BZ_STR("%"),   BZ_STR("%4"),  BZ_STR("%zz"),
        BZ_STR("%ff"), BZ_STR("%41"), BZ_STR("%C3%BC"), /* UTF-8 needs no escape */
        BZ_STR("%2"),  BZ_STR("a%"),
    };
    struct bz_arena a = {0};
    struct bz_err err;
    struct bz_str out;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_reapi_name_unescape(&a, cases[i], &out, &err), BZ_E_INVAL);
    bz_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_could_lead_elsewhere_are_refused),
        cmocka_unit_test(a_name_may_have_255_bytes_and_a_target_4095),
        cmocka_unit_test(a_target_may_lead_anywhere_but_not_hold_a_nul),
        cmocka_unit_test(every_byte_comes_back_from_its_escaped_form),
        cmocka_unit_test(only_what_is_not_utf8_is_escaped),
        cmocka_unit_test(a_text_that_no_name_has_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
