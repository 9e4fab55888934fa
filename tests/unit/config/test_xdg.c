#include "config/xdg.h"

#include "tests/unit/bz_test.h"

static const struct {
    const char *env[4];
    enum bz_xdg which;
    const char *dir;
} cases[] = {
    {{"HOME=/h", NULL},                             BZ_XDG_CACHE,  "/h/.cache/bitzel"      },
    {{"HOME=/h", NULL},                             BZ_XDG_STATE,  "/h/.local/state/bitzel"},
    {{"HOME=/h", NULL},                             BZ_XDG_CONFIG, "/h/.config/bitzel"     },
    {{"HOME=/h", "XDG_CACHE_HOME=/c", NULL},        BZ_XDG_CACHE,  "/c/bitzel"             },
    {{"XDG_CACHE_HOME=/c", NULL},                   BZ_XDG_STATE,  NULL                    },
    {{"XDG_STATE_HOME=s", "HOME=/h", NULL},         BZ_XDG_STATE,  "/h/.local/state/bitzel"},
    {{"XDG_CONFIG_HOME=", "HOME=/h", NULL},         BZ_XDG_CONFIG, "/h/.config/bitzel"     },
    {{"XDG_CACHE_HOMES=/x", "HOME=/h", NULL},       BZ_XDG_CACHE,  "/h/.cache/bitzel"      },
    {{"HOME=/t", "BITZEL_HOME=/h", NULL},           BZ_XDG_CACHE,  "/h/.cache/bitzel"      },
    {{"HOME=/h", "BITZEL_HOME=", NULL},             BZ_XDG_CACHE,  "/h/.cache/bitzel"      },
    {{"XDG_CACHE_HOME=/c", "BITZEL_HOME=/h", NULL}, BZ_XDG_CACHE,  "/c/bitzel"             },
    {{"HOME=h", NULL},                              BZ_XDG_CACHE,  NULL                    },
    {{NULL},                                        BZ_XDG_CACHE,  NULL                    },
};

static void directories_come_from_the_environment_or_the_home(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_str dir = bz_xdg_dir(&a, cases[i].env, cases[i].which);

        if (cases[i].dir)
            assert_string_equal(dir.p, cases[i].dir);
        else
            assert_int_equal(dir.n, 0);
    }
}

static void without_an_environment_nothing_is_known(void **state)
{
    (void)state;
    assert_null(bz_xdg_getenv(NULL, BZ_STR("HOME")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_come_from_the_environment_or_the_home),
        cmocka_unit_test(without_an_environment_nothing_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
