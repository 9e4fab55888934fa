#include "query/query_eval.h"

#include "base/mem.h"
#include "base/near.h"
#include "codec/regex.h"
#include "query/query_glob.h"

/* What `let` gave values, innermost first. */
struct binding {
    const struct binding *up;
    struct bz_str name;
    const struct bz_bitset *value;
};

struct run {
    struct bz_query_eval *e;
    const struct binding *bound;
    struct bz_dag_ids *path; /* for somepath() */
    uint32_t column;
    struct bz_err *err;
};

static int eval(struct run *r, const struct bz_query *q, struct bz_bitset *out);

void bz_query_eval_init(struct bz_query_eval *e, const struct bz_query_world *world)
{
    *e = (struct bz_query_eval){.world = world};
}

void bz_query_eval_release(struct bz_query_eval *e)
{
    bz_dag_release(&e->back);
    bz_vec_release(&e->leaves);
    bz_map_release(&e->known);
    bz_arena_release(&e->arena);
    *e = (struct bz_query_eval){0};
}

void bz_query_eval_release_answer(struct bz_query_answer *a)
{
    bz_bitset_release(&a->nodes);
    bz_vec_release(&a->path);
}

static int wrong(struct run *r, uint32_t column, int rc)
{
    r->column = column;
    return rc == BZ_E_NOENT || rc == BZ_E_INVAL
               ? bz_err_wrap(r->err, "column %u", column)
               : rc;
}

static const struct bz_dag *dag_of(const struct run *r)
{
    return r->e->world->dag;
}

static const struct bz_dag *back_of(const struct run *r)
{
    if (!r->e->back.start)
        bz_dag_reverse(dag_of(r), &r->e->back);
    return &r->e->back;
}

const char *bz_query_eval_describe(const struct bz_query_eval *e, size_t node,
                                   struct bz_buf *out)
{
    const struct bz_query_world *w = e->world;
    struct bz_str text;

    if (node >= w->dag->n) {
        const struct bz_query_leaf *leaf = &BZ_VEC_AT(&e->leaves, node - w->dag->n);

        if (out)
            bz_buf_add_str(out, leaf->text);
        return leaf->kind;
    }
    if (out)
        w->name(w->ctx, (uint32_t)node, out);
    /* The kind is a constant, not a part of the text. */
    /* cppcheck-suppress returnDanglingLifetime */
    return w->kind(w->ctx, (uint32_t)node, &text);
}

/* ---- walks ---- */

/* Adds what is reached from the nodes in at most `depth` steps, leaves included. If
 * `within` is not NULL only nodes in it are entered. */
static void walk(const struct bz_dag *dag, const struct bz_bitset *from, uint32_t depth,
                 const struct bz_bitset *within, struct bz_bitset *out)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids queue = {0};
    size_t end = 0;

    bz_bitset_reserve(out, dag->n);
    for (size_t i = bz_bitset_next(from, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(from, i + 1)) {
        if (within && !bz_bitset_test(within, i))
            continue;
        bz_bitset_set(out, i);
        if (i < dag->n)
            BZ_VEC_PUSH(&queue, (uint32_t)i);
    }
    for (size_t i = 0; i < queue.len; i++) {
        uint32_t node = queue.at[i];

        if (i == end) { /* a level is done */
            if (depth == 0)
                return;
            depth -= depth != UINT32_MAX;
            end = queue.len;
        }
        for (uint32_t k = dag->start[node]; k < dag->start[node + 1]; k++) {
            uint32_t to = dag->to[k];

            if (bz_bitset_test(out, to) || (within && !bz_bitset_test(within, to)))
                continue;
            bz_bitset_set(out, to);
            BZ_VEC_PUSH(&queue, to);
        }
    }
}

static void all_paths(struct run *r, const struct bz_bitset *from,
                      const struct bz_bitset *to, struct bz_bitset *out)
{
    struct bz_bitset below = {0};

    walk(dag_of(r), from, UINT32_MAX, NULL, &below);
    walk(back_of(r), to, UINT32_MAX, &below, out);
    bz_bitset_release(&below);
}

/* Breadth first from all of `from`; came[] is who was there before. Returns the first
 * of `to`, or dag->n. */
static uint32_t search(const struct bz_dag *dag, const struct bz_bitset *from,
                       const struct bz_bitset *to, uint32_t *came)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids queue = {0};

    for (uint32_t i = 0; i < dag->n; i++) {
        came[i] = dag->n;
        if (!bz_bitset_test(from, i))
            continue;
        came[i] = i;
        BZ_VEC_PUSH(&queue, i);
    }
    for (size_t i = 0; i < queue.len; i++) {
        uint32_t node = queue.at[i];

        if (bz_bitset_test(to, node))
            return node;
        for (uint32_t k = dag->start[node]; k < dag->start[node + 1]; k++) {
            if (came[dag->to[k]] != dag->n)
                continue;
            came[dag->to[k]] = node;
            BZ_VEC_PUSH(&queue, dag->to[k]);
        }
    }
    return dag->n;
}

static void some_path(struct run *r, const struct bz_bitset *from,
                      const struct bz_bitset *to, struct bz_bitset *out)
{
    const struct bz_dag *dag = dag_of(r);
    BZ_CLEANUP(bz_mem_freep)
    uint32_t *came = bz_mem_array((size_t)dag->n + 1, sizeof(*came));
    uint32_t node = search(dag, from, to, came);

    BZ_VEC_CLEAR(r->path);
    if (node == dag->n)
        return;
    for (; came[node] != node; node = came[node]) {
        bz_bitset_set(out, node);
        BZ_VEC_PUSH(r->path, node);
    }
    bz_bitset_set(out, node);
    BZ_VEC_PUSH(r->path, node);
    for (size_t i = 0, k = r->path->len - 1; i < k; i++, k--) {
        uint32_t swap = r->path->at[i];

        r->path->at[i] = r->path->at[k];
        r->path->at[k] = swap;
    }
}

/* ---- filters ---- */

static int check_kind(struct run *r, const struct bz_query *q)
{
    struct bz_near near;
    char text[120];

    bz_near_init(&near, q->words[0]);
    for (const char *const *kind = r->e->world->kinds; *kind; kind++) {
        if (bz_str_eq(q->words[0], bz_str_from(*kind)))
            return 0;
        bz_near_offer(&near, bz_str_from(*kind));
    }
    return wrong(r, q->word_column[0],
                 bz_fail(r->err, BZ_E_INVAL, "there is no kind '%.*s'%s",
                         BZ_STR_ARG(q->words[0]),
                         bz_near_text(&near, "", text, sizeof(text))));
}

static int keep_kind(struct run *r, const struct bz_query *q,
                     const struct bz_bitset *from, struct bz_bitset *out)
{
    const struct bz_query_world *w = r->e->world;
    int rc = check_kind(r, q);

    for (size_t i = bz_bitset_next(from, 0); rc == 0 && i != BZ_BITSET_END;
         i = bz_bitset_next(from, i + 1)) {
        const char *kind;
        struct bz_str text;

        if (i < w->dag->n) {
            kind = w->kind(w->ctx, (uint32_t)i, &text);
        } else {
            kind = r->e->leaves.at[i - w->dag->n].kind;
            text = r->e->leaves.at[i - w->dag->n].text;
        }
        if (bz_str_eq(q->words[0], bz_str_from(kind)) &&
            (!q->words[1].p || bz_query_glob_match(q->words[1], text)))
            bz_bitset_set(out, i);
    }
    return rc;
}

static int value_of(struct run *r, const struct bz_query *q, size_t node,
                    struct bz_buf *name, struct bz_str *value)
{
    const struct bz_query_world *w = r->e->world;

    *value = (struct bz_str){0};
    if (q->function == BZ_QUERY_FILTER) {
        bz_buf_truncate(name, 0);
        bz_query_eval_describe(r->e, node, name);
        *value = bz_str_from(bz_buf_text(name));
        return 0;
    }
    if (node >= w->dag->n)
        return 0;
    return w->attr(w->ctx, (uint32_t)node, q->words[0], value, r->err);
}

/* filter(REGEX, x) by the name, attr(NAME, REGEX, x) by a value. */
static int keep_matching(struct run *r, const struct bz_query *q,
                         const struct bz_bitset *from, struct bz_bitset *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    size_t word = q->function == BZ_QUERY_FILTER ? 0 : 1;
    struct bz_regex *regex = NULL;
    int rc = bz_regex_new(q->words[word], BZ_REGEX_SEARCH, &regex, r->err);

    if (rc < 0)
        return wrong(r, q->word_column[word], rc);
    for (size_t i = bz_bitset_next(from, 0); rc == 0 && i != BZ_BITSET_END;
         i = bz_bitset_next(from, i + 1)) {
        struct bz_str value;

        rc = value_of(r, q, i, &name, &value);
        if (rc == 0 && value.p && bz_regex_test(regex, value))
            bz_bitset_set(out, i);
    }
    bz_regex_free(regex);
    return rc;
}

/* ---- leaves ---- */

struct leafing {
    struct bz_query_eval *e;
    struct bz_bitset *out;
    struct bz_buf key;
};

static void add_leaf(void *to, const char *kind, struct bz_str text)
{
    struct leafing *l = to;
    struct bz_map_entry *it;

    bz_buf_truncate(&l->key, 0);
    bz_buf_addf(&l->key, "%s ", kind);
    bz_buf_add_str(&l->key, text);
    it = bz_map_put(&l->e->known, bz_buf_str(&l->key));
    if (it->u == 0) {
        it->key = bz_arena_dup(&l->e->arena, bz_buf_str(&l->key));
        BZ_VEC_PUSH(&l->e->leaves, (struct bz_query_leaf){
                                       kind, bz_str_drop(it->key, strlen(kind) + 1)});
        it->u = l->e->leaves.len;
    }
    bz_bitset_set(l->out, l->e->world->dag->n + it->u - 1);
}

static int find_leaves(struct run *r, bool inputs, struct bz_bitset *from,
                       struct bz_bitset *out)
{
    const struct bz_query_world *w = r->e->world;
    struct leafing l = {.e = r->e, .out = out};
    int rc;

    for (size_t i = bz_bitset_next(from, w->dag->n); i != BZ_BITSET_END;
         i = bz_bitset_next(from, i + 1))
        bz_bitset_clear(from, i); /* leaves have none */
    rc = (inputs ? w->inputs : w->outputs)(w->ctx, from, add_leaf, &l, r->err);
    bz_buf_release(&l.key);
    return rc;
}

/* ---- the tree ---- */

static int call_on(struct run *r, const struct bz_query *q, struct bz_bitset *args,
                   struct bz_bitset *out)
{
    struct bz_bitset below = {0};

    switch (q->function) {
    case BZ_QUERY_DEPS:
        walk(dag_of(r), &args[0], q->depth, NULL, out);
        return 0;
    case BZ_QUERY_RDEPS:
        walk(dag_of(r), &args[0], UINT32_MAX, NULL, &below);
        walk(back_of(r), &args[1], q->depth, &below, out);
        bz_bitset_release(&below);
        return 0;
    case BZ_QUERY_SOMEPATH:
        some_path(r, &args[0], &args[1], out);
        return 0;
    case BZ_QUERY_ALLPATHS:
        all_paths(r, &args[0], &args[1], out);
        return 0;
    case BZ_QUERY_KIND_OF:
        return keep_kind(r, q, &args[0], out);
    case BZ_QUERY_FILTER:
    case BZ_QUERY_ATTR:
        return keep_matching(r, q, &args[0], out);
    case BZ_QUERY_INPUTS:
    case BZ_QUERY_OUTPUTS:
    default:
        return find_leaves(r, q->function == BZ_QUERY_INPUTS, &args[0], out);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser lets it be */
static int eval_call(struct run *r, const struct bz_query *q, struct bz_bitset *out)
{
    struct bz_bitset args[2] = {{0}};
    int rc = 0;

    BZ_ASSERT(q->nargs <= BZ_COUNTOF(args));
    for (size_t i = 0; i < q->nargs && rc == 0; i++)
        rc = eval(r, q->args[i], &args[i]);
    if (rc == 0)
        rc = call_on(r, q, args, out);
    for (size_t i = 0; i < BZ_COUNTOF(args); i++)
        bz_bitset_release(&args[i]);
    return rc;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser lets it be */
static int eval_chain(struct run *r, const struct bz_query *q, struct bz_bitset *out)
{
    int rc = 0;

    for (size_t i = 0; i < q->nargs && rc == 0; i++) {
        struct bz_bitset arg = {0};

        rc = eval(r, q->args[i], &arg);
        if (q->ops[i] == '+')
            bz_bitset_union(out, &arg);
        else if (q->ops[i] == '^')
            bz_bitset_intersect(out, &arg);
        else
            bz_bitset_subtract(out, &arg);
        bz_bitset_release(&arg);
    }
    return rc;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser lets it be */
static int eval_let(struct run *r, const struct bz_query *q, struct bz_bitset *out)
{
    struct bz_bitset value = {0};
    struct binding b = {r->bound, q->text, &value};
    int rc = eval(r, q->args[0], &value);

    if (rc == 0) {
        r->bound = &b;
        rc = eval(r, q->args[1], out);
        r->bound = b.up;
    }
    bz_bitset_release(&value);
    return rc;
}

static int eval_ref(struct run *r, const struct bz_query *q, struct bz_bitset *out)
{
    for (const struct binding *b = r->bound; b; b = b->up)
        if (bz_str_eq(b->name, q->text)) {
            bz_bitset_union(out, b->value);
            return 0;
        }
    return wrong(
        r, q->column,
        bz_fail(r->err, BZ_E_INVAL,
                "$%.*s has no value here; give it one with 'let %.*s = ... in'",
                BZ_STR_ARG(q->text), BZ_STR_ARG(q->text)));
}

static int eval_name(struct run *r, const struct bz_query *q, struct bz_bitset *out)
{
    const struct bz_query_world *w = r->e->world;
    int rc = w->match(w->ctx, q->text, out, r->err);

    return rc < 0 ? wrong(r, q->column, rc) : 0;
}

/* Adds what it means to `out`, which is empty. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser lets it be */
static int eval(struct run *r, const struct bz_query *q, struct bz_bitset *out)
{
    int rc = 0;

    switch (q->kind) {
    case BZ_QUERY_NAME:
        return eval_name(r, q, out);
    case BZ_QUERY_SET:
        for (size_t i = 0; i < q->nargs && rc == 0; i++)
            rc = eval_name(r, q->args[i], out);
        return rc;
    case BZ_QUERY_REF:
        return eval_ref(r, q, out);
    case BZ_QUERY_LET:
        return eval_let(r, q, out);
    case BZ_QUERY_CHAIN:
        return eval_chain(r, q, out);
    case BZ_QUERY_CALL:
    default:
        return eval_call(r, q, out);
    }
}

int bz_query_eval_run(struct bz_query_eval *e, const struct bz_query *q,
                      struct bz_query_answer *out, uint32_t *column, struct bz_err *err)
{
    struct run r = {.e = e, .path = &out->path, .column = 1, .err = err};
    int rc = eval(&r, q, &out->nodes);

    if (q->kind != BZ_QUERY_CALL || q->function != BZ_QUERY_SOMEPATH)
        BZ_VEC_CLEAR(&out->path);
    *column = r.column;
    return rc;
}
