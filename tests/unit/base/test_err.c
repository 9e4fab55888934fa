#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/base/dies.h"
#include "tests/unit/bz_test.h"

static void failing_fills_the_struct_and_evaluates_to_the_code(void **state)
{
    struct bz_err err = {.sys = 5};

    (void)state;
    assert_int_equal(bz_fail(&err, BZ_E_CORRUPT, "blob %d", 7), BZ_E_CORRUPT);
    assert_int_equal(err.code, BZ_E_CORRUPT);
    assert_int_equal(err.sys, 0);
    assert_string_equal(err.msg, "blob 7");
}

static void failure_says_where_it_happened(void **state)
{
    struct bz_err err;
    int line;

    (void)state;
    line = __LINE__ + 1;
    bz_fail(&err, BZ_E_INVAL, "x");
    assert_non_null(strstr(err.where, "tests/unit/base/test_err.c:"));
    assert_int_equal(atoi(strrchr(err.where, ':') + 1), line);
}

static void system_failure_takes_code_and_words_from_errno(void **state)
{
    static const struct {
        int sys, code;
        const char *msg;
    } cases[] = {
        {ENOENT,     BZ_E_NOENT,   "open x: No such file or directory"       },
        {EEXIST,     BZ_E_EXISTS,  "open x: File exists"                     },
        {EBUSY,      BZ_E_BUSY,    "open x: Device or resource busy"         },
        {EAGAIN,     BZ_E_BUSY,    "open x: Resource temporarily unavailable"},
        {ETIMEDOUT,  BZ_E_TIMEOUT, "open x: Connection timed out"            },
        {ENOSYS,     BZ_E_NOSUP,   "open x: Function not implemented"        },
        {EOPNOTSUPP, BZ_E_NOSUP,   "open x: Operation not supported"         },
        {EACCES,     BZ_E_IO,      "open x: Permission denied"               },
        {99999,      BZ_E_IO,      "open x: unknown errno"                   },
    };
    struct bz_err err;
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        errno = cases[i].sys;
        assert_int_equal(bz_fail_sys(&err, "open %s", "x"), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        assert_int_equal(err.sys, cases[i].sys);
        assert_string_equal(err.msg, cases[i].msg);
    }
}

static void wrapping_puts_context_first_and_keeps_the_cause(void **state)
{
    struct bz_err err;
    const char *where;

    (void)state;
    errno = ENOENT;
    bz_fail_sys(&err, "read y");
    where = err.where;
    assert_int_equal(bz_err_wrap(&err, "load %s", "x"), BZ_E_NOENT);
    assert_string_equal(err.msg, "load x: read y: No such file or directory");
    assert_int_equal(err.sys, ENOENT);
    assert_ptr_equal(err.where, where);
}

static void old_message_may_be_an_argument(void **state)
{
    struct bz_err err;

    (void)state;
    bz_fail(&err, BZ_E_INVAL, "inner");
    bz_fail(&err, BZ_E_CORRUPT, "<%s>", err.msg);
    assert_string_equal(err.msg, "<inner>");
    bz_err_wrap(&err, "(%s)", err.msg);
    assert_string_equal(err.msg, "(<inner>): <inner>");
}

/* Wraps a message of `inner` bytes in a context of `outer` bytes. */
static void wrap_lengths(struct bz_err *err, int inner, int outer)
{
    bz_fail(err, BZ_E_INVAL, "%0*d", inner, 1);
    bz_err_wrap(err, "%0*d", outer, 2);
}

static void text_that_does_not_fit_is_cut_at_the_end(void **state)
{
    const int room = sizeof(((struct bz_err *)0)->msg) - 1;
    static const struct {
        int inner, outer; /* the outer one relative to the room for text */
    } cases[] = {
        {500, -220},
        {500, -4  },
        {500, -3  },
        {500, -2  },
        {500, -1  },
        {500, 0   },
        {500, 500 },
        {1,   -3  },
        {1,   -2  },
    };
    struct bz_err err;
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        int outer = room + cases[i].outer;
        int kept = outer < room ? outer : room;

        wrap_lengths(&err, cases[i].inner, outer);
        assert_true(strlen(err.msg) <= (size_t)room);
        /* The context survives whole, and what follows begins with ": ". */
        assert_int_equal(strspn(err.msg, "02") >= (size_t)kept, 1);
        if (outer + 3 <= room)
            assert_memory_equal(err.msg + outer, cases[i].inner > 1 ? ": 0" : ": 1", 3);
        else
            assert_int_equal(strlen(err.msg), kept);
    }
}

static void every_code_has_a_name_of_its_own(void **state)
{
    int code, other;

    (void)state;
    assert_string_equal(bz_err_name(0), "ok");
    assert_string_equal(bz_err_name(BZ_E_NOENT), "not found");
    assert_string_equal(bz_err_name(BZ_E_NOSUP), "not supported");
    for (code = 0; code >= BZ_E_NOSUP; code--) {
        assert_string_not_equal(bz_err_name(code), "unknown error");
        for (other = 0; other > code; other--)
            assert_string_not_equal(bz_err_name(code), bz_err_name(other));
    }
    assert_string_equal(bz_err_name(1), "unknown error");
    assert_string_equal(bz_err_name(BZ_E_NOSUP - 1), "unknown error");
    assert_string_equal(bz_err_name(INT_MIN), "unknown error");
}

static void assert_what_is_false(void)
{
    int two = 2;

    BZ_ASSERT(two == 3);
}

static void false_assertion_stops_the_program_and_quotes_itself(void **state)
{
    (void)state;
    BZ_ASSERT(2 == 2);
    assert_true(dies(assert_what_is_false, "two == 3"));
    assert_true(dies(assert_what_is_false, "test_err.c:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_fills_the_struct_and_evaluates_to_the_code),
        cmocka_unit_test(failure_says_where_it_happened),
        cmocka_unit_test(system_failure_takes_code_and_words_from_errno),
        cmocka_unit_test(wrapping_puts_context_first_and_keeps_the_cause),
        cmocka_unit_test(old_message_may_be_an_argument),
        cmocka_unit_test(text_that_does_not_fit_is_cut_at_the_end),
        cmocka_unit_test(every_code_has_a_name_of_its_own),
        cmocka_unit_test(false_assertion_stops_the_program_and_quotes_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
