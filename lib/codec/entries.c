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
    TRIES = 5,        /* to lock a file that others replace */
    SMALL = 64 << 10, /* bytes: not worth being written anew */
    LARGE = 1 << 20,  /* bytes: worth it */
};

static const char magic[8] = "bzentry1";

struct file_head {
    char magic[8];
    uint32_t order;
    uint32_t base; /* KiB that it had when it was written anew */
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

_Static_assert(sizeof(struct head) == 64, "there must be no holes");
_Static_assert(sizeof(struct file_head) == 48, "there must be no holes");

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

static uint64_t short_key(uint32_t kind, const struct bz_entries_key *key)
{
    uint64_t x;

    memcpy(&x, key->b, sizeof(x));
    return x ^ (kind * UINT64_C(0x9e3779b97f4a7c15));
}

static void make_file_head(const struct bz_entries *e, uint32_t base,
                           struct file_head *out)
{
    *out = (struct file_head){.order = ORDER, .base = base};
    memcpy(out->magic, magic, sizeof(magic));
    memcpy(out->tag, e->tag, sizeof(out->tag));
    out->sum = sum_of(out, offsetof(struct file_head, sum));
}

/* ---- reading ---- */

static void head_at(const struct bz_entries *e, size_t at, struct head *out)
{
    BZ_ASSERT(e->map); /* there is an entry */
    memcpy(out, e->map + at, sizeof(*out));
}

static size_t whole_size(const struct head *h)
{
    return sizeof(*h) + padded(h->size);
}

static void enter(struct bz_entries *e, const struct head *h, size_t at)
{
    struct bz_map_entry *it = bz_map_put_u64(&e->index, short_key(h->kind, &h->key));

    if (it->u > 0) {
        struct head old;

        head_at(e, (size_t)it->u, &old);
        e->live -= whole_size(&old);
    }
    it->u = at;
    e->live += whole_size(h);
}

/* Goes through the heads, up to where the file is no longer whole. */
static void scan(struct bz_entries *e)
{
    struct file_head ours, theirs;
    struct head h;
    size_t at = sizeof(ours);

    if (e->mapped < sizeof(theirs))
        return;
    memcpy(&theirs, e->map, sizeof(theirs));
    make_file_head(e, theirs.base, &ours);
    if (memcmp(&ours, &theirs, sizeof(ours)) != 0)
        return;
    e->base = (size_t)theirs.base << 10;
    while (e->mapped - at >= sizeof(h)) {
        head_at(e, at, &h);
        if (h.sum != sum_head(&h) || h.size > e->mapped - at - sizeof(h) ||
            whole_size(&h) > e->mapped - at)
            break;
        enter(e, &h, at);
        at += whole_size(&h);
    }
    e->size = at;
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
        scan(e);
}

void bz_entries_close(struct bz_entries *e)
{
    if (e->map)
        munmap((void *)(uintptr_t)e->map, e->mapped);
    free(e->path);
    bz_map_release(&e->index);
    bz_map_release(&e->used);
    bz_map_release(&e->fresh);
    bz_vec_release(&e->news);
    bz_arena_release(&e->arena);
    *e = (struct bz_entries){0};
}

/* The bytes of an entry of the file; false if they are damaged or not there. */
static bool bytes_at(const struct bz_entries *e, size_t at, struct bz_str *out)
{
    struct head h;

    head_at(e, at, &h);
    *out = bz_str_of(e->map + at + sizeof(h), (size_t)h.size);
    return !h.gone && h.bytes == sum_of(out->p, out->n);
}

static bool is_of(const struct head *h, uint32_t kind, const struct bz_entries_key *key)
{
    return h->kind == kind && memcmp(&h->key, key, sizeof(*key)) == 0;
}

bool bz_entries_find(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key, struct bz_str *out)
{
    uint64_t number = short_key(kind, key);
    const struct bz_map_entry *it = bz_map_get_u64(&e->fresh, number);
    struct head h;
    size_t at;

    if (it) {
        const struct bz_entries_new *n = &e->news.at[it->u - 1];

        *out = n->bytes;
        return !n->gone && n->kind == kind && memcmp(&n->key, key, sizeof(*key)) == 0;
    }
    it = bz_map_get_u64(&e->index, number);
    if (!it)
        return false;
    at = (size_t)it->u;
    head_at(e, at, &h);
    if (!is_of(&h, kind, key) || h.gone)
        return false;
    if (bz_map_get_u64(&e->used, number)) { /* its sum has been checked */
        *out = bz_str_of(e->map + at + sizeof(h), (size_t)h.size);
        return true;
    }
    if (!bytes_at(e, at, out))
        return false;
    bz_map_put_u64(&e->used, number)->u = 1;
    return true;
}

void bz_entries_each(const struct bz_entries *e, bz_entries_fn fn, void *ctx)
{
    for (const struct bz_map_entry *it = bz_map_next(&e->index, NULL); it;
         it = bz_map_next(&e->index, it)) {
        struct bz_str bytes;
        struct head h;

        if (bz_map_get_u64(&e->fresh, bz_map_number(it)))
            continue;
        head_at(e, (size_t)it->u, &h);
        if (bytes_at(e, (size_t)it->u, &bytes))
            fn(ctx, h.kind, &h.key, bytes);
    }
    for (size_t i = 0; i < e->news.len; i++) {
        const struct bz_entries_new *n = &e->news.at[i];

        if (!n->gone &&
            bz_map_get_u64(&e->fresh, short_key(n->kind, &n->key))->u == i + 1)
            fn(ctx, n->kind, &n->key, n->bytes);
    }
}

/* ---- adding ---- */

static void add(struct bz_entries *e, const struct bz_entries_new *n)
{
    BZ_VEC_PUSH(&e->news, *n);
    bz_map_put_u64(&e->fresh, short_key(n->kind, &n->key))->u = e->news.len;
}

void bz_entries_put(struct bz_entries *e, uint32_t kind,
                    const struct bz_entries_key *key, struct bz_str bytes)
{
    uint64_t *room = BZ_ARENA_ARRAY(&e->arena, uint64_t, padded(bytes.n) / 8 + 1);

    if (bytes.n > 0)
        memcpy(room, bytes.p, bytes.n);
    add(e, &(struct bz_entries_new){kind, false, *key,
                                    bz_str_of((const char *)room, bytes.n)});
}

void bz_entries_drop(struct bz_entries *e, uint32_t kind,
                     const struct bz_entries_key *key)
{
    if (bz_map_get_u64(&e->fresh, short_key(kind, key)) ||
        bz_map_get_u64(&e->index, short_key(kind, key)))
        add(e, &(struct bz_entries_new){kind, true, *key, BZ_STR("")});
}

/* ---- saving ---- */

static void put_entry(struct bz_buf *out, struct head *h, struct bz_str bytes)
{
    static const char zeros[8];

    h->size = bytes.n;
    h->bytes = sum_of(bytes.p, bytes.n);
    h->sum = sum_head(h);
    bz_buf_add(out, h, sizeof(*h));
    bz_buf_add_str(out, bytes);
    bz_buf_add(out, zeros, padded(bytes.n) - bytes.n);
}

/* What is new from number `first` on, each key once. */
static void put_news(const struct bz_entries *e, size_t first, bool gone,
                     struct bz_buf *out)
{
    for (size_t i = first; i < e->news.len; i++) {
        const struct bz_entries_new *n = &e->news.at[i];
        struct head h = {.kind = n->kind, .gone = n->gone, .key = n->key};

        if ((gone || !n->gone) &&
            bz_map_get_u64(&e->fresh, short_key(n->kind, &n->key))->u == i + 1)
            put_entry(out, &h, n->bytes);
    }
}

/* What of the file is worth being kept. */
static void put_old(const struct bz_entries *e, const struct bz_entries *disk,
                    struct bz_buf *out)
{
    for (const struct bz_map_entry *it = bz_map_next(&disk->index, NULL); it;
         it = bz_map_next(&disk->index, it)) {
        uint64_t number = bz_map_number(it);
        struct bz_str bytes;
        struct head h;

        head_at(disk, (size_t)it->u, &h);
        h.age = bz_map_get_u64(&e->used, number) ? 0 : (uint16_t)(h.age + 1);
        if (h.age <= BZ_ENTRIES_AGE && !bz_map_get_u64(&e->fresh, number) &&
            bytes_at(disk, (size_t)it->u, &bytes))
            put_entry(out, &h, bytes);
    }
}

static int rewrite(const struct bz_entries *e, const struct bz_entries *disk,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct file_head head = {0};

    bz_buf_add(&out, &head, sizeof(head));
    put_old(e, disk, &out);
    put_news(e, 0, false, &out);
    make_file_head(e, (uint32_t)(out.len >> 10), &head);
    memcpy(out.data, &head, sizeof(head));
    return bz_fs_write(AT_FDCWD, e->path, out.data, out.len, 0644, BZ_FS_NOSYNC, err);
}

/* In one call: a writer that is killed leaves a part of it at most, which is cut off.
 */
static int append(const struct bz_entries *e, const struct bz_entries *disk, int fd,
                  struct bz_str bytes, struct bz_err *err)
{
    if (ftruncate(fd, (off_t)disk->size) < 0 ||
        lseek(fd, (off_t)disk->size, SEEK_SET) < 0)
        return bz_fail_sys(err, "write %s", e->path);
    return bz_fs_write_all(fd, e->path, bytes.p, bytes.n, err);
}

/* Bytes that do not count any more once the new ones are there. */
static size_t count_dead(const struct bz_entries *e, const struct bz_entries *disk)
{
    size_t dead = disk->size - disk->live;

    for (const struct bz_map_entry *it = bz_map_next(&e->fresh, NULL); it;
         it = bz_map_next(&e->fresh, it)) {
        const struct bz_map_entry *old =
            bz_map_get_u64(&disk->index, bz_map_number(it));
        struct head h;

        if (!old)
            continue;
        head_at(disk, (size_t)old->u, &h);
        dead += whole_size(&h);
    }
    return dead;
}

static int save(const struct bz_entries *e, const struct bz_entries *disk, int fd,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    size_t size;

    if (disk->size == 0)
        return rewrite(e, disk, err);
    put_news(e, e->saved, true, &out);
    size = disk->size + out.len;
    if (size > BZ_ENTRIES_MAX || (size > SMALL && count_dead(e, disk) > size / 2) ||
        size > disk->base + disk->base / 2 + LARGE)
        return rewrite(e, disk, err);
    return append(e, disk, fd, bz_buf_str(&out), err);
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

    if (!e->path || e->news.len == e->saved)
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
    if (rc == 0)
        e->saved = e->news.len;
    return rc;
}

void bz_entries_key_of(struct bz_str text, struct bz_entries_key *out)
{
    uint64_t sums[4] = {bz_str_hash(text), text.n};
    struct bz_str half = bz_str_sub(text, text.n / 2, text.n);

    sums[2] = bz_str_hash(half) ^ (sums[0] * 3);
    memcpy(out->b, sums, sizeof(out->b));
}
