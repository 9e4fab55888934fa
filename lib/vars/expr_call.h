/* expr_call.h - the functions that expressions may call: rows of tables.
 *
 * Each file of functions has a table sorted by name, and a function that finds a row in
 * it. A row says how many arguments there are and what they are called, so that a call
 * is brought into order here, once, and a function only sees its arguments by position.
 */
#ifndef BZ_VARS_EXPR_CALL_H
#define BZ_VARS_EXPR_CALL_H

#include "vars/expr_value.h"

/* What a function is called with. Arguments left out before the last that was given are
 * BZ_EXPR_ABSENT. */
struct bz_expr_args {
    const struct bz_expr_value *self; /* whose method it is; else NULL */
    const struct bz_expr_value *at;
    size_t n;
    int how; /* from the row */
};

typedef int (*bz_expr_call_fn)(struct bz_expr_run *r, const struct bz_expr_args *a,
                               struct bz_expr_value *out);

#define BZ_EXPR_CALL_ANY 255 /* in `max`: any number of arguments */

struct bz_expr_fn {
    struct bz_str name;
    uint8_t min, max;   /* arguments; `max` counts those given by position */
    const char *params; /* their names, if they may be given by name; else NULL */
    bz_expr_call_fn call;
    int how; /* which of several that share `call` */
};

/* The row of that name, or NULL. */
const struct bz_expr_fn *bz_expr_call_search(const struct bz_expr_fn *rows, size_t n,
                                             struct bz_str name);

/* Arguments that were given by name. */
struct bz_expr_named {
    struct bz_str *names;
    struct bz_expr_value *values;
    size_t n;
};

/* Calls. `a` has room for BZ_EXPR_CALL_ARGS more values than n. */
#define BZ_EXPR_CALL_ARGS 8
int bz_expr_call(struct bz_expr_run *r, const struct bz_expr_fn *fn,
                 const struct bz_expr_value *self, struct bz_expr_value *a, size_t n,
                 const struct bz_expr_named *named, struct bz_expr_value *out);

static inline bool bz_expr_call_has(const struct bz_expr_args *a, size_t i)
{
    return i < a->n && a->at[i].kind != BZ_EXPR_ABSENT;
}

/* The truth of argument i, or what it is if left out. */
static inline bool bz_expr_call_flag(const struct bz_expr_args *a, size_t i,
                                     bool otherwise)
{
    return bz_expr_call_has(a, i) ? bz_expr_value_true(&a->at[i]) : otherwise;
}

#endif
