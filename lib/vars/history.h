/* history.h - who set what, where, and how.
 *
 * Every operation that comes with a place is recorded with the variable it changed,
 * in the store it changed; a copy sees what its parents recorded before its own.
 */
#ifndef BZ_VARS_HISTORY_H
#define BZ_VARS_HISTORY_H

#include "base/buf.h"
#include "vars/vars.h"

struct bz_store_cell;
struct bz_store_node;

struct bz_history_event {
    const char *file;
    uint32_t line;
    struct bz_str op;   /* "set", "set?", ":append[o]", "override[o]:set", "del", ... */
    struct bz_str flag; /* n == 0: the variable itself */
    struct bz_str detail; /* the text as it was written */
};

/* Calls fn for what was done to the variable, oldest first, and then for what was done
 * to its variants NAME:override. The event is valid during the call. */
typedef void (*bz_history_fn)(void *ctx, const struct bz_history_event *e);
void bz_history_each(struct bz_vars *v, struct bz_str name, bz_history_fn fn,
                     void *ctx);

/* The place of the last operation on the variable itself, a flag not being one unless
 * it is a weak default. False if there is none. */
bool bz_history_last(const struct bz_vars *v, struct bz_str name,
                     struct bz_history_event *e);

/* Adds to `out`, which has no limit, the comment that `bitbake -e` puts before a
 * variable: its operations and, if there are several, its value before expansion.
 * BZ_E_CORRUPT if the store is from a table, and the history in it is damaged. */
int bz_history_write(struct bz_vars *v, struct bz_str name, struct bz_buf *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* For this module: records an operation unless `at` is NULL or without a file. The
 * strings are kept by the store already; `op` is for an `at` that names none. */
void bz_history_add(struct bz_vars *v, struct bz_store_cell *c,
                    const struct bz_vars_at *at, struct bz_str op, struct bz_str flag,
                    struct bz_str detail);

/* For this module: calls fn for what was done to a variable in this very store, whose
 * node is given. False if the events of a table are damaged; those before are told. */
bool bz_history_each_own(const struct bz_vars *v, const struct bz_store_node *node,
                         bz_history_fn fn, void *ctx);

/* How a table has an event: five numbers of four bytes, file, line, op, flag and
 * detail, all but the line references into a string pool. */
enum { BZ_HISTORY_EVENT_BYTES = 20 };

/* For this module: `to` gets the history of `from` as well. */
void bz_history_copy(struct bz_vars *v, const struct bz_store_cell *from,
                     struct bz_store_cell *to);

#endif
