#include "vars/expr_op.h"

#include "vars/expr_format.h"
#include "vars/expr_table.h"

static bool is_list(const struct bz_expr_value *v)
{
    return v->kind == BZ_EXPR_LIST || v->kind == BZ_EXPR_TUPLE;
}

static bool is_number(const struct bz_expr_value *v)
{
    return bz_expr_value_is_int(v) || v->kind == BZ_EXPR_FLOAT;
}

static double number(const struct bz_expr_value *v)
{
    return v->kind == BZ_EXPR_FLOAT ? v->f : (double)v->i;
}

static int unsupported(struct bz_expr_run *r, enum bz_expr_tok op,
                       const struct bz_expr_value *a, const struct bz_expr_value *b)
{
    if (a->kind >= BZ_EXPR_SET || b->kind >= BZ_EXPR_SET)
        return bz_expr_value_unknown(r, "this operation");
    return bz_fail(r->err, BZ_E_INVAL,
                   "TypeError: unsupported operand type(s) for %s: '%s' and '%s'",
                   bz_expr_lex_sign(op), bz_expr_value_type(a), bz_expr_value_type(b));
}

int bz_expr_op_unary(struct bz_expr_run *r, enum bz_expr_tok op,
                     const struct bz_expr_value *a, struct bz_expr_value *out)
{
    if (a->kind == BZ_EXPR_FLOAT && op != BZ_EXPR_TOK_TILDE) {
        *out = *a;
        out->f = op == BZ_EXPR_TOK_MINUS ? -a->f : a->f;
        return 0;
    }
    if (!bz_expr_value_is_int(a)) {
        if (a->kind >= BZ_EXPR_SET)
            return bz_expr_value_unknown(r, "this operation");
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: bad operand type for unary %s: '%s'",
                       bz_expr_lex_sign(op), bz_expr_value_type(a));
    }
    if (a->i == INT64_MIN && op == BZ_EXPR_TOK_MINUS)
        return bz_expr_value_unknown(r, "such a large number");
    *out = bz_expr_value_int(op == BZ_EXPR_TOK_MINUS   ? -a->i
                             : op == BZ_EXPR_TOK_TILDE ? ~a->i
                                                       : a->i);
    return 0;
}

static int power(struct bz_expr_run *r, int64_t base, int64_t exponent, int64_t *out)
{
    int64_t i;

    if (exponent < 0 || exponent > 64)
        return bz_expr_value_unknown(r, "such a power");
    for (*out = 1, i = 0; i < exponent; i++) {
        if (__builtin_mul_overflow(*out, base, out))
            return bz_expr_value_unknown(r, "such a large number");
    }
    return 0;
}

/* Division rounds down, and the remainder has the sign of the divisor. */
static int divide(struct bz_expr_run *r, enum bz_expr_tok op, int64_t a, int64_t b,
                  int64_t *out)
{
    int64_t quotient, rest;

    if (b == 0)
        return bz_fail(r->err, BZ_E_INVAL, "ZeroDivisionError: integer %s by zero",
                       op == BZ_EXPR_TOK_PERCENT ? "modulo" : "division or modulo");
    if (a == INT64_MIN && b == -1)
        return bz_expr_value_unknown(r, "such a large number");
    quotient = a / b;
    rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        quotient--;
        rest += b;
    }
    *out = op == BZ_EXPR_TOK_PERCENT ? rest : quotient;
    return 0;
}

static int shift(struct bz_expr_run *r, enum bz_expr_tok op, int64_t a, int64_t b,
                 int64_t *out)
{
    if (b < 0 || b > 62 || a < 0 || (op == BZ_EXPR_TOK_LSHIFT && a > INT64_MAX >> b))
        return bz_expr_value_unknown(r, "such a shift");
    *out = op == BZ_EXPR_TOK_LSHIFT ? a << b : a >> b;
    return 0;
}

static int bits(enum bz_expr_tok op, const struct bz_expr_value *a,
                const struct bz_expr_value *b, struct bz_expr_value *out)
{
    int64_t x = op == BZ_EXPR_TOK_AMP   ? a->i & b->i
                : op == BZ_EXPR_TOK_BAR ? a->i | b->i
                                        : a->i ^ b->i;

    *out = bz_expr_value_int(x);
    if (a->kind == BZ_EXPR_BOOL && b->kind == BZ_EXPR_BOOL)
        out->kind = BZ_EXPR_BOOL;
    return 0;
}

static int integers(struct bz_expr_run *r, enum bz_expr_tok op,
                    const struct bz_expr_value *a, const struct bz_expr_value *b,
                    struct bz_expr_value *out)
{
    bool large = false;
    int64_t x = 0;
    int rc = 0;

    switch (op) {
    case BZ_EXPR_TOK_PLUS:
        large = __builtin_add_overflow(a->i, b->i, &x);
        break;
    case BZ_EXPR_TOK_MINUS:
        large = __builtin_sub_overflow(a->i, b->i, &x);
        break;
    case BZ_EXPR_TOK_STAR:
        large = __builtin_mul_overflow(a->i, b->i, &x);
        break;
    case BZ_EXPR_TOK_DSLASH:
    case BZ_EXPR_TOK_PERCENT:
        rc = divide(r, op, a->i, b->i, &x);
        break;
    case BZ_EXPR_TOK_POWER:
        rc = power(r, a->i, b->i, &x);
        break;
    case BZ_EXPR_TOK_LSHIFT:
    case BZ_EXPR_TOK_RSHIFT:
        rc = shift(r, op, a->i, b->i, &x);
        break;
    default:
        return bits(op, a, b, out);
    }
    *out = bz_expr_value_int(x);
    return large ? bz_expr_value_unknown(r, "such a large number") : rc;
}

static int floats(struct bz_expr_run *r, enum bz_expr_tok op,
                  const struct bz_expr_value *a, const struct bz_expr_value *b,
                  struct bz_expr_value *out)
{
    double x = number(a), y = number(b);

    out->kind = BZ_EXPR_FLOAT;
    switch (op) {
    case BZ_EXPR_TOK_PLUS:
        out->f = x + y;
        break;
    case BZ_EXPR_TOK_MINUS:
        out->f = x - y;
        break;
    case BZ_EXPR_TOK_STAR:
        out->f = x * y;
        break;
    case BZ_EXPR_TOK_SLASH:
        if (y == 0)
            return bz_fail(
                r->err, BZ_E_INVAL, "ZeroDivisionError: %sdivision by zero",
                bz_expr_value_is_int(a) && bz_expr_value_is_int(b) ? "" : "float ");
        out->f = x / y;
        break;
    default:
        return bz_expr_value_unknown(r, "this operation on floats");
    }
    return 0;
}

static int concatenate(struct bz_expr_run *r, const struct bz_expr_value *a,
                       const struct bz_expr_value *b, struct bz_expr_value *out)
{
    struct bz_expr_seq *seq;
    char *text;
    int rc;

    if (a->kind != b->kind)
        return bz_fail(
            r->err, BZ_E_INVAL, "TypeError: can only concatenate %s (not \"%s\") to %s",
            bz_expr_value_type(a), bz_expr_value_type(b), bz_expr_value_type(a));
    if (a->kind == BZ_EXPR_STR) {
        if ((rc = bz_expr_value_room(r, a->s.n + b->s.n, &text)) < 0)
            return rc;
        if (a->s.n)
            memcpy(text, a->s.p, a->s.n);
        if (b->s.n)
            memcpy(text + a->s.n, b->s.p, b->s.n);
        *out = bz_expr_value_str(bz_str_of(text, a->s.n + b->s.n));
        return 0;
    }
    if ((rc = bz_expr_value_new_seq(r, a->seq->len + b->seq->len, &seq)) < 0)
        return rc;
    if (a->seq->len)
        memcpy(seq->at, a->seq->at, a->seq->len * sizeof(*seq->at));
    if (b->seq->len)
        memcpy(seq->at + a->seq->len, b->seq->at, b->seq->len * sizeof(*seq->at));
    seq->len = a->seq->len + b->seq->len;
    *out = bz_expr_value_seq(a->kind, seq);
    return 0;
}

/* "ab" * 3 and [1] * 3. */
static int repeat(struct bz_expr_run *r, const struct bz_expr_value *v, int64_t times,
                  struct bz_expr_value *out)
{
    size_t i, j, n = v->kind == BZ_EXPR_STR ? v->s.n : v->seq->len;
    struct bz_expr_seq *seq;
    size_t total;
    char *text;
    int rc;

    if (times < 0)
        times = 0;
    if (__builtin_mul_overflow(n, (size_t)times, &total))
        return bz_expr_value_spent(r);
    if (v->kind == BZ_EXPR_STR) {
        if ((rc = bz_expr_value_room(r, total, &text)) < 0)
            return rc;
        for (i = 0; n > 0 && i < (size_t)times; i++)
            memcpy(text + i * n, v->s.p, n);
        *out = bz_expr_value_str(bz_str_of(text, total));
        return 0;
    }
    if ((rc = bz_expr_value_new_seq(r, total, &seq)) < 0)
        return rc;
    for (i = 0; n > 0 && i < (size_t)times; i++) {
        for (j = 0; j < n; j++)
            seq->at[seq->len++] = v->seq->at[j];
    }
    *out = bz_expr_value_seq(v->kind, seq);
    return 0;
}

static bool repeatable(const struct bz_expr_value *v)
{
    return v->kind == BZ_EXPR_STR || is_list(v);
}

static int multiply(struct bz_expr_run *r, const struct bz_expr_value *a,
                    const struct bz_expr_value *b, struct bz_expr_value *out)
{
    if (repeatable(a) && bz_expr_value_is_int(b))
        return repeat(r, a, b->i, out);
    if (repeatable(b) && bz_expr_value_is_int(a))
        return repeat(r, b, a->i, out);
    if (a->kind >= BZ_EXPR_SET || b->kind >= BZ_EXPR_SET)
        return bz_expr_value_unknown(r, "this operation");
    if (repeatable(a) || repeatable(b))
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: can't multiply sequence by non-int of type '%s'",
                       bz_expr_value_type(repeatable(a) ? b : a));
    return unsupported(r, BZ_EXPR_TOK_STAR, a, b);
}

int bz_expr_op_binary(struct bz_expr_run *r, enum bz_expr_tok op,
                      const struct bz_expr_value *a, const struct bz_expr_value *b,
                      struct bz_expr_value *out)
{
    if (is_number(a) && is_number(b)) {
        if (op != BZ_EXPR_TOK_SLASH && bz_expr_value_is_int(a) &&
            bz_expr_value_is_int(b))
            return integers(r, op, a, b, out);
        return floats(r, op, a, b, out);
    }
    if (op == BZ_EXPR_TOK_PLUS && repeatable(a)) {
        if (b->kind >= BZ_EXPR_ITER)
            return bz_expr_value_unknown(r, "this operation");
        return concatenate(r, a, b, out);
    }
    if (op == BZ_EXPR_TOK_STAR)
        return multiply(r, a, b, out);
    if (op == BZ_EXPR_TOK_PERCENT && a->kind == BZ_EXPR_STR)
        return bz_expr_format_percent(r, a->s, b, out);
    if (a->kind == BZ_EXPR_SET && b->kind == BZ_EXPR_SET &&
        (op == BZ_EXPR_TOK_AMP || op == BZ_EXPR_TOK_BAR || op == BZ_EXPR_TOK_MINUS ||
         op == BZ_EXPR_TOK_CARET))
        return bz_expr_table_combine(r, a, b, op, out);
    return unsupported(r, op, a, b);
}

/* Identity is a question of how Python keeps its values, except for None and truth. */
static int identical(struct bz_expr_run *r, const struct bz_expr_value *a,
                     const struct bz_expr_value *b, bool *out)
{
    bool single = a->kind == BZ_EXPR_NONE || b->kind == BZ_EXPR_NONE ||
                  a->kind == BZ_EXPR_BOOL || b->kind == BZ_EXPR_BOOL;

    if (!single && a->kind == b->kind)
        return bz_expr_value_unknown(r, "`is` between such values");
    *out = a->kind == b->kind && (a->kind == BZ_EXPR_NONE || a->i == b->i);
    return 0;
}

static int ordered(struct bz_expr_run *r, enum bz_expr_tok op,
                   const struct bz_expr_value *a, const struct bz_expr_value *b,
                   bool *out)
{
    int order = 0;
    int rc;

    if (a->kind == BZ_EXPR_SET && b->kind == BZ_EXPR_SET) {
        bool reverse = op == BZ_EXPR_TOK_GT || op == BZ_EXPR_TOK_GE;
        bool strict = op == BZ_EXPR_TOK_GT || op == BZ_EXPR_TOK_LT;

        rc = bz_expr_table_subset(r, reverse ? b->seq : a->seq,
                                  reverse ? a->seq : b->seq, out);
        *out = *out && (!strict || a->seq->len != b->seq->len);
        return rc;
    }
    rc = bz_expr_value_order(r, a, b, op, &order);
    *out = op == BZ_EXPR_TOK_LT   ? order < 0
           : op == BZ_EXPR_TOK_LE ? order <= 0
           : op == BZ_EXPR_TOK_GT ? order > 0
                                  : order >= 0;
    return rc;
}

int bz_expr_op_compare(struct bz_expr_run *r, enum bz_expr_tok op,
                       const struct bz_expr_value *a, const struct bz_expr_value *b,
                       bool *out)
{
    int rc;

    switch (op) {
    case BZ_EXPR_TOK_EQ:
        return bz_expr_value_equal(r, a, b, out);
    case BZ_EXPR_TOK_NE:
        rc = bz_expr_value_equal(r, a, b, out);
        break;
    case BZ_EXPR_TOK_IN:
        return bz_expr_value_contains(r, b, a, out);
    case BZ_EXPR_TOK_NOT_IN:
        rc = bz_expr_value_contains(r, b, a, out);
        break;
    case BZ_EXPR_TOK_IS:
        return identical(r, a, b, out);
    case BZ_EXPR_TOK_IS_NOT:
        rc = identical(r, a, b, out);
        break;
    default:
        return ordered(r, op, a, b, out);
    }
    *out = !*out;
    return rc;
}
