#include "config/conffile.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

static int note(void *ctx, const struct bz_conffile_line *line, struct bz_err *err)
{
    if (bz_str_eq(line->name, BZ_STR("bad")))
        return bz_fail(err, BZ_E_INVAL, "no");
    bz_buf_addf(ctx, "%u:%.*s=%.*s|", line->number, BZ_STR_ARG(line->name),
                BZ_STR_ARG(line->value));
    return 0;
}

static const struct {
    const char *text, *seen;
} good[] = {
    {"",                                      ""                        },
    {"# nothing\n\n   # more\n",              ""                        },
    {"a=1",                                   "1:a=1|"                  },
    {"  a.b-c_d =  x y \t\r\n",               "1:a.b-c_d=x y|"          },
    {"\xef\xbb\xbfjobs = 3\n",                "1:jobs=3|"               },
    {"a = 1 # why\nb = x#y\nc =#z",           "1:a=1|2:b=x#y|3:c=|"     },
    {"[s]\na = 1\n[ t.u ] # t\nb=2\n[]\nc=3", "2:s.a=1|4:t.u.b=2|6:c=3|"},
    {"a = \" x # y \" # z\nb = \"\"",         "1:a= x # y |2:b=|"       },
    {"a = b = c",                             "1:a=b = c|"              },
    {"a = x\"y\"",                            "1:a=x\"y\"|"             },
};

static void a_file_is_names_and_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(good); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf seen = {0};
        struct bz_err err = {0};

        assert_ok(bz_conffile_parse(bz_str_from(good[i].text), "f", note, &seen, &err),
                  &err);
        assert_string_equal(bz_buf_text(&seen), good[i].seen);
    }
}

static const struct {
    struct bz_str text;
    const char *msg;
} wrong[] = {
    {{"a = 1\nb\n", 8},       "f:2: expected NAME = VALUE or [SECTION]"           },
    {{"= 1", 3},              "f:1: expected a name such as cache.dir before '='" },
    {{"a b = 1", 7},          "f:1: expected a name such as cache.dir before '='" },
    {{"a..b = 1", 8},         "f:1: expected a name such as cache.dir before '='" },
    {{"[s\na=1", 6},          "f:1: expected ']' at the end of the section's name"},
    {{"[s t]", 5},            "f:1: expected a section such as [cache]"           },
    {{"[", 1},                "f:1: expected ']' at the end of the section's name"},
    {{"a = \"x", 6},          "f:1: expected '\"' at the end of the value"        },
    {{"a = \"x\" y", 9},      "f:1: expected nothing after the value in quotes"   },
    {{"\na = x\0y", 8},       "f:2: there is a NUL byte: this is no text"         },
    {{"ok = 1\nbad = 2", 14}, "f:2: no"                                           },
};

static void mistakes_are_shown_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf seen = {0};
        struct bz_err err = {0};

        assert_int_equal(bz_conffile_parse(wrong[i].text, "f", note, &seen, &err),
                         BZ_E_INVAL);
        assert_string_equal(err.msg, wrong[i].msg);
    }
}

static void names_are_bounded(void **state)
{
    char text[(size_t)3 * BZ_CONFFILE_NAME];
    BZ_CLEANUP(bz_buf_release) struct bz_buf seen = {0};
    struct bz_err err = {0};

    (void)state;
    memset(text, 'n', sizeof(text));
    text[BZ_CONFFILE_NAME] = '=';
    assert_int_equal(
        bz_conffile_parse(bz_str_of(text, sizeof(text)), "f", note, &seen, &err),
        BZ_E_INVAL);
    text[0] = '[';
    text[BZ_CONFFILE_NAME - 1] = ']';
    memset(text + BZ_CONFFILE_NAME + 1, 'm', BZ_CONFFILE_NAME - 1);
    text[BZ_CONFFILE_NAME] = '\n';
    text[(size_t)2 * BZ_CONFFILE_NAME] = '=';
    assert_ok(bz_conffile_parse(bz_str_of(text, sizeof(text)), "f", note, &seen, &err),
              &err);
}

static void a_file_that_is_not_there_or_no_file_fails(void **state)
{
    struct bz_err err = {0};

    (void)state;
    assert_int_equal(bz_conffile_read("/nowhere/at/all", note, NULL, &err), BZ_E_NOENT);
    assert_int_equal(bz_conffile_read("/", note, NULL, &err), BZ_E_INVAL);
    assert_ok(bz_conffile_read("/dev/null", note, NULL, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_names_and_values),
        cmocka_unit_test(mistakes_are_shown_with_their_place),
        cmocka_unit_test(names_are_bounded),
        cmocka_unit_test(a_file_that_is_not_there_or_no_file_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
