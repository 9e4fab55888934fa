/* flag.h - the flags of one variable: few, in the order they were set.
 *
 * The value, the weak default and the operations of a variable are not among them,
 * though BitBake's names for these, "_content" and "_defaultval", are understood.
 */
#ifndef BZ_VARS_FLAG_H
#define BZ_VARS_FLAG_H

#include "vars/store.h"

/* The prefix of the name under which the ??= default of a flag is kept. */
#define BZ_FLAG_WEAK BZ_STR("_defaultval_flag_")

/* True if the flag is there; *value may have p == NULL all the same. `var` may be
 * NULL. */
bool bz_flag_get(const struct bz_store_var *var, struct bz_str flag,
                 struct bz_str *value);

/* The flag's value as it is read: itself, or its weak default unless BZ_VARS_NOWEAK. */
struct bz_str bz_flag_read(const struct bz_store_var *var, struct bz_str flag,
                           unsigned how);

/* Sets it; name and value are kept by the store already. */
void bz_flag_put(struct bz_vars *v, struct bz_store_var *var, struct bz_str flag,
                 struct bz_str value);

/* True if it was there. */
bool bz_flag_remove(struct bz_vars *v, struct bz_store_var *var, struct bz_str flag);
void bz_flag_remove_weak(struct bz_vars *v, struct bz_store_var *var,
                         struct bz_str flag);

/* Calls fn for all that are not internal, a weak default under the name of its flag. */
void bz_flag_each(const struct bz_store_var *var, bz_vars_flag_fn fn, void *ctx);

#endif
