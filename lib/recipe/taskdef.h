/* taskdef.h - the tasks of a recipe and their order, as addtask and deltask
 * leave them.
 *
 * A task may be named as a predecessor before it is added, or after it is
 * deleted: then it is not listed, but keeps what was said of it. Names are kept
 * as they are written; they are expanded when the recipe is complete.
 */
#ifndef BZ_RECIPE_TASKDEF_H
#define BZ_RECIPE_TASKDEF_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct bz_taskdef_names BZ_VEC(struct bz_str);

/* Where an addtask stands that makes one task wait for another. */
struct bz_taskdef_place {
    struct bz_str after; /* the other one */
    const char *file;
    uint32_t line;
};

struct bz_taskdef_places BZ_VEC(struct bz_taskdef_place);

struct bz_taskdef {
    struct bz_str name;              /* with do_ */
    bool listed;                     /* added and not deleted */
    struct bz_taskdef_names after;   /* what it waits for, in BitBake's order */
    struct bz_taskdef_places places; /* of these, as far as they are known */
};

struct bz_taskdefs {
    struct bz_taskdef_vec BZ_VEC(struct bz_taskdef) all;
    struct bz_taskdef_names order; /* the listed ones, in the order they were added */
};

/* Adds task `name`, after and before the tasks of two word lists. "do_" is added to
 * names that lack it. Text is kept in the arena; the task's own name is returned. `at`,
 * which may be NULL, is where that is written; `after` in it is not read, and the name
 * of the file must outlive *t. */
struct bz_str bz_taskdef_add(struct bz_taskdefs *t, struct bz_arena *arena,
                             struct bz_str name, struct bz_str before,
                             struct bz_str after, const struct bz_taskdef_place *at);
struct bz_str bz_taskdef_delete(struct bz_taskdefs *t, struct bz_arena *arena,
                                struct bz_str name);

/* Gives every task its final name, which `name_of` finds. A task that thereby changes
 * its name waits for nothing but what was said of the new one: BitBake keeps edges in a
 * flag, and flags do not follow a variable that is renamed. */
typedef int (*bz_taskdef_name_fn)(void *ctx, struct bz_str *name, struct bz_err *err);
int bz_taskdef_rename(struct bz_taskdefs *t, bz_taskdef_name_fn name_of, void *ctx,
                      struct bz_err *err) BZ_MUST_CHECK;

/* The place of an edge, or NULL. */
const struct bz_taskdef_place *bz_taskdef_place(const struct bz_taskdef *task,
                                                struct bz_str after);

const struct bz_taskdef *bz_taskdef_find(const struct bz_taskdefs *t,
                                         struct bz_str name);

void bz_taskdef_copy(struct bz_taskdefs *to, const struct bz_taskdefs *from);
void bz_taskdef_release(struct bz_taskdefs *t);

#endif
