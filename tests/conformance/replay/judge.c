#include "judge.h"

#include <stdio.h>

#include "args.h"

enum replay_verdict replay_judge_fail(struct replay_run *r, const char *got,
                                      struct bz_str wanted)
{
    /* Half of the room for each, so that a long one does not hide the other. */
    snprintf(r->why, sizeof(r->why), "got [%.240s], BitBake says [%.*s]", got,
             BZ_STR_ARG(wanted));
    return REPLAY_FAILED;
}

static enum replay_verdict needs_python(struct replay_run *r, const struct bz_err *err)
{
    snprintf(r->why, sizeof(r->why), "%s", err->msg);
    return REPLAY_PYTHON;
}

enum replay_verdict replay_judge_text(struct replay_run *r, const struct bz_doc *op,
                                      int rc, struct bz_str out,
                                      const struct bz_err *err)
{
    const struct bz_doc *raises = bz_doc_find(op, "raises");
    struct bz_str wanted;

    if (rc == BZ_E_NOSUP)
        return needs_python(r, err);
    if (raises)
        return rc < 0 ? REPLAY_PASSED : replay_judge_fail(r, "no error", raises->text);
    if (!replay_args_text_of(&r->arena, bz_doc_find(op, "ret"), &wanted))
        return REPLAY_NOT_YET; /* lists and the like */
    if (rc < 0)
        return replay_judge_fail(r, err->msg, wanted);
    if (!out.p)
        return wanted.p ? replay_judge_fail(r, "nothing", wanted) : REPLAY_PASSED;
    if (!wanted.p || !bz_str_eq(out, wanted))
        return replay_judge_fail(r, bz_arena_dup(&r->arena, out).p, wanted);
    return REPLAY_PASSED;
}

enum replay_verdict replay_judge_rc(struct replay_run *r, const struct bz_doc *op,
                                    int rc, const struct bz_err *err)
{
    if (rc == BZ_E_NOSUP)
        return needs_python(r, err);
    if ((rc < 0) == (bz_doc_find(op, "raises") != NULL))
        return REPLAY_PASSED;
    return replay_judge_fail(r, rc < 0 ? err->msg : "no error", BZ_STR("the opposite"));
}
