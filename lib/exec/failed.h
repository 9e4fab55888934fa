/* failed.h - what tasks that failed have left, to be looked at.
 *
 * Below `failed/` of the local store, each under the task's name: `upper`, what it had
 * written, `tmp`, its /tmp, and `key`, its signature. Kept until the task is run again,
 * only of the last BZ_FAILED_MOST tasks, and until a collector takes it (cache/gc.h).
 * That something cannot be kept is no failure: it is said in the log of bitzel.
 *
 * One thread; processes may share the store, and the last one counts.
 */
#ifndef BZ_EXEC_FAILED_H
#define BZ_EXEC_FAILED_H

#include "codec/digest.h"
#include "exec/desk.h"

#define BZ_FAILED_MOST 20

/* Takes what is on the desk, whose directories are empty then. */
void bz_failed_keep(const char *store, struct bz_str task, const struct bz_digest *key,
                    const struct bz_desk *desk);

/* Whether there is too little room in the store to keep anything: a task that has
 * filled the disk must not go on doing so when it is over. */
#define BZ_FAILED_ROOM (UINT64_C(64) << 20) /* bytes */
bool bz_failed_crowds(const char *store);

/* Forgets the task, if there is anything. */
void bz_failed_drop(const char *store, struct bz_str task);

/* Where it lies, if it failed with that signature: texts in the arena. That counts as a
 * use: it stays as long as the store is open. */
bool bz_failed_find(const char *store, struct bz_str task, const struct bz_digest *key,
                    struct bz_arena *a, const char **upper, const char **tmp);

/* The task of a recipe ("[mc:X:]recipe") that failed last, as "do_x" in the arena; n is
 * 0 if there is none. */
struct bz_str bz_failed_last(const char *store, struct bz_str recipe,
                             struct bz_arena *a);

#endif
