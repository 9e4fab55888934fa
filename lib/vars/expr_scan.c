#include "vars/expr_scan.h"

#include <inttypes.h>
#include <stdio.h>

#include "vars/expr.h"

/* The dotted name of what a call calls, in `room`; false if it is not just names. */
static bool called_name(const struct bz_expr_node *node, char *room, size_t size,
                        struct bz_str *out)
{
    const struct bz_expr_node *root = node;
    size_t n = 0, at;

    for (; root->kind == BZ_EXPR_NODE_ATTR; root = root->a)
        n += root->text.n + 1;
    if (root->kind != BZ_EXPR_NODE_NAME)
        return false;
    n += root->text.n;
    *out = bz_str_of(root->text.p, n);
    if (root == node || root->text.p + n == node->text.p + node->text.n)
        return true;
    if (n > size)
        return false;
    for (at = n; node->kind == BZ_EXPR_NODE_ATTR; node = node->a) {
        at -= node->text.n;
        memcpy(room + at, node->text.p, node->text.n);
        room[--at] = '.';
    }
    memcpy(room, root->text.p, at);
    *out = bz_str_of(room, n);
    return true;
}

static bool is_constant(const struct bz_expr_node *node)
{
    return node->kind <= BZ_EXPR_NODE_STR;
}

/* What kind of a constant it is, as Python's messages name its type. */
static const char *constant_type(const struct bz_expr_node *node)
{
    switch (node->kind) {
    case BZ_EXPR_NODE_NONE:
        return "None";
    case BZ_EXPR_NODE_INT:
        return "int";
    case BZ_EXPR_NODE_FLOAT:
        return "float";
    default:
        return "bool";
    }
}

/* A constant as "%s" shows it. */
static struct bz_str constant_text(const struct bz_expr_node *node, char room[32])
{
    switch (node->kind) {
    case BZ_EXPR_NODE_STR:
        return node->text;
    case BZ_EXPR_NODE_INT:
        return bz_str_of(room, (size_t)snprintf(room, 32, "%" PRId64, node->i));
    case BZ_EXPR_NODE_TRUE:
        return BZ_STR("True");
    case BZ_EXPR_NODE_FALSE:
        return BZ_STR("False");
    default:
        return BZ_STR("None");
    }
}

static int too_few(struct bz_err *err)
{
    return bz_fail(err, BZ_E_INVAL, "IndexError: list index out of range");
}

enum call { GETVAR, GETFLAG, CONTAINS, CONTAINS_ANY, EXPAND, EXEC, OTHER };

static enum call kind_of_call(struct bz_str name)
{
    static const struct {
        struct bz_str name;
        bool end; /* a name that ends so is meant, too */
        enum call kind;
    } calls[] = {
        {BZ_STR("bb.utils.contains"),     false, CONTAINS    },
        {BZ_STR(".getVar"),               true,  GETVAR      },
        {BZ_STR("bb.utils.filter"),       false, CONTAINS_ANY},
        {BZ_STR("bb.utils.contains_any"), false, CONTAINS_ANY},
        {BZ_STR("oe.utils.conditional"),  true,  GETVAR      },
        {BZ_STR(".getVarFlag"),           true,  GETFLAG     },
        {BZ_STR(".expand"),               true,  EXPAND      },
        {BZ_STR("base_contains"),         false, CONTAINS    },
        {BZ_STR(".appendVar"),            true,  GETVAR      },
        {BZ_STR(".prependVar"),           true,  GETVAR      },
        {BZ_STR(".appendVarFlag"),        true,  GETFLAG     },
        {BZ_STR(".prependVarFlag"),       true,  GETFLAG     },
        {BZ_STR("bb.build.exec_func"),    false, EXEC        },
        {BZ_STR("bb.build.exec_task"),    false, EXEC        },
    };
    size_t i;

    for (i = 0; i < BZ_COUNTOF(calls); i++) {
        if (calls[i].end ? bz_str_ends(name, calls[i].name)
                         : bz_str_eq(name, calls[i].name))
            return calls[i].kind;
    }
    return OTHER;
}

static int add_flag(struct bz_refs *refs, struct bz_str var,
                    const struct bz_expr_node *flag, struct bz_err *err)
{
    struct bz_str text;
    char room[32];

    if (flag->kind == BZ_EXPR_NODE_FLOAT)
        return bz_fail(err, BZ_E_NOSUP, "a flag named by a float");
    text = constant_text(flag, room);
    bz_refs_read(refs, bz_arena_printf(refs->arena, "%.*s[%.*s]", BZ_STR_ARG(var),
                                       BZ_STR_ARG(text)));
    return 0;
}

static int add_words(struct bz_refs *refs, struct bz_str var,
                     const struct bz_expr_node *items, struct bz_err *err)
{
    struct bz_str rest, word;

    if (items->kind == BZ_EXPR_NODE_NONE)
        return bz_fail(err, BZ_E_INVAL,
                       "AttributeError: 'NoneType' object has no attribute 'split'");
    if (items->kind != BZ_EXPR_NODE_STR)
        return bz_fail(err, BZ_E_INVAL,
                       "AttributeError: '%s' object has no attribute 'split'",
                       constant_type(items));
    rest = items->text;
    while (bz_str_next_word(&rest, &word))
        bz_refs_contains(refs, var, word);
    return 0;
}

/* A call that names a variable in its first argument. */
static int scan_named(const struct bz_expr_node *node, enum call kind,
                      struct bz_refs *refs, struct bz_err *err)
{
    const struct bz_expr_node *first = node->b, *second;

    if (!first)
        return too_few(err);
    if (first->kind != BZ_EXPR_NODE_STR)
        return 0;
    second = first->next;
    if (kind == GETVAR) {
        bz_refs_read(refs, first->text);
        return 0;
    }
    if (!second)
        return too_few(err);
    if (!is_constant(second)) {
        if (kind != GETFLAG)
            bz_refs_read(refs, first->text);
        return 0;
    }
    if (kind == CONTAINS_ANY)
        return add_words(refs, first->text, second, err);
    if (kind == GETFLAG)
        return add_flag(refs, first->text, second, err);
    if (second->kind != BZ_EXPR_NODE_STR) /* BitBake interns the names of items */
        return bz_fail(err, BZ_E_INVAL,
                       "TypeError: intern() argument must be str, not %s",
                       constant_type(second));
    bz_refs_contains(refs, first->text, second->text);
    return 0;
}

/* The text is expanded without any variables, just to see what it would take. */
static int scan_expand(const struct bz_expr_node *first, struct bz_refs *refs,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *nothing = NULL;
    struct bz_str ignored;

    if (!first)
        return too_few(err);
    if (first->kind != BZ_EXPR_NODE_STR ||
        bz_str_find(first->text, BZ_STR("${")) == BZ_STR_NONE)
        return 0;
    nothing = bz_vars_new(NULL);
    return bz_vars_expand(nothing, first->text, (struct bz_str){0}, refs, &ignored,
                          err);
}

static int scan_call(const struct bz_expr_node *node, struct bz_refs *refs,
                     struct bz_err *err)
{
    char room[256];
    struct bz_str name;
    enum call kind;

    if (!called_name(node->a, room, sizeof(room), &name))
        return 0;
    kind = kind_of_call(name);
    switch (kind) {
    case EXPAND:
        return scan_expand(node->b, refs, err);
    case EXEC:
        if (!node->b)
            return too_few(err);
        if (node->b->kind == BZ_EXPR_NODE_STR)
            bz_refs_exec(refs, node->b->text);
        return 0;
    case OTHER:
        bz_refs_exec(refs, name);
        return 0;
    default:
        return scan_named(node, kind, refs, err);
    }
}

int bz_expr_scan_tree(const struct bz_expr_node *tree, struct bz_refs *refs,
                      struct bz_err *err)
{
    int rc = 0;

    /* The depth of a tree is bounded; lists are as long as they are. */
    for (; rc == 0 && tree; tree = tree->next) {
        if (tree->kind == BZ_EXPR_NODE_CALL)
            rc = scan_call(tree, refs, err);
        if (rc == 0 && tree->a)
            rc = bz_expr_scan_tree(tree->a, refs, err);
        if (rc == 0 && tree->b)
            rc = bz_expr_scan_tree(tree->b, refs, err);
        if (rc == 0 && tree->c)
            rc = bz_expr_scan_tree(tree->c, refs, err);
    }
    return rc;
}

int bz_expr_scan(struct bz_str code, struct bz_refs *refs, struct bz_err *err)
{
    struct bz_expr_scratch mem;
    struct bz_expr_node *tree;
    int rc;

    bz_expr_scratch_init(&mem);
    rc = bz_expr_parse(code, &mem, &tree, err);
    if (rc == 0)
        rc = bz_expr_scan_tree(tree, refs, err);
    else if (rc == BZ_E_INVAL)
        rc = BZ_E_NOSUP;
    bz_expr_scratch_release(&mem);
    return rc;
}
