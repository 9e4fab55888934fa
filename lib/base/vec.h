/* vec.h - a growing array of one type.
 *
 *     struct bz_ids BZ_VEC(uint32_t);             a named type, for headers
 *     BZ_CLEANUP(bz_vec_release) struct bz_ids ids = {0};
 *
 *     BZ_VEC_PUSH(&ids, 7);
 *     for (i = 0; i < ids.len; i++)
 *         use(ids.at[i]);
 *
 * {0} is empty. at[0] to at[len - 1] may be read and written directly, and len lowered.
 * Growing moves the elements, so pointers to them last until the next push or reserve.
 * The macros are expressions, check types, and may evaluate v more than once; index
 * and value are evaluated once. A vector belongs to one thread at a time.
 */
#ifndef BZ_BASE_VEC_H
#define BZ_BASE_VEC_H

#include "base/err.h"

#define BZ_VEC(type)                                                                   \
    {                                                                                  \
        type *at; /* NOLINT(bugprone-macro-parentheses): a type cannot have them */    \
        size_t len, cap;                                                               \
    }

/* Appends a value, which must not itself change v. A braced literal may be given as
 * it is: BZ_VEC_PUSH(&edges, (struct edge){1, 2}). */
#define BZ_VEC_PUSH(v, ...)                                                            \
    ((v)->at = bz_vec_room((v)->at, (v)->len, &(v)->cap, sizeof(*(v)->at)),            \
     (v)->at[(v)->len] = (__VA_ARGS__), (void)(v)->len++)

/* Removes the last element and evaluates to it; v is not empty. */
#define BZ_VEC_POP(v) ((v)->at[bz_vec_pop(&(v)->len)])

/* Element i, or the last one, asserting that it exists. */
#define BZ_VEC_AT(v, i) ((v)->at[bz_vec_index((i), (v)->len)])
#define BZ_VEC_LAST(v) ((v)->at[bz_vec_index((v)->len - 1, (v)->len)])

/* Makes room for `n` elements in all, so that pushing up to there moves nothing. */
#define BZ_VEC_RESERVE(v, n)                                                           \
    ((void)((v)->at = bz_vec_reserve((v)->at, (n), &(v)->cap, sizeof(*(v)->at))))

#define BZ_VEC_CLEAR(v) ((void)((v)->len = 0))

/* Sorts; elements that compare equal keep their order, on every libc. cmp is as for
 * qsort(3): it gets pointers to elements. */
#define BZ_VEC_SORT(v, cmp) bz_vec_sort((v)->at, (v)->len, sizeof(*(v)->at), (cmp))

/* Frees the elements of the vector that v points to, which is then empty. */
void bz_vec_release(void *v);

/* The rest serves the macros. */
typedef int (*bz_vec_cmp_fn)(const void *a, const void *b);

void bz_vec_sort(void *at, size_t len, size_t size, bz_vec_cmp_fn cmp);
void *bz_vec_reserve(void *at, size_t n, size_t *cap, size_t size) BZ_MUST_CHECK;
void *bz_vec_grow(void *at, size_t *cap, size_t size) BZ_MUST_CHECK;

static inline void *bz_vec_room(void *at, size_t len, size_t *cap, size_t size)
{
    return BZ_LIKELY(len < *cap) ? at : bz_vec_grow(at, cap, size);
}

static inline size_t bz_vec_pop(size_t *len)
{
    BZ_ASSERT(*len > 0);
    return --*len;
}

static inline size_t bz_vec_index(size_t i, size_t len)
{
    BZ_ASSERT(i < len);
    return i;
}

#endif
