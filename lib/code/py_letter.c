#include "code/py_letter.h"

/* Code points that are no part of a name, by ranges. */
static const struct {
    uint32_t from, to;
} strangers[] = {
    {0x80,    0xa9   },
    {0xab,    0xb4   },
    {0xb6,    0xb6   },
    {0xb8,    0xb9   },
    {0xbb,    0xbf   },
    {0xd7,    0xd7   },
    {0xf7,    0xf7   },
    {0x2000,  0x203e },
    {0x2041,  0x2053 },
    {0x2055,  0x2070 },
    {0x20a0,  0x20cf },
    {0x2190,  0x2bff },
    {0x3000,  0x3004 },
    {0x3008,  0x3020 },
    {0xd800,  0xf8ff },
    {0xfeff,  0xfeff },
    {0xfff0,  0xffff },
    {0x1f000, 0x1faff},
};

/* The character at *p, which moves behind it; false if it is not UTF-8. */
static bool decode(const unsigned char **p, const unsigned char *end, uint32_t *out)
{
    unsigned char c = *(*p)++;
    unsigned more = c < 0x80 ? 0 : c < 0xc2 ? 9 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    uint32_t value = more == 0 ? c : c & (0x3fU >> more);

    if (c > 0xf4 || more > (size_t)(end - *p))
        return false;
    for (; more > 0; more--) {
        if ((**p & 0xc0) != 0x80)
            return false;
        value = value << 6 | (*(*p)++ & 0x3fU);
    }
    *out = value;
    return true;
}

bool bz_py_letter_may_name(struct bz_str name)
{
    const unsigned char *p = (const unsigned char *)name.p, *end = p + name.n;
    uint32_t c;
    size_t i;

    while (p < end) {
        if (!decode(&p, end, &c))
            return false;
        for (i = 0; i < BZ_COUNTOF(strangers); i++)
            if (c >= strangers[i].from && c <= strangers[i].to)
                return false;
    }
    return true;
}
