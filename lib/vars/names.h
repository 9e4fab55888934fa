/* names.h - which variables there are. */
#ifndef BZ_VARS_NAMES_H
#define BZ_VARS_NAMES_H

#include "vars/store.h"

/* As the functions of vars.h with these names. */
int bz_names_list(struct bz_vars *v, const struct bz_str **names, size_t *n,
                  struct bz_err *err) BZ_MUST_CHECK;
int bz_names_exported(struct bz_vars *v, bool un, const struct bz_str **names,
                      size_t *n, struct bz_err *err) BZ_MUST_CHECK;
int bz_names_flag_true(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                       bool *yes, struct bz_err *err) BZ_MUST_CHECK;
int bz_names_expand(struct bz_vars *v, struct bz_err *err) BZ_MUST_CHECK;

#endif
