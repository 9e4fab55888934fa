#include "report/account.h"

#include "os/clock.h"
#include "tests/unit/os/scratch.h"

#define BEGIN                                                                          \
    "{\"event\":\"begin\",\"version\":1,\"bitzel\":\"1.2\","                           \
    "\"time\":\"2026-01-02T03:04:05Z\",\"targets\":[\"x\",\"y\"],\"jobs\":4}\n"
#define STARTED(task, at, after)                                                       \
    "{\"event\":\"started\",\"at\":" #at ",\"task\":\"" task                           \
    "\",\"key\":\"ab\",\"after\":[" after "]}\n"

static int read_text(struct bz_account *a, const char *text, struct bz_err *err)
{
    return bz_account_read(a, bz_str_from(text), "log", err);
}

static const struct bz_account_task *task(const struct bz_account *a, const char *name)
{
    const struct bz_account_task *t = bz_account_find(a, bz_str_from(name));

    assert_non_null(t);
    return t;
}

static void assert_str(struct bz_str s, const char *want)
{
    assert_int_equal(s.n, strlen(want));
    assert_memory_equal(s.p, want, s.n);
}

static void a_whole_build_is_read(void **state)
{
    struct bz_account a = {0};
    struct bz_err err;

    (void)state;
    assert_ok(
        read_text(
            &a,
            BEGIN
            "{\"event\":\"cached\",\"at\":0.1,\"task\":\"mc:m:lib:do_x\",\"key\":"
            "\"cd\","
            "\"after\":[\"lib:do_w\"],\"same\":true,\"saved\":2.5}\n"
            "{\"event\":\"planned\",\"at\":0.2,\"tasks\":9,\"cached\":1,\"not_needed\":"
            "3}"
            "\n"
            "{\"event\":\"passed\",\"at\":0.3,\"task\":\"app:do_p\",\"after\":[]}"
            "\n" STARTED(
                "app:do_x", 0.5,
                "\"mc:m:lib:do_x\",\"app:do_p\"") "{\"event\":\"done\",\"at\":1.5,"
                                                  "\"task\":\"app:do_x\",\"took\":0.75,"
                                                  "\"cpu\":"
                                                  "0.5,\"memory\":4096,\"log\":\"/"
                                                  "l\"}\n" STARTED(
                                                      "app:do_y", 2,
                                                      "") "{\"event\":\"failed\","
                                                          "\"at\":3,\"task\":\"app:do_"
                                                          "y\",\"took\":1,\"exit_"
                                                          "code\":"
                                                          "7,\"signal\":9,\"oom_"
                                                          "kills\":5,\"error\":"
                                                          "\"e\",\"network\":\"n\"}\n"
                                                          "{\"event\":\"end\",\"at\":4,"
                                                          "\"took\":4,\"executed\":1,"
                                                          "\"cached\":1,\"failed\":"
                                                          "1,\"not_needed\":3,"
                                                          "\"noexec\":2,\"not_"
                                                          "started\":5,\"tasks\":9}\n",
            &err),
        &err);
    assert_str(a.version, "1.2");
    assert_int_equal(a.wall, 1767323045);
    assert_int_equal(a.targets.len, 2);
    assert_int_equal(a.jobs, 4);
    assert_true(a.ended);
    assert_int_equal(a.took, 4 * BZ_CLOCK_S);
    assert_int_equal(a.counts.unneeded, 3);
    assert_int_equal(a.counts.blocked, 5);
    assert_int_equal(bz_account_result(&a), BZ_ACCOUNT_FAILURE);
    assert_int_equal(a.tasks.len, 5);
    assert_int_equal(a.edges.len, 3);
    assert_str(task(&a, "mc:m:lib:do_x")->recipe, "mc:m:lib");
    assert_str(task(&a, "mc:m:lib:do_x")->task, "do_x");
    assert_int_equal(task(&a, "mc:m:lib:do_x")->saved, 2500 * BZ_CLOCK_MS);
    assert_true(task(&a, "mc:m:lib:do_x")->same);
    assert_int_equal(task(&a, "lib:do_w")->state, BZ_ACCOUNT_UNNEEDED);
    assert_int_equal(task(&a, "app:do_p")->state, BZ_ACCOUNT_PASSED);
    assert_int_equal(task(&a, "app:do_x")->state, BZ_ACCOUNT_EXECUTED);
    assert_int_equal(task(&a, "app:do_x")->start, 500 * BZ_CLOCK_MS);
    assert_int_equal(task(&a, "app:do_x")->end, 1500 * BZ_CLOCK_MS);
    assert_int_equal(task(&a, "app:do_x")->took, 750 * BZ_CLOCK_MS);
    assert_int_equal(task(&a, "app:do_x")->cpu, 500 * BZ_CLOCK_MS);
    assert_int_equal(task(&a, "app:do_x")->memory, 4096);
    assert_int_equal(task(&a, "app:do_x")->exit_code, -1);
    assert_str(task(&a, "app:do_x")->log, "/l");
    assert_int_equal(task(&a, "app:do_y")->exit_code, 7);
    assert_int_equal(task(&a, "app:do_y")->signal, 9);
    assert_int_equal(task(&a, "app:do_y")->oom_kills, 5);
    assert_str(task(&a, "app:do_y")->error, "e");
    assert_str(task(&a, "app:do_y")->network, "n");
    assert_null(bz_account_find(&a, BZ_STR("nobody")));
    bz_account_release(&a);
}

static void a_build_that_was_killed_is_read_up_to_there(void **state)
{
    struct bz_account a = {0};
    struct bz_err err;

    (void)state;
    assert_ok(read_text(&a,
                        BEGIN STARTED("a:do_x", 1, "") STARTED(
                            "b:do_x", 3, "") "{\"event\":\"done\",\"at\":9,\"ta",
                        &err),
              &err);
    assert_false(a.ended);
    assert_int_equal(bz_account_result(&a), BZ_ACCOUNT_OPEN);
    assert_int_equal(task(&a, "a:do_x")->state, BZ_ACCOUNT_UNFINISHED);
    assert_int_equal(task(&a, "a:do_x")->end, 3 * BZ_CLOCK_S);
    assert_int_equal(task(&a, "a:do_x")->took, 2 * BZ_CLOCK_S);
    bz_account_release(&a);
}

static void overlaps_are_read(void **state)
{
    struct bz_account a = {0};
    struct bz_err err;

    (void)state;
    assert_ok(read_text(&a,
                        BEGIN "{\"event\":\"overlap\",\"at\":1,\"task\":\"a:do_x\","
                              "\"other\":\"b:do_x\",\"path\":\"f\",\"more\":3}\n",
                        &err),
              &err);
    assert_int_equal(a.overlaps.len, 1);
    assert_str(a.tasks.at[a.overlaps.at[0].task].name, "a:do_x");
    assert_str(a.tasks.at[a.overlaps.at[0].other].name, "b:do_x");
    assert_str(a.overlaps.at[0].path, "f");
    assert_int_equal(a.overlaps.at[0].more, 3);
    bz_account_release(&a);
    assert_int_equal(
        read_text(&a, BEGIN "{\"event\":\"overlap\",\"task\":\"a:do_x\"}\n", &err),
        BZ_E_INVAL);
    bz_account_release(&a);
}

static void what_is_not_reproducible_is_read(void **state)
{
    struct bz_account a = {0};
    struct bz_err err;

    (void)state;
    assert_ok(read_text(&a,
                        BEGIN "{\"event\":\"differs\",\"at\":1,\"task\":\"a:do_x\"}\n"
                              "{\"event\":\"done\",\"at\":1,\"task\":\"b:do_x\"}\n",
                        &err),
              &err);
    assert_true(task(&a, "a:do_x")->differs);
    assert_false(task(&a, "b:do_x")->differs);
    assert_int_equal(a.skipped, 0);
    bz_account_release(&a);
}

static void what_is_not_known_is_skipped(void **state)
{
    struct bz_account a = {0};
    struct bz_err err;

    (void)state;
    assert_ok(read_text(&a,
                        BEGIN "{\"event\":\"sang\",\"at\":1,\"task\":7}\n"
                              "{\"event\":\"progress\",\"at\":2,\"task\":\"a\"}\n",
                        &err),
              &err);
    assert_int_equal(a.skipped, 2);
    assert_int_equal(a.tasks.len, 0);
    bz_account_release(&a);
}

static void fields_of_a_wrong_kind_are_as_if_not_told(void **state)
{
    struct bz_account a = {0};
    struct bz_err err;

    (void)state;
    assert_ok(
        read_text(
            &a,
            "{\"event\":\"begin\",\"version\":1,\"time\":\"never\",\"targets\":7,"
            "\"jobs\":-1}\n"
            "{\"event\":\"started\",\"at\":-5,\"task\":\"a\",\"after\":[1,\"\"]}\n"
            "{\"event\":\"done\",\"at\":1e300,\"task\":\"a\",\"took\":\"x\","
            "\"memory\":-1,\"log\":{}}\n"
            "{\"event\":\"done\",\"at\":2,\"task\":\"b\",\"took\":0.5}\n",
            &err),
        &err);
    assert_int_equal(a.wall, 0);
    assert_int_equal(a.jobs, 0);
    assert_int_equal(task(&a, "a")->start, 0);
    assert_int_equal(task(&a, "a")->end, BZ_ACCOUNT_TIME_MAX * BZ_CLOCK_S);
    assert_int_equal(task(&a, "a")->took, 0);
    assert_int_equal(task(&a, "a")->memory, 0);
    assert_int_equal(a.edges.len, 0);
    assert_str(task(&a, "a")->recipe, "a");
    assert_str(task(&a, "a")->task, "");
    assert_int_equal(task(&a, "b")->start, 1500 * BZ_CLOCK_MS);
    bz_account_release(&a);
}

static void what_is_no_log_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"",                                             "log: nothing"           },
        {"{\"event\":\"begin\"",                         "log: nothing"           },
        {"{}\n",                                         "log:1: this is no event"},
        {"{\"event\":\"end\"}\n",                        "log:1: this is no log"  },
        {"{\"event\":\"begin\",\"version\":2}\n",        "log:1: this version"    },
        {BEGIN BEGIN,                                    "log:2: this is no log"  },
        {BEGIN "what\n",                                 "log:2: line 1, column"  },
        {BEGIN "\n",                                     "log:2: line 1, column"  },
        {BEGIN "{\"event\":\"done\",\"at\":1}\n",        "log:2: the event has"   },
        {BEGIN "{\"event\":\"cached\",\"task\":\"\"}\n", "log:2: the event has"   },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_account a = {0};
        struct bz_err err;

        assert_int_equal(read_text(&a, cases[i].text, &err), BZ_E_INVAL);
        assert_memory_equal(err.msg, cases[i].want, strlen(cases[i].want));
        bz_account_release(&a);
    }
}

static void the_end_decides_about_the_result(void **state)
{
    static const struct {
        const char *text;
        enum bz_account_result want;
    } cases[] = {
        {BEGIN "{\"event\":\"end\",\"at\":1}\n",                   BZ_ACCOUNT_COMPLETED},
        {BEGIN "{\"event\":\"end\",\"at\":1,\"not_started\":1}\n",
         BZ_ACCOUNT_INTERRUPTED                                                        },
        {BEGIN STARTED("a:do_x",                                   1,                    "") "{\"event\":\"end\",\"at\":1}\n",
         BZ_ACCOUNT_INTERRUPTED},
        {BEGIN "{\"event\":\"failed\",\"at\":1,\"task\":\"a\"}\n",                                   BZ_ACCOUNT_FAILURE                                                      },
        {BEGIN,    BZ_ACCOUNT_OPEN},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_account a = {0};
        struct bz_err err;

        assert_ok(read_text(&a, cases[i].text, &err), &err);
        assert_int_equal(bz_account_result(&a), cases[i].want);
        assert_true(bz_account_result_name(cases[i].want)[0]);
        bz_account_release(&a);
    }
    for (unsigned s = 0; s < BZ_ACCOUNT_STATES; s++)
        assert_true(bz_account_state_name(s)[0]);
}

/* A task of the record that waits for up to two others. */
static void add(struct bz_record *r, const char *name, const char *one, const char *two)
{
    struct bz_record_dep deps[2] = {0};
    struct bz_record_task t = {.name = bz_str_from(name), .deps = deps};

    if (one)
        deps[t.ndeps++].task = bz_str_from(one);
    if (two)
        deps[t.ndeps++].task = bz_str_from(two);
    bz_record_add(r, &t);
}

static void a_record_adds_what_was_not_told(void **state)
{
    struct bz_account a = {0};
    struct bz_record r = {0};
    struct bz_err err;

    (void)state;
    add(&r, "a:do_x", NULL, NULL);
    add(&r, "b:do_fetch", NULL, NULL);
    add(&r, "b:do_unpack", "b:do_fetch", NULL);
    add(&r, "c:do_build", "a:do_x", "c:do_pass");
    add(&r, "c:do_pass", "a:do_x", NULL);
    bz_record_sort(&r);
    assert_ok(
        read_text(
            &a,
            BEGIN STARTED(
                "a:do_x", 1,
                "\"b:do_c\"") "{\"event\":\"cached\",\"at\":0,\"task\":\"b:do_c\","
                              "\"after\":[\"b:do_unpack\"]}\n",
            &err),
        &err);
    bz_account_add(&a, &r);
    assert_int_equal(a.tasks.len, 6);
    assert_int_equal(a.edges.len, 6);
    assert_int_equal(task(&a, "a:do_x")->state, BZ_ACCOUNT_UNFINISHED);
    assert_int_equal(task(&a, "b:do_fetch")->state, BZ_ACCOUNT_UNNEEDED);
    assert_int_equal(task(&a, "b:do_unpack")->state, BZ_ACCOUNT_UNNEEDED);
    assert_int_equal(task(&a, "c:do_build")->state, BZ_ACCOUNT_PASSED);
    assert_int_equal(task(&a, "c:do_pass")->state, BZ_ACCOUNT_PASSED);
    bz_account_release(&a);
    bz_record_release(&r);
}

static void a_file_that_is_not_there_is_told(void **state)
{
    struct bz_account a = {0};
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_account_read_file(&a, "/nowhere/events", &err), BZ_E_NOENT);
    bz_account_release(&a);
}

static void assert_failure(struct bz_account_task t, const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    bz_account_failure(&t, &out);
    assert_string_equal(bz_buf_text(&out), text);
}

static void why_a_task_failed_is_told_in_words(void **state)
{
    (void)state;
    assert_failure((struct bz_account_task){.exit_code = 7}, "exit status 7");
    assert_failure((struct bz_account_task){.exit_code = -1, .signal = 9},
                   "killed by signal 9");
    assert_failure((struct bz_account_task){.exit_code = 137}, "exit status 137");
    assert_failure(
        (struct bz_account_task){.exit_code = -1, .signal = 9, .oom_kills = 1},
        "killed, out of memory");
    assert_failure((struct bz_account_task){.exit_code = 137, .oom_kills = 3},
                   "killed, out of memory");
    assert_failure((struct bz_account_task){.exit_code = 2, .oom_kills = 1},
                   "exit status 2; meanwhile the kernel killed 1 process for lack of "
                   "memory");
    assert_failure((struct bz_account_task){.exit_code = -1,
                                            .signal = 9,
                                            .timeout = 4 * BZ_CLOCK_S},
                   "not done after 4s, its timeout");
    assert_failure(
        (struct bz_account_task){.error = BZ_STR("e"), .network = BZ_STR("n")},
        "e; it tried to reach n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_a_task_failed_is_told_in_words),
        cmocka_unit_test(a_whole_build_is_read),
        cmocka_unit_test(a_build_that_was_killed_is_read_up_to_there),
        cmocka_unit_test(overlaps_are_read),
        cmocka_unit_test(what_is_not_reproducible_is_read),
        cmocka_unit_test(what_is_not_known_is_skipped),
        cmocka_unit_test(fields_of_a_wrong_kind_are_as_if_not_told),
        cmocka_unit_test(what_is_no_log_is_refused_with_its_line),
        cmocka_unit_test(the_end_decides_about_the_result),
        cmocka_unit_test(a_record_adds_what_was_not_told),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
