#include "recipe/waymark.h"

#include <stdlib.h>

#include "os/proc_run.h"
#include "tests/unit/os/scratch.h"

static const struct bz_vars_at here = {.file = "/r/x.bb", .line = 12};

static void define(struct bz_vars *v, const char *name, const char *line,
                   const char *body)
{
    struct bz_str n = bz_str_from(name);
    struct bz_err err;

    assert_ok(bz_vars_set(v, n, bz_str_from(body), 0, &here, &err), &err);
    assert_ok(bz_vars_set_flag(v, n, BZ_STR("filename"), BZ_STR("/r/x.bb"), NULL, &err),
              &err);
    assert_ok(bz_vars_set_flag(v, n, BZ_STR("lineno"), bz_str_from(line), NULL, &err),
              &err);
}

/* Runs `f` of these functions; what the script says is in s->path/out. */
static int run(struct scratch *s, struct bz_vars *v, const char *functions)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_proc_result result;
    struct bz_err err;
    char path[300];
    const char *argv[] = {"/bin/sh", path, NULL};
    BZ_CLEANUP(bz_fs_closep)
    int out = openat(s->fd, "out", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    struct bz_proc_spec spec = {
        .argv = argv, .out = {BZ_PROC_FD, out},
             .err.kind = BZ_PROC_MERGE
    };
    int code;

    bz_buf_addf(&text, "%sset -e\n", BZ_WAYMARK_SHELL);
    assert_ok(bz_waymark_write(v, BZ_STR("f"), bz_str_from(functions), &text, &err),
              &err);
    bz_buf_addf(&text, "f\n");
    snprintf(path, sizeof(path), "%s/run", s->path);
    assert_ok(
        bz_fs_write(AT_FDCWD, path, text.data, text.len, 0755, BZ_FS_NOSYNC, &err),
        &err);
    assert_ok(bz_proc_run(&spec, &result, &err), &err);
    code = result.exit_code;
    bz_proc_pump_release_result(&result);
    return code;
}

static void assert_says(struct scratch *s, const char *want)
{
    struct bz_err err;
    char *text;
    size_t n;

    assert_ok(bz_fs_read(s->fd, "out", 10000, &text, &n, &err), &err);
    assert_string_equal(text, want);
    free(text);
}

static void the_command_that_failed_is_shown_with_its_place(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = bz_vars_new(NULL);

    define(v, "f", "12", "    true\n    g\n    true\n");
    define(v, "g", "20", "    true\n\n    sh -c 'exit 9' x\n");
    assert_int_equal(run(s, v,
                         "# line: 12, file: /r/x.bb\nf() {\n    true\n    g\n    true\n"
                         "}\n\n# line: 20, file: /r/x.bb\ng() {\n    true\n\n"
                         "    sh -c 'exit 9' x\n}\n"),
                     9);
    assert_says(s, "ERROR: exit code 9 in g, /r/x.bb:23: sh -c 'exit 9' x\n");
    bz_vars_free(v);
}

static void a_function_from_several_places_is_named_as_a_whole(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err;

    define(v, "f", "12", "    true\n");
    assert_ok(bz_vars_append(v, BZ_STR("f"), BZ_STR("    false\n"), &here, &err), &err);
    assert_int_equal(run(s, v, "f() {\n    true\n    false\n}\n"), 1);
    assert_says(s, "ERROR: exit code 1 in f, of /r/x.bb:12: false\n");
    bz_vars_free(v);
}

static void text_that_is_not_understood_runs_as_it_is(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = bz_vars_new(NULL);

    define(v, "f", "12", "");
    assert_int_equal(run(s, v, "f() {\n case x\n in x) exit 3;; esac\n}\n"), 3);
    assert_says(s, "ERROR: exit code 3 in f, of /r/x.bb:12\n");
    bz_vars_free(v);
}

static void a_good_end_is_silent_and_names_with_quotes_are_no_harm(void **state)
{
    struct scratch *s = *state;
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err;

    define(v, "f", "1", "    false || x=$?\n    [ $x = 1 ]\n");
    assert_ok(bz_vars_set_flag(v, BZ_STR("f"), BZ_STR("filename"),
                               BZ_STR("/it's/$(echo no)"), NULL, &err),
              &err);
    assert_int_equal(run(s, v, "f() {\n    false || x=$?\n    [ $x = 1 ]\n}\n"), 0);
    assert_says(s, "");
    assert_int_equal(run(s, v, "f() {\n    false || x=$?\n    [ $x = 2 ]\n}\n"), 1);
    assert_says(s, "ERROR: exit code 1 in f, /it's/$(echo no):3: [ $x = 2 ]\n");
    bz_vars_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(the_command_that_failed_is_shown_with_its_place),
        TEST(a_function_from_several_places_is_named_as_a_whole),
        TEST(text_that_is_not_understood_runs_as_it_is),
        TEST(a_good_end_is_silent_and_names_with_quotes_are_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
