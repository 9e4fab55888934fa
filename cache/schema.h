/* schema.h - the tables of the index, by numbered migrations.
 *
 * A database's version is the number of migrations it has seen, kept in user_version.
 * Migrations are only ever added. Each runs in a transaction with its number, so that a
 * killed process leaves a database of one version or the next.
 */
#ifndef BZ_CACHE_SCHEMA_H
#define BZ_CACHE_SCHEMA_H

#include "base/err.h"

struct sqlite3;

/* The newest version. */
int bz_schema_version(void);

/* Brings the database to the newest version. BZ_E_NOSUP if it is newer than that,
 * BZ_E_BUSY if another process holds it, BZ_E_CORRUPT if it is none of ours. */
int bz_schema_migrate(struct sqlite3 *db, struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_CORRUPT unless both have the same tables and nothing else. */
int bz_schema_compare(struct sqlite3 *db, struct sqlite3 *model,
                      struct bz_err *err) BZ_MUST_CHECK;

/* The failure that a result code of SQLite stands for. */
int bz_schema_fail(struct sqlite3 *db, int rc, const char *what,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
