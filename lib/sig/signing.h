/* signing.h - a graph of tasks to their signatures.
 *
 * What a recipe's tasks are digested to is remembered in the build directory, and a
 * recipe is evaluated only if anything it is made from has changed; the files that
 * count are looked at each time. Recipes are evaluated on the pool, all else is done by
 * the calling thread.
 */
#ifndef BZ_SIG_SIGNING_H
#define BZ_SIG_SIGNING_H

#include "base/bitset.h"
#include "fetch/revision.h"
#include "graph/goal.h"
#include "sig/base.h"
#include "sig/digesting.h"
#include "sig/sums.h"
#include "sig/taint.h"
#include "sig/taskspec.h"
#include "survey/catalog.h"

/* The line about the sandbox that a task runs in, of the four kinds of tasks:
 * [network][root]. */
struct bz_signing_policy {
    struct bz_str line[2][2];
};

/* A revision that is a name, and what it was resolved to. */
struct bz_signing_commit {
    struct bz_str question;
    char commit[BZ_REVISION_HEX];
};
struct bz_signing_commits BZ_VEC(struct bz_signing_commit);

/* The content of a list of files, as signed. Tasks with the same list share it. */
struct bz_signing_seen {
    size_t at, n; /* the part of the lists */
    struct bz_base_files files;
    struct bz_signing_commits commits;
    struct bz_signing_seen *before; /* signing.c's own */
};

struct bz_signing {
    const struct bz_bitset *only; /* to be set before: recipes that have none of these
                                     tasks are left out, and there are no keys; NULL:
                                     all tasks are signed */
    const struct bz_taint *taint; /* to be set before, or NULL: those of the build
                                     directory (taint.h) */
    const struct bz_signing_policy *policy; /* to be set before; NULL: none counts */
    struct bz_digest *base; /* [tasks of the graph]: without what they wait for */
    struct bz_digest *keys; /* [tasks of the graph]: the signatures */
    struct bz_digest *pure; /* likewise, without taints; NULL if there are none */
    size_t evaluated;       /* recipes of the graph that had to be */
    struct bz_buf notes;    /* warnings about what is signed, each line once */
    struct bz_buf lists;    /* of files that count (sig/files.h), each after its length
                               in 32 bits */
    const struct bz_signing_seen **seen; /* [tasks of the graph], or NULL: no files and
                                            no revisions count */
    struct bz_bitset unused;  /* tasks whose results must not be used again: they depend
                                 on the time */
    struct bz_sums sums;      /* what they were */
    struct bz_digest *inputs; /* [tasks of the graph]: of their inputs alone */
    /* This file's own. */
    struct bz_arena arena;         /* texts, and what `seen` leads to */
    struct bz_signing_seen *last;  /* of all of `seen`, each once */
    struct bz_digesting_own *own;  /* [recipes]: empty if the catalog has them */
    struct bz_digesting digesting; /* owns that */
};

/* The message of a failure names the recipe. Release *s in any case. listing.h tells
 * what tasks were signed with. */
int bz_signing_run(struct bz_signing *s, struct bz_catalog *p,
                   const struct bz_goal *goal, struct bz_err *err) BZ_MUST_CHECK;
void bz_signing_release(struct bz_signing *s);

/* The recipe as it was signed, as far as the catalog does not have it. */
const struct bz_digesting_own *bz_signing_own(const struct bz_signing *s,
                                              uint32_t recipe);

/* The variables of a recipe as it was signed. Release *out in any case. */
int bz_signing_recipe(const struct bz_signing *s, struct bz_catalog *p,
                      const struct bz_goal *goal, uint32_t recipe,
                      struct bz_evaluated *out, struct bz_err *err) BZ_MUST_CHECK;

/* What the sandbox of a task is like, as keys have it. */
struct bz_str bz_signing_policy_of(const struct bz_signing *s,
                                   const struct bz_goal *goal, uint32_t task);

/* Whether the files that count for a task of the graph are still what was signed:
 * BZ_E_BUSY if not. Local sources are signed with do_fetch, and do_unpack reads them.
 */
int bz_signing_recheck(const struct bz_signing *s, const struct bz_tgraph *g,
                       uint32_t task, struct bz_err *err) BZ_MUST_CHECK;

/* What was looked at for a task besides its digest, a list of sig/files.h. */
struct bz_str bz_signing_list(const struct bz_signing *s, uint32_t task);

#endif
