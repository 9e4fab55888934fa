/* py_args.h - arguments, parameters and subscripts; a part of the parser. */
#ifndef BZ_CODE_PY_ARGS_H
#define BZ_CODE_PY_ARGS_H

#include "code/py_parse.h"

/* Adds the arguments of a call or of a class, from the '(' to the ')', to a node. */
bool bz_py_args_call(struct bz_py_parser *p, struct bz_py_node *to);

/* The subscript of an expression, from the '[' to the ']'. NULL: it failed. */
struct bz_py_node *bz_py_args_subscript(struct bz_py_parser *p, struct bz_py_node *of);

/* The parameters of a lambda, up to its ':', and of a function, up to its ')', as the
 * node that the ast module calls `arguments`. NULL: it failed. */
struct bz_py_node *bz_py_args_lambda(struct bz_py_parser *p);
struct bz_py_node *bz_py_args_def(struct bz_py_parser *p);

#endif
