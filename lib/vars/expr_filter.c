#include "vars/expr_filter.h"

#include "vars/expr.h"
#include "vars/expr_builtin.h"
#include "vars/expr_eval.h"
#include "vars/expr_lib.h"
#include "vars/expr_list.h"
#include "vars/expr_split.h"
#include "vars/expr_str.h"

enum { PREFIX, SUFFIX };

/* Each word with something before or after it. */
static int affix(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    struct bz_expr_value list;
    size_t i;
    int rc;

    if ((rc = bz_expr_lib_want_str(r, &a->at[0], "split")) < 0)
        return rc;
    if (a->at[1].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "an affix that is no string");
    if ((rc = bz_expr_split_words(r, &a->at[0], &list)) < 0)
        return rc;
    for (i = 0; i < list.seq->len; i++) {
        struct bz_str word = list.seq->at[i].s, more = a->at[1].s;
        char *text;

        if ((rc = bz_expr_value_room(r, word.n + more.n, &text)) < 0)
            return rc;
        memcpy(text + (a->how == PREFIX ? more.n : 0), word.p, word.n);
        if (more.n)
            memcpy(text + (a->how == PREFIX ? 0 : word.n), more.p, more.n);
        list.seq->at[i] = bz_expr_value_str(bz_str_of(text, word.n + more.n));
    }
    return bz_expr_str_join(r, BZ_STR(" "), &list, out);
}

static int sort(struct bz_expr_run *r, const struct bz_expr_args *a,
                struct bz_expr_value *out)
{
    struct bz_expr_value list, sorted;
    int rc;

    if ((rc = bz_expr_lib_want_str(r, &a->at[0], "split")) < 0 ||
        (rc = bz_expr_split_words(r, &a->at[0], &list)) < 0 ||
        (rc = bz_expr_list_sort(r, list.seq, NULL, false, &sorted)) < 0)
        return rc;
    return bz_expr_str_join(r, BZ_STR(" "), &sorted, out);
}

static int split_by(struct bz_expr_run *r, const struct bz_expr_value *v,
                    struct bz_str sep, struct bz_expr_value *out)
{
    int rc = bz_expr_lib_want_str(r, v, "split");

    if (rc < 0)
        return rc;
    return sep.n ? bz_expr_split_at(r, v, sep, out) : bz_expr_split_words(r, v, out);
}

/* remove(val, remove, sep=None): without those that are to be removed. */
static int remove_items(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    struct bz_expr_value wanted = a->at[1], list, left;
    struct bz_str sep = {0};
    size_t i;
    int rc = 0;

    if (bz_expr_call_has(a, 2) && a->at[2].kind != BZ_EXPR_NONE) {
        sep = a->at[2].s;
        if (a->at[2].kind != BZ_EXPR_STR || sep.n == 0)
            return bz_expr_value_unknown(r, "such a separator");
    }
    if (wanted.kind == BZ_EXPR_STR)
        rc = split_by(r, &wanted, sep, &wanted);
    if (rc < 0 || (rc = split_by(r, &a->at[0], sep, &list)) < 0)
        return rc;
    left = bz_expr_value_seq(BZ_EXPR_LIST, NULL);
    rc = bz_expr_value_new_seq(r, list.seq->len, &left.seq);
    for (i = 0; rc == 0 && i < list.seq->len; i++) {
        bool gone;

        rc = bz_expr_value_contains(r, &wanted, &list.seq->at[i], &gone);
        if (rc == 0 && !gone)
            rc = bz_expr_value_push(r, left.seq, &list.seq->at[i]);
    }
    return rc < 0 ? rc : bz_expr_str_join(r, sep.n ? sep : BZ_STR(" "), &left, out);
}

static const struct bz_expr_fn functions[] = {
    {BZ_STR("prefix"), 2, 2, "val prefix",     affix,        PREFIX},
    {BZ_STR("remove"), 2, 3, "val remove sep", remove_items, 0     },
    {BZ_STR("sort"),   1, 1, "val",            sort,         0     },
    {BZ_STR("suffix"), 2, 2, "val suffix",     affix,        SUFFIX},
};

static bool is_allowed(struct bz_str name)
{
    struct bz_str rest =
        BZ_STR("all any bin bool chr enumerate float format hex int len "
               "map max min oct ord pow str sum");
    struct bz_str word;

    while (bz_str_next_word(&rest, &word)) {
        if (bz_str_eq(word, name))
            return true;
    }
    return false;
}

int bz_expr_filter_name(struct bz_expr_run *r, struct bz_str name,
                        struct bz_expr_value *out)
{
    if (bz_str_eq(name, BZ_STR("val"))) {
        /* Whether Python sees it from inside of one depends on its version. */
        if (r->env)
            return bz_expr_value_unknown(r, "val within a comprehension");
        *out = bz_expr_value_str(*r->val);
        return 0;
    }
    out->kind = BZ_EXPR_FN;
    out->fn = bz_expr_call_search(functions, BZ_COUNTOF(functions), name);
    if (!out->fn && is_allowed(name)) {
        out->fn = bz_expr_builtin_find(name);
        if (!out->fn)
            return bz_fail(r->err, BZ_E_NOSUP, "%.*s: not known here",
                           BZ_STR_ARG(name));
    }
    if (out->fn)
        return 0;
    /* Metadata may add functions of its own, but none of Python's. */
    return bz_fail(r->err,
                   bz_expr_builtin_find(name) || bz_expr_builtin_reserved(name)
                       ? BZ_E_INVAL
                       : BZ_E_NOSUP,
                   "NameError: name '%.*s' is not defined", BZ_STR_ARG(name));
}

int bz_expr_filter(struct bz_vars *v, struct bz_str filter, struct bz_str value,
                   struct bz_str *out, struct bz_err *err)
{
    struct bz_expr_scratch mem;
    struct bz_expr_run r = {
        .val = &value, .mem = &mem, .budget = BZ_EXPR_VALUE_BUDGET, .err = err};
    struct bz_expr_node *tree;
    struct bz_expr_value result;
    int rc;

    *out = value;
    if (bz_str_trim(filter).n == 0)
        return 0;
    bz_expr_scratch_init(&mem);
    rc = bz_expr_parse(filter, &mem, &tree, err);
    if (rc == 0)
        rc = bz_expr_eval_node(&r, tree, &result);
    if (rc == 0 && result.kind != BZ_EXPR_STR)
        rc = bz_expr_value_unknown(&r, "a filter that gives no string");
    if (rc == 0)
        *out = bz_vars_keep(v, result.s);
    bz_expr_scratch_release(&mem);
    return rc;
}
