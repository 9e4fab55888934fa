/* op_scan.c - ops that look for the references in a piece of code.
 */
#include "code/py_scan.h"
#include "code/sh_execs.h"
#include "judge.h"
#include "op.h"
#include "vars/refs.h"

/* Whether {"set": [...]} or a map has exactly these keys. */
static bool same_names(const struct bz_doc *d, const struct bz_map *m)
{
    const struct bz_doc *list =
        d && d->type == BZ_DOC_MAP ? bz_doc_find(d, "set") : NULL;

    if (!list || list->count != m->len)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (!bz_map_get(m, list->items[i].text))
            return false;
    return true;
}

static bool same_contains(const struct bz_doc *d, const struct bz_map *m)
{
    if (!d || d->type != BZ_DOC_MAP || d->count != m->len)
        return false;
    for (size_t i = 0; i < d->count; i++) {
        const struct bz_map_entry *e = bz_map_get(m, d->items[i].key);

        if (!e || !same_names(&d->items[i], e->p))
            return false;
    }
    return true;
}

/* BitBake answers from a cache that forgets these: none may be any. */
static bool same_runs(const struct bz_doc *d, const struct bz_map *m)
{
    static const struct bz_map none;

    return same_names(d, m) || same_names(d, &none);
}

/* What Python code mentions, found without running it. */
static enum replay_verdict op_python(struct replay_run *r, struct replay_slot *s,
                                     const struct bz_doc *op)
{
    const struct bz_doc *text = bz_doc_find(op, "text");
    struct bz_py_source src = {0};
    struct bz_py_found found;
    struct bz_err err;
    enum replay_verdict verdict = REPLAY_PASSED;
    int rc;

    (void)s;
    if (!text)
        return REPLAY_NOT_YET;
    src.code = text->text;
    bz_py_scan_init(&found, &r->arena);
    rc = bz_py_scan(&src, &found, &err);
    if (rc == BZ_E_NOSUP)
        verdict = REPLAY_PYTHON;
    else if ((rc < 0) != (bz_doc_find(op, "raises") != NULL))
        verdict = replay_judge_fail(r, rc < 0 ? err.msg : "no error", text->text);
    else if (rc == 0 &&
             (!same_names(bz_doc_find(op, "references"), &found.refs.reads) ||
              !same_names(bz_doc_find(op, "execs"), &found.refs.execs) ||
              !same_runs(bz_doc_find(op, "var_execs"), &found.runs) ||
              !same_contains(bz_doc_find(op, "contains"), &found.refs.contains)))
        verdict = replay_judge_fail(r, "other references", text->text);
    bz_py_scan_release(&found);
    return verdict;
}

/* Which commands a shell text runs. */
static enum replay_verdict op_shell(struct replay_run *r, struct replay_slot *s,
                                    const struct bz_doc *op)
{
    const struct bz_doc *text = bz_doc_find(op, "text");
    const struct bz_doc *raises = bz_doc_find(op, "raises");
    struct bz_refs refs;
    struct bz_err err;
    enum replay_verdict verdict = REPLAY_PASSED;
    int rc;

    (void)s;
    if (!text)
        return REPLAY_NOT_YET;
    bz_refs_init(&refs, &r->arena);
    rc = bz_sh_execs_find(text->text, &refs, &err);
    if ((rc < 0) != (raises != NULL))
        verdict = replay_judge_fail(r, rc < 0 ? err.msg : "no error", text->text);
    else if (rc == 0 && !same_names(bz_doc_find(op, "execs"), &refs.execs))
        verdict = replay_judge_fail(r, "other commands", text->text);
    bz_refs_release(&refs);
    return verdict;
}

const struct replay_op replay_op_scan[] = {
    {"parse_python", op_python, false},
    {"parse_shell",         op_shell, false},
    {0 },
};
