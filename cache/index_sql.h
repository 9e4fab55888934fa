/* index_sql.h - the statements of the index, as SQL.
 *
 * The tables are schema.c's; index.c prepares a statement when it is first used. ?1 is
 * the digest that a statement is about, if it is about one.
 */
#ifndef BZ_CACHE_INDEX_SQL_H
#define BZ_CACHE_INDEX_SQL_H

enum bz_index_sql {
    BZ_INDEX_SQL_PUT_BLOB,
    BZ_INDEX_SQL_PUT_ACTION,
    BZ_INDEX_SQL_PUT_HIT,
    BZ_INDEX_SQL_PUT_ACTION_REF,
    BZ_INDEX_SQL_PUT_BLOB_REF,
    BZ_INDEX_SQL_PUT_CHECKED,
    BZ_INDEX_SQL_PUT_COST,
    BZ_INDEX_SQL_GUESS_COST,
    BZ_INDEX_SQL_TRIM_COST,
    BZ_INDEX_SQL_DROP_ACTION,
    BZ_INDEX_SQL_DROP_ACTION_REFS,
    BZ_INDEX_SQL_DROP_BLOB,
    BZ_INDEX_SQL_DROP_BLOB_REFS,
    BZ_INDEX_SQL_DROP_REFS_TO_BLOB,
    BZ_INDEX_SQL_GET_CHECKED,
    BZ_INDEX_SQL_GET_COST,
    BZ_INDEX_SQL_GET_COST_NEAR,
    BZ_INDEX_SQL_ALL_COSTS,
    BZ_INDEX_SQL_GET_ACTION,
    BZ_INDEX_SQL_GET_BLOB,
    BZ_INDEX_SQL_GET_TOTALS,
    BZ_INDEX_SQL_COUNT,
};

const char *bz_index_sql_text(enum bz_index_sql which);

#endif
