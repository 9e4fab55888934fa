/* assignment.h - recognises an assignment: NAME[flag] operator "value".
 *
 * Takes exactly the lines that BitBake's pattern for them matches, in one pass. Pure;
 * any thread may call it.
 */
#ifndef BZ_RECIPE_ASSIGNMENT_H
#define BZ_RECIPE_ASSIGNMENT_H

#include <stdbool.h>

#include "recipe/ast.h"

struct bz_assignment {
    enum bz_ast_op op;
    bool exported;
    bool tight;         /* white space is missing before or after the operator */
    size_t op_at;       /* offset of the operator */
    struct bz_str name; /* may be empty, which is the caller's to refuse */
    struct bz_str flag; /* p == NULL if there is none */
    struct bz_str value;
};

/* Where a line ceases to look like an assignment, and what would have to follow. */
struct bz_assignment_stop {
    size_t at;
    const char *expected;
};

/* The line is UTF-8 without NUL or line ends. Only one of the outputs is written: the
 * slices of *out lie in the line. */
bool bz_assignment_read(struct bz_str line, struct bz_assignment *out,
                        struct bz_assignment_stop *stop);

/* The offset after all characters from `at` on that may stand in a name (the name of a
 * flag). The first is for assignments; the others are for unset and export, which take
 * no colon, and no slash in a flag. */
enum bz_assignment_class {
    BZ_ASSIGNMENT_NAME = 1,
    BZ_ASSIGNMENT_FLAG = 2,
    BZ_ASSIGNMENT_PLAIN_NAME = 4,
    BZ_ASSIGNMENT_PLAIN_FLAG = 8,
    BZ_ASSIGNMENT_FLAG_START = 16,
};
size_t bz_assignment_skip(struct bz_str s, size_t at, enum bz_assignment_class class);

#endif
