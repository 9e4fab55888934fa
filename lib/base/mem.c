#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static BZ_NORETURN BZ_NOINLINE void out_of_memory(size_t n)
{
    fprintf(stderr, "bitzel: out of memory (%zu bytes)\n", n);
    abort();
}

static void *checked(void *p, size_t n)
{
    if (BZ_UNLIKELY(!p && n))
        out_of_memory(n);
    return p;
}

/* No object is larger than PTRDIFF_MAX. Saying so here, not in malloc, keeps what
 * happens the same under the sanitizers, which have their own idea of it. */
static size_t sane(size_t n)
{
    if (BZ_UNLIKELY(n > PTRDIFF_MAX))
        out_of_memory(n);
    return n;
}

static size_t product(size_t n, size_t size)
{
    size_t bytes;

    return sane(__builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
}

static size_t sum(size_t a, size_t b)
{
    size_t bytes;

    return sane(__builtin_add_overflow(a, b, &bytes) ? SIZE_MAX : bytes);
}

void *bz_mem_alloc(size_t n)
{
    return checked(malloc(sane(n)), n);
}

void *bz_mem_zalloc(size_t n)
{
    return checked(calloc(1, sane(n)), n);
}

void *bz_mem_array(size_t n, size_t size)
{
    return bz_mem_zalloc(product(n, size));
}

void *bz_mem_resize(void *p, size_t n, size_t size)
{
    size_t bytes = product(n, size);

    /* realloc(p, 0) may free; keep one byte so that ownership never changes. */
    return checked(realloc(p, bytes ? bytes : 1), bytes);
}

void *bz_mem_padded(size_t n)
{
    size_t whole = sum(n, BZ_CACHELINE - 1) / BZ_CACHELINE * BZ_CACHELINE;
    void *p = checked(aligned_alloc(BZ_CACHELINE, whole), whole);

    memset(p, 0, whole);
    return p;
}

char *bz_mem_dup(const char *s, size_t n)
{
    char *p = bz_mem_alloc(sum(n, 1));

    if (n)
        memcpy(p, s, n);
    p[n] = '\0';
    return p;
}
