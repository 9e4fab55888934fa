/* py_scan.h - what a body of Python code mentions: variables, functions, items.
 *
 * The body of a function, a def, or the expression of a ${@...} is parsed, not run.
 * Which calls count is decided by vars/mention.h; the order in which they are looked at
 * is that of BitBake, which matters where a later call replaces what an earlier one
 * has said.
 */
#ifndef BZ_CODE_PY_SCAN_H
#define BZ_CODE_PY_SCAN_H

#include "base/vec.h"
#include "code/py_parse.h"
#include "vars/refs.h"

/* A function whose first argument is an item of these variables, if it is a literal:
 * the call asks whether they contain it, and is itself no dependency. */
struct bz_py_asker {
    struct bz_str name; /* with its dots */
    const struct bz_str *vars;
    size_t nvars;
};

struct bz_py_source {
    struct bz_str code; /* as it is, indented or not */
    struct bz_str name; /* of the variable or function whose code it is; may be {0} */
    const char *file;   /* where it stands, for messages; NULL: nowhere */
    uint32_t line;      /* of its first line in that file */
    enum bz_py_form form;
    const struct bz_py_asker *askers;
    size_t naskers;
};

/* A call that reads something of which the name is not written as a literal. */
struct bz_py_loose {
    uint32_t line;
    struct bz_str name; /* what is called */
    struct bz_str arg;  /* the argument as it is written */
};

struct bz_py_found {
    struct bz_refs refs;
    struct bz_map runs; /* those of refs.execs that are run by their names in strings */
    struct bz_py_looses BZ_VEC(struct bz_py_loose) loose;
};

void bz_py_scan_init(struct bz_py_found *f, struct bz_arena *arena);
void bz_py_scan_release(struct bz_py_found *f);

/* Adds what the code mentions. BZ_E_INVAL: BitBake fails over it; the message has the
 * name of the exception, SyntaxError if the code is wrong. BZ_E_NOSUP: it takes an
 * interpreter to know. BZ_E_LIMIT: it is too long or too deep. */
int bz_py_scan(const struct bz_py_source *src, struct bz_py_found *f,
               struct bz_err *err) BZ_MUST_CHECK;

/* The same of a tree, or a part of one, parsed from `code`. */
int bz_py_scan_tree(const struct bz_py_source *src, struct bz_str code,
                    const struct bz_py_node *tree, struct bz_py_found *f,
                    struct bz_err *err) BZ_MUST_CHECK;

/* The text with '\n' only as line ends, as Python reads it: itself, or a copy. */
struct bz_str bz_py_scan_lines(struct bz_str code, struct bz_arena *arena);

#endif
