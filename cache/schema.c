#include "cache/schema.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* Row n takes a database from version n to n + 1. */
static const char *const migrations[] = {
    /* Digests are blobs of 32 bytes; times are nanoseconds since 1970; `checked` is the
     * boot in which all of a tree was found to be right. */
    "CREATE TABLE blob(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,"
    " size INTEGER NOT NULL, used INTEGER NOT NULL, checked TEXT);"
    "CREATE TABLE action(key BLOB PRIMARY KEY, recipe TEXT NOT NULL, task TEXT NOT "
    "NULL,"
    " used INTEGER NOT NULL, hits INTEGER NOT NULL, duration INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE action_ref(key BLOB NOT NULL, blob INTEGER NOT NULL,"
    " PRIMARY KEY(key, blob)) WITHOUT ROWID;"
    "CREATE INDEX action_ref_blob ON action_ref(blob);"
    "CREATE TABLE blob_ref(parent INTEGER NOT NULL, child INTEGER NOT NULL,"
    " PRIMARY KEY(parent, child)) WITHOUT ROWID;"
    "CREATE INDEX blob_ref_child ON blob_ref(child);",
    /* Collectors ask for what was not used for long. */
    "CREATE INDEX action_used ON action(used);",
    /* What a task took is known longer than its results are kept. */
    "CREATE TABLE cost(recipe TEXT NOT NULL, task TEXT NOT NULL,"
    " duration INTEGER NOT NULL, peak INTEGER NOT NULL,"
    " PRIMARY KEY(recipe, task)) WITHOUT ROWID;"
    "INSERT INTO cost SELECT recipe, task, max(duration), 0 FROM action"
    " WHERE duration > 0 GROUP BY recipe, task;",
    /* Recipes of one name in two projects, or for two machines, are two recipes. What
     * was known before tells nothing of that, and goes. */
    "DROP TABLE cost;"
    "CREATE TABLE cost(project TEXT NOT NULL, machine TEXT NOT NULL,"
    " recipe TEXT NOT NULL, task TEXT NOT NULL, version TEXT NOT NULL,"
    " noted INTEGER NOT NULL, duration INTEGER NOT NULL, peak INTEGER NOT NULL,"
    " PRIMARY KEY(project, machine, recipe, task, version)) WITHOUT ROWID;",
};

int bz_schema_version(void)
{
    return (int)BZ_COUNTOF(migrations);
}

int bz_schema_fail(struct sqlite3 *db, int rc, const char *what, struct bz_err *err)
{
    const char *why = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);

    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return bz_fail(err, BZ_E_BUSY, "index: %s: %s", what, why);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR: /* a table that is not as it should be */
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return bz_fail(err, BZ_E_CORRUPT, "index: %s: %s", what, why);
    default:
        return bz_fail(err, BZ_E_IO, "index: %s: %s", what, why);
    }
}

static int run(sqlite3 *db, const char *sql, const char *what, struct bz_err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : bz_schema_fail(db, rc, what, err);
}

static int read_version(sqlite3 *db, int *version, struct bz_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    *version = rc == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? 0 : bz_schema_fail(db, rc, "read its version", err);
}

/* In a transaction that holds off other writers, who may be doing the same. */
static int migrate_locked(sqlite3 *db, struct bz_err *err)
{
    int version, rc = read_version(db, &version, err);

    if (rc < 0)
        return rc;
    if (version < 0)
        return bz_fail(err, BZ_E_CORRUPT, "index: no version is %d", version);
    if (version > bz_schema_version())
        return bz_fail(err, BZ_E_NOSUP, "index: made by a newer bitzel (version %d)",
                       version);
    for (; version < bz_schema_version(); version++) {
        char number[64];

        rc = run(db, migrations[version], "migrate", err);
        if (rc < 0)
            return rc;
        snprintf(number, sizeof(number), "PRAGMA user_version = %d", version + 1);
        rc = run(db, number, "migrate", err);
        if (rc < 0)
            return rc;
    }
    return run(db, "COMMIT", "migrate", err);
}

int bz_schema_migrate(struct sqlite3 *db, struct bz_err *err)
{
    int version, rc = read_version(db, &version, err);

    if (rc < 0 || version == bz_schema_version())
        return rc;
    rc = run(db, "BEGIN IMMEDIATE", "migrate", err);
    if (rc < 0)
        return rc;
    rc = migrate_locked(db, err);
    if (rc < 0)
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

#define DESCRIPTIONS                                                                   \
    "SELECT type || ' ' || name || ' ' || coalesce(sql, '')"                           \
    " FROM sqlite_master ORDER BY name"

/* 1 if both have a row and these are equal, 0 if both are at the end, else -1. */
static int step_both(sqlite3_stmt *a, sqlite3_stmt *b)
{
    int one = sqlite3_step(a), two = sqlite3_step(b);
    const char *x, *y;

    if (one == SQLITE_DONE && two == SQLITE_DONE)
        return 0;
    if (one != SQLITE_ROW || two != SQLITE_ROW)
        return -1;
    x = (const char *)sqlite3_column_text(a, 0);
    y = (const char *)sqlite3_column_text(b, 0);
    return x && y && strcmp(x, y) == 0 ? 1 : -1;
}

int bz_schema_compare(struct sqlite3 *db, struct sqlite3 *model, struct bz_err *err)
{
    sqlite3_stmt *a = NULL, *b = NULL;
    int same = -1;

    if (sqlite3_prepare_v2(db, DESCRIPTIONS, -1, &a, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(model, DESCRIPTIONS, -1, &b, NULL) == SQLITE_OK)
        do
            same = step_both(a, b);
        while (same > 0);
    sqlite3_finalize(a);
    sqlite3_finalize(b);
    return same == 0 ? 0 : bz_fail(err, BZ_E_CORRUPT, "index: its tables are not ours");
}
