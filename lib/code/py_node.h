/* py_node.h - the tree of a Python module.
 *
 * It has a node for each node of CPython's ast module, and the children in the order of
 * its fields: so a walk by levels meets the calls in the same order as ast.walk(). What
 * a node is, is known only as far as it matters for what a call calls, and with what,
 * and for what can be assigned to.
 */
#ifndef BZ_CODE_PY_NODE_H
#define BZ_CODE_PY_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum bz_py_node_kind {
    BZ_PY_NODE_STR, /* text: its value */
    BZ_PY_NODE_BYTES,
    BZ_PY_NODE_NUMBER, /* text: as it is written */
    BZ_PY_NODE_NONE,
    BZ_PY_NODE_TRUE,
    BZ_PY_NODE_FALSE,
    BZ_PY_NODE_ELLIPSIS,
    BZ_PY_NODE_SECRET, /* a string of which the value is not known; the last constant */
    BZ_PY_NODE_NAME,   /* text */
    BZ_PY_NODE_ATTR,   /* its child's text */
    BZ_PY_NODE_SUBSCRIPT,
    BZ_PY_NODE_STARRED,
    BZ_PY_NODE_TUPLE,
    BZ_PY_NODE_LIST,
    BZ_PY_NODE_CALL,    /* what is called, the arguments, then KEYWORDs */
    BZ_PY_NODE_KEYWORD, /* text=child, or **child */
    BZ_PY_NODE_DEF,     /* a function or class: text is its name */
    BZ_PY_NODE_ASSIGN,  /* the targets, the value */
    BZ_PY_NODE_OTHER,
};

struct bz_py_node {
    uint8_t kind;      /* enum bz_py_node_kind */
    bool group;        /* it stood in parentheses of its own */
    uint32_t line;     /* of a CALL or DEF */
    uint32_t from, to; /* of a DEF and of an argument: where in the text */
    struct bz_str text;
    struct bz_py_node *first, *last; /* children */
    struct bz_py_node *next;         /* the parent's next child */
};

/* Children under construction. {0} is none. */
struct bz_py_nodes {
    struct bz_py_node *first, *last;
};

static inline struct bz_py_node *bz_py_node_new(struct bz_arena *arena,
                                                enum bz_py_node_kind kind)
{
    struct bz_py_node *n = BZ_ARENA_NEW(arena, struct bz_py_node);

    n->kind = (uint8_t)kind;
    return n;
}

static inline bool bz_py_node_is_constant(const struct bz_py_node *n)
{
    return n->kind <= BZ_PY_NODE_SECRET;
}

/* Adds a child, or all of a list; NULL is none. */
void bz_py_node_add(struct bz_py_node *parent, struct bz_py_node *child);
void bz_py_node_add_all(struct bz_py_node *parent, struct bz_py_nodes list);
void bz_py_node_push(struct bz_py_nodes *list, struct bz_py_node *n);

/* Whether Python lets it be assigned to; `one` if a list of targets is none. */
bool bz_py_node_is_target(const struct bz_py_node *n, bool one);

#endif
