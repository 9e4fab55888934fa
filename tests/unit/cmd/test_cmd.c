#include "cmd.h"

#include "tests/unit/bz_test.h"

static const struct bz_cmd build = {.name = "build"};
static const struct bz_cmd doctor = {.name = "doctor"};
static const struct bz_cmd *const commands[] = {&build, &doctor, NULL};
static const struct bz_cmd_env env = {.commands = commands};

static void a_command_is_found_by_its_whole_name(void **state)
{
    struct bz_err err;

    (void)state;
    assert_ptr_equal(bz_cmd_find(&env, "build", &err), &build);
    assert_ptr_equal(bz_cmd_find(&env, "doctor", &err), &doctor);
}

static void an_unknown_command_is_the_users_error(void **state)
{
    static const struct {
        const char *name, *msg;
    } cases[] = {
        {"bulid", "there is no command 'bulid'; did you mean 'build'?"},
        {"doc",   "there is no command 'doc'; did you mean 'doctor'?" },
        {"BUILD", "there is no command 'BUILD'"                       },
        {"",      "there is no command ''"                            },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_err err = {0};

        assert_null(bz_cmd_find(&env, cases[i].name, &err));
        assert_int_equal(err.code, BZ_E_INVAL);
        assert_string_equal(err.msg, cases[i].msg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_found_by_its_whole_name),
        cmocka_unit_test(an_unknown_command_is_the_users_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
