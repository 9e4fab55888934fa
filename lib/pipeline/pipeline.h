/* pipeline.h - the stages in order, and the objects they hand on.
 *
 * For now: a kas file to a build directory, that to its configurations, its layers and
 * its recipes, and one recipe to its variables. Calls the stages and decides nothing
 * itself. One thread.
 */
#ifndef BZ_PIPELINE_PIPELINE_H
#define BZ_PIPELINE_PIPELINE_H

#include "base/err.h"
#include "codec/entries.h"
#include "exec/ground.h"
#include "fetch/revision.h"
#include "project/kas.h"
#include "project/locate.h"
#include "project/sample.h"
#include "recipe/collect.h"
#include "recipe/config.h"
#include "recipe/finalize.h"
#include "recipe/layer.h"
#include "survey/survey.h"

/* One configuration: the default one, or one of BBMULTICONFIG. */
struct bz_pipeline_mc {
    struct bz_str name; /* "" is the default one */
    struct bz_meta *config;
    struct bz_collect recipes;
};

struct bz_pipeline_opts {
    const char *cwd;        /* absolute; where to look for the project, upwards */
    const char *const *env; /* as environ(7) has it, or NULL */
    const char *project;    /* what the user names, see locate.h; or NULL */
    const struct bz_sample *sample; /* for where there is no project; or NULL */
    bool ignore_locks;              /* of kas files */
    struct bz_kas_notes *notes;     /* for what kas files say strangely; may be NULL */
    const char *const *first; /* files to read before the configuration, [nfirst] */
    size_t nfirst;
    const char *const *last; /* and after bitbake.conf, [nlast] */
    size_t nlast;
    bool required;     /* tasks need sandboxes, whether there are any or not */
    const char *store; /* where results will be, or NULL: for bz_pipeline_ground() */
};

struct bz_pipeline {
    struct bz_arena arena;
    struct bz_pipeline_opts opts; /* but for the notes; the texts are copies */
    struct bz_locate found;       /* which project it is, and why */
    struct bz_kas *kas; /* what its kas files say; NULL if it is a build directory */
    const char *build_dir;
    struct bz_environ env;     /* what the configurations see of the environment */
    struct bz_hashing hashing; /* for the library */
    struct bz_library *library;
    struct bz_pipeline_mcs
        BZ_VEC(struct bz_pipeline_mc) mcs; /* the default one first */
    struct bz_layers layers;    /* by the default configuration, as in BitBake */
    struct bz_sweep_opts sweep; /* how to evaluate recipes; all but the library may be
                                   set before a survey */
    struct bz_ground ground;    /* see bz_pipeline_ground() */
    bool forget;                /* a survey neither uses nor makes a snapshot */
    bool resolve; /* those that are not may be resolved, over the network */
    bool refresh; /* names of revisions are resolved anew; set before they are asked */
    struct bz_revisions *revisions; /* see bz_pipeline_revisions() */
    struct bz_entries catalog;      /* see bz_pipeline_catalog() */
    bool catalog_open;
};

/* Finds the project and reads its kas files, if it has any; writes nothing. After
 * bz_pipeline_find or bz_pipeline_open bz_pipeline_close must be called, on failure
 * too. BZ_E_NOENT if there is no project. */
int bz_pipeline_find(struct bz_pipeline *p, const struct bz_pipeline_opts *opts,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Makes the build directory of kas files, and reads all but the recipes of a project
 * that was found, unless that has been done. BZ_E_NOENT also if a repository is not
 * checked out. */
int bz_pipeline_load(struct bz_pipeline *p, struct bz_err *err) BZ_MUST_CHECK;

/* Both. */
int bz_pipeline_open(struct bz_pipeline *p, const struct bz_pipeline_opts *opts,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_pipeline_close(struct bz_pipeline *p);

/* The configuration of that name. BZ_E_NOENT if there is none. */
int bz_pipeline_find_mc(struct bz_pipeline *p, struct bz_str name,
                        struct bz_pipeline_mc **out, struct bz_err *err) BZ_MUST_CHECK;

/* The recipe or variant called `name` (its PN), evaluated in one configuration; the
 * caller owns *out, and *meta is the part of it that was asked for. BZ_E_NOENT if no
 * recipe is called so. */
int bz_pipeline_recipe(struct bz_pipeline *p, struct bz_pipeline_mc *mc,
                       struct bz_str name, struct bz_finalize **out,
                       struct bz_meta **meta, struct bz_err *err) BZ_MUST_CHECK;

/* The caller's PATH; "" if there is none. */
struct bz_str bz_pipeline_path(const struct bz_pipeline *p);

/* Where tasks of this pipeline work, on this machine. The first call finds out. */
const struct bz_ground *bz_pipeline_ground(struct bz_pipeline *p);

/* The commits that names of revisions were resolved to in this build directory; of a
 * project that was found. The first call opens it. */
int bz_pipeline_revisions(struct bz_pipeline *p, struct bz_revisions **out,
                          struct bz_err *err) BZ_MUST_CHECK;

/* What this build directory remembers of evaluated recipes and of files; empty, and not
 * kept, if the pipeline is to forget. The first call opens it. */
struct bz_entries *bz_pipeline_catalog(struct bz_pipeline *p);

/* Where a survey of a project that was found is remembered. */
int bz_pipeline_snapshot(const struct bz_pipeline *p, struct bz_path *out,
                         struct bz_err *err) BZ_MUST_CHECK;

/* The facts about all recipes of a project that was found. If they are remembered in a
 * snapshot and nothing has changed, nothing is loaded; otherwise the configurations
 * are, if they were not. The pipeline must outlive *out, which the caller releases with
 * bz_survey_release(), also on failure. */
int bz_pipeline_survey(struct bz_pipeline *p, struct bz_survey *out,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
