#include "vars/expr_bb.h"

#include "vars/constraint.h"
#include "vars/expr_case.h"
#include "vars/expr_fetch.h"
#include "vars/expr_lib.h"
#include "vars/expr_list.h"
#include "vars/expr_os.h"
#include "vars/expr_split.h"
#include "vars/expr_str.h"
#include "vars/expr_table.h"
#include "vars/expr_version.h"
#include "vars/vars.h"
#include "vars/version.h"

enum { ALL, ANY };

#define FEW 4 /* items that are looked for one by one */

static bool is_word(struct bz_str text, size_t from, size_t to)
{
    struct bz_str before = bz_str_sub(text, from > 3 ? from - 3 : 0, from);
    struct bz_str after = bz_str_sub(text, to, to + 3 < text.n ? to + 3 : text.n);

    return (from == 0 || bz_str_trim_end(before).n < before.n) &&
           (to == text.n || bz_str_trim_start(after).n < after.n);
}

/* Whether a word is among the words of a text. Searching for its bytes and then looking
 * at what is around them is much faster than taking the text apart. A word that has
 * them inside is skipped as a whole. */
static bool has_word(struct bz_str text, struct bz_str word)
{
    size_t at;

    while ((at = bz_str_find(text, word)) != BZ_STR_NONE) {
        struct bz_str longer;

        if (is_word(text, at, at + word.n))
            return true;
        text = bz_str_sub(text, at, text.n);
        (void)bz_str_next_word(&text, &longer);
    }
    return false;
}

bool bz_expr_bb_has_few(struct bz_str text, struct bz_str wanted, bool any, bool *out)
{
    struct bz_str word;
    unsigned n;

    for (n = 0; bz_str_next_word(&wanted, &word); n++) {
        if (n == FEW)
            return false;
        if (has_word(text, word) == any) {
            *out = any;
            return true;
        }
    }
    *out = !any;
    return true;
}

static int words_or_items(struct bz_expr_run *r, const struct bz_expr_value *v,
                          struct bz_expr_value *out)
{
    return v->kind == BZ_EXPR_STR ? bz_expr_table_words(r, v, out)
                                  : bz_expr_table_set(r, v, out);
}

int bz_expr_bb_has(struct bz_expr_run *r, struct bz_str text,
                   const struct bz_expr_value *items, bool any, bool *out)
{
    struct bz_expr_value value = bz_expr_value_str(text), have, want, both;
    int rc = bz_expr_value_charge(r, text.n / 16);

    if (rc < 0 ||
        (items->kind == BZ_EXPR_STR && bz_expr_bb_has_few(text, items->s, any, out)))
        return rc;
    if ((rc = bz_expr_table_words(r, &value, &have)) < 0 ||
        (rc = words_or_items(r, items, &want)) < 0)
        return rc;
    if (!any)
        return bz_expr_table_subset(r, want.seq, have.seq, out);
    rc = bz_expr_table_combine(r, &want, &have, BZ_EXPR_TOK_AMP, &both);
    *out = rc == 0 && both.seq->len > 0;
    return rc;
}

/* contains(variable, checkvalues, truevalue, falsevalue, d) and contains_any */
static int contains(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    struct bz_expr_value text;
    bool yes = false;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[4])) < 0 ||
        (rc = bz_expr_lib_get(r, &a->at[0], 0, &text)) < 0)
        return rc;
    if (bz_expr_value_true(&text))
        rc = bz_expr_bb_has(r, text.s, &a->at[1], a->how == ANY, &yes);
    *out = yes ? a->at[2] : a->at[3];
    return rc;
}

/* Those keys of a set that are words of a text, as a set. Only of words it can be asked
 * one by one whether they are there. */
static int wanted_words(struct bz_expr_run *r, const struct bz_expr_value *text,
                        const struct bz_expr_value *want, bool words,
                        struct bz_expr_value *out)
{
    struct bz_expr_value have;
    size_t i;
    int rc;

    if (!words || want->seq->len > FEW) {
        rc = bz_expr_table_words(r, text, &have);
        return rc < 0 ? rc
                      : bz_expr_table_combine(r, want, &have, BZ_EXPR_TOK_AMP, out);
    }
    *out = bz_expr_value_seq(BZ_EXPR_SET, NULL);
    rc = bz_expr_value_new_seq(r, want->seq->len, &out->seq);
    for (i = 0; rc == 0 && i < want->seq->len; i++) {
        if (has_word(text->s, want->seq->at[i].s))
            rc = bz_expr_value_push(r, out->seq, &want->seq->at[i]);
    }
    return rc;
}

int bz_expr_bb_filter_string(struct bz_expr_run *r, const struct bz_expr_value *text,
                             const struct bz_expr_value *items,
                             struct bz_expr_value *out)
{
    struct bz_expr_value want, both, sorted;
    int rc;

    *out = bz_expr_value_str(BZ_STR(""));
    if (!bz_expr_value_true(text))
        return 0;
    if ((rc = bz_expr_lib_want_str(r, text, "split")) < 0 ||
        (rc = bz_expr_value_charge(r, text->s.n / 16)) < 0 ||
        (rc = words_or_items(r, items, &want)) < 0 ||
        (rc = wanted_words(r, text, &want, items->kind == BZ_EXPR_STR, &both)) < 0 ||
        (rc = bz_expr_list_sort(r, both.seq, NULL, false, &sorted)) < 0)
        return rc;
    return bz_expr_str_join(r, BZ_STR(" "), &sorted, out);
}

static int filter(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    struct bz_expr_value text;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[2])) < 0 ||
        (rc = bz_expr_lib_get(r, &a->at[0], 0, &text)) < 0)
        return rc;
    return bz_expr_bb_filter_string(r, &text, &a->at[1], out);
}

static int filter_string(struct bz_expr_run *r, const struct bz_expr_args *a,
                         struct bz_expr_value *out)
{
    return bz_expr_bb_filter_string(r, &a->at[0], &a->at[1], out);
}

static int to_boolean(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    const struct bz_expr_value *v = &a->at[0];
    struct bz_expr_value lower;
    int rc;

    if (!bz_expr_value_true(v)) {
        *out = bz_expr_call_has(a, 1) ? a->at[1] : bz_expr_value_none();
        return 0;
    }
    if (bz_expr_value_is_int(v)) {
        *out = bz_expr_value_bool(v->i != 0);
        return 0;
    }
    if ((rc = bz_expr_lib_want_str(r, v, "lower")) < 0 ||
        (rc = bz_expr_case_lower(r, v->s, &lower)) < 0)
        return rc;
    *out = bz_expr_value_bool(has_word(BZ_STR("y yes 1 true"), lower.s));
    if (out->i || has_word(BZ_STR("n no 0 false"), lower.s))
        return 0;
    return bz_fail(r->err, BZ_E_INVAL, "ValueError: Invalid value for to_boolean: %.*s",
                   BZ_STR_ARG(v->s));
}

static int vercmp_string(struct bz_expr_run *r, const struct bz_expr_args *a,
                         struct bz_expr_value *out)
{
    *out = bz_expr_value_int(0);
    return bz_expr_version_compare(r, &a->at[0], &a->at[1], &out->i);
}

static int vercmp_string_op(struct bz_expr_run *r, const struct bz_expr_args *a,
                            struct bz_expr_value *out)
{
    int64_t order;
    bool holds, known;
    int rc = bz_expr_version_compare(r, &a->at[0], &a->at[1], &order);

    if (rc < 0)
        return rc;
    if (a->at[2].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "such an operator");
    holds = bz_version_holds(order, a->at[2].s, &known);
    *out = bz_expr_value_bool(holds);
    if (known)
        return 0;
    return bz_fail(r->err, BZ_E_INVAL,
                   "VersionStringException: Unsupported comparison operator \"%.*s\"",
                   BZ_STR_ARG(a->at[2].s));
}

/* The names in "a (>= 1.0) b", without what is in brackets. */
static int explode_deps(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    struct bz_str rest, word;
    struct bz_expr_seq *to;
    int rc;

    if ((rc = bz_expr_lib_want_str(r, &a->at[0], "split")) < 0 ||
        (rc = bz_expr_value_charge(r, a->at[0].s.n / 16)) < 0 ||
        (rc = bz_expr_value_new_seq(r, 0, &to)) < 0)
        return rc;
    rest = a->at[0].s;
    while (rc == 0 && bz_constraint_next_name(&rest, &word)) {
        struct bz_expr_value v = bz_expr_value_part(&a->at[0], word);

        rc = bz_expr_value_push(r, to, &v);
    }
    *out = bz_expr_value_seq(BZ_EXPR_LIST, to);
    return rc;
}

static int cpu_count(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    (void)a;
    *out = bz_expr_value_int(0);
    return bz_expr_os_cpus(r, &out->i);
}

/* The parts of a list of directories. */
static int search_path(struct bz_expr_run *r, const struct bz_expr_value *path,
                       struct bz_expr_seq **out)
{
    struct bz_expr_value text = bz_expr_value_str(BZ_STR("")), parts = {0};
    int rc = 0;

    if (bz_expr_value_true(path)) {
        text = *path;
        rc = bz_expr_lib_want_str(r, &text, "split");
    }
    if (rc == 0)
        rc = bz_expr_split_at(r, &text, BZ_STR(":"), &parts);
    *out = parts.seq;
    return rc;
}

/* Whether which() is told to search from the end: its direction != 0. */
static bool is_backward(const struct bz_expr_args *a)
{
    return bz_expr_call_has(a, 2) &&
           (!bz_expr_value_is_int(&a->at[2]) || a->at[2].i != 0);
}

/* which(path, item, direction=0, history=False, executable=False). What is tried is
 * only known where it does not depend on the directory BitBake runs in. */
static int which(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    struct bz_expr_value next = {0}, list;
    struct bz_expr_seq *dirs, *tried, *both;
    bool found = false;
    int rc;

    *out = bz_expr_value_str(BZ_STR(""));
    if (a->at[1].kind != BZ_EXPR_STR ||
        (bz_expr_call_has(a, 2) && a->at[2].kind == BZ_EXPR_FLOAT))
        return bz_expr_value_unknown(r, "which() called so");
    if ((rc = search_path(r, &a->at[0], &dirs)) < 0 ||
        (rc = bz_expr_value_new_seq(r, 0, &tried)) < 0)
        return rc;
    for (size_t i = 0; rc == 0 && !found && i < dirs->len; i++) {
        size_t at = is_backward(a) ? dirs->len - 1 - i : i;

        rc = bz_expr_os_join(r, dirs->at[at].s, a->at[1].s, &next);
        if (rc == 0)
            rc = bz_expr_value_push(r, tried, &next);
        bz_expr_os_impure(r, false);
        if (rc == 0)
            rc = bz_expr_os_exists(r, next.s, bz_expr_call_flag(a, 4, false), &found);
    }
    if (found)
        *out = next;
    if (rc < 0 || !bz_expr_call_flag(a, 3, false))
        return rc;
    list = bz_expr_value_seq(BZ_EXPR_LIST, tried);
    if ((rc = bz_expr_value_new_seq(r, 2, &both)) < 0 ||
        (rc = bz_expr_value_push(r, both, out)) < 0 ||
        (rc = bz_expr_value_push(r, both, &list)) < 0)
        return rc;
    *out = bz_expr_value_seq(BZ_EXPR_TUPLE, both);
    return 0;
}

int bz_expr_bb_inherits(struct bz_expr_run *r, const struct bz_expr_value *name,
                        bool *out)
{
    struct bz_expr_value key = bz_expr_value_str(BZ_STR("__inherit_cache")), files;
    struct bz_str rest, file;
    int rc;

    *out = false;
    if (name->kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a class that is no string");
    if ((rc = bz_expr_lib_get(r, &key, BZ_VARS_RAW, &files)) < 0 ||
        files.kind != BZ_EXPR_STR || (rc = bz_expr_value_charge(r, files.s.n / 16)) < 0)
        return rc;
    rest = files.s;
    while (!*out && bz_str_next_word(&rest, &file))
        *out = bz_str_cut_suffix(&file, BZ_STR(".bbclass")) &&
               bz_str_cut_suffix(&file, name->s) && bz_str_ends(file, BZ_STR("/"));
    return 0;
}

static int inherits_class(struct bz_expr_run *r, const struct bz_expr_args *a,
                          struct bz_expr_value *out)
{
    bool yes = false;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[1])) == 0)
        rc = bz_expr_bb_inherits(r, &a->at[0], &yes);
    *out = bz_expr_value_bool(yes);
    return rc;
}

/* Name, version and revision out of "dir/name_version_revision.bb", None for those that
 * are missing. */
static int vars_from_file(struct bz_expr_run *r, const struct bz_expr_args *a,
                          struct bz_expr_value *out)
{
    const struct bz_expr_value *file = &a->at[0], none = bz_expr_value_none();
    struct bz_str stem;
    struct bz_expr_value base;
    size_t slash;
    int rc;

    if (file->kind != BZ_EXPR_STR && file->kind != BZ_EXPR_NONE)
        return bz_expr_value_unknown(r, "a file's name that is no string");
    stem = file->kind == BZ_EXPR_STR ? file->s : BZ_STR("");
    slash = bz_str_rfind_byte(stem, '/');
    *out = (struct bz_expr_value){.kind = BZ_EXPR_TUPLE};
    if (!bz_str_cut_suffix(&stem, BZ_STR(".bb")) &&
        !bz_str_cut_suffix(&stem, BZ_STR(".bbappend"))) {
        rc = bz_expr_value_new_seq(r, 3, &out->seq);
    } else {
        if (slash != BZ_STR_NONE)
            stem = bz_str_sub(stem, slash + 1, stem.n);
        /* A name of dots alone has no extension to cut off. */
        if (stem.n == 0 || bz_expr_str_strip(stem, BZ_STR(".")).n == 0)
            return bz_expr_value_unknown(r, "such a file name");
        base = bz_expr_value_part(file, stem);
        rc = bz_expr_split_at(r, &base, BZ_STR("_"), out);
    }
    if (rc == 0 && out->seq->len > 3)
        return bz_fail(r->err, BZ_E_INVAL,
                       "ParseError: ParseError in %.*s: Unable to generate default "
                       "variables from filename (too many underscores)",
                       BZ_STR_ARG(file->s));
    while (rc == 0 && out->seq->len < 3)
        rc = bz_expr_value_push(r, out->seq, &none);
    return rc;
}

static const char contains_params[] = "variable checkvalues truevalue falsevalue d";

static const struct bz_expr_fn functions[] = {
    {BZ_STR("bb.data.inherits_class"),           2, 2, "klass d",                                inherits_class,     0  },
    {BZ_STR("bb.fetch.get_checksum_file_list"),  1, 1, "d",                                      bz_expr_fetch_list, 0  },
    {BZ_STR("bb.fetch2.get_checksum_file_list"), 1, 1, "d",                                      bz_expr_fetch_list, 0  },
    {BZ_STR("bb.parse.vars_from_file"),          2, 2, NULL,                                     vars_from_file,     0  },
    {BZ_STR("bb.utils.contains"),                5, 5, contains_params,                          contains,           ALL},
    {BZ_STR("bb.utils.contains_any"),            5, 5, contains_params,                          contains,           ANY},
    {BZ_STR("bb.utils.cpu_count"),               0, 0, NULL,                                     cpu_count,          0  },
    {BZ_STR("bb.utils.explode_deps"),            1, 1, NULL,                                     explode_deps,       0  },
    {BZ_STR("bb.utils.filter"),                  3, 3, "variable checkvalues d",                 filter,             0  },
    {BZ_STR("bb.utils.filter_string"),           2, 2, "val checkvalues",                        filter_string,      0  },
    {BZ_STR("bb.utils.to_boolean"),              1, 2, "string default",                         to_boolean,         0  },
    {BZ_STR("bb.utils.vercmp_string"),           2, 2, "a b",                                    vercmp_string,      0  },
    {BZ_STR("bb.utils.vercmp_string_op"),        3, 3, "a b op",                                 vercmp_string_op,   0  },
    {BZ_STR("bb.utils.which"),                   2, 5, "path item direction history executable", which,
     0                                                                                                                  },
};

const struct bz_expr_fn *bz_expr_bb_find(struct bz_str name)
{
    return bz_expr_call_search(functions, BZ_COUNTOF(functions), name);
}
