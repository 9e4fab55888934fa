/* example.h - the log of a small build, for the tests of what is made of it.
 *
 * lib was found in the store and made its do_fetch needless; app ran three tasks, the
 * last of which failed beside tool:do_x. */
#ifndef BZ_TESTS_UNIT_REPORT_EXAMPLE_H
#define BZ_TESTS_UNIT_REPORT_EXAMPLE_H

#include "report/shape.h"
#include "tests/unit/os/scratch.h"

#define EXAMPLE_BEGIN                                                                  \
    "{\"event\":\"begin\",\"version\":1,\"bitzel\":\"1.2\","                           \
    "\"time\":\"2026-01-02T03:04:05Z\",\"targets\":[\"app\"],\"jobs\":2}\n"
#define EXAMPLE_RAN(task, from, to, after, more)                                       \
    "{\"event\":\"started\",\"at\":" #from ",\"task\":\"" task                         \
    "\",\"key\":\"ab\",\"after\":[" after "]}\n"                                       \
    "{\"event\":" more ",\"at\":" #to ",\"task\":\"" task                              \
    "\",\"took\":1,\"cpu\":0.5,\"memory\":2048}\n"

#define EXAMPLE                                                                        \
    EXAMPLE_BEGIN                                                                      \
    "{\"event\":\"cached\",\"at\":0,\"task\":\"lib:do_x\",\"key\":\"cd\",\"after\":["  \
    "\"lib:do_fetch\"],\"same\":false,\"saved\":5}\n"                                  \
    "{\"event\":\"passed\",\"at\":0,\"task\":\"app:do_p\",\"after\":[]}"               \
    "\n" EXAMPLE_RAN("app:do_x", 1, 3, "\"lib:do_x\",\"app:do_p\"",                    \
                     "\"done\"") EXAMPLE_RAN("tool:do_x", 2, 6, "", "\"done\"")        \
        EXAMPLE_RAN("app:do_y", 3, 4, "\"app:do_x\"", "\"done\"") EXAMPLE_RAN(         \
            "app:do_z", 5, 7, "\"app:do_y\"",                                          \
            "\"failed\",\"exit_code\":1") "{\"event\":\"end\",\"at\":8,\"took\":8,"    \
                                          "\"executed\":3,\"cached\":1,\"failed\":1,"  \
                                          "\"not_needed\":1,\"noexec\":1,\"not_"       \
                                          "started\":0,\"tasks\":7}\n"

static inline void example_read(const char *text, struct bz_account *a,
                                struct bz_shape *s)
{
    struct bz_err err;

    assert_ok(bz_account_read(a, bz_str_from(text), "log", &err), &err);
    assert_ok(bz_shape_make(s, a, &err), &err);
}

static inline uint32_t example_id(const struct bz_account *a, const char *name)
{
    const struct bz_account_task *t = bz_account_find(a, bz_str_from(name));

    assert_non_null(t);
    return (uint32_t)(t - a->tasks.at);
}

#endif
