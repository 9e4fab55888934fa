/* idle.h - no-op fast path: skips graph, signing and planning while the inputs of the
 * last no-op build are unchanged.
 *
 * The family "last no-op" of the catalog (codec/entries.h): one entry for each set of
 * targets, by the digest of their names. Rule of validity:
 *
 *   1. A record is written only after a build that ran nothing, from recipes that were
 *      all remembered.
 *   2. It holds while the evaluation in the catalog is the same (survey/recall.h), the
 *      digests of the local files that count are the same, every stored result and
 *      every output in it has the same stamp, and for half of the time in which a
 *      collector spares used results (BZ_SHELF_TOUCH): the build that then looks at
 *      everything claims them again.
 *   3. Where it does not hold, for whatever reason, the build does all of its work.
 *
 * Losing a record costs one build that looks at everything. One thread.
 */
#ifndef BZ_BUILD_IDLE_H
#define BZ_BUILD_IDLE_H

#include "codec/entry_kinds.h"
#include "exec/event.h"
#include "sig/signing.h"

/* Which build it is. */
struct bz_idle_about {
    const struct bz_survey *survey;
    struct bz_entries *catalog;
    const char *build_dir;
    const char *store; /* the directory of results */
    const struct bz_goal_opts *goal;
};

struct bz_idle_result {
    struct bz_str task; /* its name */
    struct bz_digest key;
    int64_t saved; /* what it took to make it; 0: not known */
};

struct bz_idle {
    struct bz_arena arena;
    struct bz_event_counts counts;
    int64_t spared; /* what it took to make what is not needed */
    struct bz_idle_results BZ_VEC(struct bz_idle_result) results; /* that it used */
};

/* Whether the last build of this kind had nothing to do, and this one has not either:
 * then *out has what it found, with texts that lie in the catalog. Release it in any
 * case. */
bool bz_idle_find(struct bz_idle *out, const struct bz_idle_about *about);
void bz_idle_release(struct bz_idle *idle);

/* What such a build found. */
struct bz_idle_use {
    uint32_t task; /* of the graph; its result was used */
    int64_t saved;
};
struct bz_idle_found {
    struct bz_event_counts counts;
    int64_t spared;
    struct bz_idle_uses BZ_VEC(struct bz_idle_use) used;
};

/* Remembers a build in which nothing ran. Nothing is written if that would not hold. */
int bz_idle_keep(const struct bz_idle_about *about, const struct bz_goal *goal,
                 const struct bz_signing *s, const struct bz_idle_found *found,
                 struct bz_err *err) BZ_MUST_CHECK;

#endif
