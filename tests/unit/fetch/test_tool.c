#include "fetch/tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

static struct bz_tool shell(const char *script)
{
    struct bz_tool t = {0};

    bz_tool_add(&t, "sh");
    bz_tool_add(&t, "-c");
    bz_tool_add(&t, script);
    return t;
}

static void output_and_status_come_back(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, said = {0};
    struct bz_tool t = shell("echo out; echo err >&2; exit 3");
    struct bz_err err;
    int status;

    (void)state;
    assert_ok(bz_tool_try(&t, &out, &status, &said, &err), &err);
    assert_int_equal(status, 3);
    assert_string_equal(bz_buf_text(&out), "out\n");
    assert_string_equal(bz_buf_text(&said), "err\n");
}

static void a_failure_shows_its_words_without_secrets(void **state)
{
    struct bz_tool t = shell("echo cannot read https://me:secret@h/x >&2; exit 1");
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_tool_run(&t, NULL, &err), BZ_E_IO);
    assert_string_equal(err.msg, "sh fails with status 1: cannot read https://***@h/x");
}

static void the_environment_is_small(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_tool t = shell("echo $BITZEL_TEST_LEAK-$LC_ALL-$MINE");
    struct bz_err err;

    (void)state;
    setenv("BITZEL_TEST_LEAK", "leak", 1);
    t.env[0] = "MINE=mine";
    assert_ok(bz_tool_run(&t, &out, &err), &err);
    assert_string_equal(bz_buf_text(&out), "-C-mine\n");
}

static void a_umask_is_its_own(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_tool t = shell("umask");
    mode_t before = umask(077);
    struct bz_err err;
    int rc;

    (void)state;
    t.umask = 01000; /* none at all */
    rc = bz_tool_run(&t, &out, &err);
    t.umask = 01022;
    if (rc == 0)
        rc = bz_tool_run(&t, &out, &err);
    t.umask = 0;
    if (rc == 0)
        rc = bz_tool_run(&t, &out, &err);
    umask(before);
    assert_ok(rc, &err);
    assert_string_equal(bz_buf_text(&out), "0000\n0022\n0077\n");
}

static void it_is_stopped_by_its_token_or_its_time(void **state)
{
    struct bz_tool t = shell("sleep 60");
    struct bz_cancel cancel;
    struct bz_err err;

    (void)state;
    bz_cancel_init(&cancel, NULL, BZ_CLOCK_NEVER);
    bz_cancel_now(&cancel);
    t.cancel = &cancel;
    assert_int_equal(bz_tool_run(&t, NULL, &err), BZ_E_CANCELED);
    t = shell("sleep 60");
    t.patience = 50 * BZ_CLOCK_MS;
    assert_int_equal(bz_tool_run(&t, NULL, &err), BZ_E_TIMEOUT);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    struct bz_tool t = {0};
    struct bz_err err;

    (void)state;
    bz_tool_add(&t, "bitzel-no-such-program");
    assert_int_equal(bz_tool_run(&t, NULL, &err), BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "bitzel-no-such-program"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_come_back),
        cmocka_unit_test(a_failure_shows_its_words_without_secrets),
        cmocka_unit_test(the_environment_is_small),
        cmocka_unit_test(a_umask_is_its_own),
        cmocka_unit_test(it_is_stopped_by_its_token_or_its_time),
        cmocka_unit_test(a_program_that_is_not_there_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
