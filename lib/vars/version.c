#include "vars/version.h"

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

/* As Python's int(): spaces around it and a sign are fine. */
static int read_epoch(struct bz_str text, int64_t *out, struct bz_err *err)
{
    struct bz_str digits = bz_str_trim(text);
    bool minus = bz_str_cut_prefix(&digits, BZ_STR("-"));
    uint64_t n = 0;
    int rc;

    if (!minus)
        bz_str_cut_prefix(&digits, BZ_STR("+"));
    rc = bz_str_parse_u64(digits, 10, INT64_MAX, &n, err);
    if (rc < 0)
        return bz_fail(err, BZ_E_INVAL, "the epoch '%.*s' is not a number",
                       BZ_STR_ARG(text));
    *out = minus ? -(int64_t)n : (int64_t)n;
    return 0;
}

int bz_version_split(struct bz_str text, struct bz_version *out, struct bz_err *err)
{
    static const char around[] = " <>=";
    struct bz_str s = text;
    size_t at;

    *out = (struct bz_version){0};
    while (s.n > 0 && memchr(around, s.p[0], sizeof(around) - 1))
        s = bz_str_sub(s, 1, s.n);
    while (s.n > 0 && memchr(around, s.p[s.n - 1], sizeof(around) - 1))
        s = bz_str_sub(s, 0, s.n - 1);
    if ((at = bz_str_find_byte(s, ':')) != BZ_STR_NONE) {
        int rc = read_epoch(bz_str_sub(s, 0, at), &out->epoch, err);

        if (rc < 0)
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
    return 0;
}

int bz_version_from(struct bz_str pe, struct bz_str pv, struct bz_str pr,
                    struct bz_version *out, struct bz_err *err)
{
    *out = (struct bz_version){0, pv, pr};
    return pe.n > 0 ? read_epoch(pe, &out->epoch, err) : 0;
}

int64_t bz_version_compare(const struct bz_version *a, const struct bz_version *b)
{
    int64_t order;

    if (__builtin_sub_overflow(a->epoch, b->epoch, &order))
        return a->epoch < b->epoch ? -INT64_MAX : INT64_MAX;
    if (order == 0)
        order = compare_parts(a->version, b->version);
    if (order == 0)
        order = compare_parts(a->revision, b->revision);
    return order;
}

bool bz_version_holds(int64_t order, struct bz_str op, bool *known)
{
    static const struct {
        struct bz_str op;
        bool less, equal, more;
    } ops[] = {
        {BZ_STR("="),  false, true,  false},
        {BZ_STR("=="), false, true,  false},
        {BZ_STR("<="), true,  true,  false},
        {BZ_STR(">="), false, true,  true },
        {BZ_STR(">"),  false, false, true },
        {BZ_STR(">>"), false, false, true },
        {BZ_STR("<"),  true,  false, false},
        {BZ_STR("<<"), true,  false, false},
        {BZ_STR("!="), true,  false, true },
    };

    *known = true;
    for (size_t i = 0; i < BZ_COUNTOF(ops); i++)
        if (bz_str_eq(ops[i].op, op))
            return order < 0 ? ops[i].less : order == 0 ? ops[i].equal : ops[i].more;
    *known = false;
    return false;
}
