#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif

#if defined(ARENA_ASAN)
#include <sanitizer/asan_interface.h>
/* The sanitizer tracks 8 bytes at a time; only with this alignment does it know the
 * exact end of an allocation. */
#define ARENA_MIN_ALIGN 8
#define ARENA_GAP 8
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ARENA_MIN_ALIGN 1
#define ARENA_GAP 0
#endif

#define ARENA_FIRST ((size_t)4 << 10) /* sizes of blocks, with their headers */
#define ARENA_LAST ((size_t)1 << 20)
#define ARENA_MAX_ALIGN 4096

struct bz_arena_block {
    struct bz_arena_block *below; /* the one before it */
    char *end;
    char *full; /* where its free part began when the next block was started */
    _Alignas(max_align_t) char bytes[];
};

static struct bz_arena_block *new_block(size_t n, struct bz_arena_block *below)
{
    struct bz_arena_block *block = bz_mem_alloc(n);

    block->below = below;
    block->end = (char *)block + n;
    block->full = block->end;
    ASAN_POISON_MEMORY_REGION(block->bytes, (size_t)(block->end - block->bytes));
    return block;
}

/* Frees the block and returns the one below it. */
static struct bz_arena_block *drop_block(struct bz_arena_block *block)
{
    struct bz_arena_block *below = block->below;

    ASAN_UNPOISON_MEMORY_REGION(block->bytes, (size_t)(block->end - block->bytes));
    free(block);
    return below;
}

static char *aligned(char *p, size_t align)
{
    return p + (-(uintptr_t)p & (align - 1));
}

/* What an allocation may need of a fresh block: itself, its alignment, its gap. Absurd
 * sizes become one that bz_mem_alloc refuses. */
static size_t worst_case(size_t n, size_t align)
{
    size_t need;

    if (__builtin_add_overflow(n, align + ARENA_GAP + sizeof(struct bz_arena_block),
                               &need))
        return SIZE_MAX;
    return need;
}

/* Starts a block, twice as large as the last one. */
static void push_block(struct bz_arena *a)
{
    size_t n = ARENA_FIRST;

    if (a->top) {
        n = 2 * (size_t)(a->top->end - (char *)a->top);
        if (n > ARENA_LAST)
            n = ARENA_LAST;
        a->top->full = a->at;
    }
    a->top = new_block(n, a->top);
    a->at = a->top->bytes;
    a->end = a->top->end;
}

static BZ_NOINLINE void *alloc_slow(struct bz_arena *a, size_t n, size_t align)
{
    size_t need = worst_case(n, align);
    size_t block = a->top ? (size_t)(a->top->end - (char *)a->top) : ARENA_FIRST;
    char *p;

    if (need > block / 4) {
        a->big = new_block(need, a->big);
        p = aligned(a->big->bytes, align);
    } else {
        push_block(a);
        p = aligned(a->at, align);
        a->at = p + n + ARENA_GAP;
    }
    ASAN_UNPOISON_MEMORY_REGION(p, n);
    return p;
}

void *bz_arena_alloc(struct bz_arena *a, size_t n, size_t align)
{
    size_t room, pad;
    char *p;

    BZ_ASSERT(align > 0 && align <= ARENA_MAX_ALIGN && (align & (align - 1)) == 0);
    if (align < ARENA_MIN_ALIGN)
        align = ARENA_MIN_ALIGN;
    room = (uintptr_t)a->end - (uintptr_t)a->at; /* both NULL in a new arena */
    pad = -(uintptr_t)a->at & (align - 1);
    if (BZ_UNLIKELY(room < pad + ARENA_GAP || n > room - pad - ARENA_GAP || !a->at))
        return alloc_slow(a, n, align);
    p = a->at + pad;
    a->at = p + n + ARENA_GAP;
    ASAN_UNPOISON_MEMORY_REGION(p, n);
    return p;
}

void *bz_arena_zalloc(struct bz_arena *a, size_t n, size_t align)
{
    return memset(bz_arena_alloc(a, n, align), 0, n);
}

void *bz_arena_array(struct bz_arena *a, size_t n, size_t size, size_t align)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        bytes = SIZE_MAX;
    return bz_arena_zalloc(a, bytes, align);
}

struct bz_str bz_arena_dup(struct bz_arena *a, struct bz_str s)
{
    char *p = bz_arena_alloc(a, s.n + 1, 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return bz_str_of(p, s.n);
}

struct bz_str bz_arena_concat(struct bz_arena *a, const struct bz_str *parts, size_t n)
{
    size_t bytes = 0;
    char *p, *to;

    for (size_t i = 0; i < n; i++)
        bytes += parts[i].n;
    to = p = bz_arena_alloc(a, bytes + 1, 1);
    for (size_t i = 0; i < n; i++) {
        if (parts[i].n)
            memcpy(to, parts[i].p, parts[i].n);
        to += parts[i].n;
    }
    *to = '\0';
    return bz_str_of(p, bytes);
}

struct bz_str bz_arena_printf(struct bz_arena *a, const char *fmt, ...)
{
    char small[256];
    va_list ap;
    char *p;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(small, sizeof(small), fmt, ap);
    va_end(ap);
    BZ_ASSERT(n >= 0); /* it fails only for a bad format or above INT_MAX */
    if ((size_t)n < sizeof(small))
        return bz_arena_dup(a, bz_str_of(small, (size_t)n));
    p = bz_arena_alloc(a, (size_t)n + 1, 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return bz_str_of(p, (size_t)n);
}

struct bz_arena_mark bz_arena_mark(const struct bz_arena *a)
{
    return (struct bz_arena_mark){a->top, a->big, a->at};
}

void bz_arena_rewind(struct bz_arena *a, struct bz_arena_mark mark)
{
    while (a->big != mark.big) {
        BZ_ASSERT(a->big); /* else the mark is void or of another arena */
        a->big = drop_block(a->big);
    }
    while (a->top != mark.top) {
        BZ_ASSERT(a->top);
        a->top = drop_block(a->top);
    }
    a->at = mark.at;
    a->end = a->top ? a->top->end : NULL;
    if (a->top)
        ASAN_POISON_MEMORY_REGION(a->at, (size_t)(a->end - a->at));
}

void bz_arena_reset(struct bz_arena *a)
{
    struct bz_arena_block *first = a->top;

    if (first) {
        while (first->below)
            first = first->below;
        bz_arena_rewind(a, (struct bz_arena_mark){first, NULL, first->bytes});
    } else {
        bz_arena_rewind(a, (struct bz_arena_mark){0});
    }
}

void bz_arena_release(struct bz_arena *a)
{
    bz_arena_rewind(a, (struct bz_arena_mark){0});
}

struct bz_arena_stats bz_arena_stats(const struct bz_arena *a)
{
    struct bz_arena_stats stats = {0};
    const struct bz_arena_block *block;

    for (block = a->big; block; block = block->below) {
        stats.used += (size_t)(block->end - block->bytes);
        stats.held += (size_t)(block->end - (const char *)block);
    }
    for (block = a->top; block; block = block->below) {
        const char *at = block == a->top ? a->at : block->full;

        stats.used += (size_t)(at - block->bytes);
        stats.held += (size_t)(block->end - (const char *)block);
    }
    return stats;
}
