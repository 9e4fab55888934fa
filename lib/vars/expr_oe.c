#include "vars/expr_oe.h"

#include "vars/expr_bb.h"
#include "vars/expr_case.h"
#include "vars/expr_feature.h"
#include "vars/expr_format.h"
#include "vars/expr_lib.h"
#include "vars/expr_os.h"
#include "vars/expr_real.h"
#include "vars/expr_split.h"
#include "vars/expr_str.h"
#include "vars/expr_text.h"
#include "vars/expr_version.h"

enum { KEEP, DROP };

/* conditional(variable, checkvalue, truevalue, falsevalue, d) */
static int conditional(struct bz_expr_run *r, const struct bz_expr_args *a,
                       struct bz_expr_value *out)
{
    struct bz_expr_value value;
    bool equal = false;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[4])) < 0 ||
        (rc = bz_expr_lib_get(r, &a->at[0], 0, &value)) < 0 ||
        (rc = bz_expr_value_equal(r, &value, &a->at[1], &equal)) < 0)
        return rc;
    *out = equal ? a->at[2] : a->at[3];
    return 0;
}

static int ifelse(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    size_t i = bz_expr_value_true(&a->at[0]) ? 1 : 2;

    *out = bz_expr_call_has(a, i) ? a->at[i] : bz_expr_value_bool(i == 1);
    return bz_expr_value_charge(r, 1);
}

static bool among(struct bz_str words, struct bz_str s)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word)) {
        if (bz_str_eq(word, s))
            return true;
    }
    return false;
}

static int truth_of(struct bz_expr_run *r, const struct bz_expr_value *v, bool *out)
{
    struct bz_expr_value lower;
    int rc;

    *out = false;
    if (v->kind == BZ_EXPR_NONE)
        return 0;
    if (v->kind == BZ_EXPR_BOOL) {
        *out = v->i;
        return 0;
    }
    if (v->kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a boolean of such a type");
    if ((rc = bz_expr_case_lower(r, v->s, &lower)) < 0)
        return rc;
    *out = among(BZ_STR("yes y true t 1"), lower.s);
    if (*out || among(BZ_STR("no n false f 0"), lower.s))
        return 0;
    return bz_fail(r->err, BZ_E_INVAL, "ValueError: Invalid boolean value '%.*s'",
                   BZ_STR_ARG(lower.s));
}

static int boolean(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    bool yes;
    int rc = truth_of(r, &a->at[0], &yes);

    *out = bz_expr_value_bool(yes);
    return rc;
}

/* vartrue(var, iftrue, iffalse, d) */
static int vartrue(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    struct bz_expr_value value;
    bool yes;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[3])) < 0 ||
        (rc = bz_expr_lib_get(r, &a->at[0], 0, &value)) < 0 ||
        (rc = truth_of(r, &value, &yes)) < 0)
        return rc;
    *out = yes ? a->at[1] : a->at[2];
    return 0;
}

static int to_float(struct bz_expr_run *r, const struct bz_expr_value *v, double *out)
{
    if (v->kind == BZ_EXPR_STR)
        return bz_expr_text_float(r, v->s, out);
    *out = v->kind == BZ_EXPR_FLOAT ? v->f : (double)v->i;
    if (bz_expr_value_is_int(v) || v->kind == BZ_EXPR_FLOAT)
        return 0;
    return bz_fail(r->err, BZ_E_INVAL,
                   "TypeError: float() argument must be a string or a real number, not "
                   "'%s'",
                   bz_expr_value_type(v));
}

/* less_or_equal(variable, checkvalue, truevalue, falsevalue, d) */
static int less_or_equal(struct bz_expr_run *r, const struct bz_expr_args *a,
                         struct bz_expr_value *out)
{
    struct bz_expr_value value;
    double x, y;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[4])) < 0 ||
        (rc = bz_expr_lib_get(r, &a->at[0], 0, &value)) < 0 ||
        (rc = to_float(r, &value, &x)) < 0 || (rc = to_float(r, &a->at[1], &y)) < 0)
        return rc;
    *out = x <= y ? a->at[2] : a->at[3];
    return 0;
}

static int version_less_or_equal(struct bz_expr_run *r, const struct bz_expr_args *a,
                                 struct bz_expr_value *out)
{
    struct bz_expr_value value;
    int64_t order;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[4])) < 0 ||
        (rc = bz_expr_lib_get(r, &a->at[0], 0, &value)) < 0 ||
        (rc = bz_expr_version_compare(r, &value, &a->at[1], &order)) < 0)
        return rc;
    *out = order <= 0 ? a->at[2] : a->at[3];
    return 0;
}

/* prune_suffix(var, suffixes, d) */
static int prune_suffix(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    struct bz_expr_seq *suffixes;
    struct bz_expr_value prefix;
    struct bz_str s = a->at[0].s;
    size_t i;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[2])) < 0 ||
        (rc = bz_expr_value_items(r, &a->at[1], &suffixes)) < 0)
        return rc;
    for (i = 0; i < suffixes->len; i++) {
        if (!bz_expr_value_true(&suffixes->at[i]))
            continue;
        if (suffixes->at[i].kind != BZ_EXPR_STR)
            return bz_expr_value_unknown(r, "a suffix that is no string");
        if ((rc = bz_expr_lib_want_str(r, &a->at[0], "endswith")) < 0)
            return rc;
        (void)bz_str_cut_suffix(&s, suffixes->at[i].s);
    }
    if ((rc = bz_expr_lib_get_named(r, BZ_STR("MLPREFIX"), &prefix)) < 0)
        return rc;
    if (bz_expr_value_true(&prefix)) {
        if ((rc = bz_expr_lib_want_str(r, &a->at[0], "startswith")) < 0)
            return rc;
        (void)bz_str_cut_prefix(&s, prefix.s);
    }
    *out = a->at[0];
    if (out->kind == BZ_EXPR_STR)
        out->s = s;
    return 0;
}

/* Those words that match, or do not. A pattern without special characters matches what
 * begins with it. */
static int str_filter(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    struct bz_str rest, word;
    struct bz_expr_value list;
    struct bz_expr_seq *seq;
    size_t i;
    int rc;

    if (a->at[0].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a pattern that is no string");
    if ((rc = bz_expr_lib_want_str(r, &a->at[1], "split")) < 0 ||
        (rc = bz_expr_value_new_seq(r, 0, &seq)) < 0)
        return rc;
    for (i = 0; i < a->at[0].s.n; i++) {
        if (!a->at[0].s.p[i] || strchr(".^$*+?{}[]\\|()", a->at[0].s.p[i]))
            return bz_expr_value_unknown(r, "a regular expression");
    }
    rest = a->at[1].s;
    while (rc == 0 && bz_str_next_word(&rest, &word)) {
        struct bz_expr_value v = bz_expr_value_part(&a->at[1], word);

        if (bz_str_starts(word, a->at[0].s) == (a->how == KEEP))
            rc = bz_expr_value_push(r, seq, &v);
    }
    if (rc < 0)
        return rc;
    list = bz_expr_value_seq(BZ_EXPR_LIST, seq);
    return bz_expr_str_join(r, BZ_STR(" "), &list, out);
}

/* Each word with ":task" after it. */
static int build_depends_string(struct bz_expr_run *r, const struct bz_expr_args *a,
                                struct bz_expr_value *out)
{
    struct bz_str rest, word, task;
    size_t words = 0;
    char *text, *to;
    int rc;

    if ((rc = bz_expr_lib_want_str(r, &a->at[0], "split")) < 0)
        return rc;
    if (a->at[1].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a task that is no string");
    task = a->at[1].s;
    for (rest = a->at[0].s; bz_str_next_word(&rest, &word);)
        words++;
    if ((rc = bz_expr_value_charge(r, words * (task.n / 16 + 1))) < 0 ||
        (rc = bz_expr_value_room(r, a->at[0].s.n + words * (task.n + 2), &text)) < 0)
        return rc;
    for (to = text, rest = a->at[0].s; bz_str_next_word(&rest, &word);) {
        if (to > text)
            *to++ = ' ';
        to = mempcpy(to, word.p, word.n);
        *to++ = ':';
        if (task.n)
            to = mempcpy(to, task.p, task.n);
    }
    *out = bz_expr_value_str(bz_str_of(text, (size_t)(to - text)));
    return 0;
}

/* inherits(d, *classes) */
static int inherits(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    bool yes = false;
    size_t i;
    int rc = bz_expr_lib_want_data(r, &a->at[0]);

    for (i = 1; rc == 0 && !yes && i < a->n; i++)
        rc = bz_expr_bb_inherits(r, &a->at[i], &yes);
    *out = bz_expr_value_bool(yes);
    return rc;
}

/* trim_version(version, num_parts=2): the first parts of it. */
static int trim_version(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    int64_t parts = bz_expr_call_has(a, 1) ? a->at[1].i : 2;
    struct bz_str s = a->at[0].s;
    size_t i;

    if (a->at[0].kind != BZ_EXPR_STR)
        return bz_fail(r->err, BZ_E_INVAL, "TypeError: Version should be a string");
    if (bz_expr_call_has(a, 1) && !bz_expr_value_is_int(&a->at[1]))
        return bz_expr_value_unknown(r, "such a number of parts");
    if (parts < 1)
        return bz_fail(r->err, BZ_E_INVAL, "ValueError: Cannot split to parts < 1");
    for (i = 0; i < s.n; i++) {
        if (s.p[i] == '.' && --parts == 0)
            break;
    }
    *out = bz_expr_value_part(&a->at[0], bz_str_sub(s, 0, i));
    return bz_expr_value_charge(r, s.n / 64);
}

/* The number after -j in a variable of make's options, or "". */
static int make_jobs(struct bz_expr_run *r, bool install, struct bz_expr_value *out)
{
    struct bz_expr_value options;
    struct bz_str rest, word;
    int rc;

    *out = bz_expr_value_str(BZ_STR(""));
    rc = bz_expr_lib_get_named(
        r, install ? BZ_STR("PARALLEL_MAKEINST") : BZ_STR("PARALLEL_MAKE"), &options);
    if (rc < 0 || options.kind != BZ_EXPR_STR)
        return rc;
    rest = options.s;
    while (bz_str_next_word(&rest, &word)) {
        if (!bz_str_cut_prefix(&word, BZ_STR("-j")))
            continue;
        if (word.n == 0 && !bz_str_next_word(&rest, &word))
            return bz_fail(r->err, BZ_E_INVAL, "IndexError: pop from empty list");
        *out = bz_expr_value_int(0);
        return bz_expr_text_int(r, word, 10, &out->i);
    }
    return 0;
}

/* parallel_make(d, makeinst=False) */
static int parallel_make(struct bz_expr_run *r, const struct bz_expr_args *a,
                         struct bz_expr_value *out)
{
    int rc = bz_expr_lib_want_data(r, &a->at[0]);

    return rc < 0 ? rc : make_jobs(r, bz_expr_call_flag(a, 1, false), out);
}

/* parallel_make_argument(d, fmt, limit=None, makeinst=False) */
static int parallel_make_argument(struct bz_expr_run *r, const struct bz_expr_args *a,
                                  struct bz_expr_value *out)
{
    struct bz_expr_value jobs;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[0])) < 0 ||
        (rc = make_jobs(r, bz_expr_call_flag(a, 3, false), &jobs)) < 0)
        return rc;
    *out = bz_expr_value_str(BZ_STR(""));
    if (!bz_expr_value_true(&jobs))
        return 0;
    if (a->at[1].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "such a format");
    if (bz_expr_call_flag(a, 2, false)) {
        if (!bz_expr_value_is_int(&a->at[2]))
            return bz_expr_value_unknown(r, "such a limit");
        if (a->at[2].i <= jobs.i)
            jobs = a->at[2];
    }
    return bz_expr_format_percent(r, a->at[1].s, &jobs, out);
}

/* cpu_count(at_least=1, at_most=64) */
static int cpu_count(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    int64_t least = 1, most = 64, cpus;
    int rc = bz_expr_os_cpus(r, &cpus);

    if (rc < 0)
        return rc;
    if ((bz_expr_call_has(a, 0) && a->at[0].kind != BZ_EXPR_INT) ||
        (bz_expr_call_has(a, 1) && a->at[1].kind != BZ_EXPR_INT))
        return bz_expr_value_unknown(r, "such a number of processors");
    least = bz_expr_call_has(a, 0) ? a->at[0].i : least;
    most = bz_expr_call_has(a, 1) ? a->at[1].i : most;
    cpus = cpus < most ? cpus : most;
    *out = bz_expr_value_int(cpus > least ? cpus : least);
    return 0;
}

/* base_set_filespath(path, d): each directory with each override below it, the most
 * special override first. */
static int base_set_filespath(struct bz_expr_run *r, const struct bz_expr_args *a,
                              struct bz_expr_value *out)
{
    struct bz_expr_value extra, overrides, dirs, list, item;
    struct bz_expr_seq *more, *seq;
    size_t i, o;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[1])) < 0 ||
        (rc = bz_expr_lib_get_named(r, BZ_STR("FILESEXTRAPATHS"), &extra)) < 0 ||
        (rc = bz_expr_lib_get_named(r, BZ_STR("FILESOVERRIDES"), &overrides)) < 0)
        return rc;
    if (a->at[0].kind != BZ_EXPR_LIST)
        return bz_expr_value_unknown(r, "directories that are no list");
    if (extra.kind != BZ_EXPR_STR)
        extra = bz_expr_value_str(BZ_STR(""));
    if (overrides.kind != BZ_EXPR_STR)
        overrides = bz_expr_value_str(BZ_STR(""));
    if ((rc = bz_expr_str_replace(r, &extra, BZ_STR("__default:"), BZ_STR(""), -1,
                                  &extra)) < 0 ||
        (rc = bz_expr_split_at(r, &extra, BZ_STR(":"), &dirs)) < 0 ||
        (rc = bz_expr_split_at(r, &overrides, BZ_STR(":"), &overrides)) < 0 ||
        (rc = bz_expr_value_new_seq(r, 0, &seq)) < 0)
        return rc;
    more = a->at[0].seq;
    for (i = 0; rc == 0 && i < more->len; i++) {
        if (more->at[i].kind != BZ_EXPR_STR)
            return bz_expr_value_unknown(r, "a directory that is no string");
        rc = bz_expr_value_push(r, dirs.seq, &more->at[i]);
    }
    /* Before the first override there is an empty one, and all are walked backwards. */
    for (o = overrides.seq->len + 1; rc == 0 && o > 0; o--) {
        struct bz_str name = o > 1 ? overrides.seq->at[o - 2].s : BZ_STR("");

        for (i = 0; rc == 0 && i < dirs.seq->len; i++) {
            if (dirs.seq->at[i].s.n == 0)
                continue;
            rc = bz_expr_os_join(r, dirs.seq->at[i].s, name, &item);
            if (rc == 0)
                rc = bz_expr_value_push(r, seq, &item);
        }
    }
    if (rc < 0)
        return rc;
    list = bz_expr_value_seq(BZ_EXPR_LIST, seq);
    return bz_expr_str_join(r, BZ_STR(":"), &list, out);
}

/* multilib_pkg_extend(d, pkg): the package, and its name in each multilib. */
static int multilib_pkg_extend(struct bz_expr_run *r, const struct bz_expr_args *a,
                               struct bz_expr_value *out)
{
    static const struct bz_str format = {"%s-%s", 5};
    struct bz_expr_value variants, list;
    struct bz_str rest, word;
    struct bz_expr_seq *seq;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[0])) < 0 ||
        (rc = bz_expr_lib_get_named(r, BZ_STR("MULTILIB_VARIANTS"), &variants)) < 0 ||
        (rc = bz_expr_value_new_seq(r, 1, &seq)) < 0)
        return rc;
    if (a->at[1].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a package that is no string");
    rc = bz_expr_value_push(r, seq, &a->at[1]);
    rest = variants.kind == BZ_EXPR_STR ? variants.s : BZ_STR("");
    while (rc == 0 && bz_str_next_word(&rest, &word)) {
        struct bz_expr_value both[] = {bz_expr_value_str(word), a->at[1]};
        struct bz_expr_seq pair = {.at = both, .len = 2};
        struct bz_expr_value tuple = bz_expr_value_seq(BZ_EXPR_TUPLE, &pair), name;

        rc = bz_expr_format_percent(r, format, &tuple, &name);
        if (rc == 0)
            rc = bz_expr_value_push(r, seq, &name);
    }
    if (rc < 0)
        return rc;
    list = bz_expr_value_seq(BZ_EXPR_LIST, seq);
    return bz_expr_str_join(r, BZ_STR(" "), &list, out);
}

/* extend_variants(d, var, extend, delim=':'): what stands after "extend:" in words. */
static int extend_variants(struct bz_expr_run *r, const struct bz_expr_args *a,
                           struct bz_expr_value *out)
{
    struct bz_expr_value whole, list;
    struct bz_str rest, word;
    struct bz_expr_seq *seq;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[0])) < 0 ||
        (rc = bz_expr_lib_get(r, &a->at[1], 0, &whole)) < 0 ||
        (rc = bz_expr_value_new_seq(r, 0, &seq)) < 0)
        return rc;
    if (a->at[2].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "an extension that is no string");
    rest = whole.kind == BZ_EXPR_STR ? whole.s : BZ_STR("");
    while (rc == 0 && bz_str_next_word(&rest, &word)) {
        struct bz_expr_value v;

        if (!bz_str_cut_prefix(&word, a->at[2].s) ||
            !bz_str_cut_prefix(&word, BZ_STR(":")))
            continue;
        (void)bz_str_cut(word, ':', &word, &(struct bz_str){0});
        v = bz_expr_value_part(&whole, word);
        rc = bz_expr_value_push(r, seq, &v);
    }
    if (rc < 0)
        return rc;
    list = bz_expr_value_seq(BZ_EXPR_LIST, seq);
    return bz_expr_str_join(r, BZ_STR(" "), &list, out);
}

/* oe.path.join(*paths), which does not care for absolute ones in the middle. */
static int path_join(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    struct bz_expr_seq seq = {.len = a->n, .cap = a->n};
    struct bz_expr_value all = bz_expr_value_seq(BZ_EXPR_LIST, &seq), text;
    int rc = bz_expr_value_charge(r, a->n);

    if (rc < 0)
        return rc;
    seq.at = bz_expr_scratch_alloc(r->mem, a->n * sizeof(*seq.at));
    if (a->n)
        memcpy(seq.at, a->at, a->n * sizeof(*seq.at));
    if ((rc = bz_expr_str_join(r, BZ_STR("/"), &all, &text)) < 0)
        return rc;
    return bz_expr_os_normpath(r, text.s, out);
}

/* oe.path.relative(src, dest) */
static int path_relative(struct bz_expr_run *r, const struct bz_expr_args *a,
                         struct bz_expr_value *out)
{
    return bz_expr_os_relpath(r, &a->at[1], &a->at[0], out);
}

static const char test_params[] = "variable checkvalue truevalue falsevalue d";

static const struct bz_expr_fn functions[] = {
    {BZ_STR("oe.path.canonicalize"),             1, 2,                "paths sep",                       bz_expr_real_list,          0                  },
    {BZ_STR("oe.path.join"),                     1, BZ_EXPR_CALL_ANY, NULL,                              path_join,                  0                  },
    {BZ_STR("oe.path.relative"),                 2, 2,                "src dest",                        path_relative,              0                  },
    {BZ_STR("oe.types.boolean"),                 1, 1,                NULL,                              boolean,                    0                  },
    {BZ_STR("oe.utils.all_distro_features"),     2, 4,                "d features truevalue falsevalue",
     bz_expr_feature_distro,                                                                                                         BZ_EXPR_FEATURE_ALL},
    {BZ_STR("oe.utils.any_distro_features"),     2, 4,                "d features truevalue falsevalue",
     bz_expr_feature_distro,                                                                                                         BZ_EXPR_FEATURE_ANY},
    {BZ_STR("oe.utils.base_set_filespath"),      2, 2,                NULL,                              base_set_filespath,         0                  },
    {BZ_STR("oe.utils.both_contain"),            4, 4,                NULL,                              bz_expr_feature_both,       0                  },
    {BZ_STR("oe.utils.build_depends_string"),    2, 2,                NULL,                              build_depends_string,       0                  },
    {BZ_STR("oe.utils.conditional"),             5, 5,                test_params,                       conditional,                0                  },
    {BZ_STR("oe.utils.cpu_count"),               0, 2,                "at_least at_most",                cpu_count,                  0                  },
    {BZ_STR("oe.utils.extend_variants"),         3, 3,                NULL,                              extend_variants,            0                  },
    {BZ_STR("oe.utils.filter_default_features"), 2, 2,                NULL,                              bz_expr_feature_defaults,
     0                                                                                                                                                  },
    {BZ_STR("oe.utils.ifelse"),                  1, 3,                "condition iftrue iffalse",        ifelse,                     0                  },
    {BZ_STR("oe.utils.inherits"),                1, BZ_EXPR_CALL_ANY, NULL,                              inherits,                   0                  },
    {BZ_STR("oe.utils.less_or_equal"),           5, 5,                test_params,                       less_or_equal,              0                  },
    {BZ_STR("oe.utils.multilib_pkg_extend"),     2, 2,                NULL,                              multilib_pkg_extend,        0                  },
    {BZ_STR("oe.utils.parallel_make"),           1, 2,                "d makeinst",                      parallel_make,              0                  },
    {BZ_STR("oe.utils.parallel_make_argument"),  2, 4,                "d fmt limit makeinst",
     parallel_make_argument,                                                                                                         0                  },
    {BZ_STR("oe.utils.prune_suffix"),            3, 3,                "var suffixes d",                  prune_suffix,               0                  },
    {BZ_STR("oe.utils.set_difference"),          3, 3,                NULL,                              bz_expr_feature_difference, 0                  },
    {BZ_STR("oe.utils.set_intersect"),           3, 3,                NULL,                              bz_expr_feature_intersect,  0                  },
    {BZ_STR("oe.utils.str_filter"),              3, 3,                NULL,                              str_filter,                 KEEP               },
    {BZ_STR("oe.utils.str_filter_out"),          3, 3,                NULL,                              str_filter,                 DROP               },
    {BZ_STR("oe.utils.trim_version"),            1, 2,                "version num_parts",               trim_version,               0                  },
    {BZ_STR("oe.utils.vartrue"),                 4, 4,                "var iftrue iffalse d",            vartrue,                    0                  },
    {BZ_STR("oe.utils.version_less_or_equal"),   5, 5,                test_params,                       version_less_or_equal,
     0                                                                                                                                                  },
};

const struct bz_expr_fn *bz_expr_oe_find(struct bz_str name)
{
    return bz_expr_call_search(functions, BZ_COUNTOF(functions), name);
}
