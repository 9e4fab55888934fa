#include "vars/expr_call.h"

const struct bz_expr_fn *bz_expr_call_search(const struct bz_expr_fn *rows, size_t n,
                                             struct bz_str name)
{
    while (n > 0) {
        const struct bz_expr_fn *middle = rows + n / 2;
        int order = bz_str_cmp(name, middle->name);

        if (order == 0)
            return middle;
        if (order > 0) {
            rows = middle + 1;
            n -= n / 2 + 1;
        } else {
            n /= 2;
        }
    }
    return NULL;
}

/* The position of a parameter, or BZ_STR_NONE. */
static size_t position(const char *params, struct bz_str name)
{
    struct bz_str rest = bz_str_from(params ? params : ""), word;
    size_t i;

    for (i = 0; bz_str_next_word(&rest, &word); i++) {
        if (bz_str_eq(word, name))
            return i;
    }
    return BZ_STR_NONE;
}

static int odd_call(struct bz_expr_run *r, const struct bz_expr_fn *fn)
{
    return bz_fail(r->err, BZ_E_NOSUP, "%.*s(): such a call is not known here",
                   BZ_STR_ARG(fn->name));
}

/* Puts arguments given by name where they belong. */
static int place(struct bz_expr_run *r, const struct bz_expr_fn *fn,
                 struct bz_expr_value *a, size_t *n, const struct bz_expr_named *named)
{
    size_t i;

    for (i = 0; i < named->n; i++) {
        size_t at = position(fn->params, named->names[i]);

        if (at == BZ_STR_NONE || at >= BZ_EXPR_CALL_ARGS ||
            (at < *n && a[at].kind != BZ_EXPR_ABSENT))
            return odd_call(r, fn);
        for (; *n <= at; ++*n)
            a[*n] = (struct bz_expr_value){.kind = BZ_EXPR_ABSENT};
        a[at] = named->values[i];
    }
    for (i = 0; i < fn->min; i++) {
        if (i >= *n || a[i].kind == BZ_EXPR_ABSENT)
            return odd_call(r, fn);
    }
    return 0;
}

/* Strings are read at least once, whatever is done with them. */
static int pay(struct bz_expr_run *r, const struct bz_expr_args *args)
{
    size_t i,
        bytes = args->self && args->self->kind == BZ_EXPR_STR ? args->self->s.n : 0;

    for (i = 0; i < args->n; i++)
        bytes += args->at[i].kind == BZ_EXPR_STR ? args->at[i].s.n : 0;
    return bz_expr_value_charge(r, bytes / 64);
}

int bz_expr_call(struct bz_expr_run *r, const struct bz_expr_fn *fn,
                 const struct bz_expr_value *self, struct bz_expr_value *a, size_t n,
                 const struct bz_expr_named *named, struct bz_expr_value *out)
{
    struct bz_expr_args args = {.self = self, .at = a, .how = fn->how};
    int rc;

    if (n > fn->max && fn->max != BZ_EXPR_CALL_ANY)
        return odd_call(r, fn);
    if (named->n > 0 && (rc = place(r, fn, a, &n, named)) < 0)
        return rc;
    if (n < fn->min)
        return odd_call(r, fn);
    args.n = n;
    rc = pay(r, &args);
    return rc < 0 ? rc : fn->call(r, &args, out);
}
