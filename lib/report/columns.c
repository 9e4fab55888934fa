#include "report/columns.h"

#include "codec/utf8.h"

struct range {
    uint32_t first, last;
};

/* Blocks rather than characters: one that is wrong by a column is rare, and lines are
 * cut one column short anyway. */
static const struct range wide[] = {
    {0x1100,  0x115f }, /* Hangul that begins a syllable */
    {0x231a,  0x231b },
    {0x23e9,  0x23ec },
    {0x2614,  0x2615 },
    {0x26a1,  0x26a1 },
    {0x2705,  0x2705 },
    {0x274c,  0x274c },
    {0x2753,  0x2755 },
    {0x2e80,  0x303e }, /* radicals, punctuation */
    {0x3041,  0x33ff }, /* kana, Bopomofo, squared words */
    {0x3400,  0x4dbf }, /* Han */
    {0x4e00,  0x9fff },
    {0xa000,  0xa4cf }, /* Yi */
    {0xa960,  0xa97f },
    {0xac00,  0xd7a3 }, /* Hangul */
    {0xf900,  0xfaff },
    {0xfe30,  0xfe6f },
    {0xff00,  0xff60 }, /* full-width forms */
    {0xffe0,  0xffe6 },
    {0x16fe0, 0x18aff}, /* Tangut, Khitan */
    {0x1b000, 0x1b2ff},
    {0x1f300, 0x1f64f}, /* pictures */
    {0x1f680, 0x1f6ff},
    {0x1f900, 0x1faff},
    {0x20000, 0x3fffd}, /* more Han */
};

static const struct range narrowest[] = {
    {0x300,   0x36f  }, /* accents */
    {0x483,   0x489  },
    {0x591,   0x5bd  }, /* Hebrew points */
    {0x610,   0x61a  }, /* Arabic marks */
    {0x64b,   0x65f  },
    {0x93c,   0x93c  },
    {0x941,   0x948  },
    {0x94d,   0x94d  },
    {0xe31,   0xe31  }, /* Thai */
    {0xe34,   0xe3a  },
    {0xe47,   0xe4e  },
    {0x1160,  0x11ff }, /* Hangul that ends a syllable
  */
    {0x1ab0,  0x1aff },
    {0x1dc0,  0x1dff },
    {0x200b,  0x200d }, /* joiners */
    {0x20d0,  0x20ff },
    {0xfe00,  0xfe0f }, /* variants */
    {0xfe20,  0xfe2f },
    {0xfeff,  0xfeff },
    {0xe0100, 0xe01ef},
};

/* Those that change the direction of a line are no better than control characters. */
static const struct range unseen[] = {
    {0x0,    0x1f  },
    {0x7f,   0x9f  },
    {0x200e, 0x200f},
    {0x2028, 0x202e},
    {0x2060, 0x206f},
};

static bool is_in(uint32_t c, const struct range *r, size_t n)
{
    size_t low = 0;

    while (low < n) {
        size_t mid = low + (n - low) / 2;

        if (c > r[mid].last)
            low = mid + 1;
        else if (c < r[mid].first)
            n = mid;
        else
            return true;
    }
    return false;
}

unsigned bz_columns_of_char(uint32_t c)
{
    if (c < 0x300)
        return 1;
    if (is_in(c, narrowest, BZ_COUNTOF(narrowest)))
        return 0;
    return is_in(c, wide, BZ_COUNTOF(wide)) ? 2 : 1;
}

static uint32_t decode(const char *p, size_t n)
{
    static const uint32_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)p[0] & masks[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

/* One character as it is shown: its bytes, taken off *rest, and its columns. */
static struct bz_str next_char(struct bz_str *rest, bool utf8, unsigned *columns)
{
    size_t n = bz_utf8_len(rest->p, rest->n);
    uint32_t c = n ? decode(rest->p, n) : 0;
    struct bz_str shown = bz_str_of(rest->p, n);

    *rest = bz_str_drop(*rest, n ? n : 1);
    *columns = bz_columns_of_char(c);
    if (c == '\t') {
        shown = BZ_STR(" ");
    } else if ((!utf8 && c > 0x7f) || is_in(c, unseen, BZ_COUNTOF(unseen))) {
        shown = BZ_STR("?");
        *columns = 1;
    }
    return shown;
}

unsigned bz_columns_of(struct bz_str text, bool utf8)
{
    unsigned sum = 0;

    while (text.n > 0) {
        unsigned columns;

        next_char(&text, utf8, &columns);
        sum += columns;
    }
    return sum;
}

unsigned bz_columns_add(struct bz_buf *out, struct bz_str text, unsigned room,
                        bool utf8)
{
    size_t keep = out->len; /* where the mark would go */
    unsigned used = 0, kept = 0;

    if (room == 0)
        return 0;
    while (text.n > 0) {
        unsigned columns;
        struct bz_str c = next_char(&text, utf8, &columns);

        if (used + columns > room) {
            bz_buf_truncate(out, keep);
            bz_buf_add_str(out, utf8 ? BZ_STR("\xe2\x80\xa6") : BZ_STR("~"));
            return kept + 1;
        }
        bz_buf_add_str(out, c);
        used += columns;
        if (used < room) {
            keep = out->len;
            kept = used;
        }
    }
    return used;
}
