/* py_pattern.h - what stands behind match and case; a part of the parser. */
#ifndef BZ_CODE_PY_PATTERN_H
#define BZ_CODE_PY_PATTERN_H

#include "code/py_parse.h"

/* The subject of a match, and the pattern of a case. NULL: it failed. */
struct bz_py_node *bz_py_pattern_subject(struct bz_py_parser *p);
struct bz_py_node *bz_py_pattern_list(struct bz_py_parser *p);

#endif
