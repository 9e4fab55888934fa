#include "vars/expr_eval.h"

#include "vars/expr.h"
#include "vars/expr_builtin.h"
#include "vars/expr_call.h"
#include "vars/expr_comp.h"
#include "vars/expr_filter.h"
#include "vars/expr_index.h"
#include "vars/expr_lib.h"
#include "vars/expr_list.h"
#include "vars/expr_op.h"
#include "vars/expr_quick.h"
#include "vars/expr_scan.h"
#include "vars/expr_str.h"
#include "vars/expr_table.h"
#include "vars/expr_text.h"

static const struct bz_expr_bind *bound(const struct bz_expr_run *r, struct bz_str name)
{
    const struct bz_expr_bind *bind;

    for (bind = r->env; bind; bind = bind->outer) {
        if (bz_str_eq(bind->name, name))
            return bind;
    }
    return NULL;
}

/* A variable of the store. Within a comprehension, whether Python finds those depends
 * on its version. */
static int variable(struct bz_expr_run *r, struct bz_str name,
                    struct bz_expr_value *out)
{
    struct bz_str value;
    int rc;

    if (r->env)
        return bz_expr_value_unknown(r, "a variable within a comprehension");
    rc = bz_vars_get(r->vars, name, 0, &value, r->err);
    if (rc < 0)
        return rc;
    if (!value.p) /* unless it is a function of the metadata, which is not known here */
        return bz_fail(r->err, BZ_E_NOSUP, "NameError: name '%.*s' is not defined",
                       BZ_STR_ARG(name));
    *out = bz_expr_value_str(value);
    out->kept = true;
    return 0;
}

static int eval_name(struct bz_expr_run *r, struct bz_str name,
                     struct bz_expr_value *out)
{
    const struct bz_expr_bind *bind = bound(r, name);

    if (bind) {
        *out = bind->value;
        if (out->kind == BZ_EXPR_ABSENT)
            return bz_expr_value_unknown(r, "a name before it has a value");
        return 0;
    }
    if (r->val)
        return bz_expr_filter_name(r, name, out);
    if (bz_str_eq(name, BZ_STR("d"))) {
        *out = (struct bz_expr_value){.kind = BZ_EXPR_DATA};
        return 0;
    }
    out->fn = bz_expr_builtin_find(name);
    if (out->fn) {
        out->kind = BZ_EXPR_FN;
        return 0;
    }
    if (bz_expr_builtin_reserved(name) || bz_expr_lib_module(name))
        return bz_fail(r->err, BZ_E_NOSUP, "%.*s: not known here", BZ_STR_ARG(name));
    return variable(r, name, out);
}

static const struct bz_expr_fn *method_of(const struct bz_expr_value *v,
                                          struct bz_str name)
{
    if (v->kind == BZ_EXPR_STR)
        return bz_expr_str_method(name);
    if (v->kind == BZ_EXPR_DATA)
        return bz_expr_lib_data(name);
    return bz_expr_list_method(v->kind, name);
}

static int find_method(struct bz_expr_run *r, const struct bz_expr_value *v,
                       struct bz_str name, const struct bz_expr_fn **fn)
{
    *fn = method_of(v, name);
    if (*fn)
        return 0;
    /* The methods of None are few and all begin with "__". */
    if (v->kind == BZ_EXPR_NONE && !bz_str_starts(name, BZ_STR("__")))
        return bz_fail(r->err, BZ_E_INVAL,
                       "AttributeError: 'NoneType' object has no attribute '%.*s'",
                       BZ_STR_ARG(name));
    return bz_fail(r->err, BZ_E_NOSUP, "%s.%.*s: not known here", bz_expr_value_type(v),
                   BZ_STR_ARG(name));
}

/* "bb.utils.contains" as one name, if the node is attributes of a module. */
static bool dotted(const struct bz_expr_run *r, const struct bz_expr_node *node,
                   char room[64], struct bz_str *out)
{
    const struct bz_expr_node *root = node;
    size_t n = 0, at;

    for (; root->kind == BZ_EXPR_NODE_ATTR; root = root->a)
        n += root->text.n + 1;
    if (root->kind != BZ_EXPR_NODE_NAME || !bz_expr_lib_module(root->text) ||
        bound(r, root->text))
        return false;
    n += root->text.n;
    *out = bz_str_of(root->text.p, n);
    if (root->text.p + n == node->text.p + node->text.n)
        return true; /* written without spaces, as always */
    *out = bz_str_of("?", 1);
    if (n > 64)
        return true;
    for (at = n; node->kind == BZ_EXPR_NODE_ATTR; node = node->a) {
        at -= node->text.n;
        memcpy(room + at, node->text.p, node->text.n);
        room[--at] = '.';
    }
    memcpy(room, root->text.p, at);
    *out = bz_str_of(room, n);
    return true;
}

static int apply_lambda(struct bz_expr_run *r, const struct bz_expr_lambda *lambda,
                        const struct bz_expr_value *args, size_t n,
                        struct bz_expr_value *out)
{
    const struct bz_expr_node *name = lambda->node->a;
    struct bz_expr_bind *outer = r->env;
    struct bz_expr_bind *env;
    size_t i;
    int rc;

    if (n != lambda->node->n)
        return bz_expr_value_unknown(r, "a lambda called so");
    if ((rc = bz_expr_value_charge(r, 3 * (n + 1))) < 0)
        return rc;
    env = bz_expr_scratch_alloc(r->mem, sizeof(*env) * (n + 1));
    /* One without a name tells that this is the inside of a function. */
    env[0] = (struct bz_expr_bind){.outer = lambda->env};
    for (i = 0; i < n; i++, name = name->next)
        env[i + 1] = (struct bz_expr_bind){name->text, args[i], &env[i]};
    r->env = &env[n];
    rc = bz_expr_eval_node(r, lambda->node->b, out);
    r->env = outer;
    return rc;
}

int bz_expr_eval_apply(struct bz_expr_run *r, const struct bz_expr_value *fn,
                       const struct bz_expr_value *args, size_t n,
                       struct bz_expr_value *out)
{
    struct bz_expr_value a[2 * BZ_EXPR_CALL_ARGS];

    if (fn->kind == BZ_EXPR_LAMBDA)
        return apply_lambda(r, fn->lambda, args, n, out);
    if (fn->kind != BZ_EXPR_FN || n > BZ_EXPR_CALL_ARGS)
        return bz_expr_value_unknown(r, "calling such a value");
    if (n)
        memcpy(a, args, n * sizeof(*a));
    return bz_expr_call(r, fn->fn, NULL, a, n, &(struct bz_expr_named){0}, out);
}

/* What a call calls, and on what. */
struct callee {
    const struct bz_expr_fn *fn; /* NULL: the value is called */
    struct bz_expr_value value;  /* of a method, whose it is */
    bool method;
};

static int find_callee(struct bz_expr_run *r, const struct bz_expr_node *node,
                       struct callee *c)
{
    struct bz_str name;
    char room[64];
    int rc;

    *c = (struct callee){0};
    if (node->kind == BZ_EXPR_NODE_ATTR) {
        if (dotted(r, node, room, &name)) {
            if (!r->val || bz_str_eq(name, BZ_STR("bb.utils.explode_deps")))
                c->fn = bz_expr_lib_find(name);
            return c->fn ? 0
                         : bz_fail(r->err, BZ_E_NOSUP, "%.*s(): not known here",
                                   BZ_STR_ARG(name));
        }
        c->method = true;
        if ((rc = bz_expr_eval_node(r, node->a, &c->value)) < 0)
            return rc;
        return find_method(r, &c->value, node->text, &c->fn);
    }
    if (node->kind == BZ_EXPR_NODE_NAME && !bound(r, node->text) && !r->val) {
        c->fn = bz_expr_builtin_find(node->text);
        return c->fn ? 0
                     : bz_fail(r->err, BZ_E_NOSUP, "%.*s(): not known here",
                               BZ_STR_ARG(node->text));
    }
    rc = bz_expr_eval_node(r, node, &c->value);
    if (rc == 0 && c->value.kind == BZ_EXPR_FN)
        c->fn = c->value.fn;
    return rc;
}

static int named_args(struct bz_expr_run *r, const struct bz_expr_node *list,
                      struct bz_expr_named *out)
{
    const struct bz_expr_node *k;
    size_t i = 0;
    int rc;

    for (k = list; k; k = k->next)
        out->n++;
    if ((rc = bz_expr_value_charge(r, out->n)) < 0)
        return rc;
    out->names = bz_expr_scratch_alloc(r->mem, out->n * sizeof(*out->names));
    out->values = bz_expr_scratch_alloc(r->mem, out->n * sizeof(*out->values));
    for (k = list; rc == 0 && k; k = k->next, i++) {
        out->names[i] = k->text;
        rc = bz_expr_eval_node(r, k->a, &out->values[i]);
    }
    return rc;
}

static int eval_call(struct bz_expr_run *r, const struct bz_expr_node *node,
                     struct bz_expr_value *out)
{
    struct bz_expr_value few[2 * BZ_EXPR_CALL_ARGS], *a = few;
    struct bz_expr_named named = {0};
    const struct bz_expr_node *arg;
    size_t i = 0;
    struct callee c;
    int rc = find_callee(r, node->a, &c);

    if (rc < 0)
        return rc;
    if (node->n > BZ_EXPR_CALL_ARGS) {
        if ((rc = bz_expr_value_charge(r, node->n)) < 0)
            return rc;
        a = bz_expr_scratch_alloc(r->mem, (node->n + BZ_EXPR_CALL_ARGS) * sizeof(*a));
    }
    for (arg = node->b; rc == 0 && arg; arg = arg->next)
        rc = bz_expr_eval_node(r, arg, &a[i++]);
    if (rc == 0 && node->c)
        rc = named_args(r, node->c, &named);
    if (rc < 0)
        return rc;
    if (c.fn)
        return bz_expr_call(r, c.fn, c.method ? &c.value : NULL, a, i, &named, out);
    if (named.n)
        return bz_expr_value_unknown(r, "a lambda called so");
    return bz_expr_eval_apply(r, &c.value, a, i, out);
}

static int eval_list(struct bz_expr_run *r, const struct bz_expr_node *node,
                     enum bz_expr_kind kind, struct bz_expr_value *out)
{
    const struct bz_expr_node *item;
    struct bz_expr_seq *seq;
    int rc = bz_expr_value_new_seq(r, kind == BZ_EXPR_SET ? 0 : node->n, &seq);

    for (item = node->a; rc == 0 && item; item = item->next) {
        struct bz_expr_value v;

        rc = bz_expr_eval_node(r, item, &v);
        if (rc == 0)
            rc = kind == BZ_EXPR_SET ? bz_expr_table_put(r, seq, &v, NULL)
                                     : bz_expr_value_push(r, seq, &v);
    }
    if (rc == 0)
        *out = bz_expr_value_seq(kind, seq);
    return rc;
}

static int eval_dict(struct bz_expr_run *r, const struct bz_expr_node *node,
                     struct bz_expr_value *out)
{
    const struct bz_expr_node *pair;
    struct bz_expr_seq *seq;
    int rc = bz_expr_value_new_seq(r, node->n, &seq);

    for (pair = node->a; rc == 0 && pair; pair = pair->next) {
        struct bz_expr_value key, value;

        if ((rc = bz_expr_eval_node(r, pair->a, &key)) == 0 &&
            (rc = bz_expr_eval_node(r, pair->b, &value)) == 0)
            rc = bz_expr_table_put(r, seq, &key, &value);
    }
    if (rc == 0)
        *out = bz_expr_value_seq(BZ_EXPR_DICT, seq);
    return rc;
}

static int eval_index(struct bz_expr_run *r, const struct bz_expr_node *node,
                      struct bz_expr_value *out)
{
    const struct bz_expr_node *index = node->b;
    struct bz_expr_value of, part[3] = {
                                 bz_expr_value_none(),
                                 bz_expr_value_none(),
                                 bz_expr_value_none(),
                             };
    int rc = bz_expr_eval_node(r, node->a, &of);

    if (rc < 0)
        return rc;
    if (index->kind != BZ_EXPR_NODE_SLICE) {
        rc = bz_expr_eval_node(r, index, &part[0]);
        return rc < 0 ? rc : bz_expr_index_get(r, &of, &part[0], out);
    }
    if (index->a)
        rc = bz_expr_eval_node(r, index->a, &part[0]);
    if (rc == 0 && index->b)
        rc = bz_expr_eval_node(r, index->b, &part[1]);
    if (rc == 0 && index->c)
        rc = bz_expr_eval_node(r, index->c, &part[2]);
    return rc < 0 ? rc : bz_expr_index_slice(r, &of, part, out);
}

/* a < b < c is a < b and b < c, with b evaluated once. */
static int eval_compare(struct bz_expr_run *r, const struct bz_expr_node *node,
                        struct bz_expr_value *out)
{
    const struct bz_expr_node *rest;
    struct bz_expr_value left, right;
    bool yes = true;
    int rc = bz_expr_eval_node(r, node->a, &left);

    for (rest = node->b; rc == 0 && yes && rest; rest = rest->next) {
        rc = bz_expr_eval_node(r, rest->a, &right);
        if (rc == 0)
            rc = bz_expr_op_compare(r, (enum bz_expr_tok)rest->op, &left, &right, &yes);
        left = right;
    }
    *out = bz_expr_value_bool(yes);
    return rc;
}

static int eval_binary(struct bz_expr_run *r, const struct bz_expr_node *node,
                       struct bz_expr_value *out)
{
    struct bz_expr_value a, b;
    int rc;

    if ((rc = bz_expr_eval_node(r, node->a, &a)) < 0 ||
        (rc = bz_expr_eval_node(r, node->b, &b)) < 0)
        return rc;
    return bz_expr_op_binary(r, (enum bz_expr_tok)node->op, &a, &b, out);
}

static int eval_attr(struct bz_expr_run *r, const struct bz_expr_node *node,
                     struct bz_expr_value *out)
{
    const struct bz_expr_fn *fn;
    struct bz_str name;
    char room[64];
    int rc;

    *out = bz_expr_value_none();
    if (dotted(r, node, room, &name))
        return bz_fail(r->err, BZ_E_NOSUP, "%.*s: not known here", BZ_STR_ARG(name));
    if ((rc = bz_expr_eval_node(r, node->a, out)) < 0 ||
        (rc = find_method(r, out, node->text, &fn)) < 0)
        return rc;
    return bz_expr_value_unknown(r, "a method that is not called");
}

static int eval_lambda(struct bz_expr_run *r, const struct bz_expr_node *node,
                       struct bz_expr_value *out)
{
    struct bz_expr_lambda *lambda = bz_expr_scratch_alloc(r->mem, sizeof(*lambda));

    *lambda = (struct bz_expr_lambda){node, r->env};
    out->kind = BZ_EXPR_LAMBDA;
    out->lambda = lambda;
    return 0;
}

/* Where the value may be that of a part. */
static int eval_choice(struct bz_expr_run *r, const struct bz_expr_node *node,
                       struct bz_expr_value *out)
{
    bool choice = node->kind == BZ_EXPR_NODE_CHOICE;
    int rc = bz_expr_eval_node(r, choice ? node->b : node->a, out);

    if (rc < 0)
        return rc;
    if (choice)
        return bz_expr_eval_node(r, bz_expr_value_true(out) ? node->a : node->c, out);
    if (node->kind == BZ_EXPR_NODE_NOT) {
        *out = bz_expr_value_bool(!bz_expr_value_true(out));
        return 0;
    }
    if (bz_expr_value_true(out) == (node->op == BZ_EXPR_TOK_OR))
        return 0;
    return bz_expr_eval_node(r, node->b, out);
}

static int eval_constant(const struct bz_expr_node *node, struct bz_expr_value *out)
{
    switch (node->kind) {
    case BZ_EXPR_NODE_STR:
        *out = bz_expr_value_str(node->text);
        break;
    case BZ_EXPR_NODE_INT:
        *out = bz_expr_value_int(node->i);
        break;
    case BZ_EXPR_NODE_FLOAT:
        *out = (struct bz_expr_value){.kind = BZ_EXPR_FLOAT, .f = node->f};
        break;
    case BZ_EXPR_NODE_NONE:
        *out = bz_expr_value_none();
        break;
    default:
        *out = bz_expr_value_bool(node->kind == BZ_EXPR_NODE_TRUE);
        break;
    }
    return 0;
}

static int eval_compound(struct bz_expr_run *r, const struct bz_expr_node *node,
                         struct bz_expr_value *out)
{
    struct bz_expr_value a;
    int rc;

    switch (node->kind) {
    case BZ_EXPR_NODE_LIST:
        return eval_list(r, node, BZ_EXPR_LIST, out);
    case BZ_EXPR_NODE_TUPLE:
        return eval_list(r, node, BZ_EXPR_TUPLE, out);
    case BZ_EXPR_NODE_SET:
        return eval_list(r, node, BZ_EXPR_SET, out);
    case BZ_EXPR_NODE_DICT:
        return eval_dict(r, node, out);
    case BZ_EXPR_NODE_UNARY:
        rc = bz_expr_eval_node(r, node->a, &a);
        return rc < 0 ? rc : bz_expr_op_unary(r, (enum bz_expr_tok)node->op, &a, out);
    case BZ_EXPR_NODE_BINARY:
        return eval_binary(r, node, out);
    case BZ_EXPR_NODE_COMPARE:
        return eval_compare(r, node, out);
    case BZ_EXPR_NODE_INDEX:
        return eval_index(r, node, out);
    case BZ_EXPR_NODE_NOT:
    case BZ_EXPR_NODE_LOGIC:
    case BZ_EXPR_NODE_CHOICE:
        return eval_choice(r, node, out);
    case BZ_EXPR_NODE_LAMBDA:
        return eval_lambda(r, node, out);
    default:
        return bz_expr_comp_eval(r, node, out);
    }
}

int bz_expr_eval_node(struct bz_expr_run *r, const struct bz_expr_node *node,
                      struct bz_expr_value *out)
{
    int rc = bz_expr_value_charge(r, 1);

    if (rc < 0)
        return rc;
    if (node->kind <= BZ_EXPR_NODE_STR)
        return eval_constant(node, out);
    if (node->kind == BZ_EXPR_NODE_NAME)
        return eval_name(r, node->text, out);
    if (r->depth >= BZ_EXPR_EVAL_DEPTH)
        return bz_fail(r->err, BZ_E_LIMIT, "an expression nests too deep");
    r->depth++;
    if (node->kind == BZ_EXPR_NODE_CALL)
        rc = eval_call(r, node, out);
    else if (node->kind == BZ_EXPR_NODE_ATTR)
        rc = eval_attr(r, node, out);
    else
        rc = eval_compound(r, node, out);
    r->depth--;
    return rc;
}

int bz_expr_eval_lazy(struct bz_expr_run *r, int rc)
{
    if (rc >= 0 || rc == BZ_E_NOSUP || rc == BZ_E_LIMIT)
        return rc;
    return bz_fail(r->err, BZ_E_NOSUP, "in a generator: %s", r->err->msg);
}

int bz_expr_eval(struct bz_vars *v, struct bz_str code, struct bz_refs *refs,
                 struct bz_str *out, struct bz_err *err)
{
    struct bz_expr_scratch mem;
    struct bz_expr_run r = {
        .vars = v, .mem = &mem, .budget = BZ_EXPR_VALUE_BUDGET, .err = err};
    struct bz_expr_node *tree;
    struct bz_expr_value value = {0};
    bool done;
    int rc = bz_expr_quick(v, code, refs, out, &done, err);

    if (rc < 0 || done)
        return rc;
    bz_expr_scratch_init(&mem);
    rc = bz_expr_parse(code, &mem, &tree, err);
    if (rc == 0 && refs)
        rc = bz_expr_scan_tree(tree, refs, err);
    if (rc == 0)
        rc = bz_expr_eval_node(&r, tree, &value);
    if (rc == 0)
        rc = bz_expr_text_str(&r, &value, &value);
    if (rc == 0)
        *out = value.kept ? value.s : bz_vars_keep(v, value.s);
    bz_expr_scratch_release(&mem);
    return rc;
}
