/* kas_include.h - which files make up a project, in the order in which they merge.
 *
 * A file comes after its lock file and after everything it includes, depth first, and
 * therefore wins over them. A file that is included twice stands in the order twice.
 * An include is a file name relative to the root of the repository that the including
 * file belongs to, or a repository with a file name in it; it may not lead out of that
 * repository, also not through a link.
 *
 * Which directory holds a repository may be known only after files have been merged.
 * So the caller collects, merges, adds to `dirs` what it learnt about the repositories
 * in `missing`, and collects again; each file is read once.
 */
#ifndef BZ_PROJECT_KAS_INCLUDE_H
#define BZ_PROJECT_KAS_INCLUDE_H

#include "base/map.h"
#include "base/vec.h"
#include "project/kas_file.h"

enum {
    BZ_KAS_INCLUDE_DEPTH = 64,    /* files that include each other, in one chain */
    BZ_KAS_INCLUDE_VISITS = 8192, /* of files, in all calls */
};

struct bz_kas_source {
    const struct bz_kas_file *file;
    bool lock;     /* pins repositories for the file beside it */
    bool external; /* in another repository than the project's */
};

struct bz_kas_wanted {
    struct bz_str repo; /* from which a file is included */
    struct bz_kas_place at;
};

struct bz_kas_include {
    struct bz_arena *arena;
    const char *cwd;
    struct bz_kas_notes *notes;
    const char *const *tops; /* the files that the user named, absolute */
    size_t ntops;
    struct bz_map dirs; /* repository id to its absolute directory: const char ** */
    /* What was found. */
    const char *root; /* the directory of the repository that tops[0] is in */
    struct bz_kas_sources BZ_VEC(struct bz_kas_source) order;
    struct bz_kas_wanteds BZ_VEC(struct bz_kas_wanted) missing;
    /* The rest is the collector's own. */
    struct bz_map files; /* path to struct bz_kas_file */
    size_t visits;
};

/* Sets root, order and missing anew. BZ_E_NOENT for a file that is not there,
 * BZ_E_INVAL for a cycle, an include that leads outside, and named files that are not
 * in the same repository. */
int bz_kas_include_collect(struct bz_kas_include *inc,
                           struct bz_err *err) BZ_MUST_CHECK;

/* Frees what is not in the arena. */
void bz_kas_include_release(struct bz_kas_include *inc);

#endif
