/* need.h - which recipes a set of names needs, and which recipe each name means.
 *
 * Names are of two kinds: what DEPENDS and [depends] ask for, which recipes provide,
 * and what RDEPENDS, RRECOMMENDS and [rdepends] ask for, which packages do. For each
 * the best provider is taken. A recipe that needs what nothing provides cannot be
 * built: then the next best provider of its names is taken, and where there is none,
 * what needs that name cannot be built either. Only recipes that are needed are looked
 * at.
 *
 * One thread at a time while it resolves; afterwards any number may read.
 */
#ifndef BZ_GRAPH_NEED_H
#define BZ_GRAPH_NEED_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "graph/prefer.h"

#define BZ_NEED_NONE UINT32_MAX

struct bz_need_recipe {
    uint32_t part; /* its multiconfig */
    const struct bz_facts *facts;
    uint32_t failed_for; /* the name it needs and that cannot be had, or NONE */
};

struct bz_need_ids BZ_VEC(uint32_t);

struct bz_need_name {
    struct bz_str text;
    uint32_t part;
    enum bz_provide_kind kind;
    bool assumed;                   /* ASSUME_PROVIDED: nobody is asked */
    bool target;                    /* asked for from outside */
    struct bz_prefer_choice choice; /* facts of the part, best first */
    size_t current;                 /* of the eligible ones */
    bool failed;                    /* it cannot be had */
    struct bz_str problem;      /* why, unless it is for its recipes' needs; or {0} */
    struct bz_need_ids needers; /* recipes, in the order they asked */
};

struct bz_need_part {
    struct bz_provide *provide;
    struct bz_map names[2]; /* by kind: text -> number of the name, from 1 */
    uint32_t *recipe_of;    /* [facts]: number of the recipe, or NONE */
};

struct bz_need {
    struct bz_arena arena;
    struct bz_need_part *parts; /* [nparts]: as in the survey */
    size_t nparts;
    struct bz_need_recipes BZ_VEC(struct bz_need_recipe) recipes;
    struct bz_need_names BZ_VEC(struct bz_need_name) names;
    bool incomplete; /* recipes do not fail for what nothing provides */
};

/* `provide` has one index for each part and outlives *n. */
void bz_need_init(struct bz_need *n, struct bz_provide **provide, size_t nparts);
void bz_need_release(struct bz_need *n);

/* Takes what is needed for a name. Fails only if something cannot be computed; that
 * nothing provides it is said by bz_need_name.failed. Adding more later is allowed. */
int bz_need_add(struct bz_need *n, uint32_t part, struct bz_str name,
                enum bz_provide_kind kind, struct bz_err *err) BZ_MUST_CHECK;

/* The name, or NULL if nobody asked for it. */
const struct bz_need_name *bz_need_find(const struct bz_need *n, uint32_t part,
                                        struct bz_str name, enum bz_provide_kind kind);

/* The number of the recipe that provides a name now, or BZ_NEED_NONE. */
uint32_t bz_need_provider(const struct bz_need *n, uint32_t part, struct bz_str name,
                          enum bz_provide_kind kind);

/* Why a target cannot be had: returns what is wrong with the name at the end of the
 * chain, and adds the chain to `out`, one need a line. */
struct bz_str bz_need_explain(const struct bz_need *n,
                              const struct bz_need_name *target, struct bz_buf *out);

#endif
