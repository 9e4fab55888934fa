#include "vars/expr_scan.h"

#include <inttypes.h>
#include <stdio.h>

#include "vars/expr.h"
#include "vars/mention.h"

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

static struct bz_mention_arg argument(const struct bz_expr_node *node, char room[32])
{
    static const uint8_t types[] = {
        [BZ_EXPR_NODE_NONE] = BZ_MENTION_NONE,   [BZ_EXPR_NODE_TRUE] = BZ_MENTION_BOOL,
        [BZ_EXPR_NODE_FALSE] = BZ_MENTION_BOOL,  [BZ_EXPR_NODE_INT] = BZ_MENTION_INT,
        [BZ_EXPR_NODE_FLOAT] = BZ_MENTION_FLOAT, [BZ_EXPR_NODE_STR] = BZ_MENTION_STR,
    };
    struct bz_mention_arg arg = {.type = BZ_MENTION_ABSENT};

    if (!node)
        return arg;
    arg.type = node->kind < BZ_COUNTOF(types) ? types[node->kind] : BZ_MENTION_CODE;
    if (node->kind == BZ_EXPR_NODE_STR)
        arg.text = node->text;
    else if (node->kind == BZ_EXPR_NODE_INT)
        arg.text = bz_str_of(room, (size_t)snprintf(room, 32, "%" PRId64, node->i));
    else if (arg.type == BZ_MENTION_BOOL)
        arg.text = node->kind == BZ_EXPR_NODE_TRUE ? BZ_STR("True") : BZ_STR("False");
    return arg;
}

static int scan_call(const struct bz_expr_node *node, struct bz_refs *refs,
                     struct bz_err *err)
{
    char room[256], digits[2][32];
    struct bz_mention_result ignored;
    struct bz_mention call = {.owner = {0}};

    if (!called_name(node->a, room, sizeof(room), &call.name))
        return 0;
    call.args[0] = argument(node->b, digits[0]);
    if (node->b)
        call.args[1] = argument(node->b->next, digits[1]);
    return bz_mention_call(&call, refs, &ignored, err);
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
