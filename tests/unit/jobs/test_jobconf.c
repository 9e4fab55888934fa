#include "jobs/jobconf.h"

#include <stdio.h>

#include "tests/unit/bz_test.h"

static void settings_and_handlers_are_read(void **state)
{
    struct bz_jobconf c = {0};
    struct bz_err err;

    (void)state;
    assert_ok(bz_jobconf_parse(&c,
                               BZ_STR("# threads\nthread_count=4\n\n"
                                      " initial_task_capacity = 256 \n"
                                      "result_queue_capacity=128\ntimeout_ms=500\n"
                                      "3=memory_write\n8=resize process\n"
                                      "root=/srv/a/\nroot=/\nload=/x.so\nwatch=/mail"),
                               "config", &err),
              &err);
    assert_int_equal(c.threads, 4);
    assert_int_equal(c.tasks, 256);
    assert_int_equal(c.results, 128);
    assert_int_equal(c.timeout, 500);
    assert_int_equal(c.bindings.len, 2);
    assert_int_equal(c.bindings.at[0].opcode, 3);
    assert_true(bz_str_eq(c.bindings.at[0].name, BZ_STR("memory_write")));
    assert_false(c.bindings.at[0].isolate);
    assert_true(c.bindings.at[1].isolate);
    assert_int_equal(c.roots.len, 2);
    assert_true(bz_str_eq(c.roots.at[0], BZ_STR("/srv/a")));
    assert_true(bz_str_eq(c.roots.at[1], BZ_STR("/")));
    assert_int_equal(c.load_lines.at[0], 11);
    assert_true(bz_str_eq(c.loads.at[0], BZ_STR("/x.so")));
    assert_true(bz_str_eq(c.watches.at[0], BZ_STR("/mail")));
    bz_jobconf_release(&c);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"\n\nnonsense",       "config:3: expected name=value"                  },
        {"thread_count=0",     "config:1: thread_count is a number from 1 to 10"},
        {"thread_count=x",     "config:1: thread_count is a number from 1 to 10"},
        {"colour=blue",        "config:1: there is no setting 'colour'"         },
        {"1=a\n1=b",           "config:2: opcode 1 has a handler in line 1"     },
        {"1=",                 "config:1: opcode 1 wants the name of a handler" },
        {"4096=a",             "config:1: an opcode is a number below 4096"     },
        {"1x=a",               "config:1: an opcode is a number below 4096"     },
        {"1=a quickly",        "config:1: 'quickly': a handler runs in"         },
        {"watch=/a\nwatch=/b", "config:2: one directory is watched already"     },
        {"root=relative",      "config:1: 'relative' is no absolute path"       },
    };
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_jobconf c = {0};

        assert_int_equal(
            bz_jobconf_parse(&c, bz_str_from(rows[i].text), "config", &err),
            BZ_E_INVAL);
        err.msg[strlen(rows[i].message)] = '\0';
        assert_string_equal(err.msg, rows[i].message);
        bz_jobconf_release(&c);
    }
}

static void every_number_has_its_bounds_and_its_line(void **state)
{
    static const struct {
        const char *name;
        size_t at;
        bool small;
    } rows[] = {
        {"thread_count",          offsetof(struct bz_jobconf, threads),    true },
        {"io_thread_count",       offsetof(struct bz_jobconf, io_threads), true },
        {"initial_task_capacity", offsetof(struct bz_jobconf, tasks),      false},
        {"task_capacity",         offsetof(struct bz_jobconf, tasks_max),  false},
        {"result_queue_capacity", offsetof(struct bz_jobconf, results),    false},
        {"mailbox_capacity",      offsetof(struct bz_jobconf, mail),       false},
        {"timeout_ms",            offsetof(struct bz_jobconf, timeout),    true },
    };
    static const char *const wrong[] = {"-1", "", "1x", "1.5", "99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_jobconf c = {0};
        struct bz_err err;
        char text[100];

        snprintf(text, sizeof(text), "# one\n%s=7\n", rows[i].name);
        assert_ok(bz_jobconf_parse(&c, bz_str_from(text), "config", &err), &err);
        assert_int_equal(rows[i].small ? *(uint32_t *)(void *)((char *)&c + rows[i].at)
                                       : *(size_t *)(void *)((char *)&c + rows[i].at),
                         7);
        for (size_t k = 0; k < BZ_COUNTOF(wrong); k++) {
            snprintf(text, sizeof(text), "# one\n%s=%s\n", rows[i].name, wrong[k]);
            assert_int_equal(bz_jobconf_parse(&c, bz_str_from(text), "config", &err),
                             BZ_E_INVAL);
            snprintf(text, sizeof(text), "config:2: %s is a number from ",
                     rows[i].name);
            err.msg[strlen(text)] = '\0';
            assert_string_equal(err.msg, text);
        }
        bz_jobconf_release(&c);
    }
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
    struct bz_jobconf c = {0};
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_jobconf_read(&c, "/nonexistent/config", &err), BZ_E_NOENT);
    bz_jobconf_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_and_handlers_are_read),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),
        cmocka_unit_test(every_number_has_its_bounds_and_its_line),
        cmocka_unit_test(a_file_that_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
