#include "vars/expr_version.h"

#include "vars/expr_lib.h"
#include "vars/expr_str.h"
#include "vars/expr_text.h"

struct version {
    int64_t epoch;
    struct bz_str version, revision;
};

/* A piece of a version: all digits, all letters, or one other character. */
struct piece {
    int rank; /* of its kind: '~', a number or the end, letters, the rest */
    bool end;
    struct bz_str text; /* of a number without leading zeros */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    c |= 0x20;
    return c >= 'a' && c <= 'z';
}

static struct piece take_piece(struct bz_str *rest)
{
    struct piece p = {0};
    size_t n = 0;

    if (rest->n == 0) {
        p.end = true;
        return p;
    }
    if (is_digit(rest->p[0])) {
        while (n < rest->n && is_digit(rest->p[n]))
            n++;
    } else if (is_letter(rest->p[0])) {
        p.rank = 1;
        while (n < rest->n && is_letter(rest->p[n]))
            n++;
    } else {
        p.rank = rest->p[0] == '~' ? -1 : 2;
        n = 1;
    }
    p.text = bz_str_sub(*rest, 0, n);
    *rest = bz_str_sub(*rest, n, rest->n);
    while (p.rank == 0 && p.text.n > 1 && p.text.p[0] == '0')
        p.text = bz_str_sub(p.text, 1, p.text.n);
    return p;
}

static int compare_pieces(const struct piece *a, const struct piece *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->end || b->end)
        return a->end ? -1 : 1;
    if (a->rank == 0 && a->text.n != b->text.n)
        return a->text.n < b->text.n ? -1 : 1;
    return bz_str_cmp(a->text, b->text);
}

static int compare_parts(struct bz_str a, struct bz_str b)
{
    for (;;) {
        struct piece x = take_piece(&a), y = take_piece(&b);
        int order;

        if (x.end && y.end)
            return 0;
        order = compare_pieces(&x, &y);
        if (order)
            return order < 0 ? -1 : 1;
    }
}

static int parse(struct bz_expr_run *r, const struct bz_expr_value *v,
                 struct version *out)
{
    struct bz_str s;
    size_t at;
    int rc = bz_expr_lib_want_str(r, v, "strip");

    if (rc < 0)
        return rc;
    if (!bz_expr_text_ascii(v->s) || bz_str_find_byte(v->s, '\n') != BZ_STR_NONE)
        return bz_expr_value_unknown(r, "such a version");
    *out = (struct version){0};
    s = bz_expr_str_strip(v->s, BZ_STR(" <>="));
    if ((at = bz_str_find_byte(s, ':')) != BZ_STR_NONE) {
        if ((rc = bz_expr_text_int(r, bz_str_sub(s, 0, at), 10, &out->epoch)) < 0)
            return rc;
        s = bz_str_sub(s, at + 1, s.n);
        if ((at = bz_str_find_byte(s, ':')) != BZ_STR_NONE)
            s = bz_str_sub(s, 0, at);
    }
    if ((at = bz_str_rfind_byte(s, '-')) != BZ_STR_NONE) {
        out->revision = bz_str_sub(s, at + 1, s.n);
        s = bz_str_sub(s, 0, at);
    }
    out->version = s;
    return bz_expr_value_charge(r, v->s.n / 16);
}

int bz_expr_version_compare(struct bz_expr_run *r, const struct bz_expr_value *a,
                            const struct bz_expr_value *b, int64_t *out)
{
    struct version x = {0}, y = {0};
    int rc;

    if ((rc = parse(r, a, &x)) < 0 || (rc = parse(r, b, &y)) < 0)
        return rc;
    if (__builtin_sub_overflow(x.epoch, y.epoch, out))
        return bz_expr_value_unknown(r, "such a version");
    if (*out == 0)
        *out = compare_parts(x.version, y.version);
    if (*out == 0)
        *out = compare_parts(x.revision, y.revision);
    return 0;
}
