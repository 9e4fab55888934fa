/* cache_view.h - what the commands about the store have in common: how sizes and times
 * are shown, keys found by their first digits, and a line of progress. */
#ifndef BZ_CMD_CACHE_VIEW_H
#define BZ_CMD_CACHE_VIEW_H

#include "cache/cache.h"
#include "cache/inventory.h"
#include "cmd.h"
#include "codec/jsonw.h"

#define BZ_CACHE_VIEW_TEXT 24
#define BZ_CACHE_VIEW_DIGITS 16 /* of a key in a list; enough to name it */

/* "512 B", "1.5 GiB"; "now", "5 min", "3 d"; "0.25 s". Each returns text. */
const char *bz_cache_view_size(uint64_t bytes, char text[BZ_CACHE_VIEW_TEXT]);
const char *bz_cache_view_age(int64_t ns, char text[BZ_CACHE_VIEW_TEXT]);
const char *bz_cache_view_span(int64_t ns, char text[BZ_CACHE_VIEW_TEXT]);

/* A label with its value in the column that all rows share. */
void bz_cache_view_row(struct bz_out *out, const char *label, const char *fmt, ...)
    BZ_PRINTF(3, 4);

void bz_cache_view_json_digest(struct bz_jsonw *w, const char *key,
                               const struct bz_digest *d);
/* Nanoseconds as seconds. */
void bz_cache_view_json_seconds(struct bz_jsonw *w, const char *key, int64_t ns);

/* What a key or its first digits, at least four, name. BZ_E_INVAL if it is no such text
 * or stands for several, BZ_E_NOENT if there is nothing. */
struct bz_cache_view_found {
    struct bz_digest key;
    bool result; /* else a blob */
};
int bz_cache_view_find(struct bz_cas *cas, const char *text,
                       struct bz_cache_view_found *out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* A line on a terminal that is written over and over, after the first half second. The
 * functions may be called from any thread, one at a time. */
struct bz_cache_view_progress {
    bool on, shown;
    int64_t next;
};
void bz_cache_view_begin(struct bz_cache_view_progress *p,
                         const struct bz_cmd_env *env);
void bz_cache_view_seen(void *progress, uint64_t files);
void bz_cache_view_bytes(void *progress, uint64_t done, uint64_t of);
void bz_cache_view_results(struct bz_cache_view_progress *p, size_t done, size_t of);
void bz_cache_view_end(struct bz_cache_view_progress *p, struct bz_cmd_env *env);

#endif
