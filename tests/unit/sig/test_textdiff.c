#include "sig/textdiff.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

static const struct {
    const char *was, *is; /* NULL: none */
    struct bz_textdiff_opts opts;
    const char *lines;
} cases[] = {
    {"a",                                                   "b",         {0, 9, 80}, "-a\n+b\n"                       },
    {"a\nb\nc\n",                                           "a\nx\nc\n", {0, 9, 80}, "-b\n+x\n"                       },
    {"a\nb\nc\n",                                           "a\nx\nc\n", {1, 9, 80}, " a\n-b\n+x\n c\n"               },
    {"a\nb\nc\nd\ne\nf\ng",
     "A\nb\nc\nd\ne\nf\nG",                                              {1, 9, 80},
     "-a\n+A\n b\n~\n f\n-g\n+G\n"                                                                                    },
    {"a\n",                                                 "a\nb\n",    {0, 9, 80}, "+b\n"                           },
    {"a",                                                   "a\n",       {0, 9, 80}, "+\n"                            },
    {NULL,                                                  "a\nb\n",    {0, 9, 80}, "+a\n+b\n"                       },
    {NULL,                                                  "a\nb",      {0, 9, 80}, "+a\n+b\n"                       },
    {"a",                                                   NULL,        {0, 9, 80}, "-a\n"                           },
    {"1\n2\n3\n4",                                          "",          {0, 2, 80}, "-1\n-2\n~3 lines are left out\n"},
    {"same",                                                "same",      {0, 9, 80}, ""                               },
 /* long lines are cut to where they differ */
    {"aaaaaaaaaaaaaaaaaaaaaaaaaXbbbbbbbbbbbbbbbbbbbbbbbbb",
     "aaaaaaaaaaaaaaaaaaaaaaaaaYbbbbbbbbbbbbbbbbbbbbbbbbb",              {0, 9, 20},
     "-...aaaaaXbbbbb...\n+...aaaaaYbbbbb...\n"                                                                       },
    {NULL,
     "aaaaaaaaaaaaaaaaaaaaaaaaaXbbbbbbbbbbbbbbbbbbbbbbbbb",              {0, 9, 20},
     "+aaaaaaaaaaaaaaaaaaaaaaaaaX...\n"                                                                               },
 /* and never within a character */
    {"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4X",
     "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4Y",                {0, 9, 12},
     "-...\xc3\xa4\xc3\xa4X\n+...\xc3\xa4\xc3\xa4Y\n"                                                                 },
};

static struct bz_str text_of(const char *s)
{
    return s ? bz_str_from(s) : (struct bz_str){0};
}

static void what_differs_is_shown_and_little_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_textdiff d = {0};
        struct bz_buf out = {0};

        bz_textdiff_run(&d, text_of(cases[i].was), text_of(cases[i].is),
                        &cases[i].opts);
        for (size_t k = 0; k < d.lines.len; k++)
            bz_buf_addf(&out, "%c%.*s\n", d.lines.at[k].sign,
                        BZ_STR_ARG(d.lines.at[k].text));
        if (strcmp(bz_buf_text(&out), cases[i].lines) != 0)
            fail_msg("case %zu:\n%sexpected\n%s", i, bz_buf_text(&out), cases[i].lines);
        bz_buf_release(&out);
        bz_textdiff_release(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_shown_and_little_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
