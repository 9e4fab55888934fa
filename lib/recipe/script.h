/* script.h - variables and functions as the shell text that defines them.
 *
 * Byte for byte what BitBake writes: the script of a task is made of it, and so is the
 * output of `bitbake -e`. Nothing is written for functions in Python, nor, but for
 * BZ_SCRIPT_ALL, for variables that are neither exported nor unexported.
 *
 * The buffer has no limit. If a call fails, what it has written so far is in it.
 */
#ifndef BZ_RECIPE_SCRIPT_H
#define BZ_RECIPE_SCRIPT_H

#include "base/buf.h"
#include "vars/vars.h"

enum {
    BZ_SCRIPT_ALL = 1, /* every variable, and its history before it as a comment */
};

/* One variable, or one shell function. *function says whether it was one and has been
 * written; whoever writes several then puts an empty line after it. */
int bz_script_var(struct bz_vars *v, struct bz_str name, unsigned how,
                  struct bz_buf *out, bool *function, struct bz_err *err) BZ_MUST_CHECK;

/* All variables, then all shell functions, each sorted, but for names that begin with
 * two underscores. A variable whose value cannot be had gets a comment that says why
 * and is counted in *missing. */
int bz_script_env(struct bz_vars *v, struct bz_buf *out, size_t *missing,
                  struct bz_err *err) BZ_MUST_CHECK;

/* All functions in Python, sorted, as they are written in a recipe. */
int bz_script_pythons(struct bz_vars *v, struct bz_buf *out,
                      struct bz_err *err) BZ_MUST_CHECK;

/* What a task that is the shell function `name` needs: the variables that are exported,
 * that function, and those it calls, directly or not, by its text or its [vardeps].
 * BZ_E_NOENT if it is not set. */
int bz_script_func(struct bz_vars *v, struct bz_str name, struct bz_buf *out,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
