#include "codec/utf8.h"

#include <string.h>

/* A first byte decides the length and the range of the second byte, which is where
 * overlong forms, surrogates and what lies above U+10FFFF are told apart; all further
 * bytes are 80..bf. */
static const struct lead {
    uint8_t first, last; /* the lead bytes of this row */
    uint8_t len;
    uint8_t low, high; /* the second byte */
} leads[] = {
    {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f},
    {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static const struct lead *lead_of(uint8_t c)
{
    for (size_t i = 0; i < BZ_COUNTOF(leads); i++)
        if (c >= leads[i].first && c <= leads[i].last)
            return &leads[i];
    return NULL;
}

size_t bz_utf8_len(const char *p, size_t n)
{
    const uint8_t *u = (const uint8_t *)p;
    const struct lead *lead;

    if (u[0] < 0x80)
        return 1;
    lead = lead_of(u[0]);
    if (!lead || n < lead->len || u[1] < lead->low || u[1] > lead->high)
        return 0;
    for (size_t i = 2; i < lead->len; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    return lead->len;
}

/* How many bytes at the start are ASCII: most are, so eight at a time. */
static size_t ascii_len(const char *p, size_t n)
{
    size_t i = 0;
    uint64_t word;

    for (; n - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, p + i, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < n && (uint8_t)p[i] < 0x80)
        i++;
    return i;
}

size_t bz_utf8_valid(struct bz_str s)
{
    size_t i = 0;

    for (;;) {
        size_t len;

        if (i < s.n)
            i += ascii_len(s.p + i, s.n - i);
        if (i == s.n)
            break;
        len = bz_utf8_len(s.p + i, s.n - i);

        if (len == 0)
            break;
        i += len;
    }
    return i;
}
