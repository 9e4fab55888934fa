/* constraint.h - lists of names with versions: "foo (>= 1.0) bar".
 *
 * The form of DEPENDS, RDEPENDS, PROVIDES and LAYERDEPENDS. Read as BitBake's
 * explode_deps() and explode_dep_versions2() read it, down to what they make of
 * several words in one pair of brackets.
 */
#ifndef BZ_VARS_CONSTRAINT_H
#define BZ_VARS_CONSTRAINT_H

#include "base/arena.h"
#include "base/vec.h"

/* One "(>= 1.0)". */
struct bz_constraint_version {
    struct bz_str op; /* as it is written: = < > <= =< << == != >= => >> */
    struct bz_str version;
};

struct bz_constraint_versions BZ_VEC(struct bz_constraint_version);

struct bz_constraint {
    struct bz_str name;
    struct bz_constraint_versions versions;
};

/* Sorted by name, each name once; {0} is empty. */
struct bz_constraints BZ_VEC(struct bz_constraint);

/* Takes the next name off *rest and steps over what is in brackets.
 * `while (bz_constraint_next_name(&rest, &name))` */
bool bz_constraint_next_name(struct bz_str *rest, struct bz_str *name);

/* Adds the names of a list to `out`, which is empty; texts are in `arena`. BZ_E_INVAL
 * for brackets without an operator or before the first name, BZ_E_LIMIT for a version
 * beyond reason. */
int bz_constraint_parse(struct bz_arena *arena, struct bz_str list,
                        struct bz_constraints *out, struct bz_err *err) BZ_MUST_CHECK;
void bz_constraint_release(struct bz_constraints *c);

#endif
