/* builds.h - the builds that a build directory remembers.
 *
 * Each has a directory below builds/, called by the time it began (UTC) and its
 * process: 20260102T030405-77. Names sort by time. In there lies the record of its
 * tasks.
 */
#ifndef BZ_PIPELINE_BUILDS_H
#define BZ_PIPELINE_BUILDS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct bz_builds_found {
    struct bz_str id;   /* in the arena, as is the other */
    struct bz_str path; /* of its record */
};

/* The build that `which` names: by its id, by the beginning of just one id, or by
 * "last", which NULL stands for: the last build with a record. BZ_E_NOENT if there is
 * none, BZ_E_INVAL if several begin so. */
int bz_builds_find(struct bz_arena *arena, const char *build_dir, const char *which,
                   struct bz_builds_found *out, struct bz_err *err) BZ_MUST_CHECK;

/* Keeps the record of a build that began at `wall` (os/clock.h), and of those before it
 * the last BZ_BUILDS_KEPT. */
#define BZ_BUILDS_KEPT 20
int bz_builds_keep(const char *build_dir, int64_t wall, struct bz_str record,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
