#include "recipe/lex.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

/* All lines of a text, each in brackets. */
static struct bz_str lines_of(struct bz_arena *arena, struct bz_str text)
{
    struct bz_buf out = {0};
    struct bz_str line, all;
    struct bz_lex lex;
    uint32_t n = 0;

    bz_lex_init(&lex, arena, text);
    while (bz_lex_line(&lex, &line)) {
        bz_buf_addf(&out, "[%.*s]", BZ_STR_ARG(line));
        assert_int_equal(lex.line, ++n);
        assert_int_equal(line.p[line.n], '\n');
    }
    all = bz_arena_dup(arena, bz_buf_str(&out));
    bz_buf_release(&out);
    return all;
}

static void lines_end_as_in_any_system_and_lose_their_last_blanks(void **state)
{
    static const struct {
        const char *text, *lines;
    } cases[] = {
        {"",                        ""           },
        {"a",                       "[a]"        },
        {"a\n",                     "[a]"        },
        {"a\nb",                    "[a][b]"     },
        {"\n\na\n",                 "[][][a]"    },
        {"a\r\nb\r\n",              "[a][b]"     },
        {"a\rb\r",                  "[a][b]"     },
        {"a\r\rb",                  "[a][][b]"   },
        {"a\n\rb",                  "[a][][b]"   },
        {"a\r",                     "[a]"        },
        {"a \t\n b\t\n",            "[a][ b]"    },
        {" \t \n",                  "[]"         },
        {"a\v\f\x1c\x1f\n",         "[a]"        },
        {"a\vb\fc\x1c"
         "d\n",            "[a\vb\fc\x1c"
         "d]"            }, /* these end no line */
        {"a\xc2\xa0\n",             "[a]"        }, /* no-break space */
        {"a\xe2\x80\x83\xc2\x85\n", "[a]"        }, /* em space, next line */
        {"a\xc3\xa0\n",             "[a\xc3\xa0]"}, /* ends in the byte of a space */
        {"a\x7f\n",                 "[a\x7f]"    },
    };
    struct bz_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_string_equal(lines_of(&arena, bz_str_from(cases[i].text)).p,
                            cases[i].lines);
    bz_arena_release(&arena);
}

static void an_empty_slice_has_no_lines(void **state)
{
    struct bz_arena arena = {0};

    (void)state;
    assert_int_equal(lines_of(&arena, (struct bz_str){0}).n, 0);
    bz_arena_release(&arena);
}

static void lines_lie_side_by_side_without_what_was_cut(void **state)
{
    struct bz_arena arena = {0};
    struct bz_str first, line;
    struct bz_lex lex;

    (void)state;
    bz_lex_init(&lex, &arena, BZ_STR("one  \r\n\t\r\n two"));
    assert_true(bz_lex_line(&lex, &first));
    while (bz_lex_line(&lex, &line))
        continue;
    assert_memory_equal(first.p, "one\n\n two\n", 10);
    assert_ptr_equal(lex.out, first.p + 10);
    bz_arena_release(&arena);
}

static void the_struct_can_be_put_back_to_read_a_line_again(void **state)
{
    struct bz_arena arena = {0};
    struct bz_lex lex, before;
    struct bz_str a, b;

    (void)state;
    bz_lex_init(&lex, &arena, BZ_STR("x\ny\n"));
    assert_true(bz_lex_line(&lex, &a));
    before = lex;
    assert_true(bz_lex_line(&lex, &a));
    lex = before;
    assert_true(bz_lex_line(&lex, &b));
    assert_ptr_equal(a.p, b.p);
    assert_int_equal(lex.line, 2);
    bz_arena_release(&arena);
}

static void joining_replaces_the_backslash_by_the_next_line(void **state)
{
    struct bz_arena arena = {0};
    struct bz_str line, piece;
    struct bz_lex lex;

    (void)state;
    bz_lex_init(&lex, &arena, BZ_STR("a\\  \n  b\\\n\nc"));
    assert_true(bz_lex_line(&lex, &line));
    assert_true(bz_lex_join(&lex, &line, &piece));
    assert_true(bz_str_eq(line, BZ_STR("a  b\\")));
    assert_true(bz_str_eq(piece, BZ_STR("  b\\")));
    assert_true(bz_lex_join(&lex, &line, &piece));
    assert_true(bz_str_eq(line, BZ_STR("a  b")));
    assert_int_equal(piece.n, 0);
    assert_int_equal(lex.line, 3);
    assert_true(bz_lex_line(&lex, &piece));
    assert_true(bz_str_eq(piece, BZ_STR("c")));
    assert_true(bz_str_eq(line, BZ_STR("a  b"))); /* not overwritten */
    bz_arena_release(&arena);
}

static void joining_at_the_end_only_takes_the_backslash_away(void **state)
{
    struct bz_arena arena = {0};
    struct bz_str line, piece;
    struct bz_lex lex;

    (void)state;
    bz_lex_init(&lex, &arena, BZ_STR("a\\\\"));
    assert_true(bz_lex_line(&lex, &line));
    assert_false(bz_lex_join(&lex, &line, &piece));
    assert_true(bz_str_eq(line, BZ_STR("a\\")));
    assert_int_equal(lex.line, 2);
    assert_false(bz_lex_join(&lex, &line, &piece));
    assert_true(bz_str_eq(line, BZ_STR("a")));
    assert_int_equal(lex.line, 3);
    assert_false(bz_lex_line(&lex, &piece));
    bz_arena_release(&arena);
}

static void source_lines_stay_in_the_text(void **state)
{
    struct bz_str text = BZ_STR("ab \ncd"), line;
    struct bz_arena arena = {0};
    struct bz_lex lex;
    char *out;

    (void)state;
    bz_lex_init(&lex, &arena, text);
    out = lex.out;
    assert_true(bz_lex_source(&lex, &line));
    assert_true(bz_str_eq(line, BZ_STR("ab")));
    assert_ptr_equal(line.p, text.p);
    assert_true(bz_lex_source(&lex, &line));
    assert_ptr_equal(line.p, text.p + 4);
    assert_false(bz_lex_source(&lex, &line));
    assert_ptr_equal(lex.out, out);
    bz_arena_release(&arena);
}

static void valid_ends_at_a_nul_or_at_what_is_not_utf8(void **state)
{
#define CASE(text, n)                                                                  \
    {                                                                                  \
        {text, sizeof(text) - 1}, n                                                    \
    }
    static const struct {
        struct bz_str text;
        size_t valid;
    } cases[] = {
        CASE("", 0),
        CASE("plain text of more than eight bytes\n", 36),
        CASE("gr\xc3\xbc\xc3\x9f", 6),
        CASE("\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", 16),
        CASE("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8),
        CASE("12345678\0", 8),
        CASE("1234567\0abcdefgh", 7),
        CASE("\0", 0),
        CASE("ab\xfc", 2),
        CASE("12345678ab\x80", 10),
        CASE("a\xc0\x80", 1),     /* overlong */
        CASE("a\xc1\xbf", 1),     /* overlong */
        CASE("a\xe0\x9f\xbf", 1), /* overlong */
        CASE("a\xf0\x8f\xbf\xbf", 1),
        CASE("a\xed\xa0\x80", 1), /* a surrogate */
        CASE("a\xf4\x90\x80\x80", 1),
        CASE("a\xf5\x80\x80\x80", 1),
        CASE("a\xe2\x82", 1), /* cut short */
        CASE("a\xe2\x82(", 1),
        CASE("a\xf1\x80\x80\xc0", 1),
        CASE("1234567\x01\x01\x80", 9), /* what looks like a NUL at first */
    };
#undef CASE

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        if (bz_lex_valid(cases[i].text) != cases[i].valid)
            fail_msg("case %zu: %zu", i, bz_lex_valid(cases[i].text));
}

static void a_character_is_decoded(void **state)
{
    static const struct {
        const char *text;
        uint32_t c;
        size_t len;
    } cases[] = {
        {"az",               'a',      1},
        {"\xc3\xa9z",        0xe9,     2},
        {"\xe6\x97\xa5",     0x65e5,   3},
        {"\xf0\x9f\x98\x80", 0x1f600,  4},
        {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
    };
    uint32_t c;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        assert_int_equal(bz_lex_char(bz_str_from(cases[i].text), &c), cases[i].len);
        assert_int_equal(c, cases[i].c);
    }
}

static void white_space_is_found_from_both_sides(void **state)
{
    static const struct {
        const char *text;
        size_t len; /* of the white space that text is; 0 if it is none */
    } cases[] = {
        {" ",            1},
        {"\t",           1},
        {"\v",           1},
        {"\x1c",         1},
        {"\x1f",         1},
        {"\xc2\x85",     2},
        {"\xc2\xa0",     2},
        {"\xe1\x9a\x80", 3},
        {"\xe2\x80\x83", 3},
        {"\xe3\x80\x80", 3},
        {"a",            0},
        {"\x1b",         0},
        {"\x7f",         0},
        {"\xc3\xa0",     0}, /* has the last byte of a space */
        {"\xe2\x80\x93", 0},
        {"\xef\xbb\xbf", 0}, /* the byte order mark is none */
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_str s = bz_str_from(cases[i].text);

        assert_int_equal(bz_lex_space(s, 0), cases[i].len);
        assert_int_equal(bz_lex_space_before(s, s.n), cases[i].len);
        assert_int_equal(bz_lex_skip(s, 0), cases[i].len);
    }
    assert_int_equal(bz_lex_space(BZ_STR("a"), 1), 0);
    assert_int_equal(bz_lex_space_before(BZ_STR("a"), 0), 0);
    assert_int_equal(bz_lex_space_before(BZ_STR("a\xe2\x80\x83"), 3), 0); /* inside */
    assert_int_equal(bz_lex_skip(BZ_STR("a \xc2\xa0\t b"), 1), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_as_in_any_system_and_lose_their_last_blanks),
        cmocka_unit_test(an_empty_slice_has_no_lines),
        cmocka_unit_test(lines_lie_side_by_side_without_what_was_cut),
        cmocka_unit_test(the_struct_can_be_put_back_to_read_a_line_again),
        cmocka_unit_test(joining_replaces_the_backslash_by_the_next_line),
        cmocka_unit_test(joining_at_the_end_only_takes_the_backslash_away),
        cmocka_unit_test(source_lines_stay_in_the_text),
        cmocka_unit_test(valid_ends_at_a_nul_or_at_what_is_not_utf8),
        cmocka_unit_test(a_character_is_decoded),
        cmocka_unit_test(white_space_is_found_from_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
