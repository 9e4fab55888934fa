/* py_module.h - what the functions of a Python module mention, each by itself.
 *
 * Layers bring modules (lib/oe/utils.py) whose functions recipes call: such a call
 * makes the function's text and what it reads a part of the signature. Functions and
 * classes of the module itself count, those whose names begin with '_' do not, and of
 * two with the same name the later one. What is called by a name of the same module
 * gets the namespace before it. The decorators bb.parse.vardeps and
 * bb.parse.vardepsexclude add and take variables.
 */
#ifndef BZ_CODE_PY_MODULE_H
#define BZ_CODE_PY_MODULE_H

#include "code/py_scan.h"

struct bz_py_function {
    struct bz_str name; /* NAMESPACE.NAME */
    struct bz_str text; /* its source with the decorators */
    uint32_t line;      /* where that begins */
    bool visited;       /* it has a `visitorcode`: calls of it need a bz_py_asker */
    struct bz_py_found found;
};

struct bz_py_module {
    struct bz_py_functions BZ_VEC(struct bz_py_function) functions; /* as they stand */
};

/* Adds the functions of the module that is src->code; src->name is its namespace. What
 * is found lies in the arena. Fails as bz_py_scan() does. */
int bz_py_module_scan(const struct bz_py_source *src, struct bz_arena *arena,
                      struct bz_py_module *out, struct bz_err *err) BZ_MUST_CHECK;
void bz_py_module_release(struct bz_py_module *m);

#endif
