#include "tier_setting.h"

#include "tests/unit/bz_test.h"

static void files_are_relative_to_who_names_them(void **state)
{
    const struct bz_setting_value_place place = {BZ_STR("/etc/bitzel"),
                                                 BZ_STR("/home/me")};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tier_spec t;
    struct bz_err err = {0};

    (void)state;
    assert_ok(bz_tier_setting_parse(&a, BZ_STR("dir:store rw"), &place, &t, &err),
              &err);
    assert_string_equal(t.place.p, "/etc/bitzel/store");
    assert_ok(bz_tier_setting_parse(&a, BZ_STR("https://h/c token=~/t ca=x"), &place,
                                    &t, &err),
              &err);
    assert_string_equal(t.file[BZ_TIER_SPEC_TOKEN].p, "/home/me/t");
    assert_string_equal(t.file[BZ_TIER_SPEC_CA].p, "/etc/bitzel/x");
}

static void a_mistake_is_told_without_the_password(void **state)
{
    const struct bz_setting_value_place place = {BZ_STR("/"), BZ_STR("/")};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_tier_spec t;
    struct bz_err err = {0};

    (void)state;
    assert_int_equal(bz_tier_setting_parse(&a, BZ_STR("http://me:hidden@h/c what"),
                                           &place, &t, &err),
                     BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "'http://h/c what'"));
    assert_null(strstr(err.msg, "hidden"));
}

static void what_is_shown_has_no_password(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"dir:/a@b ro",                 "dir:/a@b ro"         },
        {"http://h/c@d rw",             "http://h/c@d rw"     },
        {"http://me:pw@h/c@d rw",       "http://h/c@d rw"     },
        {"https://me:p@w@h token=~/a@", "https://h token=~/a@"},
        {"ftp://me:pw@h",               "ftp://h"             },
        {"http://h trust=me@x",         "http://h trust=me@x" },
        {"http://",                     "http://"             },
        {"",                            ""                    },
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_str shown = bz_tier_setting_shown(&a, bz_str_from(cases[i].text));

        if (!bz_str_eq(shown, bz_str_from(cases[i].shown)))
            fail_msg("%s is shown as %.*s", cases[i].text, BZ_STR_ARG(shown));
    }
}

static void a_whole_value_is_shown_without_passwords(void **state)
{
    struct bz_str items[] = {BZ_STR("http://me:pw@h rw"), BZ_STR("dir:/x")};
    const struct bz_setting_value v = {.items = items, .n = 2}, none = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_setting_value shown = bz_tier_setting_value(&a, &v);

    (void)state;
    assert_int_equal(shown.n, 2);
    assert_true(bz_str_eq(shown.items[0], BZ_STR("http://h rw")));
    assert_true(bz_str_eq(shown.text, BZ_STR("http://h rw; dir:/x")));
    assert_int_equal(bz_tier_setting_value(&a, &none).text.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_relative_to_who_names_them),
        cmocka_unit_test(a_mistake_is_told_without_the_password),
        cmocka_unit_test(what_is_shown_has_no_password),
        cmocka_unit_test(a_whole_value_is_shown_without_passwords),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
