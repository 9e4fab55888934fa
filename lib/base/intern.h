/* intern.h - one copy per string, and a small number for it.
 *
 *   1. Equal strings get the same symbol, different ones different symbols.
 *   2. Symbols count up from 0 in the order of interning, so they index arrays and
 *      bitsets. Symbol 0 is the empty string: a zeroed bz_sym is a name left out.
 *   3. The text of a symbol is terminated and neither moves nor changes while the table
 *      lives.
 *
 * A symbol says nothing without its table, and its number differs between runs that
 * intern in another order: sort by text what is stored or shown.
 *
 * Single-threaded: interning needs the table to itself. While nobody interns, any
 * number of threads may look up.
 */
#ifndef BZ_BASE_INTERN_H
#define BZ_BASE_INTERN_H

#include "base/arena.h"
#include "base/map.h"

struct bz_sym {
    uint32_t i;
};

/* {0} is a table that knows the empty string only. */
struct bz_intern {
    struct bz_map map;     /* symbol i is entry i, as nothing is ever removed */
    struct bz_arena texts; /* the bytes of the keys */
};

/* The symbol of s, which is copied if it is new. */
struct bz_sym bz_intern_add(struct bz_intern *in, struct bz_str s);

/* The text; .p is a C string too. Asserts that sym is of this table. */
struct bz_str bz_intern_str(const struct bz_intern *in, struct bz_sym sym);

/* Frees all; the table is {0}. */
void bz_intern_release(struct bz_intern *in);

static inline bool bz_intern_same(struct bz_sym a, struct bz_sym b)
{
    return a.i == b.i;
}

#endif
