#include "query/query_glob.h"

bool bz_query_glob_is(struct bz_str pattern)
{
    for (size_t i = 0; i < pattern.n; i++)
        if (pattern.p[i] == '*' || pattern.p[i] == '?' || pattern.p[i] == '[')
            return true;
    return false;
}

/* Where the set that begins at `at` ends, its ']'; BZ_STR_NONE if it does not. */
static size_t set_end(struct bz_str p, size_t at)
{
    size_t i = at + 1;

    if (i < p.n && p.p[i] == '!')
        i++;
    for (i++; i < p.n; i++) /* a ']' that comes first is a member */
        if (p.p[i] == ']')
            return i;
    return BZ_STR_NONE;
}

static bool in_set(struct bz_str p, size_t at, size_t end, unsigned char c)
{
    size_t i = at + 1;
    bool other = p.p[i] == '!', found = false;

    for (i += other; i < end; i++) {
        unsigned char low = (unsigned char)p.p[i], high = low;

        if (i + 2 < end && p.p[i + 1] == '-') {
            high = (unsigned char)p.p[i + 2];
            i += 2;
        }
        found |= low <= c && c <= high;
    }
    return found != other;
}

/* Whether the element at *at stands for c; *at goes behind it. */
static bool takes(struct bz_str p, size_t *at, char c)
{
    size_t i = *at, end;

    *at = i + 1;
    if (p.p[i] == '?')
        return true;
    if (p.p[i] != '[')
        return p.p[i] == c;
    end = set_end(p, i);
    if (end == BZ_STR_NONE)
        return c == '[';
    *at = end + 1;
    return in_set(p, i, end, (unsigned char)c);
}

bool bz_query_glob_match(struct bz_str pattern, struct bz_str text)
{
    size_t p = 0, t = 0, star = BZ_STR_NONE, from = 0;

    while (t < text.n) {
        size_t next = p;

        if (p < pattern.n && pattern.p[p] == '*') {
            star = ++p;
            from = t;
        } else if (p < pattern.n && takes(pattern, &next, text.p[t])) {
            p = next;
            t++;
        } else if (star != BZ_STR_NONE) {
            p = star; /* the last star takes one more */
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}
