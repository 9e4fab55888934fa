/* vars.h - the variable store: what recipes assign and read.
 *
 * Evaluates as BitBake does: values are kept as written and expanded when read;
 * :append, :prepend and :remove are kept as operations and applied when read;
 * OVERRIDES chooses among NAME:override variables at that moment.
 *
 * A store may be a copy of another, its parent: it sees the parent's variables and
 * keeps only what was changed. A parent must not change or be freed while copies of it
 * exist; then any number of threads may each work on a copy of their own, and one may
 * go on reading the parent. A store itself belongs to one thread at a time, also for
 * reading, because reading fills caches.
 *
 * Slices that come out of a store stay valid as long as the store (or the parent they
 * come from) does, whatever is set later. What goes in is copied. A slice with p ==
 * NULL means "not set"; an empty value has p != NULL.
 */
#ifndef BZ_VARS_VARS_H
#define BZ_VARS_VARS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct bz_vars;
struct bz_refs;

/* Where an assignment stands, for the history. The text lives as long as the store. A
 * NULL in its place: set by the program itself, not recorded. */
struct bz_vars_at {
    const char *file; /* NULL: not recorded either */
    uint32_t line;
    const char *op; /* what the history calls it: "set", "append", ...; NULL: "set" */
    struct bz_str detail; /* the text as it was written; p == NULL: the value set */
};

struct bz_vars *bz_vars_new(const struct bz_vars *parent); /* parent may be NULL */
void bz_vars_free(struct bz_vars *v);                      /* NULL is allowed */
void bz_vars_freep(struct bz_vars **v);

/* How to read. BitBake's getVar() is 0, getVar(x, False) is BZ_VARS_RAW. */
enum {
    BZ_VARS_RAW = 1,     /* not expanded */
    BZ_VARS_NOWEAK = 2,  /* a ??= default does not count */
    BZ_VARS_PARSING = 4, /* without operations and overrides, as += sees it */
};

/* The value, if it is set. Fails if expansion does; the message names the chain. */
int bz_vars_get(struct bz_vars *v, struct bz_str name, unsigned how, struct bz_str *out,
                struct bz_err *err) BZ_MUST_CHECK;

/* The texts of the :remove operations that took something out of the value, sorted: a
 * signature must know of them, as the raw value does not show them. */
int bz_vars_removed(struct bz_vars *v, struct bz_str name, const struct bz_str **texts,
                    size_t *n, struct bz_err *err) BZ_MUST_CHECK;

/* How to set. BitBake's d.setVar() is 0; assignments in files are PARSING, which keeps
 * pending operations and overrides of the variable. A NAME of the form X:append,
 * X:prepend:o, X:remove... adds an operation to X. */
enum {
    BZ_VARS_SET_PARSING = 1,
};
int bz_vars_set(struct bz_vars *v, struct bz_str name, struct bz_str value,
                unsigned how, const struct bz_vars_at *at,
                struct bz_err *err) BZ_MUST_CHECK;
int bz_vars_append(struct bz_vars *v, struct bz_str name, struct bz_str value,
                   const struct bz_vars_at *at, struct bz_err *err) BZ_MUST_CHECK;
int bz_vars_prepend(struct bz_vars *v, struct bz_str name, struct bz_str value,
                    const struct bz_vars_at *at, struct bz_err *err) BZ_MUST_CHECK;
int bz_vars_del(struct bz_vars *v, struct bz_str name, const struct bz_vars_at *at,
                struct bz_err *err) BZ_MUST_CHECK;
int bz_vars_rename(struct bz_vars *v, struct bz_str from, struct bz_str to,
                   const struct bz_vars_at *at, struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_INVAL, with what to use instead, for a name that BitBake itself has given up. */
int bz_vars_check_renamed(struct bz_str name, struct bz_err *err) BZ_MUST_CHECK;

/* Flags. "_defaultval" is how ??= stores a weak default, "_defaultval_flag_X" that of
 * the flag X; names that begin with '_' or ':' are internal and not listed. */
int bz_vars_get_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                     unsigned how, struct bz_str *out,
                     struct bz_err *err) BZ_MUST_CHECK;
int bz_vars_set_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                     struct bz_str value, const struct bz_vars_at *at,
                     struct bz_err *err) BZ_MUST_CHECK;
int bz_vars_append_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                        struct bz_str value, const struct bz_vars_at *at,
                        struct bz_err *err) BZ_MUST_CHECK;
int bz_vars_prepend_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                         struct bz_str value, const struct bz_vars_at *at,
                         struct bz_err *err) BZ_MUST_CHECK;
void bz_vars_del_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                      const struct bz_vars_at *at);
void bz_vars_del_flags(struct bz_vars *v, struct bz_str name,
                       const struct bz_vars_at *at);

/* Whether the flag says yes: one of 1, y, yes, true, in any case. No flag, "", and the
 * opposite words say no; all others are BZ_E_INVAL. */
int bz_vars_flag_true(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                      bool *yes, struct bz_err *err) BZ_MUST_CHECK;

/* Calls fn for each flag that is not internal, in the order they were first set. The
 * values are unexpanded. */
typedef void (*bz_vars_flag_fn)(void *ctx, struct bz_str flag, struct bz_str value);
void bz_vars_flags(struct bz_vars *v, struct bz_str name, bz_vars_flag_fn fn,
                   void *ctx);

/* The names of all variables that are set, sorted by bytes; also those that exist only
 * through an active override. The array lasts until the next call that changes v. */
int bz_vars_names(struct bz_vars *v, const struct bz_str **names, size_t *n,
                  struct bz_err *err) BZ_MUST_CHECK;

/* The names of the variables that tasks get in their environment: those with a true
 * [export] and no true [unexport], sorted. The array lasts as long as the store. */
int bz_vars_exported(struct bz_vars *v, const struct bz_str **names, size_t *n,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Those with a true [unexport]: tasks do not get them, whoever else sets them. */
int bz_vars_unexported(struct bz_vars *v, const struct bz_str **names, size_t *n,
                       struct bz_err *err) BZ_MUST_CHECK;

/* Whether a variable or an operation was ever set for an override task-NAME, which is
 * active only while that task runs. */
bool bz_vars_by_task(const struct bz_vars *v);

/* True if the variable has any content, flag or operation here or in a parent. */
bool bz_vars_exists(struct bz_vars *v, struct bz_str name);

/* Expands text as if it were the value of `name` (which may be {0}). `refs`,
 * which may be NULL, gets what was read. */
int bz_vars_expand(struct bz_vars *v, struct bz_str text, struct bz_str name,
                   struct bz_refs *refs, struct bz_str *out,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Renames variables whose names contain ${...} to what that expands to. */
int bz_vars_expand_keys(struct bz_vars *v, struct bz_err *err) BZ_MUST_CHECK;

/* A filter on the values of a variable as they are read, an expression over `val`
 * (BitBake's setVarFilter); {0} removes it. */
void bz_vars_set_filter(struct bz_vars *v, struct bz_str name, struct bz_str filter);

/* Takes over what C does not know: the text of a ${@...} without these five characters.
 * *out must live as long as the store. BZ_E_NOSUP: it does not know either. */
struct bz_vars_python {
    int (*eval)(void *ctx, struct bz_vars *v, struct bz_str code, struct bz_str name,
                struct bz_refs *refs, struct bz_str *out, struct bz_err *err);
    void *ctx;
};
/* Inherited by copies. The evaluator of expr.h comes first, this one after it. */
void bz_vars_set_python(struct bz_vars *v, const struct bz_vars_python *python);

/* Lets references stand for themselves: a store that has this gives the text of values
 * as far as they are the same wherever and whenever they are read, which is what a key
 * counts. Asked for each ${NAME} in the value of `in` (a variable, or NAME[flag]) that
 * is not itself a part of a name or of code. */
#define BZ_VARS_MARK '\001' /* nobody takes it for a reference again */
enum bz_vars_kept {
    BZ_VARS_EXPAND,  /* as ever */
    BZ_VARS_KEEP,    /* ${NAME} stays, with BZ_VARS_MARK instead of the $ */
    BZ_VARS_REPLACE, /* by *text, which lives as long as the store */
};
struct bz_vars_keep {
    int (*ask)(void *ctx, struct bz_str in, struct bz_str name, enum bz_vars_kept *what,
               struct bz_str *text, struct bz_err *err);
    void *ctx;
    struct bz_vars
        *plain; /* where code is evaluated, and OVERRIDES is read: the parent */
};
/* Not inherited by copies. */
void bz_vars_set_keep(struct bz_vars *v, const struct bz_vars_keep *keep);

/* How often code has asked for something that no file of the metadata decides: in this
 * very store the clock and the number of the process; also in the store that this one
 * is a copy of, before it was made, the host, its files and who builds. */
struct bz_vars_impure {
    unsigned clock, host;
};
struct bz_vars_impure bz_vars_impure(const struct bz_vars *v);

/* Notes that the text of a variable was made from the clock, by :=. */
void bz_vars_note_clock(struct bz_vars *v, struct bz_str name);
/* Whether a text has a ${NAME} of such a variable. */
bool bz_vars_names_clock(const struct bz_vars *v, struct bz_str text);
/* Whether such a variable has been read in this very store; what was noted in a store
 * that this one is a copy of counts, too. */
bool bz_vars_clock_read(struct bz_vars *v);
/* Sets all of them, in this store, to a text. */
int bz_vars_set_clocked(struct bz_vars *v, struct bz_str text,
                        struct bz_err *err) BZ_MUST_CHECK;

/* What code gets for the time, in seconds; 0: what time it is. Inherited by copies. */
void bz_vars_set_clock(struct bz_vars *v, int64_t seconds);

/* Whether ${OVERRIDES} or getVar("OVERRIDES") was evaluated in this very store. */
bool bz_vars_asked_overrides(const struct bz_vars *v);

/* Whether the value of a variable has been read in this very store, and all of those:
 * each with its text before expansion. */
bool bz_vars_was_read(struct bz_vars *v, struct bz_str name);
typedef void (*bz_vars_read_fn)(void *ctx, struct bz_str name, struct bz_str raw);
void bz_vars_each_read(struct bz_vars *v, bz_vars_read_fn fn, void *ctx);

/* Told before and after each ${@...} is evaluated, for whoever measures. Inherited by
 * copies; must outlive them all. NULL: nobody is. */
struct bz_vars_watch {
    void (*begin)(void *ctx, struct bz_str code);
    void (*end)(void *ctx, struct bz_str code);
    void *ctx;
};
void bz_vars_set_watch(struct bz_vars *v, const struct bz_vars_watch *watch);

/* A place to keep text that must live as long as the store. */
struct bz_str bz_vars_keep(struct bz_vars *v, struct bz_str text);

#endif
