/* bz_test.h - cmocka, and what every unit test needs on top of it. */
#ifndef BZ_TEST_H
#define BZ_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

/* On failure shows the error's own words instead of two numbers. */
#define assert_ok(rc, err)                                                             \
    do {                                                                               \
        if ((rc) < 0)                                                                  \
            fail_msg("unexpected failure: %s (at %s)", (err)->msg, (err)->where);      \
    } while (0)

#endif
