#include "task/timelimit.h"

#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

static void the_task_goes_before_the_line_and_that_before_the_variable(void **state)
{
    static const struct {
        const char *flag, *variable; /* NULL: not set */
        int64_t asked, seconds;      /* -1: it is wrong */
    } rows[] = {
        {NULL,  NULL, -1, 0 },
        {NULL,  "7",  -1, 7 },
        {NULL,  "7",  5,  5 },
        {NULL,  "7",  0,  0 },
        {" 3 ", "7",  5,  3 },
        {"0",   "7",  5,  0 },
        {"",    "7",  -1, 7 },
        {"3s",  NULL, -1, -1},
        {NULL,  "-1", -1, -1},
    };
    static const struct bz_vars_at nowhere = {0};
    const struct bz_str task = BZ_STR("do_x");

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_vars *v = bz_vars_new(NULL);
        struct bz_err err = {0};
        int64_t ns = -1;
        int rc;

        if (rows[i].flag)
            assert_ok(bz_vars_set_flag(v, task, BZ_STR("timeout"),
                                       bz_str_from(rows[i].flag), &nowhere, &err),
                      &err);
        if (rows[i].variable)
            assert_ok(bz_vars_set(v, BZ_STR("BITZEL_TASK_TIMEOUT"),
                                  bz_str_from(rows[i].variable), 0, &nowhere, &err),
                      &err);
        rc = bz_timelimit_get(v, task, rows[i].asked, &ns, &err);
        assert_int_equal(rc, rows[i].seconds < 0 ? BZ_E_INVAL : 0);
        if (rc == 0)
            assert_int_equal(ns, rows[i].seconds * BZ_CLOCK_S);
        else
            assert_non_null(strstr(err.msg, "number of seconds"));
        bz_vars_free(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_task_goes_before_the_line_and_that_before_the_variable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
