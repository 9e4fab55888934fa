/* expr_scan.h - what a tree refers to, by the calls that stand in it.
 *
 * These are BitBake's rules (its PythonParser): only names written as literals count,
 * and only in calls whose names it knows. They decide signatures, so they are kept to
 * the letter.
 */
#ifndef BZ_VARS_EXPR_SCAN_H
#define BZ_VARS_EXPR_SCAN_H

#include "vars/expr_parse.h"
#include "vars/refs.h"

int bz_expr_scan_tree(const struct bz_expr_node *tree, struct bz_refs *refs,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
