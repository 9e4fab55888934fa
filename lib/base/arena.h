/* arena.h - memory that is freed all at once.
 *
 * For everything that lives as long as one phase: the parse of a file, a graph, a task.
 * Allocating moves a pointer; nothing is freed alone. Memory comes in blocks that
 * double in size, and what would waste a good part of a block gets one of its own.
 * Pointers stay valid until the arena is released, reset or rewound past them.
 *
 * Running out of memory stops the program, as in mem.h. Under the address sanitizer
 * everything not handed out is poisoned, with a gap after each allocation, so that an
 * overrun or a use after a reset is reported where it happens.
 *
 * An arena belongs to one thread at a time.
 */
#ifndef BZ_BASE_ARENA_H
#define BZ_BASE_ARENA_H

#include <stdarg.h>

#include "base/str.h"

struct bz_arena_block;

struct bz_arena {
    struct bz_arena_block *top; /* where the next bytes come from */
    struct bz_arena_block *big; /* blocks with one allocation, newest first */
    char *at, *end;             /* the free part of top */
};

/* A moment in the life of an arena, to go back to. */
struct bz_arena_mark {
    struct bz_arena_block *top;
    struct bz_arena_block *big;
    char *at;
};

struct bz_arena_stats {
    size_t used; /* bytes handed out, and lost to alignment */
    size_t held; /* bytes taken from malloc */
};

/* n bytes, not zeroed, never NULL. align is a power of two, at most 4096. */
void *bz_arena_alloc(struct bz_arena *a, size_t n, size_t align);
void *bz_arena_zalloc(struct bz_arena *a, size_t n, size_t align);

/* n zeroed elements; the product is checked for overflow. */
void *bz_arena_array(struct bz_arena *a, size_t n, size_t size, size_t align);

/* One zeroed `type`, or n of them. */
#define BZ_ARENA_NEW(a, type)                                                          \
    ((type *)bz_arena_zalloc((a), sizeof(type), _Alignof(type)))
#define BZ_ARENA_ARRAY(a, type, n)                                                     \
    ((type *)bz_arena_array((a), (n), sizeof(type), _Alignof(type)))

/* Copies; the bytes are followed by '\0', so that .p is a C string too. */
struct bz_str bz_arena_dup(struct bz_arena *a, struct bz_str s);
struct bz_str bz_arena_concat(struct bz_arena *a, const struct bz_str *parts, size_t n);
struct bz_str bz_arena_printf(struct bz_arena *a, const char *fmt, ...) BZ_PRINTF(2, 3);

/* All of its arguments after the first, slices, one after the other. */
#define BZ_ARENA_CONCAT(a, ...)                                                        \
    bz_arena_concat((a), (const struct bz_str[]){__VA_ARGS__},                         \
                    BZ_COUNTOF(((const struct bz_str[]){__VA_ARGS__})))

/* Rewinding frees whatever was allocated after the mark was taken, and makes marks
 * taken since then void. */
struct bz_arena_mark bz_arena_mark(const struct bz_arena *a);
void bz_arena_rewind(struct bz_arena *a, struct bz_arena_mark mark);

/* Frees all allocations but keeps the first block for those to come. */
void bz_arena_reset(struct bz_arena *a);

/* Frees all; the arena is {0} and may be used again. */
void bz_arena_release(struct bz_arena *a);

/* Walks the blocks: for reports, not for loops. */
struct bz_arena_stats bz_arena_stats(const struct bz_arena *a);

#endif
