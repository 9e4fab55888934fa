/* str.h - borrowed slices of bytes.
 *
 * A slice points into memory that somebody else owns and keeps alive; it is not
 * terminated and may contain any byte. {0} is an empty slice and equals "". Slices are
 * passed by value. Functions here are pure and may be called from any thread.
 *
 * White space is what Python's str.split() and str.strip() take for it, including the
 * separators 0x1c to 0x1f and the Unicode spaces in UTF-8: lists in recipes are defined
 * by those two functions.
 */
#ifndef BZ_BASE_STR_H
#define BZ_BASE_STR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

struct bz_str {
    const char *p; /* may be NULL if n is 0 */
    size_t n;
};

/* A string literal, also in the initialiser of a static table. */
#define BZ_STR(literal) ((struct bz_str){"" literal, sizeof(literal) - 1})

/* For printf: `"name %.*s", BZ_STR_ARG(name)`. Evaluates s repeatedly. */
#define BZ_STR_ARG(s) bz_str_width(s), ((s).p ? (s).p : "")
int bz_str_width(struct bz_str s);

/* What the finding functions say when there is nothing. */
#define BZ_STR_NONE SIZE_MAX

static inline struct bz_str bz_str_from(const char *cstr)
{
    return (struct bz_str){cstr, strlen(cstr)};
}

static inline struct bz_str bz_str_of(const char *p, size_t n)
{
    return (struct bz_str){p, n};
}

static inline bool bz_str_eq(struct bz_str a, struct bz_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* By bytes as unsigned numbers, a prefix first: the same order in every locale. */
int bz_str_cmp(struct bz_str a, struct bz_str b);

/* Without its first n bytes. NULL + 0 is undefined in C, so an empty slice stays where
 * it is. */
static inline struct bz_str bz_str_drop(struct bz_str s, size_t n)
{
    return n ? bz_str_of(s.p + n, s.n - n) : s;
}

/* The bytes from `from` up to but without `to`; from <= to <= s.n. */
static inline struct bz_str bz_str_sub(struct bz_str s, size_t from, size_t to)
{
    BZ_ASSERT(from <= to && to <= s.n);
    s.n = to;
    return bz_str_drop(s, from);
}

static inline bool bz_str_starts(struct bz_str s, struct bz_str prefix)
{
    return s.n >= prefix.n && bz_str_eq(bz_str_of(s.p, prefix.n), prefix);
}

bool bz_str_ends(struct bz_str s, struct bz_str suffix);

/* True if *s began (ended) with it, and then it is cut off. */
static inline bool bz_str_cut_prefix(struct bz_str *s, struct bz_str prefix)
{
    if (!bz_str_starts(*s, prefix))
        return false;
    *s = bz_str_drop(*s, prefix.n);
    return true;
}

bool bz_str_cut_suffix(struct bz_str *s, struct bz_str suffix);

struct bz_str bz_str_trim(struct bz_str s); /* white space at both ends */
struct bz_str bz_str_trim_start(struct bz_str s);
struct bz_str bz_str_trim_end(struct bz_str s);

/* Where it first (last) occurs, or BZ_STR_NONE. An empty needle is found at 0. */
size_t bz_str_find(struct bz_str s, struct bz_str needle);
static inline size_t bz_str_find_byte(struct bz_str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : BZ_STR_NONE;
}

size_t bz_str_rfind_byte(struct bz_str s, char c);

/* Splits at the first `sep`, which goes to neither side. Without one, false, and *head
 * is all of s and *tail is empty. */
static inline bool bz_str_cut(struct bz_str s, char sep, struct bz_str *head,
                              struct bz_str *tail)
{
    size_t at = bz_str_find_byte(s, sep);

    if (at == BZ_STR_NONE) {
        *head = s;
        *tail = (struct bz_str){0};
        return false;
    }
    *head = bz_str_of(s.p, at);
    *tail = bz_str_drop(s, at + 1);
    return true;
}

/* Takes the next word off *rest; words are separated by white space and never empty.
 * `while (bz_str_next_word(&rest, &word))` */
bool bz_str_next_word(struct bz_str *rest, struct bz_str *word);

/* Whether one of its words is `word`. */
bool bz_str_has_word(struct bz_str list, struct bz_str word);

/* Takes the next part off *rest. Parts may be empty, and n separators make n + 1 parts:
 * "" has one. After the last, *rest is {0}; a slice whose p is NULL has no parts. */
bool bz_str_next_part(struct bz_str *rest, char sep, struct bz_str *part);

/* All of s as a number in base 8, 10 or 16: digits only, no sign, no space, no prefix.
 * BZ_E_INVAL if it is none, BZ_E_LIMIT if it is above max. */
int bz_str_parse_u64(struct bz_str s, unsigned base, uint64_t max, uint64_t *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* For tables in memory: well mixed in every bit, but not stable between versions of
 * the program and not proof against somebody who searches for collisions. */
uint64_t bz_str_hash(struct bz_str s);

#endif
