#include "vars/expr_value.h"

#include "vars/expr_table.h"
#include "vars/vars.h"

int bz_expr_value_spent(struct bz_expr_run *r)
{
    bz_fail(r->err, BZ_E_LIMIT, "an expression does too much work");
    return BZ_E_LIMIT;
}

int bz_expr_value_no_attr(struct bz_expr_run *r, const struct bz_expr_value *v,
                          const char *attr)
{
    return bz_fail(r->err, BZ_E_INVAL,
                   "AttributeError: '%s' object has no attribute '%s'",
                   bz_expr_value_type(v), attr);
}

int bz_expr_value_unknown(struct bz_expr_run *r, const char *what)
{
    bz_fail(r->err, BZ_E_NOSUP, "%s: not known here", what);
    return BZ_E_NOSUP;
}

/* 16 bytes cost a step, as copying them takes about as long as one. */
int bz_expr_value_room(struct bz_expr_run *r, size_t n, char **out)
{
    int rc = bz_expr_value_charge(r, n / 16);

    if (rc < 0)
        return rc;
    *out = bz_expr_scratch_alloc(r->mem, n + 1);
    return 0;
}

int bz_expr_value_copy(struct bz_expr_run *r, struct bz_str s,
                       struct bz_expr_value *out)
{
    char *text;
    int rc = bz_expr_value_room(r, s.n, &text);

    if (rc < 0)
        return rc;
    if (s.n)
        memcpy(text, s.p, s.n);
    *out = bz_expr_value_str(bz_str_of(text, s.n));
    return 0;
}

int bz_expr_value_new_seq(struct bz_expr_run *r, size_t n, struct bz_expr_seq **out)
{
    struct bz_expr_seq *seq;
    int rc = bz_expr_value_charge(r, n);

    if (rc < 0)
        return rc;
    seq = bz_expr_scratch_alloc(r->mem, sizeof(*seq));
    *seq = (struct bz_expr_seq){.cap = n};
    if (n)
        seq->at = bz_expr_scratch_alloc(r->mem, n * sizeof(*seq->at));
    *out = seq;
    return 0;
}

int bz_expr_value_push(struct bz_expr_run *r, struct bz_expr_seq *seq,
                       const struct bz_expr_value *v)
{
    if (seq->len == seq->cap) {
        size_t cap = seq->cap ? seq->cap * 2 : 8;
        struct bz_expr_value *at;
        int rc = bz_expr_value_charge(r, cap);

        if (rc < 0)
            return rc;
        at = bz_expr_scratch_alloc(r->mem, cap * sizeof(*at));
        if (seq->len)
            memcpy(at, seq->at, seq->len * sizeof(*at));
        seq->at = at;
        seq->cap = cap;
    }
    seq->at[seq->len++] = *v;
    return 0;
}

/* The bytes of the character that s begins with. */
static size_t character(struct bz_str s)
{
    size_t n = 1;

    while (n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static int characters(struct bz_expr_run *r, const struct bz_expr_value *v,
                      struct bz_expr_seq **out)
{
    struct bz_str rest = v->s;
    int rc = bz_expr_value_new_seq(r, rest.n, out);

    while (rc == 0 && rest.n > 0) {
        size_t n = character(rest);
        struct bz_expr_value c = bz_expr_value_part(v, bz_str_of(rest.p, n));

        rc = bz_expr_value_push(r, *out, &c);
        rest = bz_str_sub(rest, n, rest.n);
    }
    return rc;
}

int bz_expr_value_items(struct bz_expr_run *r, const struct bz_expr_value *v,
                        struct bz_expr_seq **out)
{
    switch (v->kind) {
    case BZ_EXPR_STR:
        return characters(r, v, out);
    case BZ_EXPR_ITER:
        if (v->seq->walked)
            return bz_expr_value_unknown(r, "an iterator used twice");
        v->seq->walked = v->seq->once;
        break;
    case BZ_EXPR_LIST:
    case BZ_EXPR_TUPLE:
    case BZ_EXPR_SET:
    case BZ_EXPR_DICT:
        break;
    case BZ_EXPR_DATA:
        return bz_expr_value_unknown(r, "the names of all variables");
    default:
        bz_fail(r->err, BZ_E_INVAL, "TypeError: '%s' object is not iterable",
                bz_expr_value_type(v));
        return BZ_E_INVAL;
    }
    *out = v->seq;
    return bz_expr_value_charge(r, v->seq->len);
}

const char *bz_expr_value_type(const struct bz_expr_value *v)
{
    static const char *const names[] = {
        [BZ_EXPR_ABSENT] = "NoneType", [BZ_EXPR_NONE] = "NoneType",
        [BZ_EXPR_BOOL] = "bool",       [BZ_EXPR_INT] = "int",
        [BZ_EXPR_FLOAT] = "float",     [BZ_EXPR_STR] = "str",
        [BZ_EXPR_LIST] = "list",       [BZ_EXPR_TUPLE] = "tuple",
        [BZ_EXPR_SET] = "set",         [BZ_EXPR_DICT] = "dict",
        [BZ_EXPR_DATA] = "DataSmart",  [BZ_EXPR_FN] = "builtin_function_or_method",
        [BZ_EXPR_LAMBDA] = "function",
    };

    return v->kind == BZ_EXPR_ITER ? v->seq->type : names[v->kind];
}

bool bz_expr_value_true(const struct bz_expr_value *v)
{
    switch (v->kind) {
    case BZ_EXPR_ABSENT:
    case BZ_EXPR_NONE:
        return false;
    case BZ_EXPR_BOOL:
    case BZ_EXPR_INT:
        return v->i != 0;
    case BZ_EXPR_FLOAT:
        return v->f != 0;
    case BZ_EXPR_STR:
        return v->s.n != 0;
    case BZ_EXPR_LIST:
    case BZ_EXPR_TUPLE:
    case BZ_EXPR_SET:
    case BZ_EXPR_DICT:
        return v->seq->len != 0;
    case BZ_EXPR_ITER:
        return v->seq->once || v->seq->len != 0;
    default:
        return true;
    }
}

/* Whether it is a number; a large integer has no exact double, so none is taken. */
static bool as_double(const struct bz_expr_value *v, double *out)
{
    const int64_t exact = INT64_C(1) << 53;

    if (v->kind == BZ_EXPR_FLOAT) {
        *out = v->f;
        return true;
    }
    *out = (double)v->i;
    return bz_expr_value_is_int(v) && v->i <= exact && v->i >= -exact;
}

static bool is_number(const struct bz_expr_value *v)
{
    return bz_expr_value_is_int(v) || v->kind == BZ_EXPR_FLOAT;
}

static bool is_list(const struct bz_expr_value *v)
{
    return v->kind == BZ_EXPR_LIST || v->kind == BZ_EXPR_TUPLE;
}

/* *order of two numbers: 2 if one of them is not a number to any other. */
static int order_numbers(struct bz_expr_run *r, const struct bz_expr_value *a,
                         const struct bz_expr_value *b, int *order)
{
    double x, y;

    if (bz_expr_value_is_int(a) && bz_expr_value_is_int(b)) {
        *order = (a->i > b->i) - (a->i < b->i);
        return 0;
    }
    if (!as_double(a, &x) || !as_double(b, &y))
        return bz_expr_value_unknown(r, "a large integer beside a float");
    if (x != x || y != y)
        return bz_expr_value_unknown(r, "an order of what is no number");
    *order = (x > y) - (x < y);
    return 0;
}

/* Where two lists first differ; `at` is the shorter length if they do not. */
static int first_difference(struct bz_expr_run *r, const struct bz_expr_seq *a,
                            const struct bz_expr_seq *b, size_t *at)
{
    size_t n = a->len < b->len ? a->len : b->len;
    bool equal = true;
    int rc = bz_expr_value_charge(r, n);

    for (*at = 0; rc == 0 && *at < n; ++*at) {
        rc = bz_expr_value_equal(r, &a->at[*at], &b->at[*at], &equal);
        if (!equal)
            break;
    }
    return rc;
}

static int equal_lists(struct bz_expr_run *r, const struct bz_expr_value *a,
                       const struct bz_expr_value *b, bool *out)
{
    size_t at;
    int rc;

    if (a->seq->len != b->seq->len) {
        *out = false;
        return 0;
    }
    rc = first_difference(r, a->seq, b->seq, &at);
    *out = at == a->seq->len;
    return rc;
}

int bz_expr_value_equal(struct bz_expr_run *r, const struct bz_expr_value *a,
                        const struct bz_expr_value *b, bool *out)
{
    int order = 0, rc;

    *out = false;
    if (a->kind == BZ_EXPR_STR && b->kind == BZ_EXPR_STR) {
        *out = bz_str_eq(a->s, b->s);
        return bz_expr_value_charge(r, a->s.n == b->s.n ? a->s.n / 64 : 0);
    }
    if (is_number(a) && is_number(b)) {
        rc = order_numbers(r, a, b, &order);
        *out = rc == 0 && order == 0;
        return rc;
    }
    if (a->kind >= BZ_EXPR_ITER && b->kind >= BZ_EXPR_ITER)
        return bz_expr_value_unknown(r, "this comparison");
    if (a->kind != b->kind)
        return 0;
    if (a->kind == BZ_EXPR_SET || a->kind == BZ_EXPR_DICT)
        return bz_expr_table_equal(r, a, b, out);
    if (is_list(a))
        return equal_lists(r, a, b, out);
    *out = a->kind == BZ_EXPR_NONE;
    return 0;
}

int bz_expr_value_order(struct bz_expr_run *r, const struct bz_expr_value *a,
                        const struct bz_expr_value *b, enum bz_expr_tok op, int *out)
{
    if (a->kind == BZ_EXPR_STR && b->kind == BZ_EXPR_STR) {
        *out = bz_str_cmp(a->s, b->s);
        return bz_expr_value_charge(r, (a->s.n < b->s.n ? a->s.n : b->s.n) / 64);
    }
    if (is_number(a) && is_number(b))
        return order_numbers(r, a, b, out);
    if (is_list(a) && a->kind == b->kind) {
        size_t at, an = a->seq->len, bn = b->seq->len;
        int rc = first_difference(r, a->seq, b->seq, &at);

        if (rc < 0)
            return rc;
        if (at < an && at < bn)
            return bz_expr_value_order(r, &a->seq->at[at], &b->seq->at[at], op, out);
        *out = (an > bn) - (an < bn);
        return 0;
    }
    if (a->kind >= BZ_EXPR_SET || b->kind >= BZ_EXPR_SET)
        return bz_expr_value_unknown(r, "this comparison");
    return bz_fail(r->err, BZ_E_INVAL,
                   "TypeError: '%s' not supported between instances of '%s' and '%s'",
                   bz_expr_lex_sign(op), bz_expr_value_type(a), bz_expr_value_type(b));
}

static int contains_item(struct bz_expr_run *r, const struct bz_expr_value *v,
                         const struct bz_expr_value *item, bool *out)
{
    struct bz_expr_seq *seq;
    size_t i;
    int rc = bz_expr_value_items(r, v, &seq);

    *out = false;
    for (i = 0; rc == 0 && !*out && i < seq->len; i++)
        rc = bz_expr_value_equal(r, &seq->at[i], item, out);
    return rc;
}

int bz_expr_value_contains(struct bz_expr_run *r, const struct bz_expr_value *v,
                           const struct bz_expr_value *item, bool *out)
{
    struct bz_str value;
    size_t at;
    int rc;

    switch (v->kind) {
    case BZ_EXPR_STR:
        if (item->kind != BZ_EXPR_STR)
            return bz_fail(
                r->err, BZ_E_INVAL,
                "TypeError: 'in <string>' requires string as left operand, not %s",
                bz_expr_value_type(item));
        *out = bz_str_find(v->s, item->s) != BZ_STR_NONE;
        return bz_expr_value_charge(r, v->s.n / 64);
    case BZ_EXPR_LIST:
    case BZ_EXPR_TUPLE:
    case BZ_EXPR_ITER:
        return contains_item(r, v, item, out);
    case BZ_EXPR_SET:
    case BZ_EXPR_DICT:
        if (item->kind == BZ_EXPR_SET && v->kind == BZ_EXPR_SET)
            return bz_expr_value_unknown(
                r, "a set in a set"); /* it is looked for frozen */
        rc = bz_expr_table_find(r, v->seq, item, &at);
        *out = rc == 0 && at < v->seq->len;
        return rc;
    case BZ_EXPR_DATA:
        if (item->kind != BZ_EXPR_STR)
            return bz_expr_value_unknown(r, "this comparison");
        rc = bz_vars_get(r->vars, item->s, BZ_VARS_RAW, &value, r->err);
        *out = rc == 0 && value.p;
        return rc;
    default:
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: argument of type '%s' is not iterable",
                       bz_expr_value_type(v));
    }
}
