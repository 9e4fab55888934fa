#include "code/py_module.h"

/* A node that is still to be looked at for definitions. */
struct look {
    const struct bz_py_node *node;
};

struct reader {
    const struct bz_py_source *src;
    struct bz_str code;
    struct bz_arena *arena;
    struct bz_map names;   /* public name -> its DEF, the last of that name */
    struct bz_map visited; /* names x with x.visitorcode = ... */
    struct looks BZ_VEC(struct look) looks;
};

/* x.visitorcode = y */
static void note_visitor(struct reader *r, const struct bz_py_node *assign)
{
    const struct bz_py_node *target = assign->first;

    if (target->kind == BZ_PY_NODE_ATTR && target->first->kind == BZ_PY_NODE_NAME &&
        bz_str_eq(target->text, BZ_STR("visitorcode")))
        bz_map_put(&r->visited, target->first->text);
}

/* The definitions of the module, also those in an if or try, but not in each other. */
static void collect(struct reader *r, struct bz_py_node *tree)
{
    size_t i;

    BZ_VEC_PUSH(&r->looks, (struct look){tree});
    for (i = 0; i < r->looks.len; i++) {
        struct bz_py_node *child;

        for (child = r->looks.at[i].node->first; child; child = child->next) {
            if (child->kind == BZ_PY_NODE_ASSIGN)
                note_visitor(r, child);
            if (child->kind == BZ_PY_NODE_OTHER && child->first)
                BZ_VEC_PUSH(&r->looks, (struct look){child});
            if (child->kind == BZ_PY_NODE_DEF && child->text.p[0] != '_')
                bz_map_put(&r->names, child->text)->p = child;
        }
    }
}

/* Its lines, without blank ones and the comments of the module after them. */
static struct bz_str text_of(const struct reader *r, const struct bz_py_node *def)
{
    struct bz_str text = bz_str_sub(r->code, def->from, def->to);

    for (;;) {
        struct bz_str rest = bz_str_trim_end(text);
        size_t nl = bz_str_rfind_byte(rest, '\n');

        if (nl == BZ_STR_NONE || nl + 1 == rest.n || rest.p[nl + 1] != '#')
            return rest;
        text = bz_str_sub(rest, 0, nl);
    }
}

static bool is_named(const struct bz_py_node *n, struct bz_str last)
{
    return n->kind == BZ_PY_NODE_ATTR && bz_str_eq(n->text, last) &&
           n->first->kind == BZ_PY_NODE_ATTR &&
           bz_str_eq(n->first->text, BZ_STR("parse")) &&
           n->first->first->kind == BZ_PY_NODE_NAME &&
           bz_str_eq(n->first->first->text, BZ_STR("bb"));
}

/* Adds, or takes away, what @bb.parse.vardeps(...) and its opposite name. */
static void decorate(const struct bz_py_node *def, bool exclude, struct bz_refs *refs)
{
    struct bz_str word = exclude ? BZ_STR("vardepsexclude") : BZ_STR("vardeps");
    const struct bz_py_node *n, *arg;

    for (n = def->first; n; n = n->next) {
        if (n->kind != BZ_PY_NODE_CALL || !is_named(n->first, word))
            continue;
        for (arg = n->first->next; arg; arg = arg->next) {
            if (arg->kind != BZ_PY_NODE_STR)
                continue;
            if (exclude)
                bz_map_remove(&refs->reads, arg->text);
            else
                bz_refs_read(refs, arg->text);
        }
    }
}

/* What is called by a name of this module is meant with its namespace. */
static void qualify(const struct reader *r, struct bz_refs *refs)
{
    struct own BZ_VEC(struct bz_str) own = {0};
    const struct bz_map_entry *e;
    size_t i;

    for (e = bz_map_next(&refs->execs, NULL); e; e = bz_map_next(&refs->execs, e))
        if (bz_map_get(&r->names, e->key))
            BZ_VEC_PUSH(&own, e->key);
    for (i = 0; i < own.len; i++) {
        bz_map_remove(&refs->execs, own.at[i]);
        bz_refs_exec(refs,
                     bz_arena_printf(r->arena, "%.*s.%.*s", BZ_STR_ARG(r->src->name),
                                     BZ_STR_ARG(own.at[i])));
    }
    bz_vec_release(&own);
}

static int scan(struct reader *r, const struct bz_py_node *def,
                struct bz_py_function *f, struct bz_err *err)
{
    struct bz_py_source src = *r->src;
    struct bz_py_node only = *def; /* without what follows it in the module */
    struct bz_py_node whole = {.kind = BZ_PY_NODE_OTHER, .first = &only, .last = &only};
    int rc;

    only.next = NULL;
    f->name = bz_arena_printf(r->arena, "%.*s.%.*s", BZ_STR_ARG(src.name),
                              BZ_STR_ARG(def->text));
    f->text = bz_arena_dup(r->arena, text_of(r, def));
    f->line = def->line;
    f->visited = bz_map_get(&r->visited, def->text) != NULL;
    src.name = f->name;
    rc = bz_py_scan_tree(&src, r->code, &whole, &f->found, err);
    if (rc < 0)
        return rc;
    decorate(def, false, &f->found.refs);
    decorate(def, true, &f->found.refs);
    qualify(r, &f->found.refs);
    return 0;
}

static int scan_all(struct reader *r, struct bz_py_module *out, struct bz_err *err)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&r->names, NULL); e; e = bz_map_next(&r->names, e)) {
        struct bz_py_function f = {.line = 0};
        int rc;

        bz_py_scan_init(&f.found, r->arena);
        rc = scan(r, e->p, &f, err);
        if (rc < 0) {
            bz_py_scan_release(&f.found);
            return rc;
        }
        BZ_VEC_PUSH(&out->functions, f);
    }
    return 0;
}

int bz_py_module_scan(const struct bz_py_source *src, struct bz_arena *arena,
                      struct bz_py_module *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena tree_arena = {0};
    struct bz_py_origin origin = {src->file, 0};
    struct reader r = {.src = src, .arena = arena};
    struct bz_py_node *tree;
    int rc;

    r.code = bz_py_scan_lines(src->code, &tree_arena);
    rc = bz_py_parse(r.code, BZ_PY_FORM_MODULE, origin, &tree_arena, &tree, err);
    if (rc == 0) {
        collect(&r, tree);
        rc = scan_all(&r, out, err);
    }
    bz_map_release(&r.names);
    bz_map_release(&r.visited);
    bz_vec_release(&r.looks);
    return rc;
}

void bz_py_module_release(struct bz_py_module *m)
{
    size_t i;

    for (i = 0; i < m->functions.len; i++)
        bz_py_scan_release(&m->functions.at[i].found);
    bz_vec_release(&m->functions);
}
