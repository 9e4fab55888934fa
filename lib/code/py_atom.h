/* py_atom.h - names, literals and what stands in brackets; a part of the parser. */
#ifndef BZ_CODE_PY_ATOM_H
#define BZ_CODE_PY_ATOM_H

#include "code/py_parse.h"

/* Takes one; NULL: it failed. */
struct bz_py_node *bz_py_atom(struct bz_py_parser *p);

#endif
