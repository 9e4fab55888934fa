/* prefer.h - which of several recipes is meant.
 *
 * As BitBake decides it. Of the recipes of one name (PN), a version that
 * REQUIRED_VERSION or PREFERRED_VERSION asks for; else, in the layer of the highest
 * priority, the highest DEFAULT_PREFERENCE and of these the newest version. Of recipes
 * with different names, the one of that very name or the one that PREFERRED_PROVIDER,
 * PREFERRED_PROVIDERS or PREFERRED_RPROVIDER says; else the first by name, with a note.
 *
 * What the user should hear about a choice is kept as notes of the index.
 */
#ifndef BZ_GRAPH_PREFER_H
#define BZ_GRAPH_PREFER_H

#include "graph/provide.h"

#define BZ_PREFER_NONE UINT32_MAX

struct bz_prefer_best {
    uint32_t latest;    /* newest in the strongest layer */
    uint32_t preferred; /* BZ_PREFER_NONE: a required version is not there */
    bool required;      /* by REQUIRED_VERSION */
};

/* Of the recipes called `pn`. BZ_E_NOENT if there are none. */
int bz_prefer_best(struct bz_provide *p, struct bz_str pn, struct bz_prefer_best *out,
                   struct bz_err *err) BZ_MUST_CHECK;

struct bz_prefer_choice {
    struct bz_provide_ids eligible; /* best first, one for each PN */
    bool settled; /* there is one only, or a setting names the first of them */
};

/* Of all that provide `name`. BZ_E_NOENT if nothing does or a required version is not
 * there, BZ_E_INVAL if settings contradict each other about a run time name. Whoever
 * has a reason of its own, as when one of them is built anyway, may take another of the
 * eligible ones. Release *out in any case. */
int bz_prefer_choose(struct bz_provide *p, enum bz_provide_kind kind,
                     struct bz_str name, struct bz_prefer_choice *out,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_prefer_release(struct bz_prefer_choice *c);

#endif
