#include "os/proc_run.h"

#include <signal.h>

#include "tests/unit/os/scratch.h"

#define SH(script) ((const char *const[]){"/bin/sh", "-c", (script), NULL})

static void one_call_runs_a_child_to_its_end(void **state)
{
    struct bz_proc_spec spec = {
        .argv = SH("cat; echo oops >&2; exit 12"),
        .in = {.kind = BZ_PROC_IN_BYTES, .bytes = BZ_STR("through")},
    };
    struct bz_proc_result r;
    struct bz_err err;
    char *text;
    size_t n;

    (void)state;
    assert_ok(bz_proc_run(&spec, &r, &err), &err);
    assert_int_equal(r.exit_code, 12);
    text = bz_capture_text(&r.out, &n);
    assert_string_equal(text, "through");
    free(text);
    text = bz_capture_text(&r.err, &n);
    assert_string_equal(text, "oops\n");
    free(text);
    bz_proc_pump_release_result(&r);
}

static void a_deadline_in_the_past_stops_it_at_once(void **state)
{
    struct bz_proc_spec spec = {.argv = SH("sleep 1000"), .deadline = 1};
    struct bz_proc_result r;
    struct bz_err err;

    (void)state;
    assert_ok(bz_proc_run(&spec, &r, &err), &err);
    assert_int_equal(r.why, BZ_PROC_PUMP_TIMEOUT);
    assert_int_equal(r.signal, SIGTERM);
    bz_proc_pump_release_result(&r);
}

static void a_missing_program_is_an_error_and_leaks_nothing(void **state)
{
    struct bz_proc_spec spec = {
        .argv = (const char *const[]){"no-such-tool", NULL}
    };
    size_t before = count_fds();
    struct bz_proc_result r;
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_proc_run(&spec, &r, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "run 'no-such-tool': No such file or directory");
    assert_int_equal(count_fds(), before);
}

static void a_program_can_run_itself(void **state)
{
    struct bz_proc_spec spec = {
        .argv = (const char *const[]){"/proc/self/exe", "child", NULL}
    };
    struct bz_proc_result r;
    struct bz_err err;

    (void)state;
    assert_ok(bz_proc_run(&spec, &r, &err), &err);
    assert_int_equal(r.exit_code, 42);
    bz_proc_pump_release_result(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_call_runs_a_child_to_its_end),
        cmocka_unit_test(a_deadline_in_the_past_stops_it_at_once),
        cmocka_unit_test(a_missing_program_is_an_error_and_leaks_nothing),
        cmocka_unit_test(a_program_can_run_itself),
    };

    if (argc == 2 && strcmp(argv[1], "child") == 0)
        return 42;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
