/* py_stmt.h - Python's statements; a part of the parser. */
#ifndef BZ_CODE_PY_STMT_H
#define BZ_CODE_PY_STMT_H

#include "code/py_parse.h"

/* All of the text, as a node with its statements. NULL: it failed. */
struct bz_py_node *bz_py_stmt_module(struct bz_py_parser *p);

/* Takes the ':' and the statements behind it, on the same line or indented. */
bool bz_py_stmt_block(struct bz_py_parser *p, struct bz_py_node *to);

#endif
