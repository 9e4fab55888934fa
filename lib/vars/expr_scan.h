/* expr_scan.h - what a tree refers to, by the calls that stand in it.
 *
 * The rules are in mention.h. This is for expressions that are evaluated, whose tree is
 * there anyway; code/py_scan.h reads all of Python.
 */
#ifndef BZ_VARS_EXPR_SCAN_H
#define BZ_VARS_EXPR_SCAN_H

#include "vars/expr_parse.h"
#include "vars/refs.h"

int bz_expr_scan_tree(const struct bz_expr_node *tree, struct bz_refs *refs,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
