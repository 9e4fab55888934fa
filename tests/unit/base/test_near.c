#include "base/near.h"

#include "tests/unit/bz_test.h"

/* What is suggested for `word` out of a fixed list of names. */
static const char *suggest(const char *word, char *text, size_t size)
{
    static const char *const names[] = {"build", "doctor", "help", "version", "verify"};
    struct bz_near near;

    bz_near_init(&near, bz_str_from(word));
    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        bz_near_offer(&near, bz_str_from(names[i]));
    return bz_near_text(&near, "", text, size);
}

static void slips_of_the_finger_find_the_name(void **state)
{
    static const struct {
        const char *word, *text;
    } cases[] = {
        {"doctr",   "; did you mean 'doctor'?"             }, /* a letter missing */
        {"doctorr", "; did you mean 'doctor'?"             }, /* one too many */
        {"dactor",  "; did you mean 'doctor'?"             }, /* a wrong one */
        {"dcotor",  "; did you mean 'doctor'?"             }, /* two swapped */
        {"hlep",    "; did you mean 'help'?"               },
        {"ver",     "; did you mean 'version' or 'verify'?"}, /* a beginning */
        {"verifi",  "; did you mean 'verify'?"             },
    };
    char text[96];

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_string_equal(suggest(cases[i].word, text, sizeof(text)), cases[i].text);
}

static void a_word_far_from_every_name_suggests_nothing(void **state)
{
    static const char *const words[] = {
        "",
        "x",
        "v",
        "fetch",
        "held-back",
        "rotcod",
        "a-word-of-more-than-forty-eight-letters-is-no-slip-of-a-finger"};
    char text[96];

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        assert_string_equal(suggest(words[i], text, sizeof(text)), "");
}

static void the_nearest_come_first_and_only_three_are_kept(void **state)
{
    static const char *const names[] = {"loger", "loggar", "lugger", "logger",
                                        "logged"};
    struct bz_near near;
    char text[96];

    (void)state;
    bz_near_init(&near, BZ_STR("logger"));
    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        bz_near_offer(&near, bz_str_from(names[i]));
    assert_int_equal(near.n, BZ_NEAR_KEPT);
    assert_string_equal(bz_near_text(&near, "--", text, sizeof(text)),
                        "; did you mean '--logger', '--loger' or '--loggar'?");
}

static void a_long_suggestion_is_cut_to_the_space_given(void **state)
{
    char text[16];

    (void)state;
    assert_string_equal(suggest("ver", text, sizeof(text)), "; did you mean ");
}

static void a_name_offered_twice_is_suggested_once(void **state)
{
    struct bz_near near;
    char text[96];

    (void)state;
    bz_near_init(&near, BZ_STR("busibox"));
    for (int i = 0; i < 5; i++)
        bz_near_offer(&near, BZ_STR("busybox"));
    assert_string_equal(bz_near_text(&near, "", text, sizeof(text)),
                        "; did you mean 'busybox'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_of_the_finger_find_the_name),
        cmocka_unit_test(a_word_far_from_every_name_suggests_nothing),
        cmocka_unit_test(the_nearest_come_first_and_only_three_are_kept),
        cmocka_unit_test(a_name_offered_twice_is_suggested_once),
        cmocka_unit_test(a_long_suggestion_is_cut_to_the_space_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
