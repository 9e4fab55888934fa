/* eval.h - runs the statements of a file on a store.
 *
 * Includes and inherits are followed as they come. Evaluation stops at the
 * first error; its message begins with the file and line of the statement,
 * innermost file first.
 */
#ifndef BZ_RECIPE_EVAL_H
#define BZ_RECIPE_EVAL_H

#include "base/err.h"
#include "recipe/library.h"
#include "recipe/meta.h"

/* A file that is being evaluated, and the one it was reached from. */
struct bz_eval_frame {
    const struct bz_eval_frame *up;
    const char *path;
    uint32_t line;                  /* of the statement under way */
    const struct bz_ast_stmt *stmt; /* that one, or NULL */
    unsigned depth;
};

/* Told before and after each file is evaluated, for whoever measures. */
struct bz_eval_watch {
    void (*begin)(void *ctx, const char *path);
    void (*end)(void *ctx, const char *path);
    void *ctx;
    struct bz_vars_watch expressions;
};

struct bz_eval {
    struct bz_meta *meta;
    struct bz_library *library;
    struct bz_buf *notes; /* what the parser says of the recipe's own files, or
                             NULL: the library keeps it */
    const struct bz_eval_watch *watch; /* or NULL */
    struct bz_eval_frame *top;         /* NULL between files */
    size_t files;                      /* evaluated so far */
    bool located; /* the failure on its way up names its place already */

    /* About the failure, for blame.h; each may be absent. */
    struct bz_str culprit; /* the word of the statement that is wrong */
    const char *expected;  /* what should stand there */
    const char *broken;    /* a file that has diagnostics of its own */
};

enum bz_eval_as {
    BZ_EVAL_RECIPE,  /* the recipe itself: FILE stays what it is set to */
    BZ_EVAL_INCLUDE, /* anything that is included: FILE is set back afterwards */
    BZ_EVAL_APPEND,  /* a .bbappend */
    BZ_EVAL_BASE,    /* a .conf that the configuration starts from: addpylib is
                        allowed */
};

/* Evaluates one file, absolute or along BBPATH. BZ_E_NOENT if it does not
 * exist. */
int bz_eval_file(struct bz_eval *e, struct bz_str path, enum bz_eval_as as,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Includes the files of an unexpanded word list, from beside the current file
 * or along BBPATH. With `must`, the verb for the message, a missing one is an
 * error. */
int bz_eval_include(struct bz_eval *e, struct bz_str files, const char *must,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Inherits the classes of an unexpanded word list. Unless `deferred`, those
 * named by BB_DEFER_BBCLASSES are put off. */
int bz_eval_inherit(struct bz_eval *e, struct bz_str classes, bool deferred,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Where the statement under way stands, for the history. */
struct bz_vars_at bz_eval_at(const struct bz_eval *e, const char *op);

#endif
