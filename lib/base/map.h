/* map.h - a hash map from slices or numbers to one word.
 *
 *   1. Entries lie in one array in the order in which their keys were first added, and
 *      are iterated in that order: what is derived from a map is the same in every run.
 *   2. A key's bytes are not copied; they outlive the map and do not change in it.
 *   3. A pointer to an entry is valid until the next bz_map_put or bz_map_reserve.
 *      Removing moves nothing, so the entry at hand may be removed while iterating.
 *
 * {0} is an empty map. A map holds keys of one kind, slices or numbers, never both.
 * Lookups do not write: several threads may read a map that none changes.
 *
 * Beside the entries there is a table of 8-byte slots (32 bits of the hash, number of
 * the entry) with linear probing. It is at most 5/8 full; a search reads an entry, and
 * a key, only where those 32 bits agree.
 */
#ifndef BZ_BASE_MAP_H
#define BZ_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct bz_map_slot;

struct bz_map_entry {
    struct bz_str key; /* see bz_map_number() if keys are numbers */
    union {            /* zero when new; the owner's to write at any time */
        uint64_t u;
        void *p;
    };
};

struct bz_map {
    struct bz_map_entry *entries; /* [0, top): in order, holes where one was removed */
    struct bz_map_slot *slots;
    uint32_t top;
    uint32_t len;    /* keys in the map */
    uint32_t nslots; /* a power of two, or 0 */
};

/* The key's entry, or NULL. */
struct bz_map_entry *bz_map_get(const struct bz_map *m, struct bz_str key);
struct bz_map_entry *bz_map_get_u64(const struct bz_map *m, uint64_t key);

/* The key's entry, added with a zero value if there was none (then len has grown).
 * `bz_map_put(&m, name)->p = recipe;` The owner may point key.p of the entry at an
 * equal copy that lives longer. */
struct bz_map_entry *bz_map_put(struct bz_map *m, struct bz_str key);
struct bz_map_entry *bz_map_put_u64(struct bz_map *m, uint64_t key);

/* True if the key was there. */
bool bz_map_remove(struct bz_map *m, struct bz_str key);
bool bz_map_remove_u64(struct bz_map *m, uint64_t key);

/* The entry after `prev`, or the first if that is NULL; NULL at the end. Steps over
 * what was removed, so it is no way to take one entry after the other out.
 * `for (e = bz_map_next(&m, NULL); e; e = bz_map_next(&m, e))` */
struct bz_map_entry *bz_map_next(const struct bz_map *m,
                                 const struct bz_map_entry *prev);

/* The key of an entry in a map of numbers. */
static inline uint64_t bz_map_number(const struct bz_map_entry *e)
{
    return e->key.n;
}

/* How numbers are hashed: ids, pointers, multiples and pairs of them in one word all
 * spread evenly over the low bits as over the high ones. */
uint64_t bz_map_hash_u64(uint64_t key);

/* Makes room for n keys in all. */
void bz_map_reserve(struct bz_map *m, size_t n);

void bz_map_clear(struct bz_map *m);   /* removes all, keeps the memory */
void bz_map_release(struct bz_map *m); /* frees all; the map is {0} */

#endif
