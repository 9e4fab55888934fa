#include "vars/expr_feature.h"

#include "vars/expr_bb.h"
#include "vars/expr_lib.h"
#include "vars/expr_list.h"
#include "vars/expr_str.h"
#include "vars/expr_table.h"

static bool has_word(struct bz_str words, struct bz_str s)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word)) {
        if (bz_str_eq(word, s))
            return true;
    }
    return false;
}

/* The words of a variable as a set, which has to have a value. */
static int var_words(struct bz_expr_run *r, const struct bz_expr_value *name,
                     struct bz_expr_value *text, struct bz_expr_value *set)
{
    int rc;

    if ((rc = bz_expr_lib_get(r, name, 0, text)) < 0 ||
        (rc = bz_expr_lib_want_str(r, text, "split")) < 0)
        return rc;
    return bz_expr_table_words(r, text, set);
}

/* both_contain(variable1, variable2, checkvalue, d) */
int bz_expr_feature_both(struct bz_expr_run *r, const struct bz_expr_args *a,
                         struct bz_expr_value *out)
{
    struct bz_expr_value text, one, two, wanted;
    bool in_one = false, in_two = false;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[3])) < 0 ||
        (rc = var_words(r, &a->at[0], &text, &one)) < 0 ||
        (rc = var_words(r, &a->at[1], &text, &two)) < 0 ||
        (rc = a->at[2].kind == BZ_EXPR_STR
                  ? bz_expr_table_words(r, &a->at[2], &wanted)
                  : bz_expr_table_set(r, &a->at[2], &wanted)) < 0 ||
        (rc = bz_expr_table_subset(r, wanted.seq, one.seq, &in_one)) < 0 ||
        (rc = bz_expr_table_subset(r, wanted.seq, two.seq, &in_two)) < 0)
        return rc;
    *out = bz_expr_value_str(BZ_STR(""));
    return in_one && in_two ? bz_expr_str_join(r, BZ_STR(" "), &wanted, out) : 0;
}

int bz_expr_feature_intersect(struct bz_expr_run *r, const struct bz_expr_args *a,
                              struct bz_expr_value *out)
{
    struct bz_expr_value text, one, two, both;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[2])) < 0 ||
        (rc = var_words(r, &a->at[0], &text, &one)) < 0 ||
        (rc = var_words(r, &a->at[1], &text, &two)) < 0 ||
        (rc = bz_expr_table_combine(r, &one, &two, BZ_EXPR_TOK_AMP, &both)) < 0)
        return rc;
    return bz_expr_str_join(r, BZ_STR(" "), &both, out);
}

/* The words of one variable that the other does not have, sorted; "*" is all. */
static int difference(struct bz_expr_run *r, const struct bz_expr_value *of,
                      const struct bz_expr_value *without, struct bz_expr_value *out)
{
    struct bz_expr_value one, two, left, sorted;
    int rc;

    *out = bz_expr_value_str(BZ_STR(""));
    if ((rc = bz_expr_lib_get(r, of, 0, &one)) < 0 || !bz_expr_value_true(&one) ||
        (rc = bz_expr_lib_get(r, without, 0, &two)) < 0)
        return rc;
    if (!bz_expr_value_true(&two)) {
        *out = one;
        return 0;
    }
    if (has_word(two.s, BZ_STR("*")))
        return 0;
    if ((rc = bz_expr_table_words(r, &one, &one)) < 0 ||
        (rc = bz_expr_table_words(r, &two, &two)) < 0 ||
        (rc = bz_expr_table_combine(r, &one, &two, BZ_EXPR_TOK_MINUS, &left)) < 0 ||
        (rc = bz_expr_list_sort(r, left.seq, NULL, false, &sorted)) < 0)
        return rc;
    return bz_expr_str_join(r, BZ_STR(" "), &sorted, out);
}

int bz_expr_feature_difference(struct bz_expr_run *r, const struct bz_expr_args *a,
                               struct bz_expr_value *out)
{
    int rc = bz_expr_lib_want_data(r, &a->at[2]);

    return rc < 0 ? rc : difference(r, &a->at[0], &a->at[1], out);
}

static int with_suffix(struct bz_expr_run *r, struct bz_str name, struct bz_str suffix,
                       struct bz_expr_value *out)
{
    char *text;
    int rc = bz_expr_value_room(r, name.n + suffix.n, &text);

    if (rc < 0)
        return rc;
    if (name.n)
        memcpy(text, name.p, name.n);
    memcpy(text + name.n, suffix.p, suffix.n);
    *out = bz_expr_value_str(bz_str_of(text, name.n + suffix.n));
    return 0;
}

/* What is on by default and not opted out of. */
int bz_expr_feature_defaults(struct bz_expr_run *r, const struct bz_expr_args *a,
                             struct bz_expr_value *out)
{
    struct bz_expr_value defaults, opted_out;
    int rc;

    if (a->at[0].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a variable's name that is no string");
    if ((rc = bz_expr_lib_want_data(r, &a->at[1])) < 0 ||
        (rc = with_suffix(r, a->at[0].s, BZ_STR("_DEFAULTS"), &defaults)) < 0 ||
        (rc = with_suffix(r, a->at[0].s, BZ_STR("_OPTED_OUT"), &opted_out)) < 0)
        return rc;
    return difference(r, &defaults, &opted_out, out);
}

/* all_distro_features(d, features, truevalue, falsevalue) and any_distro_features */
int bz_expr_feature_distro(struct bz_expr_run *r, const struct bz_expr_args *a,
                           struct bz_expr_value *out)
{
    struct bz_expr_value text;
    bool yes = false;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[0])) < 0 ||
        (rc = bz_expr_lib_get_named(r, BZ_STR("DISTRO_FEATURES"), &text)) < 0)
        return rc;
    if (bz_expr_value_true(&text))
        rc = bz_expr_bb_has(r, text.s, &a->at[1], a->how == BZ_EXPR_FEATURE_ANY, &yes);
    if (yes)
        *out = bz_expr_call_has(a, 2) ? a->at[2] : bz_expr_value_str(BZ_STR("1"));
    else
        *out = bz_expr_call_has(a, 3) ? a->at[3] : bz_expr_value_str(BZ_STR(""));
    return rc;
}
