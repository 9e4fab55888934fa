/* expr_scratch.h - the memory of one evaluation, freed when it ends.
 *
 * Most expressions fit into the bytes that lie in the struct itself, on the stack of
 * whoever evaluates, and so allocate nothing. What does not fit goes to an arena.
 */
#ifndef BZ_VARS_EXPR_SCRATCH_H
#define BZ_VARS_EXPR_SCRATCH_H

#include <stddef.h>

#include "base/arena.h"

struct bz_expr_scratch {
    char *at, *end; /* the free part of `first` */
    struct bz_arena rest;
    _Alignas(max_align_t) char first[1536];
};

static inline void bz_expr_scratch_init(struct bz_expr_scratch *s)
{
    s->at = s->first;
    s->end = s->first + sizeof(s->first);
    s->rest = (struct bz_arena){0};
}

static inline void bz_expr_scratch_release(struct bz_expr_scratch *s)
{
    if (s->rest.top || s->rest.big)
        bz_arena_release(&s->rest);
}

/* n bytes, not zeroed, aligned for any value, never NULL. */
static inline void *bz_expr_scratch_alloc(struct bz_expr_scratch *s, size_t n)
{
    size_t size = (n + 7) & ~(size_t)7;
    char *p = s->at;

    if (BZ_UNLIKELY(size > (size_t)(s->end - p) || size < n))
        return bz_arena_alloc(&s->rest, n, 8);
    s->at = p + size;
    return p;
}

#endif
