#include "base/str.h"

#include <limits.h>

int bz_str_width(struct bz_str s)
{
    return s.n > INT_MAX ? INT_MAX : (int)s.n;
}

int bz_str_cmp(struct bz_str a, struct bz_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;

    if (order != 0)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}

bool bz_str_ends(struct bz_str s, struct bz_str suffix)
{
    return s.n >= suffix.n && bz_str_eq(bz_str_drop(s, s.n - suffix.n), suffix);
}

bool bz_str_cut_suffix(struct bz_str *s, struct bz_str suffix)
{
    if (!bz_str_ends(*s, suffix))
        return false;
    s->n -= suffix.n;
    return true;
}

/* How many bytes the multi-byte space at p has; 0 if there is none. These are
 * U+0085, U+00A0, U+1680, U+2000..200A, U+2028, U+2029, U+202F, U+205F, U+3000. */
static size_t wide_space(const unsigned char *p, size_t n)
{
    if (n >= 2 && p[0] == 0xc2)
        return p[1] == 0x85 || p[1] == 0xa0 ? 2 : 0;
    if (n < 3)
        return 0;
    switch (p[0] << 16 | p[1] << 8 | p[2]) {
    case 0xe19a80:
    case 0xe280a8:
    case 0xe280a9:
    case 0xe280af:
    case 0xe2819f:
    case 0xe38080:
        return 3;
    default:
        return p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0x80 && p[2] <= 0x8a ? 3 : 0;
    }
}

/* How many bytes the space at the start of s has; 0 if it does not start with one. */
static inline size_t space(struct bz_str s)
{
    unsigned char c;

    if (s.n == 0)
        return 0;
    c = (unsigned char)s.p[0];
    if (BZ_LIKELY(c < 0x80))
        return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    return wide_space((const unsigned char *)s.p, s.n);
}

struct bz_str bz_str_trim_start(struct bz_str s)
{
    size_t n;

    while ((n = space(s)) != 0)
        s = bz_str_drop(s, n);
    return s;
}

struct bz_str bz_str_trim_end(struct bz_str s)
{
    size_t n;

    do {
        /* No UTF-8 sequence is the end of another, so lengths cannot be confused. */
        for (n = 3; n > 0; n--) {
            if (n <= s.n && space(bz_str_drop(s, s.n - n)) == n)
                break;
        }
        s.n -= n;
    } while (n > 0);
    return s;
}

struct bz_str bz_str_trim(struct bz_str s)
{
    return bz_str_trim_end(bz_str_trim_start(s));
}

/* Up to this length a needle is found by its first byte: memchr is that much faster
 * than memmem, and comparing so few bytes at each place is no great loss. */
#define SHORT_NEEDLE 8

static const char *find_short(struct bz_str s, struct bz_str needle)
{
    const char *at = s.p, *end = s.p + s.n - needle.n + 1;

    while ((at = memchr(at, needle.p[0], (size_t)(end - at)))) {
        if (memcmp(at, needle.p, needle.n) == 0 || ++at == end)
            break;
    }
    return at == end ? NULL : at;
}

size_t bz_str_find(struct bz_str s, struct bz_str needle)
{
    const char *at;

    if (needle.n == 0)
        return 0;
    if (s.n < needle.n)
        return BZ_STR_NONE;
    if (needle.n <= SHORT_NEEDLE)
        at = find_short(s, needle);
    else
        at = memmem(s.p, s.n, needle.p, needle.n);
    return at ? (size_t)(at - s.p) : BZ_STR_NONE;
}

size_t bz_str_rfind_byte(struct bz_str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : BZ_STR_NONE;
}

bool bz_str_next_word(struct bz_str *rest, struct bz_str *word)
{
    struct bz_str s = bz_str_trim_start(*rest);
    size_t n = 0;

    while (n < s.n && space(bz_str_drop(s, n)) == 0)
        n++;
    *word = bz_str_of(s.p, n);
    *rest = bz_str_drop(s, n);
    return n > 0;
}

bool bz_str_next_part(struct bz_str *rest, char sep, struct bz_str *part)
{
    struct bz_str s = *rest;

    if (!s.p)
        return false;
    bz_str_cut(s, sep, part, rest);
    return true;
}

/* The value of a digit in base 16 or less; 255 for any other byte. */
static unsigned digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 255;
}

int bz_str_parse_u64(struct bz_str s, unsigned base, uint64_t max, uint64_t *out,
                     struct bz_err *err)
{
    uint64_t value = 0;
    bool over = false;
    size_t i;

    BZ_ASSERT(base == 8 || base == 10 || base == 16);
    if (s.n == 0)
        return bz_fail(err, BZ_E_INVAL, "expected a number, found nothing");
    for (i = 0; i < s.n; i++) {
        unsigned d = digit(s.p[i]);

        if (d >= base)
            return bz_fail(err, BZ_E_INVAL, "not a number: '%.*s'", BZ_STR_ARG(s));
        /* Goes on after an overflow: what is not a number is never "too large". */
        over |= __builtin_mul_overflow(value, base, &value);
        over |= __builtin_add_overflow(value, d, &value);
    }
    if (over || value > max)
        return bz_fail(err, BZ_E_LIMIT, "number too large: '%.*s', at most %ju",
                       BZ_STR_ARG(s), (uintmax_t)max);
    *out = value;
    return 0;
}

static uint64_t load64(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static uint64_t load32(const char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

/* Every bit of the 128-bit product depends on many bits of both factors; folding its
 * halves keeps that in 64. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Odd and without a pattern: the fractions of the square roots of 2, 3 and 5. */
#define HASH_A UINT64_C(0x6a09e667f3bcc909)
#define HASH_B UINT64_C(0xbb67ae8584caa73b)
#define HASH_C UINT64_C(0x3c6ef372fe94f82b)

uint64_t bz_str_hash(struct bz_str s)
{
    uint64_t h = HASH_A;
    uint64_t a = 0, b = 0;
    const char *p = s.p;
    size_t n = s.n;

    for (; n > 16; n -= 16, p += 16)
        h = mix(load64(p) ^ HASH_B, load64(p + 8) ^ h);
    /* The rest as two words, which overlap when it is shorter than both. */
    if (n >= 8) {
        a = load64(p);
        b = load64(p + n - 8);
    } else if (n >= 4) {
        a = load32(p);
        b = load32(p + n - 4);
    } else if (n > 0) {
        a = (uint64_t)(unsigned char)p[0] << 16 |
            (uint64_t)(unsigned char)p[n / 2] << 8 | (unsigned char)p[n - 1];
    }
    /* The length comes last, where no byte of the text can make up for it. */
    return mix(mix(a ^ HASH_B, b ^ h), HASH_C ^ s.n);
}

bool bz_str_has_word(struct bz_str list, struct bz_str word)
{
    struct bz_str w;

    while (bz_str_next_word(&list, &w))
        if (bz_str_eq(w, word))
            return true;
    return false;
}
