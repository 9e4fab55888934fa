/* op_expr.c - ops that are expressions of inline Python, and value filters.
 */
#include <string.h>

#include "args.h"
#include "base/buf.h"
#include "judge.h"
#include "op.h"
#include "vars/expr.h"

/* A value as Python would write it. False for what is not that simple. */
static bool add_literal(struct bz_buf *code, const struct bz_doc *d)
{
    switch (d->type) {
    case BZ_DOC_NULL:
        bz_buf_addf(code, "None");
        return true;
    case BZ_DOC_BOOL:
        bz_buf_addf(code, d->b ? "True" : "False");
        return true;
    case BZ_DOC_INT:
        bz_buf_addf(code, "%jd", (intmax_t)d->i);
        return true;
    case BZ_DOC_STR:
        for (size_t i = 0; i < d->text.n; i++)
            if (strchr("'\\\n", d->text.p[i]))
                return false;
        bz_buf_addf(code, "'%.*s'", BZ_STR_ARG(d->text));
        return true;
    case BZ_DOC_MAP:
        bz_buf_addf(code, "d");
        return bz_doc_find(d, "store") != NULL;
    default:
        return false;
    }
}

/* bb.utils.OP(ARGS), compared with str() of the recorded result. */
static enum replay_verdict op_utils(struct replay_run *r, struct replay_slot *s,
                                    const struct bz_doc *op)
{
    const struct bz_doc *args = bz_doc_find(op, "args"), *ret = bz_doc_find(op, "ret");
    struct bz_buf code = {0}, wanted = {0};
    enum replay_verdict verdict = REPLAY_NOT_YET;
    struct bz_str out = {0};
    struct bz_err err;
    bool simple = args && ret;

    bz_buf_addf(&code, "bb.utils.%.*s(", BZ_STR_ARG(bz_doc_find(op, "op")->text));
    for (size_t i = 0; simple && i < args->count; i++) {
        bz_buf_addf(&code, i > 0 ? ", " : "");
        simple = add_literal(&code, &args->items[i]);
    }
    bz_buf_addf(&code, ")");
    if (simple && ret->type == BZ_DOC_STR)
        bz_buf_add_str(&wanted, ret->text);
    else if (simple)
        simple = add_literal(&wanted, ret);
    if (simple) {
        int rc = bz_expr_eval(s->meta->vars, bz_buf_str(&code), NULL, &out, &err);

        verdict = rc == BZ_E_NOSUP ? REPLAY_PYTHON
                  : rc == 0 && bz_str_eq(out, bz_buf_str(&wanted))
                      ? REPLAY_PASSED
                      : replay_judge_fail(
                            r, rc < 0 ? err.msg : bz_arena_dup(&r->arena, out).p,
                            bz_arena_dup(&r->arena, bz_buf_str(&wanted)));
    }
    bz_buf_release(&code);
    bz_buf_release(&wanted);
    return verdict;
}

static enum replay_verdict op_filters(struct replay_run *r, struct replay_slot *s,
                                      const struct bz_doc *op)
{
    const struct bz_doc *filters = replay_args_at(op, 1);
    struct bz_str value = replay_args_text(r, op, 0);
    struct bz_err err;
    int rc = 0;

    for (size_t i = 0; filters && i < filters->count && rc == 0; i++)
        if (bz_str_trim(filters->items[i].text).n > 0)
            rc = bz_expr_filter(s->meta->vars, filters->items[i].text, value, &value,
                                &err);
    return replay_judge_text(r, op, rc, value, &err);
}

const struct replay_op replay_op_expr[] = {
    {"contains",     op_utils, false},
    {"contains_any",         op_utils, false},
    {"filter", op_utils, false},
    {"apply_filters",         op_filters, false},
    {0      },
};
