/* op_version.c - ops on versions and on names with versions.
 */
#include "args.h"
#include "judge.h"
#include "op.h"
#include "vars/constraint.h"
#include "vars/version.h"

static enum replay_verdict op_compare(struct replay_run *r, struct replay_slot *s,
                                      const struct bz_doc *op)
{
    struct bz_version a, b;
    struct bz_str out = {0};
    struct bz_err err;
    int rc = bz_version_split(replay_args_text(r, op, 0), &a, &err);

    (void)s;
    if (rc == 0)
        rc = bz_version_split(replay_args_text(r, op, 1), &b, &err);
    if (rc == 0)
        out = bz_arena_printf(&r->arena, "%jd", (intmax_t)bz_version_compare(&a, &b));
    return replay_judge_text(r, op, rc, out, &err);
}

/* A list of "op version". */
static bool same_versions(struct bz_arena *arena, const struct bz_doc *d,
                          const struct bz_constraint_versions *v)
{
    if (d->type != BZ_DOC_LIST || d->count != v->len)
        return false;
    for (size_t i = 0; i < v->len; i++) {
        struct bz_str text = bz_arena_printf(
            arena, "%.*s %.*s", BZ_STR_ARG(v->at[i].op), BZ_STR_ARG(v->at[i].version));

        if (!bz_str_eq(d->items[i].text, text))
            return false;
    }
    return true;
}

static bool same_constraints(struct bz_arena *arena, const struct bz_doc *d,
                             const struct bz_constraints *c)
{
    if (!d || d->type != BZ_DOC_MAP || d->count != c->len)
        return false;
    for (size_t i = 0; i < c->len; i++)
        if (!bz_str_eq(d->items[i].key, c->at[i].name) ||
            !same_versions(arena, &d->items[i], &c->at[i].versions))
            return false;
    return true;
}

static enum replay_verdict op_constraints(struct replay_run *r, struct replay_slot *s,
                                          const struct bz_doc *op)
{
    struct bz_constraints c = {0};
    struct bz_err err;
    int rc = bz_constraint_parse(&r->arena, replay_args_text(r, op, 0), &c, &err);
    enum replay_verdict verdict = replay_judge_rc(r, op, rc, &err);

    (void)s;
    if (rc == 0 && !same_constraints(&r->arena, bz_doc_find(op, "ret"), &c))
        verdict = replay_judge_fail(r, "other constraints", BZ_STR("see ret"));
    bz_constraint_release(&c);
    return verdict;
}

const struct replay_op replay_op_version[] = {
    {"vercmp_string",         op_compare, false},
    {"explode_dep_versions2",                  op_constraints, false},
    {0},
};
