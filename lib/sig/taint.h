/* taint.h - tasks that were told to run although nothing has changed.
 *
 * As in BitBake a forced task gets a taint, which is a part of its signature until it
 * is cleared: no result is stored under it, so the task runs, and its dependents are
 * looked up by its output.
 *
 * Taints are entries of the catalog (codec/entries.h), one for each task, and always
 * valid. They are the only entries that cannot be recomputed, so their kind is kept:
 * no rewrite drops them, nor does a catalog of another version or with damage
 * elsewhere. A save appends them under the lock of the catalog before the build goes
 * on, so that kill -9 loses none; like every file of a build directory they are not
 * forced to disk.
 *
 * A taint that is lost all the same, by damage to its own entry, say, does no harm to
 * what is built: the task has its plain signature again, and the result that is stored
 * under it was made from the same inputs. The user who wants another one forces the
 * task again.
 *
 * Earlier versions kept taints in cache/bitzel.taints, a line "TASK VALUE" each. Such a
 * file is read once: its taints become entries, and it is removed.
 *
 * One thread.
 */
#ifndef BZ_SIG_TAINT_H
#define BZ_SIG_TAINT_H

#include "codec/entry_kinds.h"
#include "graph/goal.h"
#include "sig/sign.h"

struct bz_taint {
    struct bz_arena arena;
    struct bz_map values;  /* name of a task -> its taint, a C string */
    struct bz_map changed; /* names that are to be saved */
    struct bz_entries *catalog;
};

/* Reads the taints of a build directory from its catalog, which must outlive *t.
 * Release *t. */
void bz_taint_open(struct bz_taint *t, struct bz_entries *catalog,
                   const char *build_dir);
void bz_taint_release(struct bz_taint *t);

/* Gives the task a new one, or takes it away. */
void bz_taint_set(struct bz_taint *t, struct bz_str task);
void bz_taint_clear(struct bz_taint *t, struct bz_str task);
/* When the task got its taint, "2026-01-02 03:04:05.678 UTC" in the arena; p is NULL if
 * it has none. */
struct bz_str bz_taint_when(const struct bz_taint *t, struct bz_str task,
                            struct bz_arena *a);
int bz_taint_save(struct bz_taint *t, struct bz_err *err) BZ_MUST_CHECK;

/* Mixes them into the digests of tasks, `base` [tasks of the graph]. False if there are
 * none among these. */
bool bz_taint_mix(const struct bz_taint *t, const struct bz_goal *goal,
                  struct bz_digest_hasher *h, struct bz_digest *base);

#endif
