/* value.h - the value of a variable: content, variants, operations, expansion. */
#ifndef BZ_VARS_VALUE_H
#define BZ_VARS_VALUE_H

#include "vars/store.h"

/* As bz_vars_get(). */
int bz_value_get(struct bz_vars *v, struct bz_store_cell *c, unsigned how,
                 struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

/* As bz_vars_get_flag(), for what is not the content. */
int bz_value_flag(struct bz_vars *v, const struct bz_store_cell *c, struct bz_str flag,
                  unsigned how, struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
