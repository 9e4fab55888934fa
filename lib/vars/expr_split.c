#include "vars/expr_split.h"

#include "vars/expr_text.h"

/* From which end a method looks. */
enum { FIRST, LAST };

static int push_part(struct bz_expr_run *r, struct bz_expr_seq *to,
                     const struct bz_expr_value *of, struct bz_str part)
{
    struct bz_expr_value v = bz_expr_value_part(of, part);

    return bz_expr_value_push(r, to, &v);
}

static void reverse(struct bz_expr_seq *seq)
{
    size_t i;

    for (i = 0; i < seq->len / 2; i++) {
        struct bz_expr_value v = seq->at[i];

        seq->at[i] = seq->at[seq->len - 1 - i];
        seq->at[seq->len - 1 - i] = v;
    }
}

/* Words, of which there are at most `most` + 1; then the last is all the rest. */
static int words(struct bz_expr_run *r, const struct bz_expr_value *of, size_t most,
                 struct bz_expr_seq *to)
{
    struct bz_str rest = of->s, word;
    int rc = 0;

    while (rc == 0 && to->len < most && bz_str_next_word(&rest, &word))
        rc = push_part(r, to, of, word);
    rest = bz_str_trim_start(rest);
    return rc == 0 && rest.n > 0 ? push_part(r, to, of, rest) : rc;
}

/* The same from the end: the first is then all the rest. Walking backwards finds the
 * words' starts by trying; with a limit that is short work. */
static int words_from_end(struct bz_expr_run *r, const struct bz_expr_value *of,
                          size_t most, struct bz_expr_seq *to)
{
    struct bz_str rest = bz_str_trim_end(of->s), word;
    struct bz_expr_value all;
    struct bz_expr_seq *seq;
    size_t i;
    int rc;

    if ((rc = bz_expr_split_words(r, of, &all)) < 0)
        return rc;
    seq = all.seq;
    for (i = seq->len; rc == 0 && i > 0 && to->len < most; i--) {
        word = seq->at[i - 1].s;
        rc = bz_expr_value_push(r, to, &seq->at[i - 1]);
        rest = bz_str_trim_end(bz_str_sub(rest, 0, (size_t)(word.p - rest.p)));
    }
    if (rc == 0 && rest.n > 0)
        rc = push_part(r, to, of, rest);
    reverse(to);
    return rc;
}

static int parts(struct bz_expr_run *r, const struct bz_expr_value *of,
                 struct bz_str sep, size_t most, struct bz_expr_seq *to)
{
    struct bz_str rest = of->s;
    int rc = 0;

    while (rc == 0 && to->len < most) {
        size_t at = bz_str_find(rest, sep);

        if (at == BZ_STR_NONE)
            break;
        rc = push_part(r, to, of, bz_str_sub(rest, 0, at));
        rest = bz_str_sub(rest, at + sep.n, rest.n);
    }
    return rc < 0 ? rc : push_part(r, to, of, rest);
}

static int parts_from_end(struct bz_expr_run *r, const struct bz_expr_value *of,
                          struct bz_str sep, size_t most, struct bz_expr_seq *to)
{
    struct bz_str rest = of->s;
    int rc = 0;

    while (rc == 0 && to->len < most) {
        size_t at;

        rc = bz_expr_text_find_last(r, rest, sep, &at);
        if (rc < 0 || at == BZ_STR_NONE)
            break;
        rc = push_part(r, to, of, bz_str_sub(rest, at + sep.n, rest.n));
        rest = bz_str_sub(rest, 0, at);
    }
    if (rc == 0)
        rc = push_part(r, to, of, rest);
    reverse(to);
    return rc;
}

static int empty_separator(struct bz_expr_run *r)
{
    return bz_fail(r->err, BZ_E_INVAL, "ValueError: empty separator");
}

static int split(struct bz_expr_run *r, const struct bz_expr_args *a,
                 struct bz_expr_value *out)
{
    const struct bz_expr_value *self = a->self;
    const struct bz_expr_value *sep = bz_expr_call_has(a, 0) ? &a->at[0] : NULL;
    bool by_words = !sep || sep->kind == BZ_EXPR_NONE;
    bool from_end = a->how == LAST;
    size_t most = SIZE_MAX;
    struct bz_expr_seq *to;
    int rc = bz_expr_value_charge(r, self->s.n / 16);

    if (rc < 0 || (rc = bz_expr_value_new_seq(r, 0, &to)) < 0)
        return rc;
    if (bz_expr_call_has(a, 1)) {
        if (!bz_expr_value_is_int(&a->at[1]))
            return bz_expr_value_unknown(r, "such a maximum of split()");
        most = a->at[1].i < 0 ? SIZE_MAX : (size_t)a->at[1].i;
    }
    if (by_words) {
        rc = from_end && most != SIZE_MAX ? words_from_end(r, self, most, to)
                                          : words(r, self, most, to);
        *out = bz_expr_value_seq(BZ_EXPR_LIST, to);
        return rc;
    }
    if (sep->kind != BZ_EXPR_STR)
        return bz_fail(r->err, BZ_E_INVAL, "TypeError: must be str or None, not %s",
                       bz_expr_value_type(sep));
    if (sep->s.n == 0)
        return empty_separator(r);
    rc = from_end && most != SIZE_MAX ? parts_from_end(r, self, sep->s, most, to)
                                      : parts(r, self, sep->s, most, to);
    *out = bz_expr_value_seq(BZ_EXPR_LIST, to);
    return rc;
}

int bz_expr_split_words(struct bz_expr_run *r, const struct bz_expr_value *text,
                        struct bz_expr_value *out)
{
    return split(r, &(struct bz_expr_args){.self = text}, out);
}

int bz_expr_split_at(struct bz_expr_run *r, const struct bz_expr_value *text,
                     struct bz_str sep, struct bz_expr_value *out)
{
    struct bz_expr_value at = bz_expr_value_str(sep);

    return split(r, &(struct bz_expr_args){.self = text, .at = &at, .n = 1}, out);
}

/* How many bytes the line break at the start of s has; 0 if there is none. */
static size_t line_break(struct bz_str s)
{
    unsigned char c = (unsigned char)s.p[0];

    if (c == '\r' && s.n > 1 && s.p[1] == '\n')
        return 2;
    if ((c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e))
        return 1;
    if (bz_str_starts(s, BZ_STR("\xc2\x85")))
        return 2;
    return bz_str_starts(s, BZ_STR("\xe2\x80\xa8")) ||
                   bz_str_starts(s, BZ_STR("\xe2\x80\xa9"))
               ? 3
               : 0;
}

static int splitlines(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out)
{
    bool keep = bz_expr_call_flag(a, 0, false);
    const struct bz_expr_value *self = a->self;
    struct bz_str s = self->s;
    struct bz_expr_seq *to;
    size_t i = 0, start = 0;
    int rc = bz_expr_value_charge(r, s.n / 16);

    if (rc < 0 || (rc = bz_expr_value_new_seq(r, 0, &to)) < 0)
        return rc;
    while (rc == 0 && i < s.n) {
        size_t brk = line_break(bz_str_sub(s, i, s.n));

        if (brk) {
            rc = push_part(r, to, self, bz_str_sub(s, start, keep ? i + brk : i));
            start = i + brk;
        }
        i += brk ? brk : 1;
    }
    if (rc == 0 && start < s.n)
        rc = push_part(r, to, self, bz_str_sub(s, start, s.n));
    *out = bz_expr_value_seq(BZ_EXPR_LIST, to);
    return rc;
}

static int partition(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out)
{
    const struct bz_expr_value *self = a->self, *sep = &a->at[0];
    bool last = a->how == LAST;
    struct bz_str s = self->s, part[3] = {
                                   {"", 0},
                                   {"", 0},
                                   {"", 0}
    };
    struct bz_expr_seq *to;
    size_t i, at;
    int rc;

    if (sep->kind != BZ_EXPR_STR)
        return bz_fail(r->err, BZ_E_INVAL, "TypeError: must be str, not %s",
                       bz_expr_value_type(sep));
    if (sep->s.n == 0)
        return empty_separator(r);
    if ((rc = bz_expr_value_charge(r, s.n / 16)) < 0 ||
        (rc = bz_expr_value_new_seq(r, 3, &to)) < 0)
        return rc;
    at = bz_str_find(s, sep->s);
    if (last && (rc = bz_expr_text_find_last(r, s, sep->s, &at)) < 0)
        return rc;
    if (at == BZ_STR_NONE) {
        part[last ? 2 : 0] = s;
    } else {
        part[0] = bz_str_sub(s, 0, at);
        part[1] = bz_str_sub(s, at, at + sep->s.n);
        part[2] = bz_str_sub(s, at + sep->s.n, s.n);
    }
    for (i = 0; rc == 0 && i < 3; i++)
        rc = push_part(r, to, self, part[i]);
    *out = bz_expr_value_seq(BZ_EXPR_TUPLE, to);
    return rc;
}

static const struct bz_expr_fn methods[] = {
    {BZ_STR("partition"),  1, 1, NULL,           partition,  FIRST},
    {BZ_STR("rpartition"), 1, 1, NULL,           partition,  LAST },
    {BZ_STR("rsplit"),     0, 2, "sep maxsplit", split,      LAST },
    {BZ_STR("split"),      0, 2, "sep maxsplit", split,      FIRST},
    {BZ_STR("splitlines"), 0, 1, "keepends",     splitlines, 0    },
};

const struct bz_expr_fn *bz_expr_split_method(struct bz_str name)
{
    return bz_expr_call_search(methods, BZ_COUNTOF(methods), name);
}
