/* index_file.h - the database file of the index: opened, checked, begun anew.
 *
 * Its tables are compared with what they should be: a file with other tables, or with
 * triggers or views, is as good as a broken one. What is broken inside shows when it is
 * used; whoever finds that leaves a mark (`<path>.broken`) for the next to open it, who
 * puts it aside as `<path>.bad`. SQLite trusts nothing in the file and bounds its rows.
 *
 * For index.c alone.
 */
#ifndef BZ_CACHE_INDEX_FILE_H
#define BZ_CACHE_INDEX_FILE_H

#include <stdbool.h>

#include "base/err.h"

struct sqlite3;

/* *fresh if it is empty because there was none, or a broken one. The caller closes
 * *out. */
int bz_index_file_open(const char *path, struct sqlite3 **out, bool *fresh,
                       struct bz_err *err) BZ_MUST_CHECK;
/* One that is gone when it is closed. */
int bz_index_file_memory(struct sqlite3 **out, struct bz_err *err) BZ_MUST_CHECK;

/* What bz_index_next_part() tells: part of the file, and not of a transaction. If it
 * cannot be written, parts are done twice, which does no harm. */
int bz_index_file_part(struct sqlite3 *db);
void bz_index_file_set_part(struct sqlite3 *db, int part);

/* Marks it as broken. */
void bz_index_file_spoil(const char *path);

#endif
