/* op_script.c - ops that write shell text. The records have what they returned, which
 * is whether it was a function, not what they wrote.
 */
#include "args.h"
#include "base/buf.h"
#include "judge.h"
#include "op.h"
#include "recipe/script.h"

static enum replay_verdict op_emit_var(struct replay_run *r, struct replay_slot *s,
                                       const struct bz_doc *op)
{
    unsigned how =
        replay_args_true(replay_args_either(op, 3, "all"), false) ? BZ_SCRIPT_ALL : 0;
    struct bz_buf text = {0};
    struct bz_err err;
    bool function = false;
    int rc = bz_script_var(s->meta->vars, replay_args_text(r, op, 0), how, &text,
                           &function, &err);

    bz_buf_release(&text);
    return replay_judge_text(r, op, rc, function ? BZ_STR("1") : BZ_STR("0"), &err);
}

const struct replay_op replay_op_script[] = {
    {"emit_var", op_emit_var, false},
    {0    },
};
