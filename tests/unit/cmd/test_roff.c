#include "roff.h"

#include "tests/unit/bz_test.h"

static void assert_text(const char *text, const char *expected)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    bz_roff_text(&b, text);
    assert_string_equal(bz_buf_text(&b), expected);
}

static void what_troff_would_take_for_its_own_is_escaped(void **state)
{
    (void)state;
    assert_text("a\\b", "a\\eb\n");
    assert_text("BitBake's ~/x ^ \"y\"", "BitBake\\(aqs \\(ti/x \\(ha \\(dqy\\(dq\n");
    assert_text("one-two", "one\\-two\n");
}

static void a_dot_at_the_start_of_a_line_is_no_request(void **state)
{
    (void)state;
    assert_text(".bbappend files", "\\&.bbappend files\n");
    assert_text("End. .so x", "End.\n\\&.so x\n");
    assert_text("'quoted' 'tis", "\\fBquoted\\fR \\(aqtis\n");
}

static void quotations_and_options_are_bold(void **state)
{
    (void)state;
    assert_text("see 'bitzel config'.", "see \\fBbitzel config\\fR.\n");
    assert_text("as `bitbake -e`", "as \\fBbitbake \\-e\\fR\n");
    assert_text("with --man-dir, (-q)",
                "with \\fB\\-\\-man\\-dir\\fR, (\\fB\\-q\\fR)\n");
    assert_text("if it is - or --", "if it is \\- or \\-\\-\n");
    assert_text("recipes' sources' end", "recipes\\(aq sources\\(aq end\n");
}

static void long_text_is_broken_between_words_and_after_sentences(void **state)
{
    (void)state;
    assert_text("One. Two? Three", "One.\nTwo?\nThree\n");
    assert_text("aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg "
                "hhhhhhhhh",
                "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff "
                "ggggggggg\nhhhhhhhhh\n");
    assert_text("", "");
}

static void a_page_is_made_of_macros(void **state)
{
    static const struct bz_roff_title title = {"A-B", "1", "2026-01-31", "a 1.0", "M"};
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    bz_roff_title(&b, &title);
    bz_roff_section(&b, "NAME");
    bz_roff_subsection(&b, "say \"x\"");
    bz_roff_paragraph(&b); /* nothing: a section begins with one */
    bz_roff_text(&b, "x");
    bz_roff_paragraph(&b);
    bz_roff_item(&b);
    bz_roff_plain(&b, ".x ");
    bz_roff_bold(&b, "--b");
    bz_roff_italic(&b, "C");
    bz_roff_end(&b);
    bz_roff_example(&b, ".a -b");
    assert_string_equal(bz_buf_text(&b),
                        ".TH \"A\\-B\" \"1\" 2026-01-31 \"a 1.0\" \"M\"\n.nh\n.ad l\n"
                        ".SH \"NAME\"\n.SS \"say \\(dqx\\(dq\"\nx\n.PP\n.TP\n"
                        "\\&.x \\fB\\-\\-b\\fR\\fIC\\fR\n"
                        ".EX\n\\&.a \\-b\n.EE\n.nh\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_troff_would_take_for_its_own_is_escaped),
        cmocka_unit_test(a_dot_at_the_start_of_a_line_is_no_request),
        cmocka_unit_test(quotations_and_options_are_bold),
        cmocka_unit_test(long_text_is_broken_between_words_and_after_sentences),
        cmocka_unit_test(a_page_is_made_of_macros),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
