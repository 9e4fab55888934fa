/* expr_value.h - what expressions compute with, and the run that computes.
 *
 * A value is one of Python's types as far as they are needed here, passed by value;
 * what it points to lies in the scratch memory of the run, in the text or in the store,
 * and is never changed once it is shared. Strings are UTF-8, integers have 64 bits:
 * what does not fit is BZ_E_NOSUP.
 *
 * A run has a budget of steps. Whoever does work that input decides (copies bytes,
 * walks a list) takes it from there first, so that no expression runs for long or takes
 * much memory.
 */
#ifndef BZ_VARS_EXPR_VALUE_H
#define BZ_VARS_EXPR_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "vars/expr_lex.h"
#include "vars/expr_scratch.h"

struct bz_vars;
struct bz_expr_node;
struct bz_expr_fn;

enum bz_expr_kind {
    BZ_EXPR_ABSENT, /* an argument that was left out */
    BZ_EXPR_NONE,
    BZ_EXPR_BOOL,
    BZ_EXPR_INT,
    BZ_EXPR_FLOAT,
    BZ_EXPR_STR,
    BZ_EXPR_LIST,
    BZ_EXPR_TUPLE,
    BZ_EXPR_SET,  /* expr_table.h */
    BZ_EXPR_DICT, /* expr_table.h */
    BZ_EXPR_ITER, /* what can only be walked: generators, map(), range(), keys() ... */
    BZ_EXPR_DATA, /* `d` */
    BZ_EXPR_FN,   /* a function of ours */
    BZ_EXPR_LAMBDA, /* one that the expression made */
};

struct bz_expr_seq;
struct bz_expr_lambda;

struct bz_expr_value {
    enum bz_expr_kind kind;
    bool kept; /* of a string: it lives as long as the store */
    union {
        int64_t i; /* BOOL, INT */
        double f;
        struct bz_str s;
        struct bz_expr_seq *seq; /* LIST to ITER */
        const struct bz_expr_fn *fn;
        const struct bz_expr_lambda *lambda;
    };
};

struct bz_expr_seq {
    struct bz_expr_value *at; /* of a dictionary the keys */
    size_t len, cap;
    struct bz_expr_value *values; /* of a dictionary, one for each key */
    uint32_t *slots;              /* of a set or dictionary: expr_table.c */
    size_t nslots;
    const char *type; /* of an ITER, or of a tuple of a special type; else NULL */
    bool once;        /* an ITER that is empty after it was walked, */
    bool walked;      /* and has been */
};

/* A variable of a comprehension or a lambda. Closures share them, as in Python. */
struct bz_expr_bind {
    struct bz_str name;
    struct bz_expr_value value;
    struct bz_expr_bind *outer;
};

struct bz_expr_lambda {
    const struct bz_expr_node *node;
    struct bz_expr_bind *env;
};

#define BZ_EXPR_VALUE_BUDGET ((size_t)1 << 20) /* of a run, in steps */

struct bz_expr_run {
    struct bz_vars *vars;     /* NULL in a filter */
    const struct bz_str *val; /* the value to filter, or NULL */
    struct bz_expr_scratch *mem;
    struct bz_expr_bind *env; /* what names are bound to, innermost first */
    size_t budget;
    unsigned depth; /* of the evaluation */
    struct bz_err *err;
};

static inline struct bz_expr_value bz_expr_value_none(void)
{
    return (struct bz_expr_value){.kind = BZ_EXPR_NONE};
}

static inline struct bz_expr_value bz_expr_value_bool(bool b)
{
    return (struct bz_expr_value){.kind = BZ_EXPR_BOOL, .i = b};
}

static inline struct bz_expr_value bz_expr_value_int(int64_t i)
{
    return (struct bz_expr_value){.kind = BZ_EXPR_INT, .i = i};
}

static inline struct bz_expr_value bz_expr_value_str(struct bz_str s)
{
    return (struct bz_expr_value){.kind = BZ_EXPR_STR, .s = s};
}

/* A slice of another string. */
static inline struct bz_expr_value bz_expr_value_part(const struct bz_expr_value *of,
                                                      struct bz_str s)
{
    return (struct bz_expr_value){.kind = BZ_EXPR_STR, .kept = of->kept, .s = s};
}

static inline struct bz_expr_value bz_expr_value_seq(enum bz_expr_kind kind,
                                                     struct bz_expr_seq *seq)
{
    return (struct bz_expr_value){.kind = kind, .seq = seq};
}

/* BOOL is an INT in nearly every respect. */
static inline bool bz_expr_value_is_int(const struct bz_expr_value *v)
{
    return v->kind == BZ_EXPR_INT || v->kind == BZ_EXPR_BOOL;
}

int bz_expr_value_spent(struct bz_expr_run *r);

/* Takes steps from the budget; BZ_E_LIMIT when it is used up. */
static inline int bz_expr_value_charge(struct bz_expr_run *r, size_t steps)
{
    if (BZ_UNLIKELY(steps > r->budget))
        return bz_expr_value_spent(r);
    r->budget -= steps;
    return 0;
}

/* Room for a string of n bytes, paid for. */
int bz_expr_value_room(struct bz_expr_run *r, size_t n, char **out);
/* A copy of s. */
int bz_expr_value_copy(struct bz_expr_run *r, struct bz_str s,
                       struct bz_expr_value *out);

/* An empty sequence with room for n values; it grows when more are pushed. */
int bz_expr_value_new_seq(struct bz_expr_run *r, size_t n, struct bz_expr_seq **out);
int bz_expr_value_push(struct bz_expr_run *r, struct bz_expr_seq *seq,
                       const struct bz_expr_value *v);

/* What `for` sees in a value: BZ_E_INVAL if it cannot be walked. The sequence is not to
 * be changed. */
int bz_expr_value_items(struct bz_expr_run *r, const struct bz_expr_value *v,
                        struct bz_expr_seq **out);

/* "str", "NoneType": as Python's messages call the type; static. */
const char *bz_expr_value_type(const struct bz_expr_value *v);

bool bz_expr_value_true(const struct bz_expr_value *v);

/* a == b */
int bz_expr_value_equal(struct bz_expr_run *r, const struct bz_expr_value *a,
                        const struct bz_expr_value *b, bool *out);

/* Negative, 0 or positive as a is less than, equal to or more than b. BZ_E_INVAL if
 * they have no order; `op` is the operator for that message. */
int bz_expr_value_order(struct bz_expr_run *r, const struct bz_expr_value *a,
                        const struct bz_expr_value *b, enum bz_expr_tok op, int *out);

/* item in v */
int bz_expr_value_contains(struct bz_expr_run *r, const struct bz_expr_value *v,
                           const struct bz_expr_value *item, bool *out);

/* The failures that many functions have. */
int bz_expr_value_no_attr(struct bz_expr_run *r, const struct bz_expr_value *v,
                          const char *attr);
int bz_expr_value_unknown(struct bz_expr_run *r, const char *what);

#endif
