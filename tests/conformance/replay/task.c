#include "task.h"

#include <string.h>

#include "args.h"
#include "base/buf.h"
#include "judge.h"

const struct bz_taskdef_names *replay_task_list(const struct bz_meta *meta,
                                                struct bz_str name, const char *flag)
{
    const struct bz_taskdef *task;

    if (!flag)
        return bz_str_eq(name, BZ_STR("__BBTASKS")) ? &meta->tasks.order : NULL;
    task = strcmp(flag, "deps") == 0 ? bz_taskdef_find(&meta->tasks, name) : NULL;
    return task ? &task->after : NULL;
}

enum replay_verdict replay_task_compare(struct replay_run *r, const struct bz_doc *op,
                                        const struct bz_taskdef_names *names)
{
    const struct bz_doc *ret = bz_doc_find(op, "ret");
    BZ_CLEANUP(bz_buf_release) struct bz_buf have = {0}, want = {0};

    for (size_t i = 0; i < names->len; i++)
        bz_buf_addf(&have, " %.*s", BZ_STR_ARG(names->at[i]));
    for (size_t i = 0; ret && ret->type == BZ_DOC_LIST && i < ret->count; i++)
        bz_buf_addf(&want, " %.*s", BZ_STR_ARG(ret->items[i].text));
    if (bz_str_eq(bz_buf_str(&have), bz_buf_str(&want)))
        return REPLAY_PASSED;
    return replay_judge_fail(r, bz_buf_text(&have), bz_buf_str(&want));
}

enum replay_verdict replay_task_set(struct replay_run *r, struct bz_meta *meta,
                                    const struct bz_doc *op)
{
    struct bz_str name = replay_args_text(r, op, 0);
    const struct bz_doc *list = replay_args_at(op, 1);

    if (list->type != BZ_DOC_LIST)
        return REPLAY_NOT_YET;
    if (bz_str_eq(name, BZ_STR("__exportlist")))
        return list->count == 0 ? REPLAY_PASSED : REPLAY_NOT_YET;
    if (!bz_str_eq(name, BZ_STR("__BBTASKS")))
        return REPLAY_NOT_YET;
    BZ_VEC_CLEAR(&meta->tasks.order);
    for (size_t i = 0; i < list->count; i++)
        BZ_VEC_PUSH(&meta->tasks.order,
                    bz_arena_dup(&meta->arena, list->items[i].text));
    return REPLAY_PASSED;
}
