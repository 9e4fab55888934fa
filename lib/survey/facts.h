/* facts.h - what is kept of one variant of one recipe once it has been evaluated.
 *
 * Everything that choosing providers and building graphs asks about a recipe, as plain
 * text: no store, no files. BitBake's CoreRecipeInfo is the model, and variables are
 * read as it reads them.
 *
 * Lists are words with one blank between them, without the versions in brackets that
 * RDEPENDS may have. What a recipe does not set is empty; where it matters that it is
 * not set, p is NULL, and that is said. Facts do not change once they are made and any
 * number of threads may read them. They live as long as the bz_facts_keep, or the
 * survey, they came from.
 */
#ifndef BZ_SURVEY_FACTS_H
#define BZ_SURVEY_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "recipe/meta.h"

struct bz_facts_task {
    struct bz_str name;  /* with do_ */
    struct bz_str after; /* tasks of the same recipe that it waits for */
    /* Flags, expanded; p == NULL: not set. */
    struct bz_str depends, rdepends, deptask, rdeptask, recrdeptask, recideptask,
        mcdepends;
    struct bz_str places; /* of the words above, for place.h; p == NULL: not known */
    struct bz_str python; /* functions that the task needs run, see pyfunc.h */
    /* Whether the flag is set, which counts whatever it is set to. */
    bool noexec, nostamp, fakeroot;
    bool network; /* the flag says yes */
};

/* One of PACKAGES, with RPROVIDES:name and so on. What the recipe says of all its
 * packages (RDEPENDS without a name) is not in here: see struct bz_facts. */
struct bz_facts_package {
    struct bz_str name, rprovides, rdepends, rrecommends;
};

struct bz_facts {
    struct bz_str path;    /* of the recipe, absolute */
    struct bz_str variant; /* "" for the recipe itself, else as in BBCLASSEXTEND */
    struct bz_str layer;   /* its collection; p == NULL if it belongs to none */
    int64_t priority;      /* of the layer; 0 if it belongs to none */
    struct bz_str appends; /* paths, in the order they apply */
    bool hidden;           /* by a recipe of the same file name in a stronger layer */

    /* Evaluation failed: why. Then only pn is known below, from the file's name. */
    struct bz_str error;   /* p == NULL: it did not */
    struct bz_str skipped; /* why it takes no part in anything; p == NULL: it does */
    bool uncached;       /* BB_DONT_CACHE is set, or code asks the host or the clock */
    uint8_t lineage[32]; /* see lineage.h; all zero: not to be relied on */

    struct bz_str pn;
    struct bz_str provides, rprovides, packages_dynamic;
    const struct bz_facts_package *packages; /* one named as PN if it has none */
    size_t npackages;

    /* From here on nothing is known of a recipe that is skipped, but in packages the
     * names and rprovides. */
    struct bz_str pe, pv, pr;
    struct bz_str depends, rdepends, rrecommends;
    struct bz_str inherits; /* paths of classes, in order */
    struct bz_str stamp, summary;
    struct bz_str python; /* functions that any task needs run, see pyfunc.h */
    int64_t default_preference;
    bool not_world;                    /* EXCLUDE_FROM_WORLD */
    const struct bz_facts_task *tasks; /* in the order they were added */
    size_t ntasks;
};

/* Where facts are kept: equal texts, and equal lists of tasks, only once. {0} is empty.
 * One thread at a time. */
struct bz_facts_keep {
    struct bz_arena arena;
    struct bz_map texts;
    struct bz_map lists; /* the bytes of a list -> where it is */
};

void bz_facts_release(struct bz_facts_keep *keep);

/* A copy of the text that lives as long as the keep; p stays NULL if it was. */
struct bz_str bz_facts_text(struct bz_facts_keep *keep, struct bz_str text);

/* Reads what `m`, which is finalized, says: all but the first part of *out, up to
 * `error`, which is the caller's to fill before. Fails as expansion does, and with
 * BZ_E_INVAL for a number or a boolean that is none. */
int bz_facts_of(struct bz_facts_keep *keep, struct bz_meta *m, struct bz_facts *out,
                struct bz_err *err) BZ_MUST_CHECK;

/* What remains to be said of a recipe that could not be evaluated. */
void bz_facts_broken(struct bz_facts_keep *keep, struct bz_str error,
                     struct bz_facts *out);

#endif
