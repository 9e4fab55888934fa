/* keystore.h - a recipe's variables as keys count them.
 *
 * A key counts values as they are while a task runs, every ${X} and ${@...} expanded,
 * but for what the metadata excludes:
 *
 *   - A direct ${X} stays its name if X is in BB_BASEHASH_IGNORE_VARS, or in the
 *     [vardepsexclude] of the variable that has it in its text. Of the former those
 * count that lead into the build directory, such as TMPDIR: the path is the same
 * everywhere for tasks, and decides where their output goes.
 *   - X[vardepvalue] counts instead of X, and the parts of X[vardepvalueexclude] are
 *     taken out of X.
 *   - Code counts by its value. Of PARALLEL_MAKE, DATE and others like it, if they are
 *     in BB_BASEHASH_IGNORE_VARS, code sees a fixed value: what they say differs from
 *     machine to machine and from day to day.
 *
 * There are two stores: `plain` has the values, `key` the texts with names in them.
 * Both are copies of the recipe's store as a task sees it (recipe/runscript.h). One
 * thread.
 */
#ifndef BZ_SIG_KEYSTORE_H
#define BZ_SIG_KEYSTORE_H

#include "base/arena.h"
#include "base/map.h"
#include "vars/vars.h"

struct bz_keystore_opts {
    struct bz_str path; /* the caller's PATH */
    int64_t clock;      /* what code takes for the time, in seconds; 0: the time */
    bool real;          /* code sees the real PARALLEL_MAKE and so on */
};

struct bz_keystore {
    struct bz_vars *plain, *key;
    struct bz_arena arena;
    struct bz_map infos; /* name -> what the metadata says about counting it */
};

/* The recipe's store while `task` runs; p == NULL: while any task does, if nothing
 * depends on which. To be closed also if it fails. */
int bz_keystore_open(struct bz_keystore *k, const struct bz_vars *recipe,
                     struct bz_str task, const struct bz_keystore_opts *opts,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_keystore_close(struct bz_keystore *k);

/* What counts of a variable or function; p == NULL if it is not set. */
int bz_keystore_get(struct bz_keystore *k, struct bz_str name, struct bz_str *out,
                    struct bz_err *err) BZ_MUST_CHECK;
int bz_keystore_flag(struct bz_keystore *k, struct bz_str name, const char *flag,
                     struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

/* Whether `name` does not count where it is mentioned by `in`. */
int bz_keystore_excluded(struct bz_keystore *k, struct bz_str in, struct bz_str name,
                         bool *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
