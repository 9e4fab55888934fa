/* override.h - OVERRIDES, and which of its variants a variable reads from.
 *
 * The active overrides are computed from the variable OVERRIDES when first needed, and
 * again after something was set that it is computed from. As BitBake does, that is
 * noticed for the variables that OVERRIDES, or one of these, names directly at the time
 * it is set.
 */
#ifndef BZ_VARS_OVERRIDE_H
#define BZ_VARS_OVERRIDE_H

#include "vars/store.h"

/* Records that the name is a variant of what stands before each of its ":override"
 * parts, from the right, up to one that cannot be an override. */
void bz_override_add(struct bz_vars *v, struct bz_str name);
/* Undoes that. */
void bz_override_remove(struct bz_vars *v, struct bz_str name);

/* Forgets all variants of the variable. */
void bz_override_clear(struct bz_vars *v, struct bz_store_cell *c);
/* Adds one as it is. */
void bz_override_put(struct bz_vars *v, struct bz_store_cell *c, struct bz_str name,
                     struct bz_str override);

/* Computes the active overrides unless they are known. The functions below need it;
 * BZ_E_INVAL if they depend on each other without end. */
int bz_override_need(struct bz_vars *v, struct bz_err *err) BZ_MUST_CHECK;

/* Whether all parts of "a:b" are active. */
bool bz_override_active(const struct bz_vars *v, struct bz_str override);

/* Whether any variant is active. */
bool bz_override_any(const struct bz_vars *v, const struct bz_store_variants *all);

/* The variant that overrides the variable now, or {0}. */
struct bz_str bz_override_choose(struct bz_vars *v,
                                 const struct bz_store_variants *all);

/* To be called after `value` became (part of) the variable `c` if c->steers; `name` is
 * what was set. */
int bz_override_steer(struct bz_vars *v, struct bz_str name, struct bz_str value,
                      struct bz_err *err) BZ_MUST_CHECK;

/* Marks a variable as one that OVERRIDES is computed from. */
void bz_override_mark(struct bz_vars *v, struct bz_store_cell *c);

#endif
