#include "cache/schema.h"

#include <sqlite3.h>
#include <stdio.h>

#include "tests/unit/bz_test.h"

static sqlite3 *memory(void)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static int number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    int n;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    n = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return n;
}

static void an_empty_database_gets_the_newest_version(void **state)
{
    sqlite3 *db = memory();
    struct bz_err err;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_ok(bz_schema_migrate(db, &err), &err);
        assert_int_equal(number(db, "PRAGMA user_version"), bz_schema_version());
        assert_int_equal(number(db, "SELECT count(*) FROM action"), 0);
    }
    sqlite3_close(db);
}

static void a_version_that_cannot_be_is_damage(void **state)
{
    sqlite3 *db = memory();
    struct bz_err err;

    (void)state;
    run(db, "PRAGMA user_version = -16777215");
    assert_int_equal(bz_schema_migrate(db, &err), BZ_E_CORRUPT);
    assert_int_equal(number(db, "PRAGMA user_version"), -16777215);
    sqlite3_close(db);
}

/* The first version as it was: its rows are still there after migrating. */
static void an_old_database_keeps_its_rows(void **state)
{
    sqlite3 *db = memory();
    struct bz_err err;

    (void)state;
    run(db, "CREATE TABLE blob(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,"
            " size INTEGER NOT NULL, used INTEGER NOT NULL, checked TEXT);"
            "CREATE TABLE action(key BLOB PRIMARY KEY, recipe TEXT NOT NULL,"
            " task TEXT NOT NULL, used INTEGER NOT NULL, hits INTEGER NOT NULL,"
            " duration INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;"
            "INSERT INTO action VALUES(x'01', 'r', 't', 1, 2, 3, 4);"
            "PRAGMA user_version = 1");
    assert_ok(bz_schema_migrate(db, &err), &err);
    assert_int_equal(number(db, "SELECT hits FROM action"), 2);
    /* Nobody knows of which project that was. */
    assert_int_equal(number(db, "SELECT count(*) FROM cost"), 0);
    assert_int_equal(number(db, "SELECT count(project) + count(version) FROM cost"), 0);
    assert_int_equal(
        number(db, "SELECT count(*) FROM sqlite_master WHERE name = 'action_used'"), 1);
    sqlite3_close(db);
}

static void a_newer_database_is_left_alone(void **state)
{
    sqlite3 *db = memory();
    struct bz_err err;

    (void)state;
    run(db, "PRAGMA user_version = 999");
    assert_int_equal(bz_schema_migrate(db, &err), BZ_E_NOSUP);
    assert_int_equal(number(db, "PRAGMA user_version"), 999);
    sqlite3_close(db);
}

static void a_migration_that_fails_changes_nothing(void **state)
{
    sqlite3 *db = memory();
    struct bz_err err;

    (void)state;
    run(db, "CREATE TABLE action_ref(x)"); /* in the way of the third table */
    assert_int_equal(bz_schema_migrate(db, &err), BZ_E_CORRUPT);
    assert_int_equal(number(db, "PRAGMA user_version"), 0);
    assert_int_equal(number(db, "SELECT count(*) FROM sqlite_master"), 1);
    sqlite3_close(db);
}

static void codes_of_sqlite_become_ours(void **state)
{
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_schema_fail(NULL, SQLITE_BUSY, "x", &err), BZ_E_BUSY);
    assert_int_equal(bz_schema_fail(NULL, SQLITE_NOTADB, "x", &err), BZ_E_CORRUPT);
    assert_int_equal(bz_schema_fail(NULL, SQLITE_IOERR_READ, "x", &err), BZ_E_IO);
    assert_int_equal(bz_schema_fail(NULL, SQLITE_FULL, "write", &err), BZ_E_IO);
    assert_string_equal(err.msg, "index: write: database or disk is full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_database_gets_the_newest_version),
        cmocka_unit_test(a_version_that_cannot_be_is_damage),
        cmocka_unit_test(an_old_database_keeps_its_rows),
        cmocka_unit_test(a_newer_database_is_left_alone),
        cmocka_unit_test(a_migration_that_fails_changes_nothing),
        cmocka_unit_test(codes_of_sqlite_become_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
