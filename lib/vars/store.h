/* store.h - how the variables of a store lie in memory. For the files of this module.
 *
 * Each store keeps what was set in it as nodes, and looks for the rest in its parents.
 *
 *   1. A node belongs to the store that made it. Copies read the nodes of their parents
 *      and write nothing there: what changes is first copied into a node of their own.
 *   2. What a store has found and computed is remembered in its cells, one for each
 *      name it was ever asked for. Nobody else reads them. As parents do not change, a
 *      cell's view of them is good for ever.
 *   3. Cached values carry the generation they were computed in. Any write, and any
 *      change of the active overrides, begins a new generation.
 *
 * Names are hashed once for each call; cells and nodes are found by that number.
 */
#ifndef BZ_VARS_STORE_H
#define BZ_VARS_STORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "vars/history.h"
#include "vars/vars.h"

/* No value grows beyond this, however its references multiply. */
#define BZ_STORE_TEXT_MAX ((size_t)16 << 20)

struct bz_store_flag {
    struct bz_str name;
    struct bz_str value; /* p == NULL: there, but nothing, as Python's None */
};

/* Two kinds of array that a copy of a variable borrows until it changes them: while
 * cap is 0 they belong to somebody else. */
struct bz_store_flags {
    struct bz_store_flag *at; /* in the order they were first set */
    uint32_t n, cap;
};

enum bz_store_kind {
    BZ_STORE_APPEND,
    BZ_STORE_PREPEND,
    BZ_STORE_REMOVE,
    BZ_STORE_KINDS,
};

struct bz_store_op {
    struct bz_str text;
    struct bz_str override; /* "a:b": only while both are active; n == 0: always */
};

struct bz_store_ops {
    struct bz_store_op *at;
    uint32_t n, cap;
};

/* A variable as one store has it. All zero is a variable that was deleted. */
struct bz_store_var {
    struct bz_str content; /* p == NULL with has_content: set to nothing */
    struct bz_str weak;    /* the ??= default */
    bool has_content, has_weak;
    struct bz_store_flags flags;
    struct bz_store_ops ops[BZ_STORE_KINDS];
};

/* NAME:a:b is a variant of NAME:a under the override "b", and of NAME under "a:b". */
struct bz_store_variant {
    struct bz_str name;     /* p == NULL: taken out */
    struct bz_str override; /* a part of name */
};

struct bz_store_variants {
    struct bz_store_variant *at;
    uint32_t n, cap, gone;
    bool present; /* false: forgotten; an empty list is something else to a rename */
    bool indexed;
    struct bz_map index; /* name -> position; only while indexed */
    struct bz_store_variants *next_indexed;
};

struct bz_store_event {
    struct bz_store_event *next;
    struct bz_history_event e;
};

struct bz_store_node {
    struct bz_str name;
    uint64_t hash;
    struct bz_store_node *next;         /* another name with this hash */
    struct bz_store_var *var;           /* NULL: as in the parent */
    struct bz_store_variants *variants; /* NULL: as in the parent */
    struct bz_str past; /* its events as a table had them; first and last came later */
    struct bz_store_event *first, *last; /* what happened to it in this store */
    bool steers;                         /* OVERRIDES is computed from it */
    bool listed;                         /* in the store's list of exports */
};

struct bz_store_cell {
    struct bz_str name;
    uint64_t hash;
    struct bz_store_cell *next;
    struct bz_store_node *own;                /* NULL: nothing of its own */
    const struct bz_store_var *var;           /* the own one, or a parent's; or NULL */
    const struct bz_store_variants *variants; /* likewise */
    bool steers;

    bool removes;     /* as of raw_gen: some :remove may apply */
    uint64_t raw_gen; /* the generation of raw; 0 is none */
    struct bz_str raw;
    uint64_t text_gen; /* of text and removed */
    struct bz_str text;
    const struct bz_str *removed; /* texts of the :remove that had an effect, sorted */
    size_t nremoved;
};

/* The expanded value of a flag. */
struct bz_store_flag_cell {
    struct bz_str name, flag;
    struct bz_store_flag_cell *next;
    uint64_t gen;
    struct bz_str text;
};

/* One value in the course of being expanded; they lie on the C stack. */
struct bz_store_frame {
    const struct bz_store_frame *up;
    struct bz_str name;               /* for the reader of an error; may be empty */
    const struct bz_store_cell *cell; /* NULL: a text that is no variable's value */
    unsigned how;
};

struct bz_store_overrides {
    bool known; /* false: to be computed from OVERRIDES */
    bool busy;  /* being computed; meanwhile they are what was found so far */
    bool saved; /* text is what a table had, but not yet split */
    struct bz_str text;
    struct BZ_VEC(struct bz_str) list; /* weakest first */
    struct bz_map set;                 /* override -> its first place in the list */
};

struct bz_vars {
    const struct bz_vars *parent;
    struct bz_arena arena;
    struct bz_map nodes;        /* hash -> struct bz_store_node * */
    struct bz_map cells;        /* hash -> struct bz_store_cell * */
    struct bz_store_cell *last; /* the one asked for last, or NULL */
    bool restored;              /* nodes may have no cell yet: vars_table.h */
    struct bz_str pool;         /* where the strings of a restored store lie */
    struct bz_map flag_cells;
    uint64_t gen;

    struct bz_store_overrides overrides;
    struct bz_store_variants *indexed; /* those whose index must be freed */

    struct bz_map filters; /* name -> struct bz_str *, kept; p == NULL: removed */
    bool any_filter;       /* here or in a parent */
    struct bz_map renames; /* name -> struct bz_str *: what to use instead */
    bool any_rename;       /* here or in a parent */
    struct BZ_VEC(struct bz_str) dynamic; /* own names that contain ${ */
    struct BZ_VEC(struct bz_str) exports; /* own names that had an [export] set */

    struct bz_vars_python python;
    const struct bz_vars_watch *watch;
    struct bz_vars_keep keep; /* ask == NULL: nothing is kept */
    struct bz_vars_impure impure;
    struct BZ_VEC(struct bz_str) clocked; /* own names whose text is from the clock */
    int64_t clock;                        /* seconds; 0: the real one */
    bool by_task;                       /* something is set for an override task-NAME */
    bool asked_overrides;               /* a value has been made from OVERRIDES */
    const struct bz_store_frame *frame; /* the innermost expansion */
    unsigned depth;
    uintptr_t stack; /* where the C stack was at depth 0 */
    bool told;       /* the error under way has its chain of variables already */

    struct BZ_VEC(struct bz_buf) spare;
    struct bz_str *names; /* sorted; malloc */
    size_t nnames;
    uint64_t names_gen;
};

/* A store without nodes. `cells` names are expected to be asked for. */
struct bz_vars *bz_store_new(const struct bz_vars *parent, size_t cells, size_t nodes);

/* The cell of a name, made if there was none. Stays where it is. */
struct bz_store_cell *bz_store_cell(struct bz_vars *v, struct bz_str name);

/* Adds a node for a name that has none; the caller has set its name and hash. */
void bz_store_add(struct bz_vars *v, struct bz_store_node *node);

/* The node of a name in this very store, or NULL. */
struct bz_store_node *bz_store_find(const struct bz_vars *v, struct bz_str name,
                                    uint64_t hash);

/* The store's own node for the cell, made if there was none. */
struct bz_store_node *bz_store_own(struct bz_vars *v, struct bz_store_cell *c);

/* The store's own variable, for writing: a copy of the parent's if it had none. Begins
 * a new generation. */
struct bz_store_var *bz_store_write(struct bz_vars *v, struct bz_store_cell *c);

/* Drops the own variable, so that the parent's is seen again. */
void bz_store_unshadow(struct bz_vars *v, struct bz_store_cell *c);

/* True for NULL and for a variable that was deleted. */
bool bz_store_empty(const struct bz_store_var *var);

/* What was computed so far is void. */
static inline void bz_store_changed(struct bz_vars *v)
{
    v->gen++;
}

/* A copy in the store; `old` itself if its bytes are the same, which keeps a value that
 * is computed again and again from filling the memory. */
struct bz_str bz_store_keep(struct bz_vars *v, struct bz_str text, struct bz_str old);

/* An empty buffer with a limit of BZ_STORE_TEXT_MAX, and its way back. */
struct bz_buf bz_store_take(struct bz_vars *v);
void bz_store_give(struct bz_vars *v, struct bz_buf *b);

/* The filter of a variable, or {0}. */
struct bz_str bz_store_filter(const struct bz_vars *v, struct bz_str name);

/* Room for one more element; what is borrowed is copied first. Flags that change in
 * place need it as well. */
void bz_store_grow_flags(struct bz_vars *v, struct bz_store_flags *f);
void bz_store_grow_ops(struct bz_vars *v, struct bz_store_ops *o);

#endif
