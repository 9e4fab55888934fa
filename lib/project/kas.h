/* kas.h - a project: what a kas file, with all it includes, asks for.
 *
 * Loading reads and merges files and looks at which repositories are on disk. It
 * neither fetches nor writes anything. A repository that is not checked out is no
 * failure: the project then says so, and while files of that repository are to be
 * included, its settings are those of the files at hand. bz_kas_require() tells the
 * complete from the incomplete.
 *
 * A loaded project does not change and may be read by any number of threads.
 */
#ifndef BZ_PROJECT_KAS_H
#define BZ_PROJECT_KAS_H

#include "project/kas_include.h"
#include "project/repo.h"

struct bz_kas_pair {
    struct bz_str name;
    struct bz_kas_value value; /* text.p is NULL for a null */
};

struct bz_kas {
    const char *work_dir;  /* where repositories are checked out */
    const char *build_dir; /* TOPDIR of the build */
    const char *root;      /* the repository that holds the first named file */
    const char *lock;      /* the lock file of the first named file, there or not */
    unsigned version;      /* the highest among the files */

    struct bz_kas_value machine, distro, task, build_system;
    struct bz_kas_value *targets;
    size_t ntargets;
    struct bz_kas_pair *env; /* variables that pass into the build, with their values */
    size_t nenv;
    struct bz_kas_pair *local_conf; /* pieces of text, in the order of their names */
    size_t nlocal_conf;
    struct bz_kas_pair *bblayers_conf;
    size_t nbblayers_conf;

    struct bz_repo *repos; /* in the order of the files */
    size_t nrepos;
    const struct bz_repo_layer **layers; /* of all of them, in the order of BBLAYERS */
    size_t nlayers;

    const struct bz_kas_source *files; /* what was read, in the order of merging */
    size_t nfiles;
    const struct bz_kas_wanted *missing; /* includes that wait for their repository */
    size_t nmissing;

    struct bz_arena arena; /* all of the above */
};

struct bz_kas_options {
    const char *cwd; /* absolute; relative names start here */
    /* The environment, as environ(7) has it, or NULL. KAS_WORK_DIR, KAS_BUILD_DIR,
     * KAS_MACHINE, KAS_DISTRO, KAS_TARGET and KAS_TASK win over the files, as do
     * variables that the files list under `env`. */
    const char *const *env;
    bool ignore_locks;          /* as when new commits are to be looked up */
    struct bz_kas_notes *notes; /* may be NULL */
};

/* `files` are one or more names joined by ':'; later ones win. The caller frees *out.
 * BZ_E_NOENT for a file that is not there, BZ_E_INVAL and BZ_E_NOSUP for what files say
 * wrongly, BZ_E_LIMIT for too much of it. */
int bz_kas_load(const char *files, const struct bz_kas_options *opt,
                struct bz_kas **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_kas_free(struct bz_kas *kas);
void bz_kas_freep(struct bz_kas **kas); /* for BZ_CLEANUP */

/* BZ_E_NOENT, naming the first, unless all repositories are on disk. */
int bz_kas_require(const struct bz_kas *kas, struct bz_err *err) BZ_MUST_CHECK;

#endif
