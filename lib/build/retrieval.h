/* retrieval.h - what stored results were made from, found again on any machine.
 *
 * From the targets down. A task that has a stored record under its signature has not
 * changed, nor has what it waits for. Of one that has none the record of its recipe
 * that was used last is taken; what the task waited for then is known by its signature
 * of then, and so on. Where nothing is known of a task, what it waits for now may be.
 *
 * Which records there are of a recipe is known of the local store and of directories; a
 * web server can only be asked for a signature. One thread.
 */
#ifndef BZ_BUILD_RETRIEVAL_H
#define BZ_BUILD_RETRIEVAL_H

#include "cache/cache.h"
#include "sig/record.h"

struct bz_retrieval_opts {
    struct bz_cache *cache;
    const char *const *dirs; /* [ndirs]: of other stores that can be listed */
    size_t ndirs;
    const struct bz_record *is;   /* what tasks are like now, by name */
    const struct bz_str *targets; /* [ntargets]: names of tasks */
    size_t ntargets;
};

struct bz_retrieval_part {
    struct bz_record *record;
};

struct bz_retrieval {
    struct bz_record was; /* what was found, by name */
    size_t missing;       /* tasks of which nothing was */
    /* What `was` refers to. */
    struct bz_retrieval_parts BZ_VEC(struct bz_retrieval_part) parts;
};

/* Fills *f, which is empty; `is` must outlive it. BZ_E_NOENT if of no target there is a
 * record. Release *f in any case. */
int bz_retrieval_run(struct bz_retrieval *f, const struct bz_retrieval_opts *opts,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_retrieval_release(struct bz_retrieval *f);

#endif
