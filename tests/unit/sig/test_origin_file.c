#include "sig/origin_file.h"

#include "tests/unit/bz_test.h"

static const struct {
    const char *file, *name;
} cases[] = {
    {"/home/me/build/conf/local.conf",                "conf/local.conf"        },
    {"/home/me/build/../meta-one/recipes/a.bb",       "meta-one/recipes/a.bb"  },
    {"/home/me/meta-one/inner/classes/b.bbclass",     "inner/classes/b.bbclass"},
    {"/home/me/meta-one/innermost/classes/b.bbclass",
     "meta-one/innermost/classes/b.bbclass"                                    },
    {"/home/me/meta-one",                             "meta-one"               },
    {"/etc/extra.conf",                               "extra.conf"             },
    {"environment",                                   "environment"            },
    {"conf/./x.conf",                                 "conf/x.conf"            },
    {"../../me/x.conf",                               "x.conf"                 },
};

static void names_do_not_tell_where_the_checkout_is(void **state)
{
    struct bz_origin_files f = {0};

    (void)state;
    bz_origin_file_add_build(&f, BZ_STR("/home/me/build/"));
    bz_origin_file_add_layer(&f, BZ_STR("/home/me/build/../meta-one"));
    bz_origin_file_add_layer(&f, BZ_STR("/home/me/meta-one/inner"));
    bz_origin_file_add_layer(&f, (struct bz_str){0});
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
            struct bz_str name = bz_origin_file_name(&f, bz_str_from(cases[i].file));

            assert_string_equal(name.p, cases[i].name);
        }
    bz_origin_file_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_do_not_tell_where_the_checkout_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
