/* taint.h - tasks that were told to run although nothing has changed.
 *
 * As in BitBake a forced task gets a taint, which is a part of its signature until it
 * is taken away: no result is stored under it, so the task runs, and what waits for it
 * is looked for by what comes out. The taints of a build directory lie in
 * cache/bitzel.taints, a line "TASK VALUE" each.
 *
 * One thread.
 */
#ifndef BZ_SIG_TAINT_H
#define BZ_SIG_TAINT_H

#include "graph/goal.h"
#include "sig/sign.h"

struct bz_taint {
    struct bz_arena arena;
    struct bz_map values; /* name of a task -> its taint, a C string */
    const char *path;
};

/* Reads them. A file that is not there, or not to be read, has none. Release *t. */
void bz_taint_open(struct bz_taint *t, const char *build_dir);
void bz_taint_release(struct bz_taint *t);

/* Gives the task a new one, or takes it away. */
void bz_taint_set(struct bz_taint *t, struct bz_str task);
void bz_taint_clear(struct bz_taint *t, struct bz_str task);
/* When the task got its taint, "2026-01-02 03:04:05.678 UTC" in the arena; p is NULL if
 * it has none. */
struct bz_str bz_taint_when(const struct bz_taint *t, struct bz_str task,
                            struct bz_arena *a);
int bz_taint_save(const struct bz_taint *t, struct bz_err *err) BZ_MUST_CHECK;

/* Mixes them into the digests of tasks, `base` [tasks of the graph]. False if there are
 * none among these. */
bool bz_taint_mix(const struct bz_taint *t, const struct bz_goal *goal,
                  struct bz_digest_hasher *h, struct bz_digest *base);

#endif
