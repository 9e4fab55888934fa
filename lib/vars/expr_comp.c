#include "vars/expr_comp.h"

#include "vars/expr_eval.h"
#include "vars/expr_table.h"

/* A comprehension at work. */
struct comp {
    const struct bz_expr_node *node;
    struct bz_expr_bind *outer; /* what was bound around it */
    struct bz_expr_seq *to;     /* the result */
};

/* Makes the names of a target variables of the comprehension. One that stands twice is
 * the same variable. */
static int declare(struct bz_expr_run *r, const struct comp *c,
                   const struct bz_expr_node *target)
{
    const struct bz_expr_node *part;
    struct bz_expr_bind *bind;
    int rc = bz_expr_value_charge(r, 1);

    if (rc < 0)
        return rc;
    if (target->kind == BZ_EXPR_NODE_TUPLE) {
        for (part = target->a; rc == 0 && part; part = part->next)
            rc = declare(r, c, part);
        return rc;
    }
    for (bind = r->env; bind != c->outer; bind = bind->outer) {
        if (bz_str_eq(bind->name, target->text))
            return 0;
        if ((rc = bz_expr_value_charge(r, 1)) < 0)
            return rc;
    }
    bind = bz_expr_scratch_alloc(r->mem, sizeof(*bind));
    *bind = (struct bz_expr_bind){.name = target->text, .outer = r->env};
    r->env = bind;
    return 0;
}

static int assign(struct bz_expr_run *r, const struct bz_expr_node *target,
                  const struct bz_expr_value *v)
{
    const struct bz_expr_node *part;
    struct bz_expr_bind *bind = r->env;
    struct bz_expr_seq *seq;
    size_t i = 0;
    int rc;

    if (target->kind == BZ_EXPR_NODE_NAME) {
        while (!bz_str_eq(bind->name, target->text))
            bind = bind->outer;
        bind->value = *v;
        return 0;
    }
    if (v->kind < BZ_EXPR_STR)
        return bz_fail(r->err, BZ_E_INVAL,
                       "TypeError: cannot unpack non-iterable %s object",
                       bz_expr_value_type(v));
    if ((rc = bz_expr_value_items(r, v, &seq)) < 0)
        return rc;
    if (seq->len < target->n)
        return bz_fail(r->err, BZ_E_INVAL,
                       "ValueError: not enough values to unpack (expected %u, got %zu)",
                       target->n, seq->len);
    if (seq->len > target->n)
        return bz_fail(r->err, BZ_E_INVAL,
                       "ValueError: too many values to unpack (expected %u)",
                       target->n);
    for (part = target->a; rc == 0 && part; part = part->next)
        rc = assign(r, part, &seq->at[i++]);
    return rc;
}

static int emit(struct bz_expr_run *r, const struct comp *c)
{
    const struct bz_expr_node *element = c->node->a;
    struct bz_expr_value v, value;
    int rc;

    if (c->node->kind == BZ_EXPR_NODE_DICT_FOR) {
        if ((rc = bz_expr_eval_node(r, element->a, &v)) < 0 ||
            (rc = bz_expr_eval_node(r, element->b, &value)) < 0)
            return rc;
        return bz_expr_table_put(r, c->to, &v, &value);
    }
    if ((rc = bz_expr_eval_node(r, element, &v)) < 0)
        return rc;
    return c->node->kind == BZ_EXPR_NODE_SET_FOR ? bz_expr_table_put(r, c->to, &v, NULL)
                                                 : bz_expr_value_push(r, c->to, &v);
}

static int each(struct bz_expr_run *r, const struct comp *c,
                const struct bz_expr_node *clause, const struct bz_expr_seq *in);

/* The clauses from here on: conditions up to the next `for`, or to the element. */
static int rest(struct bz_expr_run *r, const struct comp *c,
                const struct bz_expr_node *clause)
{
    struct bz_expr_value v;
    struct bz_expr_seq *in;
    int rc;

    for (; clause && clause->kind == BZ_EXPR_NODE_IF; clause = clause->next) {
        if ((rc = bz_expr_eval_node(r, clause->a, &v)) < 0)
            return rc;
        if (!bz_expr_value_true(&v))
            return 0;
    }
    if (!clause)
        return emit(r, c);
    if ((rc = bz_expr_eval_node(r, clause->b, &v)) < 0 ||
        (rc = bz_expr_value_items(r, &v, &in)) < 0)
        return rc;
    return each(r, c, clause, in);
}

static int each(struct bz_expr_run *r, const struct comp *c,
                const struct bz_expr_node *clause, const struct bz_expr_seq *in)
{
    size_t i;
    int rc = 0;

    if (r->depth >= BZ_EXPR_EVAL_DEPTH)
        return bz_fail(r->err, BZ_E_LIMIT, "an expression nests too deep");
    r->depth++;
    for (i = 0; rc == 0 && i < in->len; i++) {
        rc = bz_expr_value_charge(r, 1);
        if (rc == 0)
            rc = assign(r, clause->a, &in->at[i]);
        if (rc == 0)
            rc = rest(r, c, clause->next);
    }
    r->depth--;
    return rc;
}

int bz_expr_comp_eval(struct bz_expr_run *r, const struct bz_expr_node *node,
                      struct bz_expr_value *out)
{
    static const enum bz_expr_kind kinds[] = {BZ_EXPR_LIST, BZ_EXPR_SET, BZ_EXPR_DICT,
                                              BZ_EXPR_ITER};
    const struct bz_expr_node *clause;
    struct comp c = {.node = node, .outer = r->env};
    struct bz_expr_value first;
    struct bz_expr_seq *in;
    int rc;

    /* What the first `for` walks is evaluated outside. */
    if ((rc = bz_expr_eval_node(r, node->c->b, &first)) < 0 ||
        (rc = bz_expr_value_items(r, &first, &in)) < 0 ||
        (rc = bz_expr_value_new_seq(r, 0, &c.to)) < 0)
        return rc;
    clause = node->c; /* the first is always a `for` */
    do {
        if (clause->kind == BZ_EXPR_NODE_FOR)
            rc = declare(r, &c, clause->a);
        clause = clause->next;
    } while (rc == 0 && clause);
    if (rc == 0)
        rc = each(r, &c, node->c, in);
    r->env = c.outer;
    if (node->kind == BZ_EXPR_NODE_GENERATOR) {
        c.to->once = true;
        c.to->type = "generator";
        rc = bz_expr_eval_lazy(r, rc);
    }
    *out = bz_expr_value_seq(kinds[node->kind - BZ_EXPR_NODE_LIST_FOR], c.to);
    return rc;
}
