/* expr_rows.h - tables of expressions and of what Python makes of them.
 *
 * The answers and messages are those of BitBake 2.18 on Python 3.11, which was asked
 * with the variables below.
 */
#ifndef BZ_TESTS_EXPR_ROWS_H
#define BZ_TESTS_EXPR_ROWS_H

#include "vars/expr.h"
#include "vars/refs.h"

#include "tests/unit/bz_test.h"

struct expr_row {
    const char *code;
    const char *text; /* the answer, or the message */
};

/* A row: one that is too long for a line is broken sensibly only if it looks like a
 * call. */
#define ROW(code, text)                                                                \
    {                                                                                  \
        code, text                                                                     \
    }

static const struct expr_row expr_variables[] = {
    {"A",                 "a b c"                                            },
    {"B",                 "b"                                                },
    {"BAD",               "maybe"                                            },
    {"DF",                "x11 wayland pam"                                  },
    {"DISTRO_FEATURES",   "x11 pam"                                          },
    {"E",                 ""                                                 },
    {"FILE",              "/l/r/foo_1.2.bb"                                  },
    {"FILESEXTRAPATHS",   "__default:/x:"                                    },
    {"FILESOVERRIDES",    "o1:o2"                                            },
    {"F_DEFAULTS",        "one two three"                                    },
    {"F_OPTED_OUT",       "two"                                              },
    {"INNER",             "<${B}>"                                           },
    {"L",                 "c a b a"                                          },
    {"MF",                "x11 bt pam"                                       },
    {"MLPREFIX",          "lib32-"                                           },
    {"MULTILIBS",         "multilib:lib32 other:q multilib:lib64:z"          },
    {"MULTILIB_VARIANTS", "lib32 lib64"                                      },
    {"N",                 "5"                                                },
    {"P",                 "/usr/lib"                                         },
    {"PARALLEL_MAKE",     "-j 8 -l 3"                                        },
    {"PN",                "foo-native"                                       },
    {"PV",                "1.2.3"                                            },
    {"T",                 "yes"                                              },
    {"U",                 "h\xc3\xa9\xc3\xa9"                                },
    {"V",                 "2.10"                                             },
    {"Z",                 "0"                                                },
    {"__inherit_cache",   "/l/classes/base.bbclass /l/classes/native.bbclass"},
    {"open",              "shadow"                                           },
};

/* A store with these variables, and the flag A[doc]. */
static inline struct bz_vars *expr_store(void)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    size_t i;

    for (i = 0; i < BZ_COUNTOF(expr_variables); i++)
        assert_ok(bz_vars_set(v, bz_str_from(expr_variables[i].code),
                              bz_str_from(expr_variables[i].text), 0, NULL, &err),
                  &err);
    assert_ok(bz_vars_set_flag(v, BZ_STR("A"), BZ_STR("doc"), BZ_STR("text ${B}"), NULL,
                               &err),
              &err);
    return v;
}

static inline void expr_check(struct bz_vars *v, const char *code, int want_rc,
                              const char *want)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
    struct bz_str out = {0}, text;
    struct bz_err err = {0};
    int rc;

    bz_refs_init(&refs, &arena);
    rc = bz_expr_eval(v, bz_str_from(code), &refs, &out, &err);
    text = rc < 0 ? bz_str_from(err.msg) : out;
    if (rc != want_rc || (want && !bz_str_eq(text, bz_str_from(want))))
        fail_msg("%s: expected %d '%s', got %d '%.*s'", code, want_rc, want ? want : "",
                 rc, BZ_STR_ARG(text));
}

/* Each row has the answer. */
static inline void expr_rows_give(const struct expr_row *rows, size_t n)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    size_t i;

    for (i = 0; i < n; i++)
        expr_check(v, rows[i].code, 0, rows[i].text);
}

/* Each row fails as Python does. */
static inline void expr_rows_raise(const struct expr_row *rows, size_t n)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    size_t i;

    for (i = 0; i < n; i++)
        expr_check(v, rows[i].code, BZ_E_INVAL, rows[i].text);
}

/* None of them is answered: BZ_E_NOSUP or BZ_E_LIMIT. */
static inline void expr_rows_leave(const char *const *codes, size_t n, int rc)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    size_t i;

    for (i = 0; i < n; i++)
        expr_check(v, codes[i], rc, NULL);
}

#endif
