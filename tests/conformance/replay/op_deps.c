/* op_deps.c - ops that find what variables depend on.
 */
#include "args.h"
#include "base/buf.h"
#include "judge.h"
#include "op.h"
#include "sig/deps.h"

/* The items of {"set": [...]}, or NULL. */
static const struct bz_doc *items_of(const struct bz_doc *d)
{
    return d && d->type == BZ_DOC_MAP ? bz_doc_find(d, "set") : NULL;
}

static struct bz_str words_of(struct replay_run *r, const struct bz_doc *set)
{
    const struct bz_doc *list = items_of(set);
    BZ_CLEANUP(bz_buf_release) struct bz_buf words = {0};

    for (size_t i = 0; list && i < list->count; i++)
        bz_buf_addf(&words, "%.*s ", BZ_STR_ARG(list->items[i].text));
    return bz_arena_dup(&r->arena, bz_buf_str(&words));
}

/* Whether the item has the recorded dependencies and value. */
static bool same_item(const struct bz_deps *d, const struct bz_deps_item *item,
                      const struct bz_doc *deps, const struct bz_doc *value)
{
    const struct bz_doc *list = items_of(deps);

    if (!list || list->count != item->n || !value ||
        !bz_str_eq(item->value, value->text))
        return false;
    for (size_t i = 0; i < item->n; i++) {
        bool found = false;

        for (size_t k = 0; k < list->count; k++)
            found |= bz_str_eq(list->items[k].text, d->items.at[item->deps[i].i].name);
        if (!found)
            return false;
    }
    return true;
}

static enum replay_verdict judge_rc(struct replay_run *r, int rc,
                                    const struct bz_err *err)
{
    if (rc == BZ_E_NOSUP)
        return REPLAY_PYTHON;
    return rc < 0 ? replay_judge_fail(r, err->msg, BZ_STR("no error")) : REPLAY_PASSED;
}

/* One variable. What else is given to it is what bz_deps_open() finds by itself. */
static enum replay_verdict op_build(struct replay_run *r, struct replay_slot *s,
                                    const struct bz_doc *op)
{
    const struct bz_doc *ret = bz_doc_find(op, "ret");
    struct bz_deps_opts opts = {.ignored = words_of(r, replay_args_at(op, 5))};
    struct bz_deps_id id = {0};
    struct bz_deps d;
    struct bz_err err;
    enum replay_verdict verdict;
    int rc = bz_deps_open(&d, s->meta->vars, &opts, &err);

    if (rc == 0)
        rc = bz_deps_find(&d, replay_args_text(r, op, 0), &id, &err);
    verdict = judge_rc(r, rc, &err);
    if (rc == 0 && (!ret || ret->type != BZ_DOC_LIST || ret->count != 2 ||
                    !same_item(&d, &d.items.at[id.i], &ret->items[0], &ret->items[1])))
        verdict =
            replay_judge_fail(r, bz_arena_dup(&r->arena, d.items.at[id.i].value).p,
                              BZ_STR("other dependencies, or another value"));
    bz_deps_close(&d);
    return verdict;
}

/* All that the tasks of a store lead to. */
static enum replay_verdict op_generate(struct replay_run *r, struct replay_slot *s,
                                       const struct bz_doc *op)
{
    const struct bz_doc *ret = bz_doc_find(op, "ret");
    const struct bz_taskdef_names *tasks = &s->meta->tasks.order;
    struct bz_deps_opts opts = {.ignored = words_of(r, replay_args_at(op, 1))};
    struct bz_deps d;
    struct bz_err err;
    enum replay_verdict verdict;
    int rc = bz_deps_open(&d, s->meta->vars, &opts, &err);

    for (size_t i = 0; rc == 0 && i < tasks->len; i++) {
        struct bz_deps_id id;

        rc = bz_deps_find(&d, tasks->at[i], &id, &err);
    }
    verdict = judge_rc(r, rc, &err);
    if (rc == 0 && (!ret || ret->type != BZ_DOC_LIST || ret->count != 3 ||
                    ret->items[1].count != d.items.len))
        verdict =
            replay_judge_fail(r, "another number of variables", BZ_STR("see ret"));
    for (size_t i = 0; ret && verdict == REPLAY_PASSED && i < d.items.len; i++) {
        const struct bz_deps_item *item = &d.items.at[i];
        const char *name = bz_arena_dup(&r->arena, item->name).p;

        if (!same_item(&d, item, bz_doc_find(&ret->items[1], name),
                       bz_doc_find(&ret->items[2], name)))
            verdict = replay_judge_fail(r, name, BZ_STR("other dependencies or value"));
    }
    bz_deps_close(&d);
    return verdict;
}

const struct replay_op replay_op_deps[] = {
    {"build_dependencies",    op_build, false},
    {"generate_dependencies",                  op_generate, false},
    {0},
};
