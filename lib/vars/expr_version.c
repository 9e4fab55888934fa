#include "vars/expr_version.h"

#include "vars/expr_lib.h"
#include "vars/expr_str.h"
#include "vars/expr_text.h"
#include "vars/version.h"

/* What int() makes of an epoch, and what it says about a wrong one, is Python's. */
static int read_epoch(struct bz_expr_run *r, struct bz_str text, int64_t *out)
{
    struct bz_str s = bz_expr_str_strip(text, BZ_STR(" <>=")), head, tail;

    *out = 0;
    return bz_str_cut(s, ':', &head, &tail) ? bz_expr_text_int(r, head, 10, out) : 0;
}

static int parse(struct bz_expr_run *r, const struct bz_expr_value *v,
                 struct bz_version *out)
{
    struct bz_err err;
    int64_t epoch;
    int rc = bz_expr_lib_want_str(r, v, "strip");

    if (rc < 0)
        return rc;
    if (!bz_expr_text_ascii(v->s) || bz_str_find_byte(v->s, '\n') != BZ_STR_NONE)
        return bz_expr_value_unknown(r, "such a version");
    if ((rc = read_epoch(r, v->s, &epoch)) < 0)
        return rc;
    if (bz_version_split(v->s, out, &err) < 0)
        return bz_expr_value_unknown(r, "such a version");
    return bz_expr_value_charge(r, v->s.n / 16);
}

int bz_expr_version_compare(struct bz_expr_run *r, const struct bz_expr_value *a,
                            const struct bz_expr_value *b, int64_t *out)
{
    struct bz_version x = {0}, y = {0};
    int rc;

    if ((rc = parse(r, a, &x)) < 0 || (rc = parse(r, b, &y)) < 0)
        return rc;
    if (__builtin_sub_overflow(x.epoch, y.epoch, out))
        return bz_expr_value_unknown(r, "such a version");
    *out = bz_version_compare(&x, &y);
    return 0;
}
