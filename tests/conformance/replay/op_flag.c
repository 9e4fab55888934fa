/* op_flag.c - ops on flags.
 */
#include "args.h"
#include "judge.h"
#include "op.h"
#include "task.h"

static enum replay_verdict op_get_flag(struct replay_run *r, struct replay_slot *s,
                                       const struct bz_doc *op)
{
    struct bz_str name = replay_args_text(r, op, 0), flag = replay_args_text(r, op, 1);
    const struct bz_taskdef_names *deps =
        replay_task_list(s->meta, name, flag.p ? flag.p : "");
    struct bz_err err;
    struct bz_str out = {0};
    int rc;

    if (deps)
        return replay_task_compare(r, op, deps);
    rc =
        bz_vars_get_flag(s->meta->vars, name, flag, replay_args_how(op, 2), &out, &err);
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
    size_t n; /* found that are wanted */
    bool same;
};

static void check_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct flag_check *c = ctx;
    struct bz_str wanted;

    for (size_t i = 0; i < c->wanted->count; i++) {
        if (!bz_str_eq(c->wanted->items[i].key, flag))
            continue;
        c->n++;
        c->same &= replay_args_text_of(c->arena, &c->wanted->items[i], &wanted) &&
                   bz_str_eq(wanted, value);
        return;
    }
    c->same = false;
}

/* Internal flags are not listed, but can be asked for. */
static int check_internal(struct replay_slot *s, struct bz_str name,
                          struct flag_check *c, struct bz_err *err)
{
    const unsigned how = BZ_VARS_RAW | BZ_VARS_NOWEAK | BZ_VARS_PARSING;
    int rc = 0;

    for (size_t i = 0; i < c->wanted->count && rc == 0; i++) {
        struct bz_str flag = c->wanted->items[i].key, value;

        if (flag.n == 0 || flag.p[0] != '_')
            continue;
        rc = bz_vars_get_flag(s->meta->vars, name, flag, how, &value, err);
        if (rc == 0 && value.p)
            check_flag(c, flag, value);
    }
    return rc;
}

struct flag_sieve {
    struct flag_check *check;
    struct bz_vars *vars;
    struct bz_str name;
};

/* With the internal ones, a default is not listed under the name of its flag. */
static void check_set_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct flag_sieve *sieve = ctx;
    struct bz_str own = {0};
    struct bz_err err;
    int rc = bz_vars_get_flag(sieve->vars, sieve->name, flag,
                              BZ_VARS_RAW | BZ_VARS_NOWEAK, &own, &err);

    if (rc == 0 && own.p)
        check_flag(sieve->check, flag, value);
}

static enum replay_verdict op_get_flags(struct replay_run *r, struct replay_slot *s,
                                        const struct bz_doc *op)
{
    static const struct bz_doc none = {.type = BZ_DOC_MAP};
    struct flag_check c = {&r->arena, bz_doc_find(op, "ret"), 0, true};
    struct bz_str name = replay_args_text(r, op, 0);
    struct flag_sieve sieve = {&c, s->meta->vars, name};
    struct bz_err err;
    int rc = 0;

    if (replay_args_at(op, 1))
        return REPLAY_NOT_YET; /* a list of those to expand */
    if (c.wanted && c.wanted->type == BZ_DOC_NULL)
        c.wanted = &none;
    if (!c.wanted || c.wanted->type != BZ_DOC_MAP)
        return REPLAY_NOT_YET;
    if (replay_args_true(replay_args_either(op, 2, "internalflags"), false)) {
        bz_vars_flags(s->meta->vars, name, check_set_flag, &sieve);
        rc = check_internal(s, name, &c, &err);
    } else {
        bz_vars_flags(s->meta->vars, name, check_flag, &c);
    }
    if (rc < 0)
        return replay_judge_rc(r, op, rc, &err);
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
