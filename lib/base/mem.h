/* mem.h - allocate or stop.
 *
 * For sizes the program itself decides, running out of memory cannot be handled
 * sensibly, so these do not return NULL. A size that input decides is checked against
 * a limit before it gets here. Freed with free(3).
 */
#ifndef BZ_BASE_MEM_H
#define BZ_BASE_MEM_H

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"

void *bz_mem_alloc(size_t n) BZ_MUST_CHECK;
void *bz_mem_zalloc(size_t n) BZ_MUST_CHECK;

/* An array of n elements; the product is checked for overflow. */
void *bz_mem_array(size_t n, size_t size) BZ_MUST_CHECK;           /* zeroed */
void *bz_mem_resize(void *p, size_t n, size_t size) BZ_MUST_CHECK; /* not zeroed */

/* Zeroed and aligned to BZ_CACHELINE, for structs with BZ_PADDED members. */
void *bz_mem_padded(size_t n) BZ_MUST_CHECK;

/* n bytes of s, terminated. s may be NULL if n is 0. */
char *bz_mem_dup(const char *s, size_t n) BZ_MUST_CHECK;

/* For BZ_CLEANUP on any pointer: frees what the variable points to. */
static inline void bz_mem_freep(void *pp)
{
    void *p;

    memcpy(&p, pp, sizeof(p)); /* not *(void **)pp: the variable has another type */
    free(p);
}

#endif
