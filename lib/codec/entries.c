#include "codec/entries.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_lock.h"
#include "os/path.h"

enum {
    ORDER = 0x01020304,
    TRIES = 5,               /* to lock a file that others replace */
    SMALL = 64 << 10,        /* bytes: not worth a rewrite */
    LARGE = 1 << 20,         /* bytes: worth one */
    UNINDEXED = 128,         /* entries: not worth an index */
    CHUNK_MIN = 64 << 10,    /* bytes */
    CHUNK_MAX = 1 << 20,     /* bytes, unless one entry has more */
    INDEX_KIND = 0x7ffffffe, /* the entries of this file itself */
    MARK_KIND = 0x7fffffff,
};

enum {
    READ = 1,
    UNREAD = 2
}; /* entries that are used: their sums were checked, or not */

static const char magic[8] = "bzentry2";

struct file_head {
    char magic[8];
    uint32_t order;
    uint32_t base; /* KiB that it had when it was rewritten */
    char tag[24];
    uint64_t sum; /* of the rest */
};

/* The bytes follow it, with zeros up to a multiple of 8. */
struct head {
    uint64_t sum;   /* of the rest of the head */
    uint64_t bytes; /* the sum of the bytes */
    uint64_t size;
    uint32_t kind;
    uint16_t age; /* rewrites since it was used */
    uint16_t gone;
    struct bz_entries_key key;
};

/* An index: this, where the entries of kept kinds are, and a hash table of the entries
 * before it, with linear probing. */
struct index_head {
    uint64_t dead;
    uint64_t nkept, nslots, n;
};

struct bz_entries_slot {
    uint64_t key; /* short */
    uint64_t at;  /* 0: empty */
};

/* The key of a mark, which is the last entry of the file. */
struct mark {
    uint64_t at, index; /* where itself is, and the last index; 0: there is none */
    uint64_t unused[2];
};

_Static_assert(sizeof(struct head) == 64, "there must be no holes");
_Static_assert(sizeof(struct file_head) == 48, "there must be no holes");
_Static_assert(sizeof(struct mark) == sizeof(struct bz_entries_key), "it is a key");

static uint64_t sum_of(const void *bytes, size_t n)
{
    return bz_str_hash(bz_str_of(bytes, n));
}

static uint64_t sum_head(const struct head *h)
{
    return sum_of((const char *)h + sizeof(h->sum), sizeof(*h) - sizeof(h->sum));
}

static size_t padded(uint64_t n)
{
    return (size_t)(n + 7) / 8 * 8;
}

static size_t whole_size(const struct head *h)
{
    return sizeof(*h) + padded(h->size);
}

static uint64_t short_key(uint32_t kind, const struct bz_entries_key *key)
{
    uint64_t x;

    memcpy(&x, key->b, sizeof(x));
    return x ^ (kind * UINT64_C(0x9e3779b97f4a7c15));
}

static bool is_own(uint32_t kind)
{
    return kind == INDEX_KIND || kind == MARK_KIND;
}

static void make_file_head(const char *tag, uint32_t base, struct file_head *out)
{
    *out = (struct file_head){.order = ORDER, .base = base};
    memcpy(out->magic, magic, sizeof(magic));
    memcpy(out->tag, tag, sizeof(out->tag));
    out->sum = sum_of(out, offsetof(struct file_head, sum));
}

/* ---- reading ---- */

/* False if there is no whole entry at this place. */
static bool head_at(const struct bz_entries *e, uint64_t at, struct head *out)
{
    if (at % 8 != 0 || at < sizeof(struct file_head) || at > e->mapped ||
        e->mapped - at < sizeof(*out))
        return false;
    memcpy(out, e->map + at, sizeof(*out));
    return out->sum == sum_head(out) && out->size <= e->mapped - at - sizeof(*out) &&
           whole_size(out) <= e->mapped - at;
}

/* The bytes of an entry with this head; false if they are damaged or it is gone. */
static bool bytes_of(const struct bz_entries *e, uint64_t at, const struct head *h,
                     struct bz_str *out)
{
    *out = bz_str_of(e->map + at + sizeof(*h), (size_t)h->size);
    return !h->gone && h->bytes == sum_of(out->p, out->n);
}

/* The slot of a key, or the empty one where it would be. */
static size_t slot_of(const struct bz_entries_slot *slots, size_t n, uint64_t key)
{
    size_t i = (size_t)bz_map_hash_u64(key) & (n - 1);

    for (size_t tries = 1; slots[i].at != 0 && slots[i].key != key && tries < n;
         tries++)
        i = (i + 1) & (n - 1);
    return i;
}

static uint64_t indexed_at(const struct bz_entries *e, uint64_t key)
{
    const struct bz_entries_slot *slot;

    if (e->nslots == 0)
        return 0;
    slot = &e->slots[slot_of(e->slots, e->nslots, key)];
    return slot->key == key ? slot->at : 0;
}

/* Where the last entry of a key is in the file; 0: there is none. */
static uint64_t locate(const struct bz_entries *e, uint64_t key)
{
    const struct bz_map_entry *it = bz_map_get_u64(&e->index, key);

    return it ? it->u : indexed_at(e, key);
}

static void enter(struct bz_entries *e, const struct head *h, uint64_t at)
{
    uint64_t key = short_key(h->kind, &h->key), old = locate(e, key);
    struct head before;

    if (old > 0 && head_at(e, old, &before))
        e->dead += whole_size(&before);
    bz_map_put_u64(&e->index, key)->u = at;
    if (h->kind & BZ_ENTRIES_KEPT)
        BZ_VEC_PUSH(&e->kept, at);
}

/* Reads the heads from a place on. Where there is none the next one is looked for. */
static void scan(struct bz_entries *e, uint64_t at)
{
    struct head h;

    e->size = at;
    for (; at < e->mapped && e->mapped - at >= sizeof(h); at += 8) {
        if (!head_at(e, at, &h))
            continue;
        e->damaged |= at != e->size;
        if (is_own(h.kind))
            e->dead += whole_size(&h);
        else if (!e->foreign || (h.kind & BZ_ENTRIES_KEPT))
            enter(e, &h, at);
        at += whole_size(&h);
        e->size = at;
        at -= 8;
    }
}

/* Reads the index at a place; false if it is none. */
static bool read_index(struct bz_entries *e, uint64_t at, uint64_t *end)
{
    struct index_head index;
    struct bz_str bytes;
    struct head h;

    if (!head_at(e, at, &h) || h.kind != INDEX_KIND || h.size < sizeof(index) ||
        !bytes_of(e, at, &h, &bytes))
        return false;
    memcpy(&index, bytes.p, sizeof(index));
    bytes = bz_str_drop(bytes, sizeof(index));
    if (index.nkept > bytes.n / sizeof(uint64_t) || index.nslots == 0 ||
        (index.nslots & (index.nslots - 1)) != 0 || index.n >= index.nslots)
        return false;
    for (size_t i = 0; i < index.nkept; i++) {
        uint64_t where;

        memcpy(&where, bytes.p + i * sizeof(where), sizeof(where));
        BZ_VEC_PUSH(&e->kept, where);
    }
    bytes = bz_str_drop(bytes, (size_t)index.nkept * sizeof(uint64_t));
    if (index.nslots != bytes.n / sizeof(struct bz_entries_slot)) {
        BZ_VEC_CLEAR(&e->kept);
        return false;
    }
    e->slots = (const void *)bytes.p;
    e->nslots = (size_t)index.nslots;
    e->indexed = (size_t)index.n;
    e->index_at = at;
    e->dead = (size_t)index.dead;
    *end = at + whole_size(&h);
    return true;
}

/* Where the last index is, if the last save is whole; else 0. */
static uint64_t find_index(const struct bz_entries *e)
{
    uint64_t at = e->mapped - sizeof(struct head);
    struct mark mark;
    struct head h;

    if (!head_at(e, at, &h) || h.kind != MARK_KIND)
        return 0;
    memcpy(&mark, &h.key, sizeof(mark));
    return mark.at == at && mark.index < at ? mark.index : 0;
}

static void read_file(struct bz_entries *e)
{
    struct file_head ours, theirs;
    uint64_t from = sizeof(ours), index = 0;

    if (e->mapped < sizeof(ours) + sizeof(struct head))
        return;
    memcpy(&theirs, e->map, sizeof(theirs));
    make_file_head(e->tag, theirs.base, &ours);
    e->foreign = memcmp(&ours, &theirs, sizeof(ours)) != 0;
    if (!e->foreign) {
        e->base = (size_t)theirs.base << 10;
        index = find_index(e);
    }
    if (index > 0)
        read_index(e, index, &from);
    scan(e, from);
}

static int map_file(struct bz_entries *e, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    void *map;

    if (fd < 0 || fstat(fd, &st) < 0)
        return bz_fail_sys(err, "open %s", e->path);
    if (!S_ISREG(st.st_mode) || (size_t)st.st_size > BZ_ENTRIES_MAX)
        return bz_fail(err, BZ_E_INVAL, "%s is no file of entries", e->path);
    e->dev = (uint64_t)st.st_dev;
    e->ino = (uint64_t)st.st_ino;
    if (st.st_size == 0)
        return 0;
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return bz_fail_sys(err, "map %s", e->path);
    e->map = map;
    e->mapped = (size_t)st.st_size;
    return 0;
}

void bz_entries_open(struct bz_entries *e, const char *path, const char *tag)
{
    struct bz_err err;

    *e = (struct bz_entries){0};
    memcpy(e->tag, tag, strnlen(tag, sizeof(e->tag)));
    if (!path)
        return;
    e->path = bz_mem_dup(path, strlen(path));
    if (map_file(e, &err) < 0)
        bz_log_debug("entries", "nothing is remembered: %s", err.msg);
    else
        read_file(e);
}

void bz_entries_close(struct bz_entries *e)
{
    if (e->map)
        munmap((void *)(uintptr_t)e->map, e->mapped);
    free(e->path);
    for (size_t i = 0; i < e->chunks.len; i++)
        free(e->chunks.at[i].data);
    bz_vec_release(&e->chunks);
    bz_vec_release(&e->kept);
    bz_map_release(&e->index);
    bz_map_release(&e->used);
    bz_map_release(&e->fresh);
    *e = (struct bz_entries){0};
}

static bool is_of(const struct head *h, uint32_t kind, const struct bz_entries_key *key)
{
    return h->kind == kind && memcmp(&h->key, key, sizeof(*key)) == 0;
}

static struct bz_str fresh_bytes(const struct head *h)
{
    return bz_str_of((const char *)h + sizeof(*h), (size_t)h->size);
}

bool bz_entries_find(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key, struct bz_str *out)
{
    uint64_t number = short_key(kind, key), at;
    const struct bz_map_entry *it = bz_map_get_u64(&e->fresh, number);
    struct head h;

    if (it) {
        const struct head *own = it->p;

        *out = fresh_bytes(own);
        return !own->gone && is_of(own, kind, key);
    }
    at = locate(e, number);
    if (at == 0 || !head_at(e, at, &h) || !is_of(&h, kind, key) || h.gone)
        return false;
    it = bz_map_get_u64(&e->used, number);
    if (it && it->u == READ) { /* its sum has been checked */
        *out = bz_str_of(e->map + at + sizeof(h), (size_t)h.size);
        return true;
    }
    if (!bytes_of(e, at, &h, out))
        return false;
    bz_map_put_u64(&e->used, number)->u = READ;
    return true;
}

uint64_t bz_entries_sum(struct bz_str found)
{
    struct head h;

    memcpy(&h, found.p - sizeof(h), sizeof(h));
    return h.bytes;
}

/* Where all entries are that count in the file, in its order. */
struct places BZ_VEC(uint64_t);

static int by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void list_places(const struct bz_entries *e, struct places *out)
{
    size_t n = 0;

    for (size_t i = 0; i < e->nslots; i++)
        if (e->slots[i].at > 0 && !bz_map_get_u64(&e->index, e->slots[i].key))
            BZ_VEC_PUSH(out, e->slots[i].at);
    for (const struct bz_map_entry *it = bz_map_next(&e->index, NULL); it;
         it = bz_map_next(&e->index, it))
        BZ_VEC_PUSH(out, it->u);
    BZ_VEC_SORT(out, by_place);
    for (size_t i = 0; i < out->len; i++) /* a damaged index may have one twice */
        if (n == 0 || out->at[i] != out->at[n - 1])
            out->at[n++] = out->at[i];
    out->len = n;
}

static void show_place(const struct bz_entries *e, uint64_t at, bz_entries_fn fn,
                       void *ctx)
{
    struct bz_str bytes;
    struct head h;

    if (head_at(e, at, &h) && !is_own(h.kind) &&
        locate(e, short_key(h.kind, &h.key)) == at &&
        !bz_map_get_u64(&e->fresh, short_key(h.kind, &h.key)) &&
        bytes_of(e, at, &h, &bytes))
        fn(ctx, h.kind, &h.key, bytes);
}

static void show_fresh(const struct bz_entries *e, uint32_t kind, bz_entries_fn fn,
                       void *ctx)
{
    for (const struct bz_map_entry *it = bz_map_next(&e->fresh, NULL); it;
         it = bz_map_next(&e->fresh, it)) {
        const struct head *h = it->p;

        if (!h->gone && (kind == 0 || h->kind == kind))
            fn(ctx, h->kind, &h->key, fresh_bytes(h));
    }
}

void bz_entries_each(const struct bz_entries *e, bz_entries_fn fn, void *ctx)
{
    BZ_CLEANUP(bz_vec_release) struct places places = {0};

    list_places(e, &places);
    for (size_t i = 0; i < places.len; i++)
        show_place(e, places.at[i], fn, ctx);
    show_fresh(e, 0, fn, ctx);
}

void bz_entries_each_kept(const struct bz_entries *e, uint32_t kind, bz_entries_fn fn,
                          void *ctx)
{
    struct head h;

    for (size_t i = 0; i < e->kept.len; i++)
        if (head_at(e, e->kept.at[i], &h) && h.kind == kind)
            show_place(e, e->kept.at[i], fn, ctx);
    show_fresh(e, kind, fn, ctx);
}

/* ---- adding ---- */

static struct bz_entries_chunk *chunk_for(struct bz_entries *e, size_t n)
{
    struct bz_entries_chunk chunk = {.cap = CHUNK_MIN};

    if (e->chunks.len > 0) {
        struct bz_entries_chunk *last = &BZ_VEC_LAST(&e->chunks);

        if (last->cap - last->len >= n)
            return last;
        chunk.cap = last->cap < CHUNK_MAX / 4 ? last->cap * 4 : CHUNK_MAX;
    }
    if (chunk.cap < n)
        chunk.cap = n;
    chunk.data = bz_mem_alloc(chunk.cap);
    BZ_VEC_PUSH(&e->chunks, chunk);
    return &BZ_VEC_LAST(&e->chunks);
}

char *bz_entries_room(struct bz_entries *e, size_t n)
{
    struct bz_entries_chunk *c = chunk_for(e, sizeof(struct head) + padded(n));

    return c->data + c->len + sizeof(struct head);
}

/* Completes an entry whose bytes follow the head. */
static void seal(struct head *h)
{
    char *bytes = (char *)h + sizeof(*h);

    memset(bytes + h->size, 0, padded(h->size) - h->size);
    h->bytes = sum_of(bytes, (size_t)h->size);
    h->sum = sum_head(h);
}

static void commit(struct bz_entries *e, const struct head *like)
{
    struct bz_entries_chunk *c = &BZ_VEC_LAST(&e->chunks);
    struct head *h = (void *)(c->data + c->len);

    BZ_ASSERT(c->cap - c->len >= whole_size(like));
    *h = *like;
    seal(h);
    c->len += whole_size(h);
    bz_map_put_u64(&e->fresh, short_key(h->kind, &h->key))->p = h;
    e->nnew++;
}

void bz_entries_commit(struct bz_entries *e, uint32_t kind,
                       const struct bz_entries_key *key, size_t m)
{
    commit(e, &(struct head){.kind = kind, .size = m, .key = *key});
}

void bz_entries_put(struct bz_entries *e, uint32_t kind,
                    const struct bz_entries_key *key, struct bz_str bytes)
{
    char *room = bz_entries_room(e, bytes.n);

    if (bytes.n > 0)
        memcpy(room, bytes.p, bytes.n);
    bz_entries_commit(e, kind, key, bytes.n);
}

void bz_entries_drop(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key)
{
    uint64_t number = short_key(kind, key);

    if (!bz_map_get_u64(&e->fresh, number) && locate(e, number) == 0)
        return;
    bz_entries_room(e, 0);
    commit(e, &(struct head){.kind = kind, .gone = 1, .key = *key});
}

/* ---- saving ---- */

static void put_entry(struct bz_buf *out, struct head *h, struct bz_str bytes)
{
    char *room = bz_buf_reserve(out, sizeof(*h) + padded(bytes.n));

    h->size = bytes.n;
    memcpy(room + sizeof(*h), bytes.p, bytes.n);
    memcpy(room, h, sizeof(*h));
    seal((void *)room);
    bz_buf_commit(out, whole_size(h));
}

/* An index under way. */
struct indexing {
    struct bz_entries_slot *slots;
    size_t nslots, n;
    struct places kept;
    size_t dead;
};

static void begin_index(struct indexing *x, size_t most)
{
    for (x->nslots = 16; x->nslots < most * 2;)
        x->nslots *= 2;
    x->slots = bz_mem_array(x->nslots, sizeof(x->slots[0]));
}

static void end_index(struct indexing *x)
{
    free(x->slots);
    bz_vec_release(&x->kept);
}

static void index_key(struct indexing *x, uint64_t key, uint64_t at)
{
    struct bz_entries_slot *slot = &x->slots[slot_of(x->slots, x->nslots, key)];

    x->n += slot->at == 0;
    *slot = (struct bz_entries_slot){key, at};
}

static void index_head(struct indexing *x, const struct head *h, uint64_t at)
{
    index_key(x, short_key(h->kind, &h->key), at);
    if (h->kind & BZ_ENTRIES_KEPT)
        BZ_VEC_PUSH(&x->kept, at);
}

/* Adds the index, if there is one, and the mark to the end of a file that has `size`
 * bytes before them. `last` is where the index is that counts without this one. */
static void put_end(const struct indexing *x, uint64_t size, uint64_t last,
                    struct bz_buf *out)
{
    struct mark mark = {.at = size, .index = last};
    struct head h = {.kind = MARK_KIND};

    if (x) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
        struct index_head index = {x->dead, x->kept.len, x->nslots, x->n};
        struct head own = {.kind = INDEX_KIND};

        bz_buf_add(&bytes, &index, sizeof(index));
        bz_buf_add(&bytes, x->kept.at, x->kept.len * sizeof(x->kept.at[0]));
        bz_buf_add(&bytes, x->slots, x->nslots * sizeof(x->slots[0]));
        put_entry(out, &own, bz_buf_str(&bytes));
        mark = (struct mark){.at = size + whole_size(&own), .index = size};
    }
    memcpy(&h.key, &mark, sizeof(mark));
    put_entry(out, &h, BZ_STR(""));
}

/* Goes through the new entries from the first unsaved byte of each chunk, or from its
 * first byte, in the order of the file. */
static const struct head *next_new(const struct bz_entries *e, bool all, size_t *chunk,
                                   size_t *at)
{
    for (; *chunk < e->chunks.len; ++*chunk, *at = 0) {
        const struct bz_entries_chunk *c = &e->chunks.at[*chunk];
        const struct head *h;

        if (!all && *at < c->saved)
            *at = c->saved;
        if (*at >= c->len)
            continue;
        h = (const void *)(c->data + *at);
        *at += whole_size(h);
        return h;
    }
    return NULL;
}

static bool is_last(const struct bz_entries *e, const struct head *h)
{
    return bz_map_get_u64(&e->fresh, short_key(h->kind, &h->key))->p == h;
}

/* Counts a rewrite in which an entry was not used. One that mends a damaged file does
 * not count: it may come at any time. */
static bool is_too_old(const struct bz_entries *e, const struct bz_entries *disk,
                       uint64_t number, struct head *h)
{
    if ((h->kind & BZ_ENTRIES_KEPT) || bz_map_get_u64(&e->used, number))
        h->age = 0;
    else if (!disk->damaged)
        return ++h->age > BZ_ENTRIES_AGE;
    return false;
}

/* Writes the file anew: the entries of `disk` that are used or young, and the new ones.
 */
static int rewrite(const struct bz_entries *e, const struct bz_entries *disk,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    BZ_CLEANUP(bz_vec_release) struct places places = {0};
    BZ_CLEANUP(end_index) struct indexing x = {0};
    struct file_head head = {0};
    size_t chunk = 0, at = 0;
    const struct head *own;

    bz_buf_add(&out, &head, sizeof(head));
    list_places(disk, &places);
    begin_index(&x, places.len + e->nnew);
    for (size_t i = 0; i < places.len; i++) {
        struct bz_str bytes;
        struct head h;
        uint64_t number;

        if (!head_at(disk, places.at[i], &h) || is_own(h.kind))
            continue;
        number = short_key(h.kind, &h.key);
        if (bz_map_get_u64(&e->fresh, number) || is_too_old(e, disk, number, &h) ||
            !bytes_of(disk, places.at[i], &h, &bytes))
            continue;
        index_head(&x, &h, out.len);
        put_entry(&out, &h, bytes);
    }
    while ((own = next_new(e, true, &chunk, &at)))
        if (!own->gone && is_last(e, own)) {
            struct head h = *own;

            index_head(&x, &h, out.len);
            put_entry(&out, &h, fresh_bytes(own));
        }
    put_end(&x, out.len, 0, &out);
    make_file_head(e->tag, (uint32_t)(out.len >> 10), &head);
    memcpy(out.data, &head, sizeof(head));
    return bz_fs_write(AT_FDCWD, e->path, out.data, out.len, 0644, BZ_FS_NOSYNC, err);
}

/* Bytes to be appended, and those that do not count any more once they are. */
static void count_new(const struct bz_entries *e, const struct bz_entries *disk,
                      size_t *bytes, size_t *dead)
{
    size_t chunk = 0, at = 0;
    const struct head *own;

    *bytes = 0;
    *dead = disk->dead;
    while ((own = next_new(e, false, &chunk, &at))) {
        uint64_t old = locate(disk, short_key(own->kind, &own->key));
        struct head h;

        *bytes += whole_size(own);
        if (!is_last(e, own) || own->gone)
            *dead += whole_size(own);
        if (old > 0 && head_at(disk, old, &h))
            *dead += whole_size(&h);
    }
}

/* An index of the file and of the new entries, the first of which will be at `size`. */
static void make_index(const struct bz_entries *e, const struct bz_entries *disk,
                       uint64_t size, struct indexing *x)
{
    size_t chunk = 0, at = 0;
    const struct head *own;

    begin_index(x, disk->indexed + disk->index.len + e->nnew - e->nsaved);
    for (size_t i = 0; i < disk->nslots; i++)
        if (disk->slots[i].at > 0)
            index_key(x, disk->slots[i].key, disk->slots[i].at);
    for (const struct bz_map_entry *it = bz_map_next(&disk->index, NULL); it;
         it = bz_map_next(&disk->index, it))
        index_key(x, bz_map_number(it), it->u);
    for (size_t i = 0; i < disk->kept.len; i++)
        BZ_VEC_PUSH(&x->kept, disk->kept.at[i]);
    while ((own = next_new(e, false, &chunk, &at))) {
        index_head(x, own, size);
        size += whole_size(own);
    }
}

static int append(const struct bz_entries *e, const struct bz_entries *disk, int fd,
                  struct bz_str end, struct bz_err *err)
{
    struct file_head head;
    off_t size = (off_t)disk->size;
    int rc = 0;

    /* In a whole file this changes nothing, so no reader loses pages. */
    if (disk->mapped > disk->size && ftruncate(fd, size) < 0)
        return bz_fail_sys(err, "write %s", e->path);
    if (lseek(fd, size, SEEK_SET) < 0)
        return bz_fail_sys(err, "write %s", e->path);
    if (size == 0) {
        size_t base = sizeof(head) + end.n;

        for (size_t i = 0; i < e->chunks.len; i++)
            base += e->chunks.at[i].len - e->chunks.at[i].saved;
        make_file_head(e->tag, (uint32_t)(base >> 10), &head);
        rc = bz_fs_write_all(fd, e->path, &head, sizeof(head), err);
    }
    for (size_t i = 0; i < e->chunks.len && rc == 0; i++) {
        const struct bz_entries_chunk *c = &e->chunks.at[i];

        if (c->len > c->saved)
            rc = bz_fs_write_all(fd, e->path, c->data + c->saved, c->len - c->saved,
                                 err);
    }
    return rc < 0 ? rc : bz_fs_write_all(fd, e->path, end.p, end.n, err);
}

/* Whether the new entries have to be written with all others; *after: bytes of the file
 * if they are appended, *dead: of these. */
static bool must_rewrite(const struct bz_entries *e, const struct bz_entries *disk,
                         size_t *after, size_t *dead)
{
    size_t bytes;

    if (disk->foreign || disk->damaged || (disk->size == 0 && disk->mapped > 0))
        return true;
    count_new(e, disk, &bytes, dead);
    *after = (disk->size > 0 ? disk->size : sizeof(struct file_head)) + bytes;
    return disk->size > 0 &&
           (*after > BZ_ENTRIES_MAX || (*after > SMALL && *dead > *after / 2) ||
            *after > disk->base + disk->base / 2 + LARGE);
}

bool bz_entries_is_due(const struct bz_entries *e)
{
    size_t after, dead;

    return e->path && e->nnew > e->nsaved && must_rewrite(e, e, &after, &dead);
}

void bz_entries_use(struct bz_entries *e, const struct bz_entries_key *key)
{
    for (uint32_t kind = 1; kind < BZ_ENTRIES_KINDS; kind++) {
        uint64_t number = short_key(kind, key);

        if (locate(e, number) > 0 && !bz_map_get_u64(&e->used, number))
            bz_map_put_u64(&e->used, number)->u = UNREAD;
    }
}

static int save(const struct bz_entries *e, const struct bz_entries *disk, int fd,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf end = {0};
    BZ_CLEANUP(end_index) struct indexing x = {0};
    size_t size = disk->size > 0 ? disk->size : sizeof(struct file_head);
    size_t after, unindexed = disk->index.len + e->nnew - e->nsaved;

    if (must_rewrite(e, disk, &after, &x.dead))
        return rewrite(e, disk, err);
    if (unindexed > UNINDEXED + disk->indexed / 4) {
        make_index(e, disk, size, &x);
        put_end(&x, after, 0, &end);
    } else {
        put_end(NULL, after, disk->index_at, &end);
    }
    return append(e, disk, fd, bz_buf_str(&end), err);
}

/* The file that has the name, locked: another writer may have put a new one in its
 * place meanwhile. */
static int lock(const struct bz_entries *e, int *out, struct bz_err *err)
{
    for (int i = 0; i < TRIES; i++) {
        BZ_CLEANUP(bz_fs_closep) int fd = -1;
        struct stat ours, there;
        int rc = bz_fs_lock(AT_FDCWD, e->path, BZ_FS_LOCK_EXCLUSIVE,
                            bz_clock_in(BZ_CLOCK_S), &fd, err);

        if (rc < 0)
            return rc;
        if (fstat(fd, &ours) == 0 && stat(e->path, &there) == 0 &&
            ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) {
            *out = bz_fs_detach(&fd);
            return 0;
        }
    }
    return bz_fail(err, BZ_E_BUSY, "%s is being replaced again and again", e->path);
}

/* Whether nobody has written since it was opened. */
static bool is_current(const struct bz_entries *e, int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (uint64_t)st.st_dev == e->dev &&
           (uint64_t)st.st_ino == e->ino && (size_t)st.st_size == e->mapped;
}

int bz_entries_save(struct bz_entries *e, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_entries disk = {0};
    struct bz_path dir;
    int rc;

    if (!e->path || e->nnew == e->nsaved)
        return 0;
    rc = bz_path_join(bz_path_dirname(bz_str_from(e->path)), BZ_STR(""), &dir, err);
    if (rc == 0)
        rc = bz_fs_mkdirs(AT_FDCWD, dir.s, 0777, err);
    if (rc == 0)
        rc = lock(e, &fd, err);
    if (rc < 0)
        return rc;
    if (is_current(e, fd)) {
        rc = save(e, e, fd, err);
    } else {
        bz_entries_open(&disk, e->path, e->tag);
        rc = save(e, &disk, fd, err);
        bz_entries_close(&disk);
    }
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < e->chunks.len; i++)
        e->chunks.at[i].saved = e->chunks.at[i].len;
    e->nsaved = e->nnew;
    return 0;
}

void bz_entries_key_of(struct bz_str text, struct bz_entries_key *out)
{
    uint64_t sums[4] = {bz_str_hash(text), text.n};
    struct bz_str half = bz_str_sub(text, text.n / 2, text.n);

    sums[2] = bz_str_hash(half) ^ (sums[0] * 3);
    memcpy(out->b, sums, sizeof(out->b));
}
