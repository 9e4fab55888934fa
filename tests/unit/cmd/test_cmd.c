#include "cmd.h"

#include "tests/unit/bz_test.h"

static const struct bz_cmd build = {.name = "build"};
static const struct bz_cmd doctor = {.name = "doctor"};
static const struct bz_cmd gc = {.of = "cache", .name = "gc"};
static const struct bz_cmd verify = {.of = "cache", .name = "verify"};
static const struct bz_cmd *const of_cache[] = {&gc, &verify, NULL};
static const struct bz_cmd cache = {.name = "cache", .subs = of_cache};
static const struct bz_cmd *const commands[] = {&build, &doctor, &cache, NULL};
static const struct bz_cmd_env env = {.commands = commands};

static void a_command_is_found_by_its_whole_name(void **state)
{
    struct bz_err err;

    (void)state;
    assert_ptr_equal(bz_cmd_find(&env, NULL, "build", &err), &build);
    assert_ptr_equal(bz_cmd_find(&env, NULL, "doctor", &err), &doctor);
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

        assert_null(bz_cmd_find(&env, NULL, cases[i].name, &err));
        assert_int_equal(err.code, BZ_E_INVAL);
        assert_string_equal(err.msg, cases[i].msg);
    }
}

static int do_nothing(struct bz_cmd_env *e, const void *values, struct bz_err *err)
{
    (void)e;
    (void)values;
    (void)err;
    return 0;
}

static void a_command_has_commands_of_its_own(void **state)
{
    struct bz_err err = {0};
    struct bz_cmd runs = cache;
    char words[64];

    (void)state;
    assert_ptr_equal(bz_cmd_find(&env, &cache, "gc", &err), &gc);
    assert_null(bz_cmd_find(&env, &cache, "verfy", &err));
    assert_string_equal(err.msg, "'cache' has no command 'verfy'; did you mean "
                                 "'verify'?");
    assert_null(bz_cmd_find(&env, &cache, "build", &err));
    assert_null(bz_cmd_find(&env, &build, "gc", &err));
    assert_string_equal(bz_cmd_words(&gc, words, sizeof(words)), "bitzel cache gc");
    assert_string_equal(bz_cmd_words(&cache, words, sizeof(words)), "bitzel cache");
    assert_int_equal(bz_cmd_check_run(&cache, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "'cache' needs one of its commands: gc, verify");
    runs.run = do_nothing;
    assert_ok(bz_cmd_check_run(&runs, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_found_by_its_whole_name),
        cmocka_unit_test(an_unknown_command_is_the_users_error),
        cmocka_unit_test(a_command_has_commands_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
