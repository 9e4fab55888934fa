/* lock.h - lock files: the commit of each repository, beside the file they belong to.
 *
 * The lock file of a.yml is a.lock.yml, and is a project file itself that has nothing
 * but `overrides`: reading one is kas_include.c's work, writing them is done here.
 *
 *   1. A lock file is replaced by rename(2), whole or not at all, and only when its
 *      bytes change.
 *   2. Repositories stand in the order of their ids, so that the same pins give the
 *      same bytes.
 *   3. Pins of other repositories stay. A file that says more than a lock file does is
 *      refused and not touched.
 *
 * Nobody else writes the same lock file at the same time.
 */
#ifndef BZ_PROJECT_LOCK_H
#define BZ_PROJECT_LOCK_H

#include "os/path.h"

struct bz_kas;

struct bz_lock_pin {
    struct bz_str repo;   /* id of a repository */
    struct bz_str commit; /* its full hash */
};

/* The name of the lock file of a project file. */
int bz_lock_name(struct bz_str kasfile, struct bz_path *out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Pins repositories in one lock file, which need not exist. `path` is absolute; its
 * ending decides between YAML and JSON. BZ_E_INVAL for a commit that is no full hash,
 * an id that is no text, and two pins for one repository; BZ_E_NOSUP for rule 3. */
int bz_lock_write(const char *path, const struct bz_lock_pin *pins, size_t n,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Pins repositories of a loaded project, each in the lock files of the project's own
 * repository that pin it already. One that no lock file pins goes to that of the first
 * named file; one that only lock files of other repositories pin is left to them. */
int bz_lock_save(const struct bz_kas *kas, const struct bz_lock_pin *pins, size_t n,
                 struct bz_err *err) BZ_MUST_CHECK;

#endif
