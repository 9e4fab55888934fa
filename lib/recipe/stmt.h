/* stmt.h - one line, continued lines already joined, to one statement.
 *
 * Knows every statement there is, and which of them BitBake tries before which: in a
 * recipe `inherit = "x"` inherits two classes, in a .conf file it sets a variable. Of a
 * function only the head is read here; its body is parse.c's. Pure but for the arena.
 */
#ifndef BZ_RECIPE_STMT_H
#define BZ_RECIPE_STMT_H

#include "recipe/parse.h"

enum bz_stmt_fault {
    BZ_STMT_FINE,
    BZ_STMT_TIGHT,    /* a statement, but it deserves a warning: no space round = */
    BZ_STMT_UNPARSED, /* no statement */
    BZ_STMT_NO_NAME,  /* an assignment to nothing */
    BZ_STMT_TASK,     /* a task whose name has an operation in it */
};

/* What is wrong, at which offset in the line, and what should stand there. */
struct bz_stmt_note {
    enum bz_stmt_fault fault;
    size_t at;
    const char *expected; /* may be NULL */
    struct bz_str word;   /* the task */
};

/* Fills what the line says into *st, which is zeroed; its slices lie in the line or in
 * the arena. The line is not empty, no comment, and UTF-8 without NUL. Returns false if
 * it is no statement; *note is always written. */
bool bz_stmt_read(struct bz_arena *arena, enum bz_parse_kind kind, struct bz_str line,
                  struct bz_ast_stmt *st, struct bz_stmt_note *note);

#endif
