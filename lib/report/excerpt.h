/* excerpt.h - the end of a log, as much of it as is worth carrying along. */
#ifndef BZ_REPORT_EXCERPT_H
#define BZ_REPORT_EXCERPT_H

#include "base/arena.h"
#include "base/err.h"

struct bz_excerpt {
    struct bz_str text; /* whole lines, unless one alone is too long */
    bool cut;           /* there is more before it */
};

/* Up to `max` bytes of a regular file, in the arena. BZ_E_NOENT if there is none, or if
 * it was written after `until` (seconds since 1970; 0: never mind): then it is not of
 * the build in question. */
int bz_excerpt_read(struct bz_arena *arena, const char *path, size_t max, int64_t until,
                    struct bz_excerpt *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
