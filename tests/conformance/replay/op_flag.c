/* op_flag.c - ops on flags.
 */
#include "args.h"
#include "judge.h"
#include "op.h"

static enum replay_verdict op_get_flag(struct replay_run *r, struct replay_slot *s,
                                       const struct bz_doc *op)
{
    struct bz_err err;
    struct bz_str out = {0};
    int rc = bz_vars_get_flag(s->meta->vars, replay_args_text(r, op, 0),
                              replay_args_text(r, op, 1), replay_args_how(op, 2), &out,
                              &err);

    return replay_judge_text(r, op, rc, out, &err);
}

static enum replay_verdict op_set_flag(struct replay_run *r, struct replay_slot *s,
                                       const struct bz_doc *op)
{
    struct bz_err err;
    struct bz_str value;

    if (!replay_args_text_of(&r->arena, replay_args_at(op, 2), &value))
        return REPLAY_NOT_YET;
    return replay_judge_rc(r, op,
                           bz_vars_set_flag(s->meta->vars, replay_args_text(r, op, 0),
                                            replay_args_text(r, op, 1), value, NULL,
                                            &err),
                           &err);
}

static enum replay_verdict op_set_flags(struct replay_run *r, struct replay_slot *s,
                                        const struct bz_doc *op)
{
    const struct bz_doc *flags = replay_args_at(op, 1);
    struct bz_err err;
    int rc = 0;

    if (!flags || flags->type != BZ_DOC_MAP)
        return REPLAY_NOT_YET;
    for (size_t i = 0; i < flags->count && rc == 0; i++) {
        struct bz_str value;

        if (!replay_args_text_of(&r->arena, &flags->items[i], &value))
            return REPLAY_NOT_YET;
        rc = bz_vars_set_flag(s->meta->vars, replay_args_text(r, op, 0),
                              flags->items[i].key, value, NULL, &err);
    }
    return replay_judge_rc(r, op, rc, &err);
}

struct flag_check {
    struct bz_arena *arena;
    const struct bz_doc *wanted;
    size_t n;
    bool same;
};

static void check_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct flag_check *c = ctx;
    struct bz_str wanted;

    c->n++;
    for (size_t i = 0; i < c->wanted->count; i++) {
        if (!bz_str_eq(c->wanted->items[i].key, flag))
            continue;
        c->same &= replay_args_text_of(c->arena, &c->wanted->items[i], &wanted) &&
                   bz_str_eq(wanted, value);
        return;
    }
    c->same = false;
}

static enum replay_verdict op_get_flags(struct replay_run *r, struct replay_slot *s,
                                        const struct bz_doc *op)
{
    struct flag_check c = {&r->arena, bz_doc_find(op, "ret"), 0, true};

    if (replay_args_true(replay_args_either(op, 2, "internalflags"), false) ||
        replay_args_at(op, 1))
        return REPLAY_NOT_YET; /* internal flags are not shown; a list to expand is not
                                * known
                                */
    if (!c.wanted || c.wanted->type != BZ_DOC_MAP)
        return REPLAY_NOT_YET;
    bz_vars_flags(s->meta->vars, replay_args_text(r, op, 0), check_flag, &c);
    return c.same && c.n == c.wanted->count
               ? REPLAY_PASSED
               : replay_judge_fail(r, "other flags", BZ_STR("see ret"));
}

static enum replay_verdict op_del_flag(struct replay_run *r, struct replay_slot *s,
                                       const struct bz_doc *op)
{
    bz_vars_del_flag(s->meta->vars, replay_args_text(r, op, 0),
                     replay_args_text(r, op, 1), NULL);
    return REPLAY_PASSED;
}

static enum replay_verdict op_del_flags(struct replay_run *r, struct replay_slot *s,
                                        const struct bz_doc *op)
{
    bz_vars_del_flags(s->meta->vars, replay_args_text(r, op, 0), NULL);
    return REPLAY_PASSED;
}

static enum replay_verdict op_append_flag(struct replay_run *r, struct replay_slot *s,
                                          const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_append_flag(s->meta->vars, replay_args_text(r, op, 0),
                                 replay_args_text(r, op, 1), replay_args_text(r, op, 2),
                                 NULL, &err);

    return replay_judge_rc(r, op, rc, &err);
}

static enum replay_verdict op_prepend_flag(struct replay_run *r, struct replay_slot *s,
                                           const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_prepend_flag(s->meta->vars, replay_args_text(r, op, 0),
                                  replay_args_text(r, op, 1),
                                  replay_args_text(r, op, 2), NULL, &err);

    return replay_judge_rc(r, op, rc, &err);
}

const struct replay_op replay_op_flag[] = {
    {"setVarFlag",  op_set_flag, true},
    {"setVarFlags",         op_set_flags, true},
    {"getVarFlag", op_get_flag, false},
    {"getVarFlags",         op_get_flags, false},
    {"delVarFlag",  op_del_flag, true},
    {"delVarFlags",        op_del_flags, true},
    {"appendVarFlag", op_append_flag, true},
    {"prependVarFlag",        op_prepend_flag, true},
    {0 },
};
