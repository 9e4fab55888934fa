#include "sig/mentions.h"

#include "tests/unit/bz_test.h"

static const struct {
    const char *text, *found; /* the letters of a, b, c */
} cases[] = {
    {"${A}",           "a" },
    {"${B-X}/${A}x",   "ab"},
    {"run B-X; c_fun", "bc"},
    {"AA _A A_ A1",    ""  },
    {"d.getVar('A')",  "a" },
    {"x.A y-A",        "a" },
    {"c_fun\n",        "c" },
    {"xc_fun",         ""  },
    {"",               ""  },
};

static void names_are_found_as_words(void **state)
{
    struct bz_map names = {0};

    (void)state;
    bz_map_put(&names, BZ_STR("A"))->u = 0;
    bz_map_put(&names, BZ_STR("B-X"))->u = 1;
    bz_map_put(&names, BZ_STR("c_fun"))->u = 2;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_bitset found = {0};
        char letters[4] = "";
        size_t n = 0;

        bz_mentions_find(bz_str_from(cases[i].text), &names, &found);
        for (size_t k = 0; k < 3; k++)
            if (bz_bitset_test(&found, k))
                letters[n++] = "abc"[k];
        assert_string_equal(letters, cases[i].found);
        bz_bitset_release(&found);
    }
    bz_map_release(&names);
}

static void a_reference_in_a_reference_is_seen(void **state)
{
    (void)state;
    assert_true(bz_mentions_nested(BZ_STR("x ${A_${B}} y")));
    assert_true(bz_mentions_nested(BZ_STR("${${B}}")));
    assert_false(bz_mentions_nested(BZ_STR("${A} ${B}")));
    assert_false(bz_mentions_nested(BZ_STR("${A")));
    assert_false(bz_mentions_nested(BZ_STR("${A ${B}")));
    assert_false(bz_mentions_nested(BZ_STR("$")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_as_words),
        cmocka_unit_test(a_reference_in_a_reference_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
