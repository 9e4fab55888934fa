/* origin.h - where a variable of a recipe comes from, for a record.
 *
 * Its operations by place, operator and digest of their text; those that were
 * overwritten, or whose override is not active, are marked. And the context of tasks:
 * variables that are no inputs themselves but decide about inputs, such as OVERRIDES
 * with all it is computed from. What changes only there changes an input that nobody
 * edited.
 *
 * One thread. The store must neither change nor go away before the bz_origin.
 */
#ifndef BZ_SIG_ORIGIN_H
#define BZ_SIG_ORIGIN_H

#include "base/buf.h"
#include "sig/base.h"
#include "sig/origin_file.h"
#include "sig/record.h"

/* An input of the recipe's tasks, or a part of their context. */
struct bz_origin_input {
    const struct bz_record_input *kept; /* NULL: not for a record */
};

struct bz_origin_list BZ_VEC(struct bz_origin_input);

struct bz_origin {
    struct bz_vars *vars;
    struct bz_origin_files *place;
    struct bz_digest_hasher *hasher;
    struct bz_record *record;
    struct bz_arena arena;
    struct bz_str overrides;
    struct bz_map inputs, context; /* name -> struct bz_origin_input * */
};

/* Release *o in any case; all but the store must outlive it. */
int bz_origin_open(struct bz_origin *o, struct bz_vars *vars,
                   struct bz_origin_files *place, struct bz_digest_hasher *hasher,
                   struct bz_record *record, struct bz_err *err) BZ_MUST_CHECK;
void bz_origin_release(struct bz_origin *o);

/* What counts for a task, for the record, and its context by name. */
void bz_origin_task(struct bz_origin *o, const struct bz_base_inputs *inputs,
                    struct bz_origin_list *out, struct bz_origin_list *context);

#endif
