#include "vars/expr_list.h"

#include "base/vec.h"
#include "vars/expr_table.h"
#include "vars/expr_text.h"

/* What keys(), values() and items() give. */
enum { KEYS, VALUES, ITEMS };

static int index_of(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    const struct bz_expr_seq *seq = a->self->seq;
    struct bz_expr_value shown;
    bool equal = false;
    size_t i;
    int rc = bz_expr_value_charge(r, seq->len);

    for (i = 0; rc == 0 && i < seq->len; i++) {
        rc = bz_expr_value_equal(r, &seq->at[i], &a->at[0], &equal);
        if (equal)
            break;
    }
    if (rc < 0)
        return rc;
    *out = bz_expr_value_int((int64_t)i);
    if (i < seq->len)
        return 0;
    if (a->self->kind == BZ_EXPR_TUPLE)
        return bz_fail(r->err, BZ_E_INVAL,
                       "ValueError: tuple.index(x): x not in tuple");
    if ((rc = bz_expr_text_repr(r, &a->at[0], &shown)) < 0)
        return rc;
    return bz_fail(r->err, BZ_E_INVAL, "ValueError: %.*s is not in list",
                   BZ_STR_ARG(shown.s));
}

static int count(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    const struct bz_expr_seq *seq = a->self->seq;
    int64_t n = 0;
    size_t i;
    int rc = bz_expr_value_charge(r, seq->len);

    for (i = 0; rc == 0 && i < seq->len; i++) {
        bool equal;

        rc = bz_expr_value_equal(r, &seq->at[i], &a->at[0], &equal);
        n += equal;
    }
    *out = bz_expr_value_int(n);
    return rc;
}

/* Values are never changed, so the same one serves. */
static int copy(struct bz_expr_run *r, const struct bz_expr_args *a,
                struct bz_expr_value *out)
{
    *out = *a->self;
    return bz_expr_value_charge(r, 1);
}

static int get(struct bz_expr_run *r, const struct bz_expr_args *a,
               struct bz_expr_value *out)
{
    const struct bz_expr_seq *seq = a->self->seq;
    size_t at;
    int rc = bz_expr_table_find(r, seq, &a->at[0], &at);

    if (rc < 0)
        return rc;
    if (at < seq->len)
        *out = seq->values[at];
    else
        *out = a->n > 1 ? a->at[1] : bz_expr_value_none();
    return 0;
}

static int view(struct bz_expr_run *r, const struct bz_expr_args *a,
                struct bz_expr_value *out)
{
    static const char *const types[] = {"dict_keys", "dict_values", "dict_items"};
    const struct bz_expr_seq *seq = a->self->seq;
    struct bz_expr_seq *to;
    size_t i;
    int rc = bz_expr_value_new_seq(r, seq->len, &to);

    for (i = 0; rc == 0 && i < seq->len; i++) {
        struct bz_expr_value item = a->how == VALUES ? seq->values[i] : seq->at[i];

        if (a->how == ITEMS) {
            struct bz_expr_seq *both;

            if ((rc = bz_expr_value_new_seq(r, 2, &both)) < 0)
                return rc;
            both->at[0] = seq->at[i];
            both->at[1] = seq->values[i];
            both->len = 2;
            item = bz_expr_value_seq(BZ_EXPR_TUPLE, both);
        }
        rc = bz_expr_value_push(r, to, &item);
    }
    if (rc < 0)
        return rc;
    to->type = types[a->how];
    *out = bz_expr_value_seq(BZ_EXPR_ITER, to);
    return 0;
}

static int combine(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    size_t i;
    int rc = 0;

    *out = *a->self;
    for (i = 0; rc == 0 && i < a->n; i++) {
        struct bz_expr_value other, left = *out;

        rc = bz_expr_table_set(r, &a->at[i], &other);
        if (rc == 0)
            rc = bz_expr_table_combine(r, &left, &other, (enum bz_expr_tok)a->how, out);
    }
    return rc;
}

/* `how` is the operator that asks the same of two sets. */
static int relate(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    const struct bz_expr_value *self = a->self;
    struct bz_expr_value other, both;
    bool yes = false;
    int rc = bz_expr_table_set(r, &a->at[0], &other);

    if (rc < 0)
        return rc;
    if (a->how == BZ_EXPR_TOK_LE) {
        rc = bz_expr_table_subset(r, self->seq, other.seq, &yes);
    } else if (a->how == BZ_EXPR_TOK_GE) {
        rc = bz_expr_table_subset(r, other.seq, self->seq, &yes);
    } else {
        rc = bz_expr_table_combine(r, self, &other, BZ_EXPR_TOK_AMP, &both);
        yes = rc == 0 && both.seq->len == 0;
    }
    *out = bz_expr_value_bool(yes);
    return rc;
}

static const struct bz_expr_fn list_methods[] = {
    {BZ_STR("count"), 1, 1, NULL, count,    0},
    {BZ_STR("index"), 1, 1, NULL, index_of, 0},
};

static const struct bz_expr_fn dict_methods[] = {
    {BZ_STR("copy"),   0, 0, NULL, copy, 0     },
    {BZ_STR("get"),    1, 2, NULL, get,  0     },
    {BZ_STR("items"),  0, 0, NULL, view, ITEMS },
    {BZ_STR("keys"),   0, 0, NULL, view, KEYS  },
    {BZ_STR("values"), 0, 0, NULL, view, VALUES},
};

static const struct bz_expr_fn set_methods[] = {
    {BZ_STR("copy"),                 0, 0,                NULL, copy,    0                },
    {BZ_STR("difference"),           0, BZ_EXPR_CALL_ANY, NULL, combine, BZ_EXPR_TOK_MINUS},
    {BZ_STR("intersection"),         0, BZ_EXPR_CALL_ANY, NULL, combine, BZ_EXPR_TOK_AMP  },
    {BZ_STR("isdisjoint"),           1, 1,                NULL, relate,  0                },
    {BZ_STR("issubset"),             1, 1,                NULL, relate,  BZ_EXPR_TOK_LE   },
    {BZ_STR("issuperset"),           1, 1,                NULL, relate,  BZ_EXPR_TOK_GE   },
    {BZ_STR("symmetric_difference"), 1, 1,                NULL, combine, BZ_EXPR_TOK_CARET},
    {BZ_STR("union"),                0, BZ_EXPR_CALL_ANY, NULL, combine, BZ_EXPR_TOK_BAR  },
};

const struct bz_expr_fn *bz_expr_list_method(enum bz_expr_kind kind, struct bz_str name)
{
    switch (kind) {
    case BZ_EXPR_LIST:
    case BZ_EXPR_TUPLE:
        return bz_expr_call_search(list_methods, BZ_COUNTOF(list_methods), name);
    case BZ_EXPR_DICT:
        return bz_expr_call_search(dict_methods, BZ_COUNTOF(dict_methods), name);
    case BZ_EXPR_SET:
        return bz_expr_call_search(set_methods, BZ_COUNTOF(set_methods), name);
    default:
        return NULL;
    }
}

/* A value and what it is sorted by. */
struct row {
    struct bz_expr_value key, value;
};

static int by_text(const void *a, const void *b)
{
    return bz_str_cmp(((const struct row *)a)->key.s, ((const struct row *)b)->key.s);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const struct row *)a)->key.i, y = ((const struct row *)b)->key.i;

    return (x > y) - (x < y);
}

static void reverse_rows(struct row *rows, size_t n)
{
    size_t i;

    for (i = 0; i < n / 2; i++) {
        struct row row = rows[i];

        rows[i] = rows[n - 1 - i];
        rows[n - 1 - i] = row;
    }
}

int bz_expr_list_sort(struct bz_expr_run *r, const struct bz_expr_seq *seq,
                      const struct bz_expr_seq *keys, bool reverse,
                      struct bz_expr_value *out)
{
    size_t i, texts = 0, numbers = 0, bytes = 0, n = seq->len;
    struct bz_expr_seq *to;
    struct row *rows;
    int rc;

    if ((rc = bz_expr_value_charge(r, n * 8)) < 0 ||
        (rc = bz_expr_value_new_seq(r, n, &to)) < 0)
        return rc;
    rows = bz_expr_scratch_alloc(r->mem, n * sizeof(*rows));
    for (i = 0; i < n; i++) {
        rows[i] = (struct row){keys ? keys->at[i] : seq->at[i], seq->at[i]};
        if (rows[i].key.kind == BZ_EXPR_STR) {
            bytes += rows[i].key.s.n;
            texts++;
        }
        numbers += bz_expr_value_is_int(&rows[i].key);
    }
    if (n > 1 && texts != n && numbers != n)
        return bz_expr_value_unknown(r, "sorting such values");
    if ((rc = bz_expr_value_charge(r, bytes / 4)) < 0)
        return rc;
    /* Equal ones keep their order also when it is reversed. */
    if (reverse)
        reverse_rows(rows, n);
    bz_vec_sort(rows, n, sizeof(*rows), texts == n ? by_text : by_number);
    if (reverse)
        reverse_rows(rows, n);
    for (i = 0; i < n; i++)
        to->at[to->len++] = rows[i].value;
    *out = bz_expr_value_seq(BZ_EXPR_LIST, to);
    return 0;
}
