/* expr.h - inline Python, the part of it that metadata is made of, without Python.
 *
 * Evaluates the text of a ${@...} if it stays within the expressions listed in
 * README.md; everything else is BZ_E_NOSUP, so that somebody else can be asked. It
 * never guesses: what it does evaluate, it evaluates as Python would, or it fails with
 * the error Python would raise.
 */
#ifndef BZ_VARS_EXPR_H
#define BZ_VARS_EXPR_H

#include "base/err.h"
#include "base/str.h"
#include "vars/refs.h"
#include "vars/vars.h"

/* Evaluates `code` with `d` = v; *out is str() of the result, kept in the store. Names
 * that are not known otherwise are variables of the store, as in BitBake. What it reads
 * is added to refs, which may be NULL. BZ_E_NOSUP: not an expression it knows.
 * BZ_E_INVAL: Python would raise an exception; the message begins with its name. */
int bz_expr_eval(struct bz_vars *v, struct bz_str code, struct bz_refs *refs,
                 struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

/* A value filter (BitBake's filters: prefix, suffix, sort, remove_prefix ... over
 * `val`). */
int bz_expr_filter(struct bz_vars *v, struct bz_str filter, struct bz_str value,
                   struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
