/* Replays calls that were recorded from BitBake's own tests on our variable store.
 *
 * A line of a .jsonl file is one test: {"test": name, "ops": [{"op": "setVar", "args":
 * [...], "store": 0, "ret": ...}, ...]}. Each op is called with the same arguments and
 * its result compared. One that needs an interpreter, or something that does not exist
 * yet, is counted as such, and so is every later op on a store it would have changed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "codec/json.h"
#include "os/fs.h"
#include "os/fs_list.h"
#include "os/path.h"
#include "vars/expr.h"
#include "vars/refs.h"
#include "vars/vars.h"

enum {
    FILE_MAX_BYTES = 64 << 20,
    STORES = 256,
};

enum verdict { PASSED, PYTHON, NOT_YET, FAILED, VERDICTS };

struct tally {
    unsigned n[VERDICTS];
};

/* One store of a test; what is not PASSED says why it cannot be judged. */
struct slot {
    struct bz_vars *v;
    enum verdict state;
    bool used;
};

struct run {
    const char *test;
    struct bz_arena arena;
    struct slot stores[STORES];
    char why[512]; /* of the last failure */
};

/* ---- arguments ---- */

static const struct bz_doc *arg(const struct bz_doc *op, size_t i)
{
    const struct bz_doc *args = bz_doc_find(op, "args");

    return args && args->type == BZ_DOC_LIST && i < args->count ? &args->items[i]
                                                                : NULL;
}

/* An argument by place or by name. */
static const struct bz_doc *either(const struct bz_doc *op, size_t i, const char *key)
{
    const struct bz_doc *kw = bz_doc_find(op, "kw");
    const struct bz_doc *found = arg(op, i);

    return found || !kw ? found : bz_doc_find(kw, key);
}

/* The text of a value as a store would hold it. False for lists and maps. */
static bool text_of(struct bz_arena *arena, const struct bz_doc *d, struct bz_str *out)
{
    *out = (struct bz_str){0};
    if (!d || d->type == BZ_DOC_NULL)
        return true;
    switch (d->type) {
    case BZ_DOC_STR:
        *out = d->text.p ? d->text : BZ_STR("");
        return true;
    case BZ_DOC_BOOL:
        *out = d->b ? BZ_STR("1") : BZ_STR("0");
        return true;
    case BZ_DOC_INT:
        *out = bz_arena_printf(arena, "%jd", (intmax_t)d->i);
        return true;
    default:
        return false;
    }
}

static struct bz_str text_arg(struct run *r, const struct bz_doc *op, size_t i)
{
    struct bz_str out;

    if (!text_of(&r->arena, arg(op, i), &out))
        out = (struct bz_str){0};
    return out;
}

static bool is_true(const struct bz_doc *d, bool otherwise)
{
    if (!d || d->type == BZ_DOC_NULL)
        return otherwise;
    return d->type == BZ_DOC_BOOL ? d->b : d->type != BZ_DOC_INT || d->i != 0;
}

static struct slot *slot_of(struct run *r, const struct bz_doc *where)
{
    const struct bz_doc *id =
        where && where->type == BZ_DOC_MAP ? bz_doc_find(where, "store") : where;
    struct slot *s;

    if (!id || id->type != BZ_DOC_INT || id->i < 0 || id->i >= STORES)
        return NULL;
    s = &r->stores[id->i];
    if (!s->v)
        s->v = bz_vars_new(NULL);
    return s;
}

/* The store an op works on: its "store", or the last argument that is one. */
static struct slot *slot_for(struct run *r, const struct bz_doc *op)
{
    const struct bz_doc *args = bz_doc_find(op, "args");
    struct slot *s = slot_of(r, bz_doc_find(op, "store"));

    for (size_t i = args ? args->count : 0; !s && i-- > 0;)
        if (args->items[i].type == BZ_DOC_MAP)
            s = slot_of(r, &args->items[i]);
    return s;
}

/* ---- verdicts ---- */

static enum verdict fail(struct run *r, const char *got, struct bz_str wanted)
{
    snprintf(r->why, sizeof(r->why), "got [%s], BitBake says [%.*s]", got,
             BZ_STR_ARG(wanted));
    return FAILED;
}

/* What an op that returned rc and, perhaps, a text is worth. */
static enum verdict judge(struct run *r, const struct bz_doc *op, int rc,
                          struct bz_str out, const struct bz_err *err)
{
    const struct bz_doc *raises = bz_doc_find(op, "raises");
    struct bz_str wanted;

    if (rc == BZ_E_NOSUP)
        return PYTHON;
    if (raises)
        return rc < 0 ? PASSED : fail(r, "no error", raises->text);
    if (!text_of(&r->arena, bz_doc_find(op, "ret"), &wanted))
        return NOT_YET; /* lists and the like */
    if (rc < 0)
        return fail(r, err->msg, wanted);
    if (!out.p)
        return wanted.p ? fail(r, "nothing", wanted) : PASSED;
    if (!wanted.p || !bz_str_eq(out, wanted))
        return fail(r, bz_arena_dup(&r->arena, out).p, wanted);
    return PASSED;
}

/* Of an op whose result is not compared. */
static enum verdict judge_rc(struct run *r, const struct bz_doc *op, int rc,
                             const struct bz_err *err)
{
    if (rc == BZ_E_NOSUP)
        return PYTHON;
    if ((rc < 0) == (bz_doc_find(op, "raises") != NULL))
        return PASSED;
    return fail(r, rc < 0 ? err->msg : "no error", BZ_STR("the opposite"));
}

/* ---- ops on a store ---- */

typedef enum verdict (*op_fn)(struct run *r, struct slot *s, const struct bz_doc *op);

static enum verdict op_set_var(struct run *r, struct slot *s, const struct bz_doc *op)
{
    unsigned how =
        is_true(either(op, SIZE_MAX, "parsing"), false) ? BZ_VARS_SET_PARSING : 0;
    struct bz_err err;
    struct bz_str value;

    if (!text_of(&r->arena, arg(op, 1), &value))
        return NOT_YET;
    return judge_rc(
        r, op, bz_vars_set(s->v, text_arg(r, op, 0), value, how, NULL, &err), &err);
}

static unsigned how_to_read(const struct bz_doc *op, size_t first)
{
    return (is_true(either(op, first, "expand"), true) ? 0 : BZ_VARS_RAW) |
           (is_true(either(op, first + 1, "noweakdefault"), false) ? BZ_VARS_NOWEAK
                                                                   : 0) |
           (is_true(either(op, first + 2, "parsing"), false) ? BZ_VARS_PARSING : 0);
}

static enum verdict op_get_var(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;
    struct bz_str out = {0};
    int rc = bz_vars_get(s->v, text_arg(r, op, 0), how_to_read(op, 1), &out, &err);

    return judge(r, op, rc, out, &err);
}

static enum verdict op_get_flag(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;
    struct bz_str out = {0};
    int rc = bz_vars_get_flag(s->v, text_arg(r, op, 0), text_arg(r, op, 1),
                              how_to_read(op, 2), &out, &err);

    return judge(r, op, rc, out, &err);
}

static enum verdict op_set_flag(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;
    struct bz_str value;

    if (!text_of(&r->arena, arg(op, 2), &value))
        return NOT_YET;
    return judge_rc(r, op,
                    bz_vars_set_flag(s->v, text_arg(r, op, 0), text_arg(r, op, 1),
                                     value, NULL, &err),
                    &err);
}

static enum verdict op_set_flags(struct run *r, struct slot *s, const struct bz_doc *op)
{
    const struct bz_doc *flags = arg(op, 1);
    struct bz_err err;
    int rc = 0;

    if (!flags || flags->type != BZ_DOC_MAP)
        return NOT_YET;
    for (size_t i = 0; i < flags->count && rc == 0; i++) {
        struct bz_str value;

        if (!text_of(&r->arena, &flags->items[i], &value))
            return NOT_YET;
        rc = bz_vars_set_flag(s->v, text_arg(r, op, 0), flags->items[i].key, value,
                              NULL, &err);
    }
    return judge_rc(r, op, rc, &err);
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
        c->same &= text_of(c->arena, &c->wanted->items[i], &wanted) &&
                   bz_str_eq(wanted, value);
        return;
    }
    c->same = false;
}

static enum verdict op_get_flags(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct flag_check c = {&r->arena, bz_doc_find(op, "ret"), 0, true};

    if (is_true(either(op, 2, "internalflags"), false) || arg(op, 1))
        return NOT_YET; /* internal flags are not shown; a list to expand is not known
                         */
    if (!c.wanted || c.wanted->type != BZ_DOC_MAP)
        return NOT_YET;
    bz_vars_flags(s->v, text_arg(r, op, 0), check_flag, &c);
    return c.same && c.n == c.wanted->count ? PASSED
                                            : fail(r, "other flags", BZ_STR("see ret"));
}

static enum verdict op_del_var(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;

    return judge_rc(r, op, bz_vars_del(s->v, text_arg(r, op, 0), NULL, &err), &err);
}

static enum verdict op_del_flag(struct run *r, struct slot *s, const struct bz_doc *op)
{
    bz_vars_del_flag(s->v, text_arg(r, op, 0), text_arg(r, op, 1), NULL);
    return PASSED;
}

static enum verdict op_del_flags(struct run *r, struct slot *s, const struct bz_doc *op)
{
    bz_vars_del_flags(s->v, text_arg(r, op, 0), NULL);
    return PASSED;
}

static enum verdict op_rename(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_rename(s->v, text_arg(r, op, 0), text_arg(r, op, 1), NULL, &err);

    return judge_rc(r, op, rc, &err);
}

static enum verdict op_append(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_append(s->v, text_arg(r, op, 0), text_arg(r, op, 1), NULL, &err);

    return judge_rc(r, op, rc, &err);
}

static enum verdict op_prepend(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_prepend(s->v, text_arg(r, op, 0), text_arg(r, op, 1), NULL, &err);

    return judge_rc(r, op, rc, &err);
}

static enum verdict op_append_flag(struct run *r, struct slot *s,
                                   const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_append_flag(s->v, text_arg(r, op, 0), text_arg(r, op, 1),
                                 text_arg(r, op, 2), NULL, &err);

    return judge_rc(r, op, rc, &err);
}

static enum verdict op_prepend_flag(struct run *r, struct slot *s,
                                    const struct bz_doc *op)
{
    struct bz_err err;
    int rc = bz_vars_prepend_flag(s->v, text_arg(r, op, 0), text_arg(r, op, 1),
                                  text_arg(r, op, 2), NULL, &err);

    return judge_rc(r, op, rc, &err);
}

static enum verdict op_expand(struct run *r, struct slot *s, const struct bz_doc *op)
{
    struct bz_err err;
    struct bz_str out = {0};
    int rc =
        bz_vars_expand(s->v, text_arg(r, op, 0), text_arg(r, op, 1), NULL, &out, &err);

    return judge(r, op, rc, out, &err);
}

static enum verdict op_expand_keys(struct run *r, struct slot *s,
                                   const struct bz_doc *op)
{
    struct bz_err err;

    return judge_rc(r, op, bz_vars_expand_keys(s->v, &err), &err);
}

static enum verdict op_keys(struct run *r, struct slot *s, const struct bz_doc *op)
{
    const struct bz_doc *ret = bz_doc_find(op, "ret");
    const struct bz_str *names;
    struct bz_err err;
    size_t n;
    int rc = bz_vars_names(s->v, &names, &n, &err);

    if (rc == 0 && ret && ret->type == BZ_DOC_INT)
        return judge(r, op, 0, bz_arena_printf(&r->arena, "%zu", n), &err);
    return judge_rc(r, op, rc, &err);
}

static enum verdict op_copy(struct run *r, struct slot *s, const struct bz_doc *op)
{
    const struct bz_doc *ret = bz_doc_find(op, "ret");
    const struct bz_doc *id = ret ? bz_doc_find(ret, "store") : NULL;

    if (!id || id->type != BZ_DOC_INT || id->i < 0 || id->i >= STORES ||
        r->stores[id->i].v)
        return NOT_YET;
    r->stores[id->i] = (struct slot){bz_vars_new(s->v), s->state, true};
    return PASSED;
}

/* ---- ops that are expressions ---- */

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
static enum verdict op_utils(struct run *r, struct slot *s, const struct bz_doc *op)
{
    const struct bz_doc *args = bz_doc_find(op, "args"), *ret = bz_doc_find(op, "ret");
    struct bz_buf code = {0}, wanted = {0};
    enum verdict verdict = NOT_YET;
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
        int rc = bz_expr_eval(s->v, bz_buf_str(&code), NULL, &out, &err);

        verdict = rc == BZ_E_NOSUP ? PYTHON
                  : rc == 0 && bz_str_eq(out, bz_buf_str(&wanted))
                      ? PASSED
                      : fail(r, rc < 0 ? err.msg : bz_arena_dup(&r->arena, out).p,
                             bz_arena_dup(&r->arena, bz_buf_str(&wanted)));
    }
    bz_buf_release(&code);
    bz_buf_release(&wanted);
    return verdict;
}

static enum verdict op_filters(struct run *r, struct slot *s, const struct bz_doc *op)
{
    const struct bz_doc *filters = arg(op, 1);
    struct bz_str value = text_arg(r, op, 0);
    struct bz_err err;
    int rc = 0;

    for (size_t i = 0; filters && i < filters->count && rc == 0; i++)
        if (bz_str_trim(filters->items[i].text).n > 0)
            rc = bz_expr_filter(s->v, filters->items[i].text, value, &value, &err);
    return judge(r, op, rc, value, &err);
}

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

/* What an expression reads, found without evaluating it. */
static enum verdict op_scan(struct run *r, struct slot *s, const struct bz_doc *op)
{
    const struct bz_doc *text = bz_doc_find(op, "text");
    struct bz_refs refs;
    struct bz_err err;
    enum verdict verdict = PASSED;
    int rc;

    (void)s;
    if (!text)
        return NOT_YET;
    bz_refs_init(&refs, &r->arena);
    rc = bz_expr_scan(bz_str_trim(text->text), &refs, &err);
    if (rc == BZ_E_NOSUP)
        verdict = PYTHON;
    else if (rc < 0)
        verdict = fail(r, err.msg, BZ_STR("references"));
    else if (!same_names(bz_doc_find(op, "references"), &refs.reads) ||
             !same_names(bz_doc_find(op, "execs"), &refs.execs) ||
             !same_contains(bz_doc_find(op, "contains"), &refs.contains))
        verdict = fail(r, "other references", text->text);
    bz_refs_release(&refs);
    return verdict;
}

/* ---- one test, one file ---- */

static const struct {
    const char *name;
    op_fn fn;
    bool writes; /* what it cannot do makes the store unlike BitBake's */
} ops[] = {
    {"setVar",         op_set_var,      true },
    {"getVar",         op_get_var,      false},
    {"setVarFlag",     op_set_flag,     true },
    {"setVarFlags",    op_set_flags,    true },
    {"getVarFlag",     op_get_flag,     false},
    {"getVarFlags",    op_get_flags,    false},
    {"delVar",         op_del_var,      true },
    {"delVarFlag",     op_del_flag,     true },
    {"delVarFlags",    op_del_flags,    true },
    {"renameVar",      op_rename,       true },
    {"appendVar",      op_append,       true },
    {"prependVar",     op_prepend,      true },
    {"appendVarFlag",  op_append_flag,  true },
    {"prependVarFlag", op_prepend_flag, true },
    {"createCopy",     op_copy,         true },
    {"expand",         op_expand,       false},
    {"expandKeys",     op_expand_keys,  true },
    {"keys",           op_keys,         false},
    {"len",            op_keys,         false},
    {"contains",       op_utils,        false},
    {"contains_any",   op_utils,        false},
    {"filter",         op_utils,        false},
    {"apply_filters",  op_filters,      false},
    {"parse_python",   op_scan,         false},
};

/* Parsing is not done here: what it would have filled cannot be judged. */
static void spoil(struct run *r, const struct bz_doc *op, struct slot *s,
                  enum verdict why)
{
    const struct bz_doc *variants = bz_doc_find(op, "variants");

    if (s)
        s->state = why;
    for (size_t i = 0; variants && i < variants->count; i++) {
        struct slot *variant = slot_of(r, &variants->items[i]);

        if (variant)
            variant->state = why;
    }
}

/* A store that is first heard of by what is in it came about in a way that was not
 * recorded; the first of a test begins empty. */
static void check_origin(struct run *r, struct slot *s, bool writes)
{
    if (s && !s->used && s != &r->stores[0] && !writes)
        s->state = NOT_YET;
    if (s)
        s->used = true;
}

static enum verdict run_op(struct run *r, const struct bz_doc *op)
{
    const struct bz_doc *name = bz_doc_find(op, "op");
    struct slot none = {.v = NULL}, *s = slot_for(r, op);
    enum verdict verdict;

    for (size_t i = 0; name && i < BZ_COUNTOF(ops); i++) {
        if (!bz_str_eq(name->text, bz_str_from(ops[i].name)))
            continue;
        check_origin(r, s, ops[i].writes);
        if (s && s->state != PASSED) {
            if (ops[i].fn == op_copy)
                op_copy(r, s, op); /* the copy is just as spoilt */
            return s->state;
        }
        none.v =
            s ? NULL : bz_vars_new(NULL); /* for ops that need no store of theirs */
        verdict = ops[i].fn(r, s ? s : &none, op);
        if (verdict != PASSED && ops[i].writes)
            spoil(r, op, s, verdict);
        bz_vars_free(none.v);
        return verdict;
    }
    spoil(r, op, bz_doc_find(op, "variants") ? s : NULL, NOT_YET);
    return NOT_YET;
}

static void run_test(const struct bz_doc *test, struct tally *tally)
{
    const struct bz_doc *name = bz_doc_find(test, "test");
    const struct bz_doc *list = bz_doc_find(test, "ops");
    struct run r = {.test = name ? name->text.p : "?"};

    for (size_t i = 0; list && i < list->count; i++) {
        enum verdict verdict = run_op(&r, &list->items[i]);

        tally->n[verdict]++;
        if (verdict == FAILED)
            fprintf(stderr, "%s: op %zu, %.*s: %s\n", r.test, i,
                    BZ_STR_ARG(bz_doc_find(&list->items[i], "op")->text), r.why);
    }
    for (size_t i = STORES; i-- > 0;) /* copies have higher numbers than parents */
        bz_vars_free(r.stores[i].v);
    bz_arena_release(&r.arena);
}

static int run_lines(struct bz_str rest, struct tally *tally, struct bz_err *err)
{
    struct bz_str line;

    while (bz_str_next_part(&rest, '\n', &line)) {
        struct bz_arena arena = {0};
        const struct bz_doc *test = NULL;
        int rc;

        if (bz_str_trim(line).n == 0)
            continue;
        rc = bz_json_parse(&arena, line, NULL, &test, err);
        if (rc == 0)
            run_test(test, tally);
        bz_arena_release(&arena);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void show(const char *what, const struct tally *t)
{
    printf("%-20s %5u passed %5u need Python %5u not yet %5u failed\n", what,
           t->n[PASSED], t->n[PYTHON], t->n[NOT_YET], t->n[FAILED]);
}

static int run_file(const char *dir, const char *name, struct tally *total,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct tally tally = {0};
    struct bz_path path;
    size_t n;
    int rc = bz_path_join(bz_str_from(dir), bz_str_from(name), &path, err);

    if (rc == 0)
        rc = bz_fs_read(AT_FDCWD, path.s, FILE_MAX_BYTES, &text, &n, err);
    if (rc == 0)
        rc = run_lines(bz_str_of(text, n), &tally, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", name);
    show(name, &tally);
    for (int i = 0; i < VERDICTS; i++)
        total->n[i] += tally.n[i];
    return 0;
}

static int run_dir(const char *dir, struct tally *total, struct bz_err *err)
{
    struct bz_fs_list list = {0};
    int rc = bz_fs_list_dir(AT_FDCWD, dir, &list, err);

    for (size_t i = 0; rc == 0 && i < list.n; i++)
        if (bz_str_ends(bz_str_from(list.names[i]), BZ_STR(".jsonl")))
            rc = run_file(dir, list.names[i], total, err);
    bz_fs_list_release(&list);
    return rc;
}

static void drop_line(void *ctx, enum bz_log_level level, const char *line, size_t n)
{
    (void)ctx;
    (void)level;
    (void)line;
    (void)n;
}

int main(int argc, char **argv)
{
    static const struct bz_log_sink quiet = {drop_line, NULL};
    struct tally total = {0};
    struct bz_err err;

    if (argc != 2) {
        fprintf(stderr, "usage: conformance_replay DIRECTORY-OF-JSONL\n");
        return 2;
    }
    bz_log_set_sink(&quiet); /* the recorded tests provoke warnings */
    if (run_dir(argv[1], &total, &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], err.msg);
        return 1;
    }
    show("total", &total);
    return total.n[FAILED] > 0 || total.n[PASSED] == 0;
}
