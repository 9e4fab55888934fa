/* sweep.h - evaluates many recipes at once, and keeps of each only its facts.
 *
 * The threads take recipes from one list, a few at a time, and put what they find in
 * the recipe's own place: so the result is the same with any number of them. After each
 * recipe everything but its facts is freed.
 *
 * What is logged meanwhile is held back and stands with the recipe it belongs to.
 * One sweep at a time in a process, since it does so by way of the log's sink.
 */
#ifndef BZ_SURVEY_SWEEP_H
#define BZ_SURVEY_SWEEP_H

#include "base/vec.h"
#include "recipe/library.h"
#include "survey/facts.h"
#include "survey/profile.h"
#include "vars/vars_table.h"

/* Tables of evaluated variants (vars/vars_table.h), as one thread has written them. */
struct bz_sweep_pool {
    struct bz_string_pool strings;
    struct bz_buf tables;
};
struct bz_sweep_pools BZ_VEC(struct bz_sweep_pool);

/* Where a table is. */
struct bz_sweep_table {
    size_t pool, at, n; /* n == 0: there is none */
};

struct bz_sweep_item {
    const struct bz_meta *config; /* what it is evaluated on */
    struct bz_facts frame;        /* the part of its facts that is known before */
    struct bz_meta_names appends;
    bool known;      /* the result is from an earlier survey */
    bool reframed;   /* but for the part that is known before */
    uint32_t number; /* that it had in an earlier survey, from 1; 0: it was not there */

    /* From here on the result. */
    struct bz_facts *facts; /* of all variants, or one with an error */
    size_t nfacts;
    struct bz_sweep_table *tables; /* [nfacts], if they were wanted; NULL on error */
    struct bz_str notes; /* what the parser and the evaluation say, in lines */
    const struct bz_library_look **looks; /* all that it depends on; NULL on error */
    size_t nlooks;
};

struct bz_sweep_keeps BZ_VEC(struct bz_facts_keep);

struct bz_sweep_opts {
    struct bz_library *library;
    unsigned threads;             /* 0: as many as this process may use CPUs */
    struct bz_profile *profile;   /* gets where the time goes; or NULL */
    struct bz_sweep_pools *pools; /* gets tables; NULL: none are wanted */
    /* Called now and then by the calling thread, if it is set. */
    void (*progress)(void *ctx, size_t done, size_t total);
    void *ctx;
};

/* Evaluates all n items. What they point to afterwards lies in keeps that are added to
 * `keeps`. */
int bz_sweep_run(const struct bz_sweep_opts *opts, struct bz_sweep_item *const *items,
                 size_t n, struct bz_sweep_keeps *keeps,
                 struct bz_err *err) BZ_MUST_CHECK;

#endif
