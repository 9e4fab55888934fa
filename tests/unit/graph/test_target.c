#include "graph/target.h"

#include "tests/unit/bz_test.h"

static const struct {
    const char *text, *mc;
    bool every;
    const char *name, *task;
} targets[] = {
    {"busybox",                 "",    false, "busybox",        NULL        },
    {"busybox:do_compile",      "",    false, "busybox",        "do_compile"},
    {"mc:arm:busybox",          "arm", false, "busybox",        NULL        },
    {"mc:arm:busybox:do_x",     "arm", false, "busybox",        "do_x"      },
    {"mc::busybox",             "",    false, "busybox",        NULL        },
    {"mc:*:busybox",            "",    true,  "busybox",        NULL        },
    {"multiconfig:arm:busybox", "arm", false, "busybox",        NULL        },
    {"mc:arm",                  "arm", false, "",               NULL        },
    {"virtual/kernel",          "",    false, "virtual/kernel", NULL        },
    {"mcedit",                  "",    false, "mcedit",         NULL        },
    {"mc",                      "",    false, "mc",             NULL        },
    {"mc:arm:mc",               "arm", false, "mc",             NULL        },
    {"odd:name",                "",    false, "odd:name",       NULL        },
};

static void assert_part(struct bz_str got, const char *expected)
{
    assert_non_null(got.p);
    assert_int_equal(got.n, strlen(expected));
    assert_memory_equal(got.p, expected, got.n);
}

static void a_target_is_configuration_recipe_and_task(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(targets); i++) {
        struct bz_target t;
        struct bz_err err;

        assert_ok(bz_target_parse(bz_str_from(targets[i].text), &t, &err), &err);
        assert_part(t.mc, targets[i].mc);
        assert_int_equal(t.every, targets[i].every);
        assert_part(t.name, targets[i].name);
        if (targets[i].task)
            assert_part(t.task, targets[i].task);
        else
            assert_null(t.task.p);
    }
}

static void a_target_that_names_nothing_is_wrong(void **state)
{
    static const char *const wrong[] = {"", "mc:", "mc:*", "mc::", "mc:arm:", ":do_x"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        struct bz_target t;
        struct bz_err err = {0};

        assert_int_equal(bz_target_parse(bz_str_from(wrong[i]), &t, &err), BZ_E_INVAL);
        assert_non_null(strstr(err.msg, "target '"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_configuration_recipe_and_task),
        cmocka_unit_test(a_target_that_names_nothing_is_wrong),
    };

    return cmocka_run_group_tests_name("graph/target", tests, NULL, NULL);
}
