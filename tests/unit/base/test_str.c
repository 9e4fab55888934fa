#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/bz_test.h"

static const struct bz_str null_slice = {0};

static void expect(struct bz_str s, const char *text)
{
    if (!bz_str_eq(s, bz_str_from(text)))
        fail_msg("'%.*s' is not '%s'", BZ_STR_ARG(s), text);
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static void literals_know_their_length_and_hold_any_byte(void **state)
{
    static const struct {
        struct bz_str name;
    } table[] = {{BZ_STR("one")}, {BZ_STR("")}};

    (void)state;
    assert_int_equal(BZ_STR("a\0b").n, 3);
    assert_int_equal(table[0].name.n, 3);
    assert_int_equal(table[1].name.n, 0);
    expect(bz_str_from("abc"), "abc");
    expect(bz_str_of("abcdef", 2), "ab");
}

static void printing_a_slice_stops_at_its_end(void **state)
{
    struct bz_str s = bz_str_of("abcdef", 3);
    char text[32];

    (void)state;
    snprintf(text, sizeof(text), "<%.*s><%.*s>", BZ_STR_ARG(s), BZ_STR_ARG(null_slice));
    assert_string_equal(text, "<abc><>");
}

static void equality_and_order_go_by_bytes(void **state)
{
    static const struct {
        struct bz_str a, b;
        int order;
    } cases[] = {
        {BZ_STR("a"),    BZ_STR("a"),    0 },
        {BZ_STR("a"),    BZ_STR("b"),    -1},
        {BZ_STR("a"),    BZ_STR("ab"),   -1},
        {BZ_STR("ab"),   BZ_STR("b"),    -1},
        {BZ_STR("B"),    BZ_STR("a"),    -1},
        {BZ_STR("a"),    BZ_STR("\xc3"), -1},
        {BZ_STR("a\0b"), BZ_STR("a\0c"), -1},
        {BZ_STR(""),     BZ_STR("\0"),   -1},
        {{NULL, 0},      BZ_STR(""),     0 },
        {{NULL, 0},      BZ_STR("a"),    -1},
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        assert_int_equal(sign(bz_str_cmp(cases[i].a, cases[i].b)), cases[i].order);
        assert_int_equal(sign(bz_str_cmp(cases[i].b, cases[i].a)), -cases[i].order);
        assert_int_equal(bz_str_eq(cases[i].a, cases[i].b), cases[i].order == 0);
    }
}

static void prefix_and_suffix_are_seen_and_cut(void **state)
{
    static const struct {
        struct bz_str s, affix;
        bool starts, ends;
    } cases[] = {
        {BZ_STR("file://x"), BZ_STR("file://"), true,  false},
        {BZ_STR("a.bb"),     BZ_STR(".bb"),     false, true },
        {BZ_STR("aa"),       BZ_STR("aa"),      true,  true },
        {BZ_STR("aa"),       BZ_STR("aaa"),     false, false},
        {BZ_STR("aa"),       BZ_STR(""),        true,  true },
        {{NULL, 0},          BZ_STR(""),        true,  true },
        {{NULL, 0},          BZ_STR("a"),       false, false},
        {BZ_STR("a"),        {NULL, 0},         true,  true },
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_str front = cases[i].s, back = cases[i].s;
        size_t left = cases[i].s.n - cases[i].affix.n;

        assert_int_equal(bz_str_starts(front, cases[i].affix), cases[i].starts);
        assert_int_equal(bz_str_ends(back, cases[i].affix), cases[i].ends);
        assert_int_equal(bz_str_cut_prefix(&front, cases[i].affix), cases[i].starts);
        assert_int_equal(bz_str_cut_suffix(&back, cases[i].affix), cases[i].ends);
        assert_int_equal(front.n, cases[i].starts ? left : cases[i].s.n);
        assert_int_equal(back.n, cases[i].ends ? left : cases[i].s.n);
    }
    expect(bz_str_sub(BZ_STR("abcdef"), 2, 4), "cd");
    expect(bz_str_sub(BZ_STR("abc"), 3, 3), "");
    expect(bz_str_sub(null_slice, 0, 0), "");
}

/* The white space of Python's str.isspace(), one of each length and class. */
static void trimming_takes_what_python_takes(void **state)
{
    static const struct {
        struct bz_str s, trimmed;
    } cases[] = {
        {BZ_STR("  a b\t\n"),                   BZ_STR("a b")                      },
        {BZ_STR("a"),                           BZ_STR("a")                        },
        {BZ_STR(" \t\n\v\f\r\x1c\x1d\x1e\x1f"), BZ_STR("")                         },
        {BZ_STR(""),                            BZ_STR("")                         },
        {{NULL, 0},                             BZ_STR("")                         },
        {BZ_STR("\x1b[0m\x08"),                 BZ_STR("\x1b[0m\x08")              },
        {BZ_STR("\xc2\xa0x\xc2\x85"),           BZ_STR("x")                        },
        {BZ_STR("\xe1\x9a\x80x\xe3\x80\x80"),   BZ_STR("x")                        },
        {BZ_STR("\xe2\x80\x80x\xe2\x80\x8a"),   BZ_STR("x")                        },
        {BZ_STR("\xe2\x80\xa8x\xe2\x80\xa9"),   BZ_STR("x")                        },
        {BZ_STR("\xe2\x80\xafx\xe2\x81\x9f"),   BZ_STR("x")                        },
 /* U+200B is no space, nor is half of one. */
        {BZ_STR("\xe2\x80\x8bx\xe2\x80\x8b"),   BZ_STR("\xe2\x80\x8bx\xe2\x80\x8b")},
        {BZ_STR("\xc2"),                        BZ_STR("\xc2")                     },
        {BZ_STR("\xa0\xe2\x80"),                BZ_STR("\xa0\xe2\x80")             },
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        if (!bz_str_eq(bz_str_trim(cases[i].s), cases[i].trimmed))
            fail_msg("case %zu", i);
    }
    expect(bz_str_trim_start(BZ_STR(" a ")), "a ");
    expect(bz_str_trim_end(BZ_STR(" a ")), " a");
    expect(bz_str_trim_end(BZ_STR(" \xe3\x80\x80")), "");
}

static void finding_agrees_with_memmem_at_every_length(void **state)
{
    /* Few letters, so that there are many places that nearly fit. */
    static const char text[] = "aabaabbaaababaabaaabbbabaaabaab";

    (void)state;
    for (size_t n = 0; n < sizeof(text); n++)
        for (size_t from = 0; from < n; from++)
            for (size_t to = from + 1; to <= n; to++) {
                struct bz_str s = bz_str_of(text + n / 3, n - n / 3);
                const char *at = memmem(s.p, s.n, text + from, to - from);

                assert_int_equal(bz_str_find(s, bz_str_of(text + from, to - from)),
                                 at ? (size_t)(at - s.p) : BZ_STR_NONE);
            }
}

static void finding_gives_the_position_or_none(void **state)
{
    static const struct {
        struct bz_str s, needle;
        size_t at;
    } cases[] = {
        {BZ_STR("a${b}${c}"), BZ_STR("${"),  1          },
        {BZ_STR("abc"),       BZ_STR("abc"), 0          },
        {BZ_STR("abc"),       BZ_STR("c"),   2          },
        {BZ_STR("abc"),       BZ_STR("cd"),  BZ_STR_NONE},
        {BZ_STR("ab"),        BZ_STR("abc"), BZ_STR_NONE},
        {BZ_STR("a\0b"),      BZ_STR("\0b"), 1          },
        {BZ_STR("abc"),       BZ_STR(""),    0          },
        {{NULL, 0},           BZ_STR("a"),   BZ_STR_NONE},
        {{NULL, 0},           {NULL, 0},     0          },
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_str_find(cases[i].s, cases[i].needle), cases[i].at);
    assert_int_equal(bz_str_find_byte(BZ_STR("a:b:c"), ':'), 1);
    assert_int_equal(bz_str_rfind_byte(BZ_STR("a:b:c"), ':'), 3);
    assert_int_equal(bz_str_find_byte(bz_str_of("ab:", 2), ':'), BZ_STR_NONE);
    assert_int_equal(bz_str_rfind_byte(BZ_STR("abc"), ':'), BZ_STR_NONE);
    assert_int_equal(bz_str_find_byte(null_slice, '\0'), BZ_STR_NONE);
    assert_int_equal(bz_str_rfind_byte(null_slice, '\0'), BZ_STR_NONE);
}

static void cutting_at_a_byte_gives_both_sides(void **state)
{
    struct bz_str head, tail;

    (void)state;
    assert_true(bz_str_cut(BZ_STR("k=v=w"), '=', &head, &tail));
    expect(head, "k");
    expect(tail, "v=w");
    assert_true(bz_str_cut(BZ_STR("="), '=', &head, &tail));
    expect(head, "");
    expect(tail, "");
    assert_non_null(tail.p);
    assert_false(bz_str_cut(BZ_STR("plain"), '=', &head, &tail));
    expect(head, "plain");
    expect(tail, "");
}

/* Joins what an iterator yields with '|' after each. */
static const char *join_words(struct bz_str rest)
{
    static char out[128];
    struct bz_str word;
    size_t n = 0;

    while (bz_str_next_word(&rest, &word))
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s|", BZ_STR_ARG(word));
    out[n] = '\0';
    assert_false(bz_str_next_word(&rest, &word));
    return out;
}

static const char *join_parts(struct bz_str rest)
{
    static char out[128];
    struct bz_str part;
    size_t n = 0;

    while (bz_str_next_part(&rest, ':', &part))
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s|", BZ_STR_ARG(part));
    out[n] = '\0';
    assert_false(bz_str_next_part(&rest, ':', &part));
    return out;
}

static void words_are_separated_by_any_white_space(void **state)
{
    (void)state;
    assert_string_equal(join_words(BZ_STR("a b")), "a|b|");
    assert_string_equal(join_words(BZ_STR("  a \t\n b\x1f"
                                          "c  ")),
                        "a|b|c|");
    assert_string_equal(join_words(BZ_STR("a\xc2\xa0"
                                          "b\xe2\x80\x83"
                                          "c")),
                        "a|b|c|");
    assert_string_equal(join_words(BZ_STR("\xc3\xa4 \xe2\x82\xac")),
                        "\xc3\xa4|\xe2\x82\xac|");
    assert_string_equal(join_words(BZ_STR("one")), "one|");
    assert_string_equal(join_words(BZ_STR(" \n ")), "");
    assert_string_equal(join_words(BZ_STR("")), "");
    assert_string_equal(join_words(null_slice), "");
    assert_string_equal(join_words(bz_str_of("ab cd", 4)), "ab|c|");
}

static void parts_may_be_empty_and_are_one_more_than_separators(void **state)
{
    (void)state;
    assert_string_equal(join_parts(BZ_STR("a:b")), "a|b|");
    assert_string_equal(join_parts(BZ_STR(":a::")), "|a|||");
    assert_string_equal(join_parts(BZ_STR("")), "|");
    assert_string_equal(join_parts(bz_str_of("ab:", 2)), "ab|");
    assert_string_equal(join_parts(null_slice), "");
}

static void numbers_are_digits_within_a_limit(void **state)
{
    static const struct {
        struct bz_str s;
        uint64_t max, value;
        unsigned base;
        int rc;
    } cases[] = {
        {BZ_STR("0"),                     0,          0,          10, 0         },
        {BZ_STR("007"),                   7,          7,          10, 0         },
        {BZ_STR("8"),                     7,          0,          10, BZ_E_LIMIT},
        {BZ_STR("18446744073709551615"),  UINT64_MAX, UINT64_MAX, 10, 0         },
        {BZ_STR("18446744073709551616"),  UINT64_MAX, 0,          10, BZ_E_LIMIT},
        {BZ_STR("18446744073709551620"),  UINT64_MAX, 0,          10, BZ_E_LIMIT},
        {BZ_STR("99999999999999999999x"), UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR(""),                      UINT64_MAX, 0,          10, BZ_E_INVAL},
        {{NULL, 0},                       UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR("-1"),                    UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR("+1"),                    UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR(" 1"),                    UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR("1 "),                    UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR("1\0"),                   UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR("1a"),                    UINT64_MAX, 0,          10, BZ_E_INVAL},
        {BZ_STR("022"),                   0777,       022,        8,  0         },
        {BZ_STR("8"),                     0777,       0,          8,  BZ_E_INVAL},
        {BZ_STR("fF"),                    255,        255,        16, 0         },
        {BZ_STR("ffffffffffffffff"),      UINT64_MAX, UINT64_MAX, 16, 0         },
        {BZ_STR("10000000000000000"),     UINT64_MAX, 0,          16, BZ_E_LIMIT},
        {BZ_STR("0x1"),                   UINT64_MAX, 0,          16, BZ_E_INVAL},
        {BZ_STR("g"),                     UINT64_MAX, 0,          16, BZ_E_INVAL},
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err;
        uint64_t value = 0;
        int rc =
            bz_str_parse_u64(cases[i].s, cases[i].base, cases[i].max, &value, &err);

        if (rc != cases[i].rc || value != cases[i].value)
            fail_msg("case %zu: %d", i, rc);
    }
}

static void number_errors_quote_what_was_there(void **state)
{
    struct bz_err err;
    uint64_t value;

    (void)state;
    assert_int_equal(bz_str_parse_u64(BZ_STR("4x"), 10, 9, &value, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "not a number: '4x'");
    assert_int_equal(bz_str_parse_u64(BZ_STR("44"), 10, 9, &value, &err), BZ_E_LIMIT);
    assert_string_equal(err.msg, "number too large: '44', at most 9");
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Every prefix of a text, and every single-byte change of it, hashes differently. */
static void hash_depends_on_every_byte_and_the_length(void **state)
{
    enum { LEN = 70 };
    static uint64_t hashes[LEN * 255 + LEN + 1];
    char text[LEN] = {0};
    size_t i, n = 0;
    int c;

    (void)state;
    for (i = 0; i <= LEN; i++)
        hashes[n++] = bz_str_hash(bz_str_of(text, i));
    for (i = 0; i < LEN; i++) {
        for (c = 1; c < 256; c++) {
            text[i] = (char)c;
            hashes[n++] = bz_str_hash(bz_str_of(text, LEN));
        }
        text[i] = 0;
    }
    assert_int_equal(n, BZ_COUNTOF(hashes));
    qsort(hashes, n, sizeof(hashes[0]), by_value);
    for (i = 1; i < n; i++)
        assert_true(hashes[i] != hashes[i - 1]);
}

static void hash_ignores_where_the_bytes_are(void **state)
{
    char room[64];
    size_t n, offset;

    (void)state;
    for (n = 0; n < 40; n++) {
        uint64_t expected =
            bz_str_hash(bz_str_of("0123456789abcdefghijklmnopqrstuvwxyz????", n));

        for (offset = 0; offset < 9; offset++) {
            memset(room, (int)offset, sizeof(room));
            memcpy(room + offset, "0123456789abcdefghijklmnopqrstuvwxyz????", n);
            assert_true(bz_str_hash(bz_str_of(room + offset, n)) == expected);
        }
    }
    assert_true(bz_str_hash(null_slice) == bz_str_hash(BZ_STR("")));
}

/* A change of one input bit flips about half of the output bits, each bit in turn. */
static void hash_mixes_every_bit(void **state)
{
    enum { TRIES = 4096, INPUT = 12 };
    int flips[64] = {0};
    int i, bit;

    (void)state;
    for (i = 0; i < TRIES; i++) {
        char text[INPUT + 1];
        uint64_t before, diff;

        snprintf(text, sizeof(text), "VAR_%08d", i);
        before = bz_str_hash(bz_str_of(text, INPUT));
        text[i % INPUT] = (char)(text[i % INPUT] ^ (1 << i / INPUT % 8));
        diff = before ^ bz_str_hash(bz_str_of(text, INPUT));
        for (bit = 0; bit < 64; bit++)
            flips[bit] += (int)(diff >> bit & 1);
    }
    /* Half of 4096, give or take eight standard deviations of a fair coin. */
    for (bit = 0; bit < 64; bit++)
        assert_in_range(flips[bit], TRIES / 2 - 256, TRIES / 2 + 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_know_their_length_and_hold_any_byte),
        cmocka_unit_test(printing_a_slice_stops_at_its_end),
        cmocka_unit_test(equality_and_order_go_by_bytes),
        cmocka_unit_test(prefix_and_suffix_are_seen_and_cut),
        cmocka_unit_test(trimming_takes_what_python_takes),
        cmocka_unit_test(finding_gives_the_position_or_none),
        cmocka_unit_test(finding_agrees_with_memmem_at_every_length),
        cmocka_unit_test(cutting_at_a_byte_gives_both_sides),
        cmocka_unit_test(words_are_separated_by_any_white_space),
        cmocka_unit_test(parts_may_be_empty_and_are_one_more_than_separators),
        cmocka_unit_test(numbers_are_digits_within_a_limit),
        cmocka_unit_test(number_errors_quote_what_was_there),
        cmocka_unit_test(hash_depends_on_every_byte_and_the_length),
        cmocka_unit_test(hash_ignores_where_the_bytes_are),
        cmocka_unit_test(hash_mixes_every_bit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
