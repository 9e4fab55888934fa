#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A key in the map is always {p, n} with p not NULL, which is left to mark a hole: the
 * empty slice gets a pointer, and a number is {number_key, number}. */
static const char number_key[] = "number";
static const char empty_key[] = "";

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "a number fits the key's length");

struct bz_map_slot {
    uint32_t tag; /* of the hash; its low bits are the slot where a search starts */
    uint32_t ref; /* the entry's index + 1; 0 if the slot is free */
};

#define MAP_FIRST 8
#define MAP_MAX ((uint32_t)1 << 31)

static uint32_t capacity(uint32_t nslots)
{
    return nslots / 8 * 5;
}

static struct bz_str slice_key(struct bz_str key)
{
    return key.n ? key : bz_str_of(empty_key, 0);
}

static struct bz_str number(uint64_t n)
{
    return bz_str_of(number_key, n);
}

/* Multiplying carries low bits upwards, shifting brings high ones down. One round is
 * not enough, and to shift by 32 first would cancel out a pair of equal numbers. */
uint64_t bz_map_hash_u64(uint64_t key)
{
    key ^= key >> 33;
    key *= UINT64_C(0x9e3779b97f4a7c15); /* of the golden ratio, odd */
    key ^= key >> 29;
    key *= UINT64_C(0xbb67ae8584caa73b); /* of the square root of 3, odd */
    return key ^ key >> 32;
}

static uint32_t tag_of(struct bz_str key)
{
    return (uint32_t)(key.p == number_key ? bz_map_hash_u64(key.n) : bz_str_hash(key));
}

/* The same address is the same key: always so for numbers, of which none gets as far
 * as memcmp, and often for interned text. */
static bool same(struct bz_str a, struct bz_str b)
{
    return a.n == b.n && (a.p == b.p || memcmp(a.p, b.p, a.n) == 0);
}

/* The slot of the key, or the free one at which the search ended. There is always a
 * free slot. */
static struct bz_map_slot *find(const struct bz_map *m, struct bz_str key, uint32_t tag)
{
    uint32_t mask = m->nslots - 1;
    uint32_t i = tag & mask;

    for (;; i = (i + 1) & mask) {
        struct bz_map_slot *slot = &m->slots[i];

        if (!slot->ref)
            return slot;
        if (slot->tag == tag && same(m->entries[slot->ref - 1].key, key))
            return slot;
    }
}

static void insert_slot(struct bz_map_slot *slots, uint32_t nslots,
                        struct bz_map_slot slot)
{
    uint32_t mask = nslots - 1;
    uint32_t i = slot.tag & mask;

    while (slots[i].ref)
        i = (i + 1) & mask;
    slots[i] = slot;
}

/* Entries keep their places, holes included, so only the slots are spread anew, and
 * the tags suffice for that: no key is read. */
static void resize(struct bz_map *m, uint32_t nslots)
{
    struct bz_map_slot *slots = bz_mem_array(nslots, sizeof(*slots));
    uint32_t i;

    for (i = 0; i < m->nslots; i++) {
        if (m->slots[i].ref)
            insert_slot(slots, nslots, m->slots[i]);
    }
    free(m->slots);
    m->slots = slots;
    m->nslots = nslots;
    m->entries = bz_mem_resize(m->entries, capacity(nslots), sizeof(*m->entries));
}

/* Closes the holes and fills the slots anew. */
static void compact(struct bz_map *m)
{
    uint32_t i, to = 0;

    memset(m->slots, 0, m->nslots * sizeof(*m->slots));
    for (i = 0; i < m->top; i++) {
        if (!m->entries[i].key.p)
            continue;
        m->entries[to] = m->entries[i];
        insert_slot(m->slots, m->nslots,
                    (struct bz_map_slot){tag_of(m->entries[to].key), to + 1});
        to++;
    }
    m->top = to;
}

/* Each costs what it moves, and happens only after as many additions or removals. */
static BZ_NOINLINE void make_room(struct bz_map *m)
{
    BZ_ASSERT(m->nslots < MAP_MAX);
    if (m->nslots == 0)
        resize(m, MAP_FIRST);
    else if (m->len <= m->top / 2)
        compact(m);
    else
        resize(m, m->nslots * 2);
}

static inline struct bz_map_entry *get(const struct bz_map *m, struct bz_str key)
{
    struct bz_map_slot *slot;

    if (m->len == 0)
        return NULL;
    slot = find(m, key, tag_of(key));
    return slot->ref ? &m->entries[slot->ref - 1] : NULL;
}

static inline struct bz_map_entry *put(struct bz_map *m, struct bz_str key)
{
    uint32_t tag = tag_of(key);
    struct bz_map_slot *slot = m->nslots ? find(m, key, tag) : NULL;
    struct bz_map_entry *e;

    if (slot && slot->ref)
        return &m->entries[slot->ref - 1];
    if (BZ_UNLIKELY(!slot || m->top == capacity(m->nslots))) {
        make_room(m);
        slot = find(m, key, tag);
    }
    e = &m->entries[m->top++];
    m->len++;
    *slot = (struct bz_map_slot){tag, m->top};
    *e = (struct bz_map_entry){.key = key};
    return e;
}

/* Frees slot i and moves those after it back, each as near to where its search starts
 * as it can be, so that no search has to step over freed slots. */
static void free_slot(struct bz_map *m, uint32_t i)
{
    uint32_t mask = m->nslots - 1;
    uint32_t j = i;

    for (;;) {
        j = (j + 1) & mask;
        if (!m->slots[j].ref)
            break;
        /* Slot j may fill i unless its search starts after i. */
        if (((j - m->slots[j].tag) & mask) >= ((j - i) & mask)) {
            m->slots[i] = m->slots[j];
            i = j;
        }
    }
    m->slots[i] = (struct bz_map_slot){0};
}

static inline bool discard(struct bz_map *m, struct bz_str key)
{
    struct bz_map_slot *slot;

    if (m->len == 0)
        return false;
    slot = find(m, key, tag_of(key));
    if (!slot->ref)
        return false;
    m->entries[slot->ref - 1].key.p = NULL;
    m->len--;
    free_slot(m, (uint32_t)(slot - m->slots));
    return true;
}

struct bz_map_entry *bz_map_get(const struct bz_map *m, struct bz_str key)
{
    return get(m, slice_key(key));
}

struct bz_map_entry *bz_map_get_u64(const struct bz_map *m, uint64_t key)
{
    return get(m, number(key));
}

struct bz_map_entry *bz_map_put(struct bz_map *m, struct bz_str key)
{
    return put(m, slice_key(key));
}

struct bz_map_entry *bz_map_put_u64(struct bz_map *m, uint64_t key)
{
    return put(m, number(key));
}

bool bz_map_remove(struct bz_map *m, struct bz_str key)
{
    return discard(m, slice_key(key));
}

bool bz_map_remove_u64(struct bz_map *m, uint64_t key)
{
    return discard(m, number(key));
}

struct bz_map_entry *bz_map_next(const struct bz_map *m,
                                 const struct bz_map_entry *prev)
{
    uint32_t i = prev ? (uint32_t)(prev - m->entries) + 1 : 0;

    while (i < m->top && !m->entries[i].key.p)
        i++;
    return i < m->top ? &m->entries[i] : NULL;
}

void bz_map_reserve(struct bz_map *m, size_t n)
{
    uint32_t nslots = m->nslots ? m->nslots : MAP_FIRST;
    size_t holes = m->top - m->len;

    BZ_ASSERT(n <= capacity(MAP_MAX) - holes);
    while (capacity(nslots) < n + holes)
        nslots *= 2;
    if (nslots > m->nslots)
        resize(m, nslots);
}

void bz_map_clear(struct bz_map *m)
{
    if (m->slots)
        memset(m->slots, 0, m->nslots * sizeof(*m->slots));
    m->top = 0;
    m->len = 0;
}

void bz_map_release(struct bz_map *m)
{
    free(m->entries);
    free(m->slots);
    *m = (struct bz_map){0};
}
