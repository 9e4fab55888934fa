/* assign.h - what changes variables: set, delete, rename, and the same for flags.
 *
 * The functions do what those of vars.h with these names do.
 */
#ifndef BZ_VARS_ASSIGN_H
#define BZ_VARS_ASSIGN_H

#include "vars/store.h"

int bz_assign_set(struct bz_vars *v, struct bz_str name, struct bz_str value,
                  unsigned how, const struct bz_vars_at *at,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Adds an operation: sets `name` followed by the keyword; `op` is for the history. */
int bz_assign_op(struct bz_vars *v, struct bz_str name, const char *keyword,
                 struct bz_str value, struct bz_str op, const struct bz_vars_at *at,
                 struct bz_err *err) BZ_MUST_CHECK;

int bz_assign_del(struct bz_vars *v, struct bz_str name, const struct bz_vars_at *at,
                  struct bz_err *err) BZ_MUST_CHECK;
int bz_assign_rename(struct bz_vars *v, struct bz_str from, struct bz_str to,
                     const struct bz_vars_at *at, struct bz_err *err) BZ_MUST_CHECK;

int bz_assign_check_renamed(struct bz_str name, struct bz_err *err) BZ_MUST_CHECK;

int bz_assign_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                   struct bz_str value, const struct bz_vars_at *at,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Puts text before the flag's value or after it; the other one is {0}. */
int bz_assign_extend_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                          struct bz_str before, struct bz_str after,
                          const struct bz_vars_at *at,
                          struct bz_err *err) BZ_MUST_CHECK;
void bz_assign_del_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                        const struct bz_vars_at *at);
void bz_assign_del_flags(struct bz_vars *v, struct bz_str name,
                         const struct bz_vars_at *at);

#endif
