#include "code/py_node.h"

void bz_py_node_push(struct bz_py_nodes *list, struct bz_py_node *n)
{
    if (!n)
        return;
    if (list->last)
        list->last->next = n;
    else
        list->first = n;
    list->last = n;
}

void bz_py_node_add_all(struct bz_py_node *parent, struct bz_py_nodes list)
{
    struct bz_py_nodes all = {parent->first, parent->last};

    if (!list.first)
        return;
    bz_py_node_push(&all, list.first);
    parent->first = all.first;
    parent->last = list.last;
}

void bz_py_node_add(struct bz_py_node *parent, struct bz_py_node *child)
{
    bz_py_node_add_all(parent, (struct bz_py_nodes){child, child});
}

/* The depth of what is in brackets is bounded, and with it that of the recursion. */
bool bz_py_node_is_target(const struct bz_py_node *n, bool one)
{
    const struct bz_py_node *child;

    switch (n->kind) {
    case BZ_PY_NODE_NAME:
    case BZ_PY_NODE_ATTR:
    case BZ_PY_NODE_SUBSCRIPT:
        return true;
    case BZ_PY_NODE_STARRED:
        return !one && n->first->kind != BZ_PY_NODE_STARRED &&
               bz_py_node_is_target(n->first, false);
    case BZ_PY_NODE_TUPLE:
    case BZ_PY_NODE_LIST:
        for (child = n->first; child && !one; child = child->next)
            if (!bz_py_node_is_target(child, false))
                return false;
        return !one;
    default:
        return false;
    }
}
