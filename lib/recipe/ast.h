/* ast.h - what one metadata file says, statement by statement, nothing evaluated.
 *
 * A file is parsed once and evaluated as often as it is included or inherited. An ast
 * and all its text live in the arena it was made in; it does not change afterwards and
 * any number of threads may read it.
 */
#ifndef BZ_RECIPE_AST_H
#define BZ_RECIPE_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum bz_ast_kind {
    BZ_AST_ASSIGN,           /* name[flag] op value; `exported` for export X = "..." */
    BZ_AST_EXPORT,           /* export name */
    BZ_AST_UNSET,            /* unset name, or name[flag] if flag is set */
    BZ_AST_INCLUDE,          /* text: file names, unexpanded */
    BZ_AST_REQUIRE,          /* the same, but they must exist */
    BZ_AST_INCLUDE_ALL,      /* text: one file name */
    BZ_AST_INHERIT,          /* text: class names */
    BZ_AST_INHERIT_DEFER,    /* text */
    BZ_AST_ADDTASK,          /* text: task names; before, after: names, or empty */
    BZ_AST_DELTASK,          /* text */
    BZ_AST_ADDHANDLER,       /* text */
    BZ_AST_EXPORT_FUNCTIONS, /* text */
    BZ_AST_FUNCTION,         /* name () { text }; fakeroot, python */
    BZ_AST_DEF,              /* def name(...): text is the whole definition */
    BZ_AST_ADDPYLIB,         /* text: directory; before: namespace */
    BZ_AST_ADDFRAGMENTS, /* text: prefix; name, before, after: its three variables */
};

enum bz_ast_op {
    BZ_AST_SET,     /* =   */
    BZ_AST_DEFAULT, /* ?=  */
    BZ_AST_WEAK,    /* ??= */
    BZ_AST_NOW,     /* :=  */
    BZ_AST_APPEND,  /* +=  */
    BZ_AST_PREPEND, /* =+  */
    BZ_AST_POSTDOT, /* .=  */
    BZ_AST_PREDOT,  /* =.  */
};

struct bz_ast_stmt {
    enum bz_ast_kind kind;
    enum bz_ast_op op;
    uint32_t line;     /* where it begins, from 1; of a function, where its head ends */
    uint32_t end_line; /* where it ends: the line BitBake names */
    bool exported, fakeroot, python;
    struct bz_str name, flag, text; /* absent ones have p == NULL */
    struct bz_str before, after;
    struct bz_ast_stmt *next;
};

struct bz_ast {
    const char *path;
    struct bz_ast_stmt *first;
    size_t count;
};

#endif
