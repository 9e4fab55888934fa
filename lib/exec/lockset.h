/* lockset.h - the files that a task wants locked while it runs, [lockfiles].
 *
 * In one order for all, by their numbers, and each file once, whatever names it has: so
 * no two tasks wait for each other, and none for itself. A lock belongs to the open
 * file (flock(2)): what the sandbox of the task gets of it keeps it, without a moment
 * in which another could have it.
 *
 * For the files of this module only. One thread at a time.
 */
#ifndef BZ_EXEC_LOCKSET_H
#define BZ_EXEC_LOCKSET_H

#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "pool/cancel.h"
#include "sandbox/spec.h"

struct bz_lockset_file {
    dev_t dev;
    ino_t ino;
    int fd;
};

struct bz_lockset {
    struct bz_lockset_files BZ_VEC(struct bz_lockset_file) files;
};

/* Opens the files, which are made if need be. Release *s in any case. */
int bz_lockset_open(struct bz_lockset *s, const char *const *paths, size_t n,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Locks what can be locked at once, from the first on; whether that is all. */
bool bz_lockset_try(struct bz_lockset *s);

/* Locks them, and waits for that as long as nobody cancels; says so in `log`. */
int bz_lockset_take(struct bz_lockset *s, int log, struct bz_cancel *cancel,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Hands them to a sandbox, which locks what is not locked yet. */
int bz_lockset_give(struct bz_lockset *s, struct bz_spec *spec,
                    struct bz_err *err) BZ_MUST_CHECK;

void bz_lockset_release(struct bz_lockset *s);

#endif
