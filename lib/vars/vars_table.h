/* vars_table.h - a variable store as bytes, and back.
 *
 * A table has what a store adds to one of its ancestors, unexpanded: values, defaults,
 * flags, operations, variants, deletions, filters, history and the notes about the
 * clock and the host. A store read from a table behaves as the one that was written,
 * also when it is written to or copied, with two exceptions:
 *
 *   1. The levels between the store and the ancestor become one. bz_vars_del_flags() of
 *      a variable without content uncovers the ancestor's variable, not one in between;
 *      bz_vars_set_clocked() does not see names that were noted in between. In a copy
 *      of the store neither differs. If several variables have errors, another one may
 *      be reported first.
 *   2. A read store has read no variable yet (bz_vars_was_read, bz_vars_each_read);
 *      bz_vars_clock_read(), though, answers as before.
 *
 * Callbacks (python, watch, keep) are no part of a table. A store inherits the first
 * two from its parent as any copy does.
 *
 * Strings and whole variables are kept in a string pool that any number of tables
 * share: a class that 1,000 recipes inherit is there once. A table without its pool is
 * a list of references.
 *
 * The bytes are not trusted. Time and memory of reading are linear in their size, and a
 * reference that leads nowhere is BZ_E_CORRUPT. The format does not depend on the byte
 * order of the machine.
 */
#ifndef BZ_VARS_VARS_TABLE_H
#define BZ_VARS_VARS_TABLE_H

#include "base/map.h"
#include "base/string_pool.h"
#include "vars/vars.h"

#define BZ_VARS_TABLE_FORMAT 1 /* changes with the layout, and with its meaning */

/* Appends the difference between `v` and `ancestor` to `out`; with NULL, all of v and
 * its parents. Equal stores give equal bytes if their pools are equal. */
void bz_vars_table_write(const struct bz_vars *v, const struct bz_vars *ancestor,
                         struct bz_string_pool *pool, struct bz_buf *out);

/* A store over `parent`, which stands for the ancestor; NULL if there was none. The
 * caller owns *out. Its strings lie in `pool`, which outlives it; `table` may go. */
int bz_vars_table_read(struct bz_str table, struct bz_str pool,
                       const struct bz_vars *parent, struct bz_vars **out,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
