#include "vars/expr_index.h"

#include "vars/expr_table.h"
#include "vars/expr_text.h"
#include "vars/vars.h"

static bool is_sequence(const struct bz_expr_value *v)
{
    return v->kind == BZ_EXPR_STR || v->kind == BZ_EXPR_LIST ||
           v->kind == BZ_EXPR_TUPLE;
}

static int missing_key(struct bz_expr_run *r, const struct bz_expr_value *key)
{
    struct bz_expr_value shown;
    int rc = bz_expr_text_repr(r, key, &shown);

    if (rc < 0)
        return rc;
    return bz_fail(r->err, BZ_E_INVAL, "KeyError: %.*s", BZ_STR_ARG(shown.s));
}

static int index_data(struct bz_expr_run *r, const struct bz_expr_value *index,
                      struct bz_expr_value *out)
{
    struct bz_str value;
    int rc;

    if (index->kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "such a key");
    rc = bz_vars_get(r->vars, index->s, BZ_VARS_RAW, &value, r->err);
    if (rc == 0 && !value.p)
        return missing_key(r, index);
    *out = bz_expr_value_str(value);
    out->kept = true;
    return rc;
}

static int bad_index(struct bz_expr_run *r, const struct bz_expr_value *of,
                     const struct bz_expr_value *index)
{
    if (of->kind == BZ_EXPR_STR)
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: string indices must be integers, not '%s'",
                       bz_expr_value_type(index));
    return bz_fail(r->err, BZ_E_INVAL,
                   "TypeError: %s indices must be integers or slices, not %s",
                   bz_expr_value_type(of), bz_expr_value_type(index));
}

int bz_expr_index_get(struct bz_expr_run *r, const struct bz_expr_value *of,
                      const struct bz_expr_value *index, struct bz_expr_value *out)
{
    size_t len, at;
    int64_t i;
    int rc;

    if (of->kind == BZ_EXPR_DATA)
        return index_data(r, index, out);
    if (of->kind == BZ_EXPR_DICT) {
        if ((rc = bz_expr_table_find(r, of->seq, index, &at)) < 0)
            return rc;
        if (at == of->seq->len)
            return missing_key(r, index);
        *out = of->seq->values[at];
        return 0;
    }
    if (of->kind == BZ_EXPR_ITER || of->kind >= BZ_EXPR_FN)
        return bz_expr_value_unknown(r, "a subscript of such a value");
    if (!is_sequence(of))
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: '%s' object is not subscriptable",
                       bz_expr_value_type(of));
    if (!bz_expr_value_is_int(index))
        return bad_index(r, of, index);
    len = of->kind == BZ_EXPR_STR ? bz_expr_text_length(of->s) : of->seq->len;
    i = index->i < 0 ? index->i + (int64_t)len : index->i;
    if (i < 0 || (uint64_t)i >= len)
        return bz_fail(r->err, BZ_E_INVAL, "IndexError: %s index out of range",
                       of->kind == BZ_EXPR_STR ? "string" : bz_expr_value_type(of));
    if (of->kind != BZ_EXPR_STR) {
        *out = of->seq->at[i];
        return 0;
    }
    at = bz_expr_text_offset(of->s, (size_t)i);
    *out = bz_expr_value_part(
        of, bz_str_sub(of->s, at, bz_expr_text_offset(of->s, (size_t)i + 1)));
    return bz_expr_value_charge(r, of->s.n / 64);
}

/* A bound of a slice, brought into [low, high]. */
static int clamp(struct bz_expr_run *r, const struct bz_expr_value *v, int64_t len,
                 int64_t low, int64_t high, int64_t *out)
{
    if (v->kind == BZ_EXPR_NONE)
        return 0;
    if (!bz_expr_value_is_int(v))
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: slice indices must be integers or None or have an "
                       "__index__ method");
    *out = v->i < 0 ? v->i + len : v->i;
    if (*out < low)
        *out = low;
    if (*out > high)
        *out = high;
    return 0;
}

static int take(struct bz_expr_run *r, const struct bz_expr_value *of,
                const int64_t range[3], struct bz_expr_value *out)
{
    int64_t i, start = range[0], stop = range[1], step = range[2];
    struct bz_expr_seq *seq, *from = of->kind == BZ_EXPR_STR ? NULL : of->seq;
    size_t n = 0;
    char *text;
    int rc;

    if (step == 1 && of->kind == BZ_EXPR_STR) {
        size_t a = bz_expr_text_offset(of->s, (size_t)start);
        size_t b = stop > start ? bz_expr_text_offset(of->s, (size_t)stop) : a;

        *out = bz_expr_value_part(of, bz_str_sub(of->s, a, b));
        return bz_expr_value_charge(r, of->s.n / 64);
    }
    if (from) {
        if ((rc = bz_expr_value_new_seq(r, 0, &seq)) < 0)
            return rc;
        for (i = start; rc == 0 && (step > 0 ? i < stop : i > stop); i += step)
            rc = bz_expr_value_push(r, seq, &from->at[i]);
        *out = bz_expr_value_seq(of->kind, seq);
        return rc;
    }
    if (!bz_expr_text_ascii(of->s))
        return bz_expr_value_unknown(r, "such a slice of other than ASCII");
    if ((rc = bz_expr_value_room(r, of->s.n, &text)) < 0)
        return rc;
    for (i = start; step > 0 ? i < stop : i > stop; i += step)
        text[n++] = of->s.p[i];
    *out = bz_expr_value_str(bz_str_of(text, n));
    return 0;
}

int bz_expr_index_slice(struct bz_expr_run *r, const struct bz_expr_value *of,
                        const struct bz_expr_value part[3], struct bz_expr_value *out)
{
    int64_t range[3];
    int64_t len, step = 1;
    int rc;

    if (of->kind >= BZ_EXPR_SET)
        return bz_expr_value_unknown(r, "a slice of such a value");
    if (!is_sequence(of))
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: '%s' object is not subscriptable",
                       bz_expr_value_type(of));
    len =
        (int64_t)(of->kind == BZ_EXPR_STR ? bz_expr_text_length(of->s) : of->seq->len);
    rc = clamp(r, &part[2], 0, -len - 1, len + 1, &step);
    if (rc < 0)
        return rc;
    if (step == 0)
        return bz_fail(r->err, BZ_E_INVAL, "ValueError: slice step cannot be zero");
    range[0] = step > 0 ? 0 : len - 1;
    range[1] = step > 0 ? len : -1;
    range[2] = step;
    if ((rc = clamp(r, &part[0], len, step > 0 ? 0 : -1, step > 0 ? len : len - 1,
                    &range[0])) < 0 ||
        (rc = clamp(r, &part[1], len, step > 0 ? 0 : -1, step > 0 ? len : len - 1,
                    &range[1])) < 0)
        return rc;
    return take(r, of, range, out);
}
