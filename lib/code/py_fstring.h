/* py_fstring.h - strings, one after the other, and the fields in f''; a part of the
 * parser. */
#ifndef BZ_CODE_PY_FSTRING_H
#define BZ_CODE_PY_FSTRING_H

#include "code/py_parse.h"

/* Takes all strings that follow one another, as the one they are. NULL: it failed. */
struct bz_py_node *bz_py_fstring_join(struct bz_py_parser *p);

#endif
