/* deps.h - which variables a task depends on, and what of each one counts.
 *
 * A task depends on the variables that its code mentions, on those that their values
 * mention, and so on: ${X} and getVar("X"), functions that are called, exported
 * variables for all shell code, flags as NAME[flag] if BB_SIGNATURE_EXCLUDE_FLAGS is
 * set, and what [vardeps], [prefuncs] and [postfuncs] name, without what
 * [vardepsexclude] names. What counts of a variable is its text before expansion, and
 * for bb.utils.contains() and its like only whether the items asked for are there.
 * Names and texts are BitBake's, so that its own hashes come out if they are hashed as
 * it does.
 *
 * Every variable is looked at once, whichever tasks lead to it. One thread. The store
 * must neither change nor go away before the bz_deps.
 */
#ifndef BZ_SIG_DEPS_H
#define BZ_SIG_DEPS_H

#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"
#include "code/py_scan.h"
#include "vars/vars.h"

struct bz_deps_id {
    uint32_t i;
};

struct bz_deps_item {
    struct bz_str name;            /* of a variable, or NAME[flag] */
    struct bz_str value;           /* what counts; p == NULL: a flag that is not set */
    const struct bz_deps_id *deps; /* sorted by name; valid once it is `done` */
    size_t n;
    bool done;
};

struct bz_deps_opts {
    struct bz_str ignored; /* words: variables that never count */
    bool all; /* the store itself leaves out what does not count (keystore.h), and what
                 is exported counts for itself, not for each function */
    const struct bz_py_asker
        *askers; /* functions like contains() that classes define */
    size_t naskers;
};

/* The fields are this module's own, but items may be read. */
struct bz_deps {
    struct bz_vars *vars;
    struct bz_vars *code_vars; /* what code is parsed with; own if it is not `vars` */
    struct bz_deps_opts opts;
    struct bz_arena arena;
    struct bz_map ignored, keys, skipped_flags;
    const struct bz_str *exported;
    size_t nexported;
    struct bz_map index; /* name -> place in items */
    struct bz_deps_items BZ_VEC(struct bz_deps_item) items;
    size_t ndone; /* all before it are done */
};

/* To be closed also if it fails. opts->ignored must live as long as *d. */
int bz_deps_open(struct bz_deps *d, struct bz_vars *v, const struct bz_deps_opts *opts,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_deps_close(struct bz_deps *d);

/* Finds the item of a task and all it leads to; *id stays valid, pointers to items do
 * not. BZ_E_NOSUP if something needs Python, BZ_E_INVAL if code cannot be parsed or a
 * value cannot be expanded; the message names the variable. */
int bz_deps_find(struct bz_deps *d, struct bz_str name, struct bz_deps_id *id,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Adds to *all, by their numbers, the items that one leads to; itself only if something
 * leads back to it. */
void bz_deps_reach(const struct bz_deps *d, struct bz_deps_id id,
                   struct bz_bitset *all);

#endif
