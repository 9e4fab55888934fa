#include "task/parallel.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/bz_test.h"

static void makes_lose_the_option_and_nothing_else_changes(void **state)
{
    static const struct {
        const char *value, *script;
        const char *less; /* NULL: as it was */
    } cases[] = {
        {"-j 16",       "cd x\nmake -j 16 all\n",                "cd x\nmake  all\n"           },
        {"-j16",        "oe_runmake -j16\nmake -C s -j16",       "oe_runmake \nmake -C s "     },
        {"-j",          "make -j all",                           "make  all"                   },
        {" -j 16 -l 9", "make -j 16 -l 9 all",                   "make -l 9 all"               },
        {"-l 9 -j4 V=", "make -l 9 -j4 V= all",                  "make -l 9 V= all"            },
        {"-j 16",       "bbnote \"make -j 16\"; make \"-j 16\"",
         "bbnote \"make \"; make \"\""                                                         },
        {"-j 16",       "make \\\n  -C s \\\n  -j 16 all\n",     "make \\\n  -C s \\\n   all\n"},
 /* None of make's business. */
        {"-j 16",       "cmake --build . -j 16",                 NULL                          },
        {"-j 16",       "make all\nmuon -j 16",                  NULL                          },
        {"-j 16",       "sh -c 'cd x; ninja -j 16'",             NULL                          },
        {"-j 16",       "make -j 160 x-j 16",                    NULL                          },
        {"-j 16",       "remake_all -j 16",                      NULL                          },
 /* It cannot do it. */
        {"",            "make all",                              NULL                          },
        {"-j 1",        "make -j 1 all",                         NULL                          },
        {"-j1",         "make -j1 all",                          NULL                          },
        {"-k",          "make -k all",                           NULL                          },
    };
    struct bz_arena a = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_str s = bz_str_from(cases[i].script);
        const char *want = cases[i].less ? cases[i].less : cases[i].script;

        assert_int_equal(bz_parallel_share(&s, bz_str_from(cases[i].value), &a),
                         cases[i].less != NULL);
        assert_int_equal(s.n, strlen(want));
        assert_memory_equal(s.p, want, s.n);
    }
    bz_arena_release(&a);
}

static void ninjas_are_asked_which_they_are(void **state)
{
    struct bz_str s =
        BZ_STR("#!/bin/sh\nx=1\nmake -j 16; ninja -v -j 16 all\n/opt/ninja -j 16\n");
    struct bz_arena a = {0};

    (void)state;
    assert_true(bz_parallel_share(&s, BZ_STR("-j 16"), &a));
    assert_true(bz_str_starts(s, BZ_STR("#!/bin/sh\nbz_ninja() { ")));
    assert_true(bz_str_ends(s, BZ_STR("; }; x=1\nmake ; ninja -v  $(bz_ninja -j 16) "
                                      "all\n/opt/ninja  $(bz_ninja -j 16)\n")));
    bz_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ninjas_are_asked_which_they_are),
        cmocka_unit_test(makes_lose_the_option_and_nothing_else_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
