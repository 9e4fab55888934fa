/* builds.h - the builds that a build directory remembers.
 *
 * Each has a directory below builds/, called by the time it began (UTC) and its
 * process: 20260102T030405-0000077. Names sort by time. In there lie the record of its
 * tasks and the log of its events (report/eventlog.h), which has another name if
 * nothing ran: of such builds fewer are kept, and they displace no others.
 */
#ifndef BZ_BUILD_BUILDS_H
#define BZ_BUILD_BUILDS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct bz_builds_found {
    struct bz_str id;   /* in the arena, as is the other */
    struct bz_str path; /* of what was asked for */
};

#define BZ_BUILDS_RECORD "record"
#define BZ_BUILDS_PARTIAL                                                              \
    "record.partial" /* a task failed: not all results are there */
#define BZ_BUILDS_BEFORE                                                               \
    "record.before" /* what results were made from that there were */
#define BZ_BUILDS_EVENTS "events"
#define BZ_BUILDS_IDLE "events.idle" /* nothing ran */
/* Where a file is looked for, several may be named: the first that there is counts. */
#define BZ_BUILDS_ANY BZ_BUILDS_EVENTS "|" BZ_BUILDS_IDLE

/* The build that `which` names: by its id, by the beginning of just one id, or by
 * "last", which NULL stands for: the last build with such a file. BZ_E_NOENT if there
 * is none, BZ_E_INVAL if several begin so. */
int bz_builds_find(struct bz_arena *arena, const char *build_dir, const char *which,
                   const char *file, struct bz_builds_found *out,
                   struct bz_err *err) BZ_MUST_CHECK;

/* All builds with such a file, the oldest first; texts are in the arena. None is fine.
 * Release *out with bz_vec_release in any case. */
struct bz_builds_list BZ_VEC(struct bz_builds_found);
int bz_builds_list(struct bz_arena *arena, const char *build_dir, const char *file,
                   struct bz_builds_list *out, struct bz_err *err) BZ_MUST_CHECK;

/* Makes the directory of a build of this process that began at `wall` (os/clock.h), if
 * it is not there, for the file that is named. All but the last BZ_BUILDS_KEPT are
 * dropped, and of those with BZ_BUILDS_IDLE all but the last BZ_BUILDS_IDLE_KEPT. The
 * path of the file is in the arena. */
#define BZ_BUILDS_KEPT 20
#define BZ_BUILDS_IDLE_KEPT 5
int bz_builds_make(struct bz_arena *arena, const char *build_dir, int64_t wall,
                   const char *file, const char **path,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
