#include "recipe/runscript.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fs.h"
#include "os/proc_run.h"
#include "tests/unit/os/scratch.h"

static void set(struct bz_vars *v, const char *key, const char *value)
{
    struct bz_str name, flag;
    struct bz_err err;

    if (bz_str_cut(bz_str_from(key), '[', &name, &flag)) {
        bz_str_cut_suffix(&flag, BZ_STR("]"));
        assert_ok(bz_vars_set_flag(v, name, flag, bz_str_from(value), NULL, &err),
                  &err);
    } else {
        assert_ok(bz_vars_set(v, name, bz_str_from(value), 0, NULL, &err), &err);
    }
}

static struct bz_vars *recipe(struct scratch *s)
{
    struct bz_vars *v = bz_vars_new(NULL);

    set(v, "W", s->path);
    set(v, "T", "${W}/temp");
    set(v, "OVERRIDES", "");
    set(v, "do_x[func]", "1");
    set(v, "do_x", "    echo in $PWD >>${W}/log\n");
    return v;
}

/* Runs the script of do_x; its exit status. */
static int run(struct scratch *s, struct bz_vars *v)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_proc_result result;
    struct bz_err err;
    char path[300];
    const char *argv[] = {"/bin/sh", path, NULL};
    struct bz_proc_spec spec = {.argv = argv};
    int code;

    assert_ok(bz_runscript_write(v, BZ_STR("do_x"), bz_str_of(NULL, 0), &text, &err),
              &err);
    snprintf(path, sizeof(path), "%s/run", s->path);
    assert_ok(
        bz_fs_write(AT_FDCWD, path, text.data, text.len, 0755, BZ_FS_NOSYNC, &err),
        &err);
    assert_ok(bz_proc_run(&spec, &result, &err), &err);
    code = result.exit_code;
    bz_proc_pump_release_result(&result);
    return code;
}

static void assert_log(struct scratch *s, const char *want)
{
    char *text;
    size_t n;
    struct bz_err err;

    assert_ok(bz_fs_read(s->fd, "log", 10000, &text, &n, &err), &err);
    assert_string_equal(text, want);
    free(text);
}

static void directories_are_made_and_the_last_is_where_it_runs(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);
    char want[600];

    set(v, "do_x[dirs]", "${W}/a ${W}/it's");
    set(v, "do_x[cleandirs]", "${W}/clean");
    assert_int_equal(mkdirat(s->fd, "clean", 0755), 0);
    assert_int_equal(mkdirat(s->fd, "clean/old", 0755), 0);
    assert_int_equal(run(s, v), 0);
    snprintf(want, sizeof(want), "in %s/it's\n", s->path);
    assert_log(s, want);
    assert_false(bz_fs_exists(s->fd, "clean/old"));
    assert_true(bz_fs_exists(s->fd, "clean"));
    assert_true(bz_fs_exists(s->fd, "a"));
    assert_true(bz_fs_exists(s->fd, "temp"));
    bz_vars_free(v);
}

static void the_build_directory_may_have_blanks(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);
    char want[600];

    set(v, "TOPDIR", "${W}/my own tree");
    set(v, "T", "${TOPDIR}/temp");
    set(v, "do_x[dirs]", " ${TOPDIR}/a ${W}/b\n${TOPDIR}/c ");
    set(v, "do_x[cleandirs]", "${TOPDIR}");
    assert_int_equal(run(s, v), 0);
    snprintf(want, sizeof(want), "in %s/my own tree/c\n", s->path);
    assert_log(s, want);
    assert_true(bz_fs_exists(s->fd, "my own tree/a"));
    assert_true(bz_fs_exists(s->fd, "b"));
    assert_false(bz_fs_exists(s->fd, "my"));
    bz_vars_free(v);
}

static void functions_run_around_it_each_on_its_own(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);

    set(v, "do_x[prefuncs]", "before");
    set(v, "do_x[postfuncs]", "after");
    set(v, "before[func]", "1");
    set(v, "before", "    echo before >>${W}/log; A=1\n");
    set(v, "do_x", "    echo x$A >>${W}/log\n");
    set(v, "after[func]", "1");
    set(v, "after", "    echo after >>${W}/log\n");
    assert_int_equal(run(s, v), 0);
    assert_log(s, "before\nx\nafter\n");
    bz_vars_free(v);
}

static void the_first_command_that_fails_ends_it(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);

    set(v, "do_x[postfuncs]", "after");
    set(v, "after[func]", "1");
    set(v, "after", "    echo after >>${W}/log\n");
    set(v, "do_x",
        "    echo one >>${W}/log\n    sh -c 'exit 9'\n    echo two >>${W}/log\n");
    assert_int_equal(run(s, v), 9);
    assert_log(s, "one\n");
    bz_vars_free(v);
}

static void bbfatal_ends_it_unless_metadata_has_its_own(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);

    set(v, "do_x", "    bbfatal no\n");
    assert_int_equal(run(s, v), 1);
    set(v, "bbfatal[func]", "1");
    set(v, "bbfatal", "    echo own $1 >>${W}/log\n");
    assert_int_equal(run(s, v), 0);
    assert_log(s, "own no\n");
    bz_vars_free(v);
}

static void python_is_not_run_as_shell(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_err err;

    set(v, "do_x[python]", "1");
    assert_int_equal(
        bz_runscript_write(v, BZ_STR("do_x"), bz_str_of(NULL, 0), &text, &err),
        BZ_E_NOSUP);
    assert_string_equal(err.msg, "do_x: Python functions are not supported yet");
    set(v, "do_x[python]", "");
    set(v, "do_x[postfuncs]", "snake");
    set(v, "snake[func]", "1");
    set(v, "snake[python]", "1");
    set(v, "snake[filename]", "/l/x.bb");
    set(v, "snake[lineno]", "7");
    assert_int_equal(
        bz_runscript_write(v, BZ_STR("do_x"), bz_str_of(NULL, 0), &text, &err),
        BZ_E_NOSUP);
    assert_string_equal(err.msg,
                        "do_x[postfuncs]: /l/x.bb:7: snake: Python functions are not "
                        "supported yet");
    bz_vars_free(v);
}

static void a_umask_holds_for_the_functions_around_it_too(void **state)
{
    static const struct {
        const char *usual, *own, *want;
    } rows[] = {
        {"",    "",    "0022\n0022\n0022\n"},
        {"002", "",    "0002\n0002\n0002\n"},
        {"002", "077", "0077\n0077\n0077\n"},
    };
    struct scratch *s = *state;
    struct bz_err err;
    unsigned mask;

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_vars *v = recipe(s);
        mode_t before = umask(022);

        set(v, "BB_DEFAULT_UMASK", rows[i].usual);
        set(v, "do_x[umask]", rows[i].own);
        set(v, "do_x[prefuncs]", "show");
        set(v, "do_x[postfuncs]", "show");
        set(v, "show[func]", "1");
        set(v, "show[umask]", "007"); /* of a task alone it counts */
        set(v, "show", "    umask >>${W}/log\n");
        set(v, "do_x", "    umask >>${W}/log\n");
        unlinkat(s->fd, "log", 0);
        assert_int_equal(run(s, v), 0);
        umask(before);
        assert_log(s, rows[i].want);
        set(v, "do_x[umask]", "rwx");
        assert_int_equal(bz_runscript_umask(v, BZ_STR("do_x"), &mask, &err),
                         BZ_E_INVAL);
        assert_string_equal(err.msg, "do_x[umask] is 'rwx': give it in octal");
        bz_vars_free(v);
    }
}

static void a_body_may_stand_for_the_task(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_err err;

    set(v, "do_x[python]", "1");
    assert_ok(bz_runscript_write(v, BZ_STR("do_x"), BZ_STR("bbnote here"), &text, &err),
              &err);
    assert_non_null(strstr(bz_buf_text(&text), "\nbbnote here\n"));
    bz_vars_free(v);
}

static void what_is_wrong_with_a_flag_is_told_with_its_place(void **state)
{
    static const struct {
        const char *flag, *value, *want;
    } rows[] = {
        {"umask",     "rwx",  "/l/x.bb:7: do_x[umask] is 'rwx': give it in octal"},
        {"prefuncs",  "none",
         "/l/x.bb:7: do_x[prefuncs] has 'none': there is no such function"       },
        {"postfuncs", "none",
         "/l/x.bb:7: do_x[postfuncs] has 'none': there is no such function"      },
    };
    const struct bz_vars_at first = {.file = "/l/x.inc", .line = 2};
    const struct bz_vars_at at = {.file = "/l/x.bb", .line = 7};
    struct scratch *s = *state;
    struct bz_err err;

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
        struct bz_vars *v = recipe(s);
        struct bz_str flag = bz_str_from(rows[i].flag);

        assert_ok(bz_vars_set_flag(v, BZ_STR("do_x"), flag, BZ_STR("0"), &first, &err),
                  &err);
        assert_ok(bz_vars_set_flag(v, BZ_STR("do_x"), flag, bz_str_from(rows[i].value),
                                   &at, &err),
                  &err);
        assert_true(
            bz_runscript_write(v, BZ_STR("do_x"), bz_str_of(NULL, 0), &text, &err) < 0);
        assert_string_equal(err.msg, rows[i].want);
        bz_vars_free(v);
    }
}

static void only_what_goes_around_a_task_is_written(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_err err;

    assert_ok(bz_runscript_after(v, BZ_STR("do_x"), &text, &err), &err);
    assert_int_equal(text.len, 0);
    set(v, "do_x[postfuncs]", "later");
    set(v, "later[func]", "1");
    set(v, "later", "    echo later\n");
    assert_ok(bz_runscript_after(v, BZ_STR("do_x"), &text, &err), &err);
    assert_non_null(strstr(bz_buf_text(&text), "echo later"));
    assert_null(strstr(bz_buf_text(&text), "echo in"));
    bz_buf_truncate(&text, 0);
    set(v, "do_x[dirs]", "${W}/a");
    assert_ok(bz_runscript_before(v, BZ_STR("do_x"), &text, &err), &err);
    assert_int_equal(text.len, 0);
    set(v, "do_x[cleandirs]", "${W}/clean");
    set(v, "do_x[prefuncs]", "first");
    set(v, "first[func]", "1");
    set(v, "first", "    echo first\n");
    assert_ok(bz_runscript_before(v, BZ_STR("do_x"), &text, &err), &err);
    assert_non_null(strstr(bz_buf_text(&text), "echo first"));
    assert_non_null(strstr(strstr(bz_buf_text(&text), "\nfirst\n"), "rm -rf -- "));
    assert_null(strstr(bz_buf_text(&text), "echo in"));
    assert_null(strstr(bz_buf_text(&text), "echo later"));
    bz_vars_free(v);
}

static void assert_value(struct bz_vars *v, const char *name, const char *want)
{
    struct bz_str value;
    struct bz_err err;

    assert_ok(bz_vars_get(v, bz_str_from(name), 0, &value, &err), &err);
    assert_true(bz_str_eq(value, bz_str_from(want)));
}

static void a_task_does_not_see_who_runs_it(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = recipe(s);
    struct bz_err err;

    set(v, "HOME", "/home/me");
    set(v, "USER", "me");
    set(v, "LC_ALL", "en_US.UTF-8");
    set(v, "PATH", "/sysroot/bin:/home/me/bin:/usr/bin");
    set(v, "A", "no");
    set(v, "A:task-some-thing", "yes");
    assert_ok(bz_runscript_enter(v, BZ_STR("do_some_thing"),
                                 BZ_STR("/home/me/bin:/usr/bin"), &err),
              &err);
    assert_value(v, "HOME", "/tmp");
    assert_value(v, "USER", "builder");
    assert_value(v, "LC_ALL", "C.UTF-8");
    assert_value(v, "PATH", "/sysroot/bin:" BZ_RUNSCRIPT_PATH);
    assert_value(v, "A", "yes");
    assert_value(v, "BB_CURRENTTASK", "some_thing");
    assert_value(v, "LOGNAME", "builder"); /* whether the caller has it or not */
    assert_value(v, "SHELL", "/bin/sh");
    assert_value(v, "TERM", "dumb");
    assert_false(bz_vars_exists(v, BZ_STR("PWD")));
    bz_vars_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(directories_are_made_and_the_last_is_where_it_runs),
        TEST(the_build_directory_may_have_blanks),
        TEST(functions_run_around_it_each_on_its_own),
        TEST(the_first_command_that_fails_ends_it),
        TEST(bbfatal_ends_it_unless_metadata_has_its_own),
        TEST(python_is_not_run_as_shell),
        TEST(a_body_may_stand_for_the_task),
        TEST(a_umask_holds_for_the_functions_around_it_too),
        TEST(what_is_wrong_with_a_flag_is_told_with_its_place),
        TEST(only_what_goes_around_a_task_is_written),
        TEST(a_task_does_not_see_who_runs_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
