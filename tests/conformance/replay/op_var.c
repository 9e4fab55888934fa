/* op_var.c - ops on variables.
 */
#include "args.h"
#include "judge.h"
#include "op.h"
#include "task.h"

static enum replay_verdict op_set_var(struct replay_run *r, struct replay_slot *s,
                                      const struct bz_doc *op)
{
    unsigned how = replay_args_true(replay_args_either(op, SIZE_MAX, "parsing"), false)
                       ? BZ_VARS_SET_PARSING
                       : 0;
    struct bz_err err;
    struct bz_str value;

    if (!replay_args_text_of(&r->arena, replay_args_at(op, 1), &value))
        return replay_task_set(r, s->meta, op);
    return replay_judge_rc(
        r, op,
        bz_vars_set(s->meta->vars, replay_args_text(r, op, 0), value, how, NULL, &err),
        &err);
}

static enum replay_verdict op_get_var(struct replay_run *r, struct replay_slot *s,
                                      const struct bz_doc *op)
{
    struct bz_str name = replay_args_text(r, op, 0), out = {0};
    const struct bz_taskdef_names *tasks = replay_task_list(s->meta, name, NULL);
    struct bz_err err;
    int rc;

    if (tasks)
        return replay_task_compare(r, op, tasks);
    rc = bz_vars_get(s->meta->vars, name, replay_args_how(op, 1), &out, &err);
    return replay_judge_text(r, op, rc, out, &err);
}

static enum replay_verdict op_del_var(struct replay_run *r, struct replay_slot *s,
                                      const struct bz_doc *op)
{
    struct bz_err err;

    return replay_judge_rc(
        r, op, bz_vars_del(s->meta->vars, replay_args_text(r, op, 0), NULL, &err),
        &err);
}

static enum replay_verdict op_rename(struct replay_run *r, struct replay_slot *s,
                                     const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_rename(s->meta->vars, replay_args_text(r, op, 0),
                            replay_args_text(r, op, 1), NULL, &err);

    return replay_judge_rc(r, op, rc, &err);
}

static enum replay_verdict op_append(struct replay_run *r, struct replay_slot *s,
                                     const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_append(s->meta->vars, replay_args_text(r, op, 0),
                            replay_args_text(r, op, 1), NULL, &err);

    return replay_judge_rc(r, op, rc, &err);
}

static enum replay_verdict op_prepend(struct replay_run *r, struct replay_slot *s,
                                      const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_prepend(s->meta->vars, replay_args_text(r, op, 0),
                             replay_args_text(r, op, 1), NULL, &err);

    return replay_judge_rc(r, op, rc, &err);
}

static enum replay_verdict op_expand(struct replay_run *r, struct replay_slot *s,
                                     const struct bz_doc *op)
{
    struct bz_err err;
    struct bz_str out = {0};
    int rc = bz_vars_expand(s->meta->vars, replay_args_text(r, op, 0),
                            replay_args_text(r, op, 1), NULL, &out, &err);

    return replay_judge_text(r, op, rc, out, &err);
}

static enum replay_verdict op_expand_keys(struct replay_run *r, struct replay_slot *s,
                                          const struct bz_doc *op)
{
    struct bz_err err;

    return replay_judge_rc(r, op, bz_vars_expand_keys(s->meta->vars, &err), &err);
}

/* The names but for those that begin with an underscore, BitBake's own affairs. */
static enum replay_verdict compare_names(struct replay_run *r, const struct bz_doc *ret,
                                         const struct bz_str *names, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        if (bz_str_starts(names[i], BZ_STR("_")))
            continue;
        if (at == ret->count || !bz_str_eq(names[i], ret->items[at].text))
            return replay_judge_fail(r, bz_arena_dup(&r->arena, names[i]).p,
                                     at < ret->count ? ret->items[at].text
                                                     : BZ_STR("no more names"));
        at++;
    }
    return at == ret->count
               ? REPLAY_PASSED
               : replay_judge_fail(r, "no more names", ret->items[at].text);
}

/* The number of names or, in records of our own, the names in order. */
static enum replay_verdict op_keys(struct replay_run *r, struct replay_slot *s,
                                   const struct bz_doc *op)
{
    const struct bz_doc *ret = bz_doc_find(op, "ret");
    const struct bz_str *names;
    struct bz_err err;
    size_t n;
    int rc = bz_vars_names(s->meta->vars, &names, &n, &err);

    if (rc == 0 && ret && ret->type == BZ_DOC_INT)
        return replay_judge_text(r, op, 0, bz_arena_printf(&r->arena, "%zu", n), &err);
    if (rc == 0 && ret && ret->type == BZ_DOC_LIST)
        return compare_names(r, ret, names, n);
    return replay_judge_rc(r, op, rc, &err);
}

const struct replay_op replay_op_var[] = {
    {"setVar",     op_set_var, true},
    {"getVar",        op_get_var, false},
    {"delVar",     op_del_var, true},
    {"renameVar",       op_rename, true},
    {"appendVar",     op_append, true},
    {"prependVar",        op_prepend, true},
    {"createCopy",  replay_run_copy, true},
    {"expand",        op_expand, false},
    {"expandKeys",  op_expand_keys, true},
    {"keys",        op_keys, false},
    {"len", op_keys, false},
    {0       },
};
