#include "vars/expr_each.h"

#include "vars/expr_eval.h"
#include "vars/expr_list.h"
#include "vars/expr_op.h"

/* A sequence of a type that can only be walked. */
static void iterator(struct bz_expr_seq *seq, const char *type, bool once,
                     struct bz_expr_value *out)
{
    seq->type = type;
    seq->once = once;
    *out = bz_expr_value_seq(BZ_EXPR_ITER, seq);
}

/* Whether any item is as true as asked. */
static int find_truth(struct bz_expr_run *r, const struct bz_expr_value *v, bool truth,
                      bool *out)
{
    struct bz_expr_seq *seq;
    size_t i;
    int rc = bz_expr_value_items(r, v, &seq);

    *out = false;
    for (i = 0; rc == 0 && !*out && i < seq->len; i++)
        *out = bz_expr_value_true(&seq->at[i]) == truth;
    return rc;
}

int bz_expr_each_all(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    bool found;
    int rc = find_truth(r, &a->at[0], false, &found);

    *out = bz_expr_value_bool(!found);
    return rc;
}

int bz_expr_each_any(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    bool found;
    int rc = find_truth(r, &a->at[0], true, &found);

    *out = bz_expr_value_bool(found);
    return rc;
}

static int push_pair(struct bz_expr_run *r, struct bz_expr_seq *to,
                     const struct bz_expr_value *a, const struct bz_expr_value *b)
{
    struct bz_expr_seq *both;
    struct bz_expr_value pair;
    int rc = bz_expr_value_new_seq(r, 2, &both);

    if (rc < 0)
        return rc;
    both->at[0] = *a;
    both->at[1] = *b;
    both->len = 2;
    pair = bz_expr_value_seq(BZ_EXPR_TUPLE, both);
    return bz_expr_value_push(r, to, &pair);
}

int bz_expr_each_enumerate(struct bz_expr_run *r, const struct bz_expr_args *a,
                           struct bz_expr_value *out)
{
    struct bz_expr_seq *seq, *to;
    int64_t start = 0;
    size_t i;
    int rc = bz_expr_value_items(r, &a->at[0], &seq);

    if (rc < 0 || (rc = bz_expr_value_new_seq(r, seq->len, &to)) < 0)
        return rc;
    if (bz_expr_call_has(a, 1)) {
        start = a->at[1].i;
        if (!bz_expr_value_is_int(&a->at[1]) || start > INT32_MAX || start < INT32_MIN)
            return bz_expr_value_unknown(r, "enumerate() called so");
    }
    for (i = 0; rc == 0 && i < seq->len; i++) {
        struct bz_expr_value n = bz_expr_value_int(start + (int64_t)i);

        rc = push_pair(r, to, &n, &seq->at[i]);
    }
    iterator(to, "enumerate", true, out);
    return rc;
}

int bz_expr_each_filter(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    struct bz_expr_seq *seq, *to;
    size_t i;
    int rc = bz_expr_value_items(r, &a->at[1], &seq);

    if (rc < 0 || (rc = bz_expr_value_new_seq(r, 0, &to)) < 0)
        return rc;
    for (i = 0; rc == 0 && i < seq->len; i++) {
        struct bz_expr_value v = seq->at[i];

        if (a->at[0].kind != BZ_EXPR_NONE)
            rc = bz_expr_eval_apply(r, &a->at[0], &seq->at[i], 1, &v);
        if (rc == 0 && bz_expr_value_true(&v))
            rc = bz_expr_value_push(r, to, &seq->at[i]);
    }
    iterator(to, "filter", true, out);
    return bz_expr_eval_lazy(r, rc);
}

int bz_expr_each_map(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    struct bz_expr_seq *seq, *to;
    size_t i;
    int rc = bz_expr_value_items(r, &a->at[1], &seq);

    if (rc < 0 || (rc = bz_expr_value_new_seq(r, seq->len, &to)) < 0)
        return rc;
    for (i = 0; rc == 0 && i < seq->len; i++) {
        struct bz_expr_value v;

        rc = bz_expr_eval_apply(r, &a->at[0], &seq->at[i], 1, &v);
        if (rc == 0)
            rc = bz_expr_value_push(r, to, &v);
    }
    iterator(to, "map", true, out);
    return bz_expr_eval_lazy(r, rc);
}

int bz_expr_each_range(struct bz_expr_run *r, const struct bz_expr_args *a,
                       struct bz_expr_value *out)
{
    int64_t start = 0, stop, step = 1, i;
    struct bz_expr_seq *to;
    size_t k;
    int rc = bz_expr_value_new_seq(r, 0, &to);

    for (k = 0; k < a->n; k++) {
        if (!bz_expr_value_is_int(&a->at[k]))
            return bz_fail(r->err, BZ_E_INVAL,
                           "TypeError: '%s' object cannot be interpreted as an integer",
                           bz_expr_value_type(&a->at[k]));
        if (a->at[k].i > INT32_MAX || a->at[k].i < INT32_MIN)
            return bz_fail(r->err, BZ_E_LIMIT, "a range that large");
    }
    start = a->n > 1 ? a->at[0].i : 0;
    stop = a->n > 1 ? a->at[1].i : a->at[0].i;
    step = a->n > 2 ? a->at[2].i : 1;
    if (step == 0)
        return bz_fail(r->err, BZ_E_INVAL,
                       "ValueError: range() arg 3 must not be zero");
    for (i = start; rc == 0 && (step > 0 ? i < stop : i > stop); i += step) {
        struct bz_expr_value v = bz_expr_value_int(i);

        rc = bz_expr_value_push(r, to, &v);
    }
    if (rc == 0)
        iterator(to, "range", false, out);
    return rc;
}

int bz_expr_each_reversed(struct bz_expr_run *r, const struct bz_expr_args *a,
                          struct bz_expr_value *out)
{
    struct bz_expr_seq *seq, *to;
    size_t i;
    int rc;

    if (a->at[0].kind != BZ_EXPR_STR && a->at[0].kind != BZ_EXPR_LIST &&
        a->at[0].kind != BZ_EXPR_TUPLE)
        return bz_expr_value_unknown(r, "reversed() of such a value");
    if ((rc = bz_expr_value_items(r, &a->at[0], &seq)) < 0 ||
        (rc = bz_expr_value_new_seq(r, seq->len, &to)) < 0)
        return rc;
    for (i = seq->len; i > 0; i--)
        to->at[to->len++] = seq->at[i - 1];
    iterator(to, a->at[0].kind == BZ_EXPR_LIST ? "list_reverseiterator" : "reversed",
             true, out);
    return 0;
}

int bz_expr_each_sorted(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    bool reverse = bz_expr_call_flag(a, 2, false);
    struct bz_expr_seq *seq, *keys = NULL;
    size_t i;
    int rc = bz_expr_value_items(r, &a->at[0], &seq);

    if (rc < 0)
        return rc;
    if (bz_expr_call_has(a, 1) && a->at[1].kind != BZ_EXPR_NONE) {
        rc = bz_expr_value_new_seq(r, seq->len, &keys);
        for (i = 0; rc == 0 && i < seq->len; i++) {
            struct bz_expr_value key;

            rc = bz_expr_eval_apply(r, &a->at[1], &seq->at[i], 1, &key);
            if (rc == 0)
                rc = bz_expr_value_push(r, keys, &key);
        }
        if (rc < 0)
            return rc;
    }
    return bz_expr_list_sort(r, seq, keys, reverse, out);
}

int bz_expr_each_sum(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    struct bz_expr_seq *seq;
    size_t i;
    int rc = bz_expr_value_items(r, &a->at[0], &seq);

    *out = bz_expr_call_has(a, 1) ? a->at[1] : bz_expr_value_int(0);
    if (rc == 0 && out->kind == BZ_EXPR_STR)
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: sum() can't sum strings [use ''.join(seq) instead]");
    for (i = 0; rc == 0 && i < seq->len; i++) {
        struct bz_expr_value total = *out;

        /* Newer versions of Python add floats with less rounding. */
        if (seq->at[i].kind == BZ_EXPR_FLOAT)
            return bz_expr_value_unknown(r, "a sum of floats");
        rc = bz_expr_op_binary(r, BZ_EXPR_TOK_PLUS, &total, &seq->at[i], out);
    }
    return rc;
}

int bz_expr_each_zip(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    size_t i, k, shortest = a->n ? SIZE_MAX : 0;
    struct bz_expr_seq **from, *to, *row;
    int rc = bz_expr_value_charge(r, a->n);

    if (rc < 0 || (rc = bz_expr_value_new_seq(r, 0, &to)) < 0)
        return rc;
    from = bz_expr_scratch_alloc(r->mem, a->n * sizeof(struct bz_expr_seq *));
    for (k = 0; k < a->n; k++) {
        if ((rc = bz_expr_value_items(r, &a->at[k], &from[k])) < 0)
            return rc;
        if (from[k]->len < shortest)
            shortest = from[k]->len;
    }
    for (i = 0; rc == 0 && i < shortest; i++) {
        struct bz_expr_value v;

        if ((rc = bz_expr_value_new_seq(r, a->n, &row)) < 0)
            return rc;
        for (k = 0; k < a->n; k++)
            row->at[row->len++] = from[k]->at[i];
        v = bz_expr_value_seq(BZ_EXPR_TUPLE, row);
        rc = bz_expr_value_push(r, to, &v);
    }
    iterator(to, "zip", true, out);
    return rc;
}

int bz_expr_each_best(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    struct bz_expr_seq given = {.len = a->n}, *seq = &given;
    const struct bz_expr_value *best = a->at, *at = a->at;
    size_t i;
    int rc = 0;

    if (a->n == 1) {
        if ((rc = bz_expr_value_items(r, &a->at[0], &seq)) < 0)
            return rc;
        best = at = seq->at;
    }
    if (seq->len == 0)
        return bz_fail(r->err, BZ_E_INVAL, "ValueError: %s() arg is an empty sequence",
                       a->how == BZ_EXPR_TOK_GT ? "max" : "min");
    for (i = 1; rc == 0 && i < seq->len; i++) {
        bool better;

        rc = bz_expr_op_compare(r, (enum bz_expr_tok)a->how, &at[i], best, &better);
        if (rc == 0 && better)
            best = &at[i];
    }
    *out = *best;
    return rc;
}
