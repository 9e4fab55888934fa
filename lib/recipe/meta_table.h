/* meta_table.h - evaluated metadata as bytes, and back.
 *
 * A table has all of a struct bz_meta: the variables as the difference to those of its
 * configuration (vars_table.h), and the lists: classes, tasks, handlers, functions,
 * directories of Python modules, and the paths that were looked at. A configuration is
 * written as a whole.
 *
 * Lists and strings are kept in a string pool that all tables share; equal lists are
 * there once. The bytes are not trusted.
 */
#ifndef BZ_RECIPE_META_TABLE_H
#define BZ_RECIPE_META_TABLE_H

#include "recipe/meta.h"
#include "vars/vars_table.h"

#define BZ_META_TABLE_FORMAT 1 /* changes with the layout, and with its meaning */

/* Appends `m` to `out`: as a difference to m->config, or as a whole if that is NULL. */
void bz_meta_table_write(const struct bz_meta *m, struct bz_string_pool *pool,
                         struct bz_buf *out);

/* `config` stands for m->config; NULL if that was NULL. The caller owns *out. Its
 * strings lie in `pool`, which outlives it, as does `config`; `table` may go. */
int bz_meta_table_read(struct bz_str table, struct bz_str pool,
                       const struct bz_meta *config, struct bz_meta **out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* Copies a table to another pool, as bz_vars_table_move() does. */
int bz_meta_table_move(struct bz_vars_table_move *m, struct bz_str table,
                       struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
