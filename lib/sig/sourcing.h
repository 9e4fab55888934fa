/* sourcing.h - a recipe of a graph to its sources. One thread. */
#ifndef BZ_SIG_SOURCING_H
#define BZ_SIG_SOURCING_H

#include "fetch/fetch.h"
#include "graph/goal.h"
#include "survey/evaluate.h"

struct bz_signing;

struct bz_sourcing {
    const struct bz_signing *signing; /* to be set before, if the recipe is signed */
    struct bz_evaluated recipe;
    struct bz_vars *vars;   /* as the task sees them */
    struct bz_fetch *fetch; /* the entries of SRC_URI; nothing is fetched yet */
};

/* The entries of SRC_URI that the variables, which must outlive *out, give. */
int bz_sourcing_read(struct bz_vars *vars, const struct bz_fetch_opts *opts,
                     struct bz_fetch **out, struct bz_err *err) BZ_MUST_CHECK;

/* Evaluates the recipe, for one of its tasks; of `opts` all but the variables and the
 * revisions, which are the catalog's, is used. Names of revisions are not resolved but
 * recalled. The message of a failure names the recipe's file. Close *s in any case. */
int bz_sourcing_open(struct bz_sourcing *s, struct bz_catalog *p,
                     const struct bz_goal *goal, uint32_t recipe, const char *task,
                     const struct bz_fetch_opts *opts,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_sourcing_close(struct bz_sourcing *s);

/* The recipes with a do_fetch in the graph, each once, in its order; `only`: of these
 * those that were asked for. */
void bz_sourcing_list(const struct bz_goal *goal, bool only, struct bz_dag_ids *out);

#endif
