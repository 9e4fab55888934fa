/* py_simple.h - statements that have no statements in them; a part of the parser. */
#ifndef BZ_CODE_PY_SIMPLE_H
#define BZ_CODE_PY_SIMPLE_H

#include "code/py_parse.h"

/* Adds those of one line, with semicolons between them, to a node. */
bool bz_py_simple_line(struct bz_py_parser *p, struct bz_py_node *to);

#endif
