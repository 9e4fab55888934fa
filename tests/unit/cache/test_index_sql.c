#include "cache/index_sql.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "cache/schema.h"
#include "tests/unit/bz_test.h"

/* Whether every row that such a statement touches is found by an index or by its key.
 */
static bool scans(sqlite3 *db, const char *sql)
{
    char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    sqlite3_stmt *s;
    bool scan = false;

    assert_int_equal(sqlite3_prepare_v2(db, explain, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW)
        scan |= strncmp((const char *)sqlite3_column_text(s, 3), "SCAN", 4) == 0 &&
                !strstr((const char *)sqlite3_column_text(s, 3), "CONSTANT ROW");
    sqlite3_finalize(s);
    sqlite3_free(explain);
    return scan;
}

static void every_statement_fits_the_tables_and_reads_no_more_than_it_must(void **state)
{
    struct bz_err err;
    sqlite3 *db;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_ok(bz_schema_migrate(db, &err), &err);
    for (unsigned i = 0; i < BZ_INDEX_SQL_COUNT; i++) {
        const char *sql = bz_index_sql_text((enum bz_index_sql)i);
        sqlite3_stmt *s = NULL;
        bool about_all = i == BZ_INDEX_SQL_GET_TOTALS;

        assert_non_null(sql);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
        sqlite3_finalize(s);
        if (scans(db, sql) != about_all)
            fail_msg("reads %s: %s", about_all ? "by key" : "all rows", sql);
    }
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            every_statement_fits_the_tables_and_reads_no_more_than_it_must),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
