/* repo.h - the repositories of a project, as its merged files describe them.
 *
 * Nothing here clones or changes a repository. A repository without a URL is a
 * directory as it is: the one named by `path`, or else the one that holds the project
 * file. One with a URL is expected in its `path` or in a directory with its name below
 * the work directory.
 */
#ifndef BZ_PROJECT_REPO_H
#define BZ_PROJECT_REPO_H

#include "os/path.h"
#include "project/kas_tree.h"

struct bz_repo;

struct bz_repo_layer {
    const struct bz_repo *repo;
    struct bz_str name; /* as the file names it; "" if the repository is the layer */
    const char *path;   /* absolute */
    int prio;           /* higher comes earlier in BBLAYERS */
    struct bz_kas_place at;
};

struct bz_repo_patch {
    struct bz_str id;
    struct bz_kas_value repo; /* id of the repository that has the patch */
    struct bz_kas_value path; /* of a patch, or of a directory with a series, in it */
};

enum bz_repo_type { BZ_REPO_GIT, BZ_REPO_HG };

struct bz_repo {
    struct bz_str id;   /* its key in the project file */
    struct bz_str name; /* of its directory, and for the order of layers */
    enum bz_repo_type type;
    struct bz_kas_value url; /* here and below, text.p is NULL if there is none */
    struct bz_kas_value commit, tag, branch;
    struct bz_kas_value refspec; /* the old way to say all three */
    const char *path;            /* absolute: where it is, or is to be */
    bool present;                /* there is a directory */
    bool is_signed;              /* only revisions signed by `signers` are accepted */
    struct bz_kas_value *signers;
    size_t nsigners;
    struct bz_repo_layer *layers; /* those not disabled, in the order of the files */
    size_t nlayers;
    struct bz_repo_patch *patches; /* in the order of their ids, as they apply */
    size_t npatches;
    struct bz_kas_place at;
};

/* Where directories start; both are absolute. */
struct bz_repo_dirs {
    const char *work; /* checkouts, and relative paths */
    const char *root; /* the repository with the project file */
};

/* Fills *out with the repository `id` of the project whose merged files have this root.
 * Strings are borrowed from the files, the rest is in the arena; the layers point to
 * *out, which is not to move. BZ_E_NOENT if there is no such repository, BZ_E_INVAL if
 * what is said about it makes no sense. */
int bz_repo_read(struct bz_arena *arena, const struct bz_kas_node *config,
                 struct bz_str id, const struct bz_repo_dirs *dirs,
                 struct bz_kas_notes *notes, struct bz_repo *out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_NOENT, with the place to look at and the directory, unless it is present. */
int bz_repo_require(const struct bz_repo *repo, struct bz_err *err) BZ_MUST_CHECK;

/* Its URL as it may be shown: without the password that it may hold. p == NULL if there
 * is none. */
struct bz_str bz_repo_shown_url(struct bz_arena *arena, const struct bz_repo *repo);

/* Whether it is the full hash of a commit, and not a part of one or another name. */
bool bz_repo_is_hash(struct bz_str s);

/* The top directory, free of links, of the git or Mercurial repository that `dir` is
 * in; for a git submodule that of the repository around it. False if there is none. */
bool bz_repo_root(const char *dir, struct bz_path *out);

#endif
