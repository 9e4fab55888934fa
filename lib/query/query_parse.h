/* query_parse.h - a question's text to its tree.
 *
 * What is wrong is said with the column, "column 7: ...". Depth and length are bounded,
 * so any text may be given.
 */
#ifndef BZ_QUERY_QUERY_PARSE_H
#define BZ_QUERY_QUERY_PARSE_H

#include "base/arena.h"
#include "base/err.h"
#include "query/query.h"

#define BZ_QUERY_PARSE_LONGEST ((size_t)64 << 10)
#define BZ_QUERY_PARSE_DEEPEST 100

/* Names in the tree borrow from `text`. BZ_E_INVAL and BZ_E_LIMIT; *column is then
 * where, from 1. */
int bz_query_parse(struct bz_str text, struct bz_arena *arena,
                   const struct bz_query **out, uint32_t *column,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Calls fn for every name and pattern in a tree. */
typedef void (*bz_query_parse_name_fn)(void *ctx, struct bz_str name);
void bz_query_parse_names(const struct bz_query *q, bz_query_parse_name_fn fn,
                          void *ctx);

#endif
