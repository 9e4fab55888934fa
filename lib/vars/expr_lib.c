#include "vars/expr_lib.h"

#include "vars/expr_bb.h"
#include "vars/expr_oe.h"
#include "vars/expr_os.h"
#include "vars/store.h"
#include "vars/vars.h"

bool bz_expr_lib_module(struct bz_str name)
{
    if (name.n == 2)
        return memcmp(name.p, "bb", 2) == 0 || memcmp(name.p, "oe", 2) == 0 ||
               memcmp(name.p, "os", 2) == 0;
    return bz_str_eq(name, BZ_STR("time"));
}

const struct bz_expr_fn *bz_expr_lib_find(struct bz_str name)
{
    if (bz_str_starts(name, BZ_STR("bb.")))
        return bz_expr_bb_find(name);
    if (bz_str_starts(name, BZ_STR("oe.")))
        return bz_expr_oe_find(name);
    return bz_expr_os_find(name);
}

int bz_expr_lib_want_data(struct bz_expr_run *r, const struct bz_expr_value *v)
{
    return v->kind == BZ_EXPR_DATA
               ? 0
               : bz_expr_value_unknown(r, "something else in the place of d");
}

int bz_expr_lib_want_str(struct bz_expr_run *r, const struct bz_expr_value *v,
                         const char *method)
{
    if (v->kind == BZ_EXPR_STR)
        return 0;
    if (v->kind == BZ_EXPR_NONE || bz_expr_value_is_int(v))
        return bz_expr_value_no_attr(r, v, method);
    return bz_expr_value_unknown(r, "an argument that is no string");
}

static void found(struct bz_str value, struct bz_expr_value *out)
{
    *out = bz_expr_value_none();
    if (value.p) {
        *out = bz_expr_value_str(value);
        out->kept = true;
    }
}

int bz_expr_lib_get(struct bz_expr_run *r, const struct bz_expr_value *name,
                    unsigned how, struct bz_expr_value *out)
{
    struct bz_str value;
    int rc;

    if (name->kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a variable's name that is no string");
    if (bz_str_eq(name->s, BZ_STR("OVERRIDES")))
        r->vars->asked_overrides = true;
    rc = bz_vars_get(r->vars, name->s, how, &value, r->err);
    /* In BitBake it is a store of its own, not text: never None. */
    if (rc == 0 && !value.p && bz_str_eq(name->s, BZ_STR("BB_ORIGENV")))
        return bz_expr_value_unknown(r, "BB_ORIGENV");
    if (rc == 0)
        found(value, out);
    return rc;
}

int bz_expr_lib_get_named(struct bz_expr_run *r, struct bz_str name,
                          struct bz_expr_value *out)
{
    struct bz_expr_value v = bz_expr_value_str(name);

    return bz_expr_lib_get(r, &v, 0, out);
}

/* The arguments that getVar and getVarFlag share, from argument i on. */
static unsigned how_to_get(const struct bz_expr_args *a, size_t i)
{
    unsigned how = 0;

    if (!bz_expr_call_flag(a, i, true))
        how |= BZ_VARS_RAW;
    if (bz_expr_call_flag(a, i + 1, false))
        how |= BZ_VARS_NOWEAK;
    if (bz_expr_call_flag(a, i + 2, false))
        how |= BZ_VARS_PARSING;
    return how;
}

static int get_var(struct bz_expr_run *r, const struct bz_expr_args *a,
                   struct bz_expr_value *out)
{
    return bz_expr_lib_get(r, &a->at[0], how_to_get(a, 1), out);
}

static int get_var_flag(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out)
{
    struct bz_str value;
    int rc;

    if (a->at[0].kind != BZ_EXPR_STR || a->at[1].kind != BZ_EXPR_STR)
        return bz_expr_value_unknown(r, "a flag's name that is no string");
    rc = bz_vars_get_flag(r->vars, a->at[0].s, a->at[1].s, how_to_get(a, 2), &value,
                          r->err);
    if (rc == 0)
        found(value, out);
    return rc;
}

static int expand(struct bz_expr_run *r, const struct bz_expr_args *a,
                  struct bz_expr_value *out)
{
    struct bz_str text;
    int rc;

    *out = a->at[0];
    if (a->at[0].kind != BZ_EXPR_STR)
        return 0;
    rc = bz_vars_expand(r->vars, a->at[0].s, (struct bz_str){0}, NULL, &text, r->err);
    if (rc == 0)
        found(text, out);
    return rc;
}

static const struct bz_expr_fn methods[] = {
    {BZ_STR("expand"),     1, 1, NULL,                                    expand,       0},
    {BZ_STR("getVar"),     1, 4, "var expand noweakdefault parsing",      get_var,      0},
    {BZ_STR("getVarFlag"), 2, 5, "var flag expand noweakdefault parsing", get_var_flag,
     0                                                                                   },
};

const struct bz_expr_fn *bz_expr_lib_data(struct bz_str name)
{
    return bz_expr_call_search(methods, BZ_COUNTOF(methods), name);
}
