#include "cache/index_sql.h"

static const char *const texts[BZ_INDEX_SQL_COUNT] = {
    [BZ_INDEX_SQL_PUT_BLOB] = "INSERT INTO blob(hash, size, used) VALUES(?1, ?2, ?3)"
                              " ON CONFLICT(hash) DO UPDATE SET size = excluded.size,"
                              " used = max(used, excluded.used)",
    [BZ_INDEX_SQL_PUT_ACTION] =
        "INSERT INTO action(key, used, recipe, task, hits, duration, bytes)"
        " VALUES(?1, ?2, ?3, ?4, 0, ?5, ?6)"
        " ON CONFLICT(key) DO UPDATE SET recipe = excluded.recipe,"
        " task = excluded.task, used = max(used, excluded.used),"
        " duration = excluded.duration, bytes = excluded.bytes",
    [BZ_INDEX_SQL_PUT_HIT] =
        "UPDATE action SET hits = hits + 1, used = max(used, ?2) WHERE key = ?1",
    [BZ_INDEX_SQL_PUT_ACTION_REF] = "INSERT OR IGNORE INTO action_ref(key, blob)"
                                    " SELECT ?1, id FROM blob WHERE hash = ?2",
    [BZ_INDEX_SQL_PUT_BLOB_REF] = "INSERT OR IGNORE INTO blob_ref(parent, child)"
                                  " SELECT p.id, c.id FROM blob p, blob c"
                                  " WHERE p.hash = ?1 AND c.hash = ?2",
    [BZ_INDEX_SQL_PUT_CHECKED] = "UPDATE blob SET checked = ?2 WHERE hash = ?1",
    [BZ_INDEX_SQL_PUT_COST] =
        "INSERT OR REPLACE INTO cost(project, machine, recipe, task, version,"
        " noted, duration, peak) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    /* What others took is better than nothing. */
    [BZ_INDEX_SQL_GUESS_COST] =
        "INSERT OR IGNORE INTO cost(project, machine, recipe, task, version,"
        " noted, duration, peak) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    /* A version may change with every commit. */
    [BZ_INDEX_SQL_TRIM_COST] =
        "DELETE FROM cost WHERE project = ?1 AND machine = ?2 AND recipe = ?3"
        " AND task = ?4 AND version NOT IN (SELECT version FROM cost"
        " WHERE project = ?1 AND machine = ?2 AND recipe = ?3 AND task = ?4"
        " ORDER BY noted DESC LIMIT 4)",
    [BZ_INDEX_SQL_DROP_ACTION] = "DELETE FROM action WHERE key = ?1",
    [BZ_INDEX_SQL_DROP_ACTION_REFS] = "DELETE FROM action_ref WHERE key = ?1",
    [BZ_INDEX_SQL_DROP_BLOB] = "DELETE FROM blob WHERE hash = ?1",
    /* A number is given again: nothing may refer to what had it. */
    [BZ_INDEX_SQL_DROP_BLOB_REFS] =
        "DELETE FROM blob_ref WHERE parent = (SELECT id FROM blob WHERE hash = ?1)"
        " OR child = (SELECT id FROM blob WHERE hash = ?1)",
    [BZ_INDEX_SQL_DROP_REFS_TO_BLOB] =
        "DELETE FROM action_ref WHERE blob = (SELECT id FROM blob WHERE hash = ?1)",
    [BZ_INDEX_SQL_GET_CHECKED] = "SELECT 1 FROM blob WHERE hash = ?1 AND checked = ?2",
    [BZ_INDEX_SQL_GET_COST] =
        "SELECT duration, peak FROM cost WHERE project = ?1 AND machine = ?2"
        " AND recipe = ?3 AND task = ?4 AND version = ?5",
    [BZ_INDEX_SQL_GET_COST_NEAR] =
        "SELECT duration, peak FROM cost WHERE project = ?1 AND machine = ?2"
        " AND recipe = ?3 AND task = ?4 ORDER BY noted DESC LIMIT 1",
    [BZ_INDEX_SQL_ALL_COSTS] =
        "SELECT machine, recipe, task, version, noted, duration, peak FROM cost"
        " WHERE project = ?1",
    [BZ_INDEX_SQL_GET_ACTION] =
        "SELECT key, recipe, task, used, hits, duration, bytes FROM action"
        " WHERE key = ?1",
    [BZ_INDEX_SQL_GET_BLOB] =
        "SELECT size, used,"
        " (SELECT count(*) FROM action_ref WHERE action_ref.blob = blob.id) +"
        " (SELECT count(*) FROM blob_ref WHERE child = blob.id)"
        " FROM blob WHERE hash = ?1",
    [BZ_INDEX_SQL_GET_TOTALS] =
        "SELECT (SELECT count(*) FROM blob), (SELECT sum(size) FROM blob),"
        " (SELECT count(*) FROM action), (SELECT sum(hits) FROM action)",
};

const char *bz_index_sql_text(enum bz_index_sql which)
{
    return texts[which];
}
