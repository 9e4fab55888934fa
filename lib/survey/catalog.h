/* catalog.h - an open project and all of its recipes, each evaluated once.
 *
 * A kas file leads to a build directory, that to its configurations, layers and
 * recipes. The survey evaluates each recipe once and keeps its facts and its variables
 * in the build directory; a later process reads them from there as long as they hold.
 * One thread.
 */
#ifndef BZ_SURVEY_CATALOG_H
#define BZ_SURVEY_CATALOG_H

#include "base/err.h"
#include "codec/entries.h"
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
struct bz_catalog_mc {
    struct bz_str name; /* "" is the default one */
    struct bz_meta *config;
    struct bz_collect recipes;
};

struct bz_catalog_opts {
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
    const char *format; /* of what is kept for keys; another one drops the file */
};

struct bz_catalog {
    struct bz_arena arena;
    struct bz_catalog_opts opts; /* but for the notes; the texts are copies */
    struct bz_locate found;      /* which project it is, and why */
    struct bz_kas *kas; /* what its kas files say; NULL if it is a build directory */
    const char *build_dir;
    struct bz_environ env;     /* what the configurations see of the environment */
    struct bz_hashing hashing; /* for the library */
    struct bz_library *library;
    struct bz_catalog_mcs BZ_VEC(struct bz_catalog_mc) mcs; /* the default one first */
    struct bz_layers layers;    /* by the default configuration, as in BitBake */
    struct bz_sweep_opts sweep; /* how to evaluate recipes; all but the library may be
                                   set before a survey */
    bool forget;                /* a survey neither uses nor makes a memory */
    bool resolve; /* those that are not may be resolved, over the network */
    bool refresh; /* names of revisions are resolved anew; set before they are asked */
    struct bz_revisions *revisions; /* see bz_catalog_revisions() */
    struct bz_entries entries;      /* see bz_catalog_entries() */
    bool entries_open;
    struct bz_survey survey; /* see bz_catalog_read() */
};

/* Finds the project and reads its kas files, if it has any; writes nothing. After
 * bz_catalog_find or bz_catalog_open bz_catalog_close must be called, on failure
 * too. BZ_E_NOENT if there is no project. */
int bz_catalog_find(struct bz_catalog *p, const struct bz_catalog_opts *opts,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Makes the build directory of kas files, and reads all but the recipes of a project
 * that was found, unless that has been done. BZ_E_NOENT also if a repository is not
 * checked out. */
int bz_catalog_load(struct bz_catalog *p, struct bz_err *err) BZ_MUST_CHECK;

/* Both. */
int bz_catalog_open(struct bz_catalog *p, const struct bz_catalog_opts *opts,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_catalog_close(struct bz_catalog *p);

/* The configuration of that name. BZ_E_NOENT if there is none. */
int bz_catalog_find_mc(struct bz_catalog *p, struct bz_str name,
                       struct bz_catalog_mc **out, struct bz_err *err) BZ_MUST_CHECK;

/* The caller's PATH; "" if there is none. */
struct bz_str bz_catalog_path(const struct bz_catalog *p);

/* The commits that names of revisions were resolved to in this build directory; of a
 * project that was found. The first call opens it. */
int bz_catalog_revisions(struct bz_catalog *p, struct bz_revisions **out,
                         struct bz_err *err) BZ_MUST_CHECK;

/* What this build directory remembers of evaluated recipes and of files; empty, and not
 * kept, if the catalog is to forget. The first call opens it. */
struct bz_entries *bz_catalog_entries(struct bz_catalog *p);

/* Reads the facts about all recipes of a project that was found into p->survey. If they
 * are remembered and nothing has changed, nothing is loaded; otherwise the
 * configurations are loaded, if they were not, and what has changed is evaluated. */
int bz_catalog_read(struct bz_catalog *p, struct bz_err *err) BZ_MUST_CHECK;

#endif
