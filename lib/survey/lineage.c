#include "survey/lineage.h"

enum { LANES = 4 };

struct sum {
    uint64_t lane[LANES];
};

/* A number that looks like chance, and another one for every other x (the finaliser of
 * SplitMix64). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9U;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

/* Adds a thing of which there are a number that says what it is and 32 bytes. The
 * order in which things are added does not matter. */
static void add(struct sum *s, uint64_t what, const uint8_t bytes[32])
{
    uint64_t before = 0;

    for (size_t i = 0; i < LANES; i++) {
        uint64_t x;

        memcpy(&x, bytes + 8 * i, sizeof(x));
        before = mix(before ^ mix(x + i) ^ what);
        s->lane[i] += before;
    }
}

static void add_text(struct sum *s, uint64_t what, struct bz_str text)
{
    static const uint8_t none[32];

    add(s, mix(what) ^ (text.p ? bz_str_hash(text) : 0), none);
}

/* False if its content should be known and is not. */
static bool add_look(struct sum *s, const struct bz_library_look *look)
{
    static const uint8_t none[32];
    uint64_t what = bz_str_hash(look->path) ^
                    mix(look->stamp.kind + (look->read ? (uint64_t)16 : 0));

    if (!look->read || look->stamp.kind == BZ_STAMP_ABSENT) {
        add(s, what, none);
        return true;
    }
    add(s, what, look->content);
    return memcmp(look->content, none, sizeof(none)) != 0;
}

void bz_lineage_of(struct bz_library *lib, const struct bz_meta *m,
                   const struct bz_facts *facts, uint8_t out[32])
{
    struct sum s = {{0}};
    bool known = true;

    add_text(&s, 1, BZ_STR(BZ_SURVEY_PROGRAM));
    add_text(&s, 2, facts->path);
    add_text(&s, 3, facts->variant);
    add_text(&s, 4, facts->layer);
    add_text(&s, 5, facts->appends);
    for (size_t i = 0; i < m->looked_at.len && known; i++) {
        const struct bz_library_look *look = bz_library_look(lib, m->looked_at.at[i]);

        if (look) /* else it is too long for anything to be there */
            known = add_look(&s, look);
    }
    if (!known)
        s = (struct sum){{0}};
    memcpy(out, s.lane, sizeof(s.lane));
}

void bz_lineage_key(const uint8_t lineage[32], const uint8_t config[32],
                    uint8_t out[32])
{
    struct sum s = {{0}};

    add(&s, 6, lineage);
    add(&s, 7, config);
    memcpy(out, s.lane, sizeof(s.lane));
}
