#include "recipe/apply.h"

#include "base/buf.h"
#include "base/log.h"

/* What the history calls each operator, and how += and its kin join two texts.
 */
static const struct {
    const char *name, *text;
    const char *joint; /* NULL: does not look at the old value */
    bool old_first;
} ops[] = {
    [BZ_AST_SET] = {"set",       "=",    NULL, false},
    [BZ_AST_DEFAULT] = {"set?",      "?=",   NULL, false},
    [BZ_AST_WEAK] = {"set",       "?\?=", NULL, false},
    [BZ_AST_NOW] = {"immediate", ":=",   NULL, false},
    [BZ_AST_APPEND] = {"append",    "+=",   " ",  true },
    [BZ_AST_PREPEND] = {"prepend",   "=+",   " ",  false},
    [BZ_AST_POSTDOT] = {"postdot",   ".=",   "",   true },
    [BZ_AST_PREDOT] = {"predot",    "=.",   "",   false},
};

/* The value as it stands in the file so far: without weak defaults, operations
 * and overrides. */
static int old_value(struct bz_eval *e, const struct bz_ast_stmt *s, struct bz_str *out,
                     struct bz_err *err)
{
    struct bz_vars *v = e->meta->vars;

    if (s->flag.p)
        return bz_vars_get_flag(v, s->name, s->flag, BZ_VARS_RAW | BZ_VARS_NOWEAK, out,
                                err);
    return bz_vars_get(v, s->name, BZ_VARS_RAW | BZ_VARS_NOWEAK | BZ_VARS_PARSING, out,
                       err);
}

static void warn_combination(const struct bz_eval *e, const struct bz_ast_stmt *s)
{
    static const char *const words[] = {":append", ":prepend", ":remove"};

    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        if (bz_str_find(s->name, bz_str_from(words[i])) != BZ_STR_NONE)
            bz_log_warn("parse",
                        "%s:%u: %.*s %s is not a recommended operator combination, "
                        "please replace it",
                        e->top->path, e->top->line, BZ_STR_ARG(s->name),
                        ops[s->op].text);
}

/* Of a value made from the clock only this trace is left. */
static int expand_now(struct bz_eval *e, const struct bz_ast_stmt *s,
                      struct bz_buf *buf, struct bz_str *value, struct bz_err *err)
{
    struct bz_vars *v = e->meta->vars;
    unsigned before = bz_vars_impure(v).clock;
    int rc;

    bz_buf_addf(buf, "%.*s[:=]", BZ_STR_ARG(s->name));
    rc = bz_vars_expand(v, s->text, bz_buf_str(buf), NULL, value, err);
    if (bz_vars_impure(v).clock != before || bz_vars_names_clock(v, s->text))
        bz_vars_note_clock(v, s->name);
    return rc;
}

/* The new value: made in `buf`, or one that is there already. */
static int new_value(struct bz_eval *e, const struct bz_ast_stmt *s, struct bz_buf *buf,
                     struct bz_str *value, struct bz_err *err)
{
    struct bz_str old = {0};
    int rc = 0;

    *value = s->text;
    if (s->op == BZ_AST_NOW)
        return expand_now(e, s, buf, value, err);
    if (s->op == BZ_AST_DEFAULT || ops[s->op].joint)
        rc = old_value(e, s, &old, err);
    if (rc < 0)
        return rc;
    if (s->op == BZ_AST_DEFAULT && old.p)
        *value = old;
    if (ops[s->op].joint) {
        bz_buf_add_str(buf, ops[s->op].old_first ? old : s->text);
        bz_buf_add_str(buf, bz_str_from(ops[s->op].joint));
        bz_buf_add_str(buf, ops[s->op].old_first ? s->text : old);
        *value = bz_str_from(bz_buf_text(buf));
        warn_combination(e, s);
    }
    return 0;
}

static int set_weak_flag(struct bz_eval *e, const struct bz_ast_stmt *s,
                         struct bz_str value, const struct bz_vars_at *at,
                         struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf flag = {0};

    bz_buf_addf(&flag, "_defaultval_flag_%.*s", BZ_STR_ARG(s->flag));
    return bz_vars_set_flag(e->meta->vars, s->name, bz_buf_str(&flag), value, at, err);
}

int bz_apply_assignment(struct bz_eval *e, const struct bz_ast_stmt *s,
                        struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf buf = {0};
    struct bz_vars *v = e->meta->vars;
    struct bz_vars_at at = bz_eval_at(e, "exported");
    struct bz_str value = {0};
    int rc = 0;

    if (s->exported)
        rc = bz_vars_set_flag(v, s->name, BZ_STR("export"), BZ_STR("1"), &at, err);
    if (rc == 0)
        rc = new_value(e, s, &buf, &value, err);
    if (rc < 0)
        return rc;
    at = bz_eval_at(e, ops[s->op].name);
    at.detail = s->text;
    if (s->flag.p && s->op == BZ_AST_WEAK)
        return set_weak_flag(e, s, value, &at, err);
    if (s->flag.p)
        return bz_vars_set_flag(v, s->name, s->flag, value, &at, err);
    if (s->op == BZ_AST_WEAK)
        return bz_vars_set_flag(v, s->name, BZ_STR("_defaultval"), value, &at, err);
    return bz_vars_set(v, s->name, value, BZ_VARS_SET_PARSING, &at, err);
}
