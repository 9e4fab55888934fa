#include "vars/expr_str.h"

#include "vars/expr_case.h"
#include "vars/expr_format.h"
#include "vars/expr_split.h"
#include "vars/expr_text.h"

int bz_expr_str_join(struct bz_expr_run *r, struct bz_str sep,
                     const struct bz_expr_value *items, struct bz_expr_value *out)
{
    struct bz_expr_seq *seq;
    size_t i, total = 0;
    char *text, *to;
    int rc;

    if (items->kind < BZ_EXPR_STR)
        return bz_fail(r->err, BZ_E_INVAL, "TypeError: can only join an iterable");
    if ((rc = bz_expr_value_items(r, items, &seq)) < 0)
        return rc;
    for (i = 0; i < seq->len; i++) {
        if (seq->at[i].kind != BZ_EXPR_STR)
            return bz_fail(
                r->err, BZ_E_INVAL,
                "TypeError: sequence item %zu: expected str instance, %s found", i,
                bz_expr_value_type(&seq->at[i]));
        total += seq->at[i].s.n + (i ? sep.n : 0);
    }
    if (seq->len == 1) {
        *out = seq->at[0];
        return 0;
    }
    if ((rc = bz_expr_value_room(r, total, &text)) < 0)
        return rc;
    for (to = text, i = 0; i < seq->len; i++) {
        struct bz_str s = seq->at[i].s;

        if (i && sep.n)
            to = mempcpy(to, sep.p, sep.n);
        if (s.n)
            to = mempcpy(to, s.p, s.n);
    }
    *out = bz_expr_value_str(bz_str_of(text, total));
    return 0;
}

static size_t count_all(struct bz_str s, struct bz_str needle)
{
    size_t at, n = 0;

    if (needle.n == 0)
        return bz_expr_text_length(s) + 1;
    while ((at = bz_str_find(s, needle)) != BZ_STR_NONE) {
        s = bz_str_sub(s, at + needle.n, s.n);
        n++;
    }
    return n;
}

int bz_expr_str_replace(struct bz_expr_run *r, const struct bz_expr_value *text,
                        struct bz_str from, struct bz_str to, int64_t most,
                        struct bz_expr_value *out)
{
    struct bz_str rest = text->s;
    size_t i, n, more, total;
    char *all, *p;
    int rc = bz_expr_value_charge(r, rest.n / 16);

    if (rc < 0)
        return rc;
    if (from.n == 0)
        return bz_expr_value_unknown(r, "replacing an empty string");
    n = count_all(rest, from);
    if (most >= 0 && n > (uint64_t)most)
        n = (size_t)most;
    if (n == 0) {
        *out = *text;
        return 0;
    }
    if (__builtin_mul_overflow(n, to.n, &more))
        return bz_expr_value_spent(r);
    total = rest.n - n * from.n + more;
    if ((rc = bz_expr_value_room(r, total, &all)) < 0)
        return rc;
    for (p = all, i = 0; i < n; i++) {
        size_t at = bz_str_find(rest, from);

        p = mempcpy(p, rest.p, at);
        if (to.n)
            p = mempcpy(p, to.p, to.n);
        rest = bz_str_sub(rest, at + from.n, rest.n);
    }
    memcpy(p, rest.p, rest.n);
    *out = bz_expr_value_str(bz_str_of(all, total));
    return 0;
}

/* What a method does at the start, at the end, or at both. */
enum { START = 1, END = 2 };

static int want_str(struct bz_expr_run *r, const struct bz_expr_value *v)
{
    if (v->kind == BZ_EXPR_STR)
        return 0;
    return bz_expr_value_unknown(r, "an argument that is no string");
}

static int join(struct bz_expr_run *r, const struct bz_expr_args *a,
                struct bz_expr_value *out)
{
    return bz_expr_str_join(r, a->self->s, &a->at[0], out);
}

static int replace(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    size_t i;

    for (i = 0; i < 2; i++) {
        if (a->at[i].kind != BZ_EXPR_STR)
            return bz_fail(
                r->err, BZ_E_INVAL,
                "TypeError: replace() argument %zu must be str, not %s", i + 1,
                a->at[i].kind == BZ_EXPR_NONE ? "None" : bz_expr_value_type(&a->at[i]));
    }
    if (a->n == 3 && !bz_expr_value_is_int(&a->at[2]))
        return bz_expr_value_unknown(r, "such a count");
    return bz_expr_str_replace(r, a->self, a->at[0].s, a->at[1].s,
                               a->n == 3 ? a->at[2].i : -1, out);
}

static struct bz_str strip_chars(struct bz_str text, struct bz_str chars, int ends)
{
    while (ends & START && text.n > 0 &&
           bz_str_find_byte(chars, text.p[0]) != BZ_STR_NONE)
        text = bz_str_sub(text, 1, text.n);
    while (ends & END && text.n > 0 &&
           bz_str_find_byte(chars, text.p[text.n - 1]) != BZ_STR_NONE)
        text.n--;
    return text;
}

struct bz_str bz_expr_str_strip(struct bz_str text, struct bz_str chars)
{
    return strip_chars(text, chars, START | END);
}

static int strip(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    struct bz_str s = a->self->s;

    if (a->n == 0 || a->at[0].kind == BZ_EXPR_NONE) {
        s = a->how & START ? bz_str_trim_start(s) : s;
        s = a->how & END ? bz_str_trim_end(s) : s;
    } else if (a->at[0].kind != BZ_EXPR_STR) {
        return bz_fail(r->err, BZ_E_INVAL, "TypeError: %sstrip arg must be None or str",
                       a->how == START ? "l"
                       : a->how == END ? "r"
                                       : "");
    } else if (!bz_expr_text_ascii(a->at[0].s)) {
        return bz_expr_value_unknown(r, "stripping other than ASCII");
    } else {
        s = strip_chars(s, a->at[0].s, a->how);
    }
    *out = bz_expr_value_part(a->self, s);
    return bz_expr_value_charge(r, a->self->s.n / 64);
}

/* startswith and endswith take a string or a tuple of them. */
static int affix(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    bool tuple = a->at[0].kind == BZ_EXPR_TUPLE, found = false;
    const struct bz_expr_value *at = tuple ? a->at[0].seq->at : a->at;
    size_t i, n = tuple ? a->at[0].seq->len : 1;
    int rc = bz_expr_value_charge(r, n);

    if (rc == 0 && a->at[0].kind != BZ_EXPR_STR && !tuple)
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: %s first arg must be str or a tuple of str, not %s",
                       a->how == END ? "endswith" : "startswith",
                       bz_expr_value_type(&a->at[0]));
    for (i = 0; rc == 0 && !found && i < n; i++) {
        if ((rc = want_str(r, &at[i])) < 0)
            return rc;
        found = a->how == END ? bz_str_ends(a->self->s, at[i].s)
                              : bz_str_starts(a->self->s, at[i].s);
        rc = bz_expr_value_charge(r, at[i].s.n / 64);
    }
    *out = bz_expr_value_bool(found);
    return rc;
}

static int remove_affix(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    struct bz_str s = a->self->s;
    int rc = want_str(r, &a->at[0]);

    if (rc < 0)
        return rc;
    if (a->how == END)
        (void)bz_str_cut_suffix(&s, a->at[0].s);
    else
        (void)bz_str_cut_prefix(&s, a->at[0].s);
    *out = bz_expr_value_part(a->self, s);
    return 0;
}

static int find(struct bz_expr_run *r, const struct bz_expr_args *a,
                struct bz_expr_value *out)
{
    struct bz_str s = a->self->s;
    int rc = want_str(r, &a->at[0]);
    size_t at;

    if (rc < 0 || (rc = bz_expr_value_charge(r, s.n / 16)) < 0)
        return rc;
    if (a->how == START)
        at = bz_str_find(s, a->at[0].s);
    else if ((rc = bz_expr_text_find_last(r, s, a->at[0].s, &at)) < 0)
        return rc;
    *out = bz_expr_value_int(
        at == BZ_STR_NONE ? -1 : (int64_t)bz_expr_text_length(bz_str_sub(s, 0, at)));
    return 0;
}

static int index_of(struct bz_expr_run *r, const struct bz_expr_args *a,
                    struct bz_expr_value *out)
{
    int rc = find(r, a, out);

    if (rc == 0 && out->i < 0)
        return bz_fail(r->err, BZ_E_INVAL, "ValueError: substring not found");
    return rc;
}

static int count(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    int rc = want_str(r, &a->at[0]);

    if (rc < 0)
        return rc;
    *out = bz_expr_value_int((int64_t)count_all(a->self->s, a->at[0].s));
    return bz_expr_value_charge(r, a->self->s.n / 16);
}

/* Room for `self` with `width` characters, if that is more than it has; else NULL. */
static int widen(struct bz_expr_run *r, const struct bz_expr_args *a, size_t *pad,
                 char **text)
{
    size_t len = bz_expr_text_length(a->self->s);

    *text = NULL;
    if (!bz_expr_value_is_int(&a->at[0]))
        return bz_expr_value_unknown(r, "such a width");
    if (a->at[0].i < 0 || (uint64_t)a->at[0].i <= len)
        return 0;
    *pad = (size_t)a->at[0].i - len;
    return bz_expr_value_room(r, a->self->s.n + *pad, text);
}

/* The side that keeps the text is `how`. */
static int justify(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    struct bz_str s = a->self->s;
    char with = ' ', *text;
    size_t pad = 0;
    int rc = widen(r, a, &pad, &text);

    *out = *a->self;
    if (rc < 0 || !text)
        return rc;
    if (a->n > 1) {
        if (a->at[1].kind != BZ_EXPR_STR || a->at[1].s.n != 1)
            return bz_expr_value_unknown(r, "such a filler");
        with = a->at[1].s.p[0];
    }
    memset(text + (a->how == END ? 0 : s.n), with, pad);
    if (s.n)
        memcpy(text + (a->how == END ? pad : 0), s.p, s.n);
    *out = bz_expr_value_str(bz_str_of(text, s.n + pad));
    return 0;
}

/* The zeros go after a sign. */
static int zfill(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    struct bz_str s = a->self->s;
    size_t pad = 0, sign = s.n && (s.p[0] == '-' || s.p[0] == '+');
    char *text;
    int rc = widen(r, a, &pad, &text);

    *out = *a->self;
    if (rc < 0 || !text)
        return rc;
    if (sign)
        text[0] = s.p[0];
    memset(text + sign, '0', pad);
    if (s.n > sign)
        memcpy(text + sign + pad, s.p + sign, s.n - sign);
    *out = bz_expr_value_str(bz_str_of(text, s.n + pad));
    return 0;
}

static int format(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    return bz_expr_format_braces(r, a->self->s, a->at, a->n, out);
}

static const struct bz_expr_fn methods[] = {
    {BZ_STR("count"),        1, 1,                NULL, count,        0          },
    {BZ_STR("endswith"),     1, 1,                NULL, affix,        END        },
    {BZ_STR("find"),         1, 1,                NULL, find,         START      },
    {BZ_STR("format"),       0, BZ_EXPR_CALL_ANY, NULL, format,       0          },
    {BZ_STR("index"),        1, 1,                NULL, index_of,     START      },
    {BZ_STR("join"),         1, 1,                NULL, join,         0          },
    {BZ_STR("ljust"),        1, 2,                NULL, justify,      START      },
    {BZ_STR("lstrip"),       0, 1,                NULL, strip,        START      },
    {BZ_STR("removeprefix"), 1, 1,                NULL, remove_affix, START      },
    {BZ_STR("removesuffix"), 1, 1,                NULL, remove_affix, END        },
    {BZ_STR("replace"),      2, 3,                NULL, replace,      0          },
    {BZ_STR("rfind"),        1, 1,                NULL, find,         END        },
    {BZ_STR("rindex"),       1, 1,                NULL, index_of,     END        },
    {BZ_STR("rjust"),        1, 2,                NULL, justify,      END        },
    {BZ_STR("rstrip"),       0, 1,                NULL, strip,        END        },
    {BZ_STR("startswith"),   1, 1,                NULL, affix,        START      },
    {BZ_STR("strip"),        0, 1,                NULL, strip,        START | END},
    {BZ_STR("zfill"),        1, 1,                NULL, zfill,        0          },
};

const struct bz_expr_fn *bz_expr_str_method(struct bz_str name)
{
    const struct bz_expr_fn *fn =
        bz_expr_call_search(methods, BZ_COUNTOF(methods), name);

    if (!fn)
        fn = bz_expr_split_method(name);
    return fn ? fn : bz_expr_case_method(name);
}
