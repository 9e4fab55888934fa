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
#include "sig/sums.h"
#include "sig/taint.h"
#include "sig/taskspec.h"
#include "survey/catalog.h"

/* The files that count for a task: a part of the lists, and how many they came to. */
struct bz_signing_files {
    size_t at, n, count;
};

/* The line about the sandbox that a task runs in, of the four kinds of tasks:
 * [network][root]. */
struct bz_signing_policy {
    struct bz_str line[2][2];
};

struct bz_signing {
    const struct bz_bitset *shown; /* to be set before: the tasks that `fn` is told of;
                                      NULL: all */
    const struct bz_taint *taint;  /* to be set before, or NULL: those of the build
                                      directory (taint.h) */
    const struct bz_signing_policy *policy; /* to be set before; NULL: none counts */
    struct bz_digest *base; /* [tasks of the graph]: without what they wait for */
    struct bz_digest *keys; /* [tasks of the graph]: the signatures */
    struct bz_digest *pure; /* likewise, without taints; NULL if there are none */
    size_t evaluated;       /* recipes of the graph that had to be */
    struct bz_buf notes;    /* warnings about what is signed, each line once */
    struct bz_buf lists;    /* of files that count (sig/files.h), each after its length
                               in 32 bits */
    struct bz_signing_files *files; /* [tasks of the graph] */
    struct bz_bitset unused; /* tasks whose results must not be used again: they depend
                                on the time */
    struct bz_sums sums;     /* what they were */
};

/* A revision that is a name, and what it was resolved to. */
struct bz_signing_commit {
    struct bz_str question;
    char commit[BZ_REVISION_HEX];
};
struct bz_signing_commits BZ_VEC(struct bz_signing_commit);

/* What counts for one task. Everything lasts for the call that shows it. */
struct bz_signing_view {
    const struct bz_taskspec_inputs *inputs;
    const struct bz_base_inputs *origins; /* the variables that these are made from */
    struct bz_vars *vars; /* the recipe's store: where values came from, say */
    const struct bz_base_files *files;
    struct bz_str policy; /* what its sandbox is like */
    const struct bz_signing_commits *commits;
};

/* Told of each task as it is signed. */
typedef void (*bz_signing_fn)(void *ctx, uint32_t task,
                              const struct bz_signing_view *view);

/* `fn` may be NULL; a recipe that it is told of is always evaluated, by this thread.
 * The message of a failure names the recipe. Release *s in any case. */
int bz_signing_run(struct bz_signing *s, struct bz_catalog *p,
                   const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                   struct bz_err *err) BZ_MUST_CHECK;
void bz_signing_release(struct bz_signing *s);

/* Whether the files that count for a task of the graph are still what was signed:
 * BZ_E_BUSY if not. Local sources are signed with do_fetch, and do_unpack reads them.
 */
int bz_signing_recheck(const struct bz_signing *s, const struct bz_tgraph *g,
                       uint32_t task, struct bz_err *err) BZ_MUST_CHECK;

/* What was looked at for a task besides its digest, a list of sig/files.h. */
struct bz_str bz_signing_list(const struct bz_signing *s, uint32_t task);

/* Shows what counts for some tasks only, s->shown; other recipes are not evaluated. */
int bz_signing_show(struct bz_signing *s, struct bz_catalog *p,
                    const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
