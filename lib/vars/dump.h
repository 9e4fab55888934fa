/* dump.h - the variables of a store as bytes, to compare or to keep them.
 *
 * A record has all that was said of one variable: its value, its ??= default, its flags
 * and operations, unexpanded, as they are now; not the history. Equal records mean
 * equal variables. Numbers lie in the byte order of the machine.
 */
#ifndef BZ_VARS_DUMP_H
#define BZ_VARS_DUMP_H

#include "vars/vars.h"

/* Calls fn for each variable of a store that has no parent, sorted by name; and, with
 * an empty name, for the filters and whatever else is not of one variable. */
typedef void (*bz_dump_fn)(void *ctx, struct bz_str name, struct bz_str record);
void bz_dump_each(const struct bz_vars *v, bz_dump_fn fn, void *ctx);

/* Sets in `v`, where it must not be set yet, what a record says. BZ_E_CORRUPT if the
 * bytes are no record. */
int bz_dump_restore(struct bz_vars *v, struct bz_str record,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
