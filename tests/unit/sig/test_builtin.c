#include "sig/builtin.h"

#include "tests/unit/bz_test.h"

static void only_python_of_known_names_is_built_in(void **state)
{
    static const struct {
        const char *task;
        bool python;
        enum bz_builtin what;
    } rows[] = {
        {"do_fetch",   true,  BZ_BUILTIN_FETCH },
        {"do_unpack",  true,  BZ_BUILTIN_UNPACK},
        {"do_patch",   true,  BZ_BUILTIN_PATCH },
        {"do_patch",   false, BZ_BUILTIN_NONE  },
        {"do_compile", true,  BZ_BUILTIN_NONE  },
    };
    static const struct bz_vars_at nowhere = {0};
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_str task = bz_str_from(rows[i].task);
        struct bz_vars *v = bz_vars_new(NULL);
        enum bz_builtin what;

        if (rows[i].python)
            assert_ok(bz_vars_set_flag(v, task, BZ_STR("python"), BZ_STR("1"), &nowhere,
                                       &err),
                      &err);
        assert_ok(bz_builtin_of(v, task, &what, &err), &err);
        assert_int_equal(what, rows[i].what);
        bz_vars_free(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_python_of_known_names_is_built_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
