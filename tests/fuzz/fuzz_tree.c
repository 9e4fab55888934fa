#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "cache/closure.h"
#include "cache/inventory.h"
#include "cache/tree_load.h"
#include "os/fs.h"
#include "os/fs_remove.h"

enum { MADE = 1, STORE = 2 }; /* in the first byte */
enum { DIRS = 64, LOOK = 5000, LAY = 300 };

/* A store in a directory, and what is made of the input there. */
struct place {
    char dir[32];
    int fd;
    struct bz_cas *cas;
    struct bz_digest_hasher *h;
    struct bz_pool *pool;
    struct bz_reapi_digest known; /* a blob that is there */
    struct bz_reapi_digest root;  /* a Directory message */
    struct bz_reapi_digest tree;
};

/* ---- a tree by instructions: bytes alone never hit upon a digest ---- */

struct input {
    const uint8_t *p;
    size_t n;
};

static unsigned next(struct input *in)
{
    if (in->n == 0)
        return 0;
    in->n--;
    return *in->p++;
}

static struct bz_str next_text(struct input *in)
{
    size_t n = next(in) % 16;
    struct bz_str s = bz_str_of((const char *)in->p, n < in->n ? n : in->n);

    in->p += s.n;
    in->n -= s.n;
    return s;
}

static void add_number(struct bz_buf *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        bz_buf_add_char(b, (char)(v | 128));
    bz_buf_add_char(b, (char)v);
}

static void add_field(struct bz_buf *b, unsigned number, struct bz_str bytes)
{
    add_number(b, number << 3 | 2);
    add_number(b, bytes.n);
    bz_buf_add_str(b, bytes);
}

/* An entry of a directory: a file is 1, a directory 2. */
static void add_entry(struct bz_buf *dir, unsigned kind, struct bz_str name,
                      const struct bz_reapi_digest *d)
{
    struct bz_buf digest = {0}, entry = {0};
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(&d->hash, hex);
    add_field(&digest, 1, bz_str_from(hex));
    add_number(&digest, 2 << 3);
    add_number(&digest, d->size);
    add_field(&entry, 1, name);
    add_field(&entry, 2, bz_buf_str(&digest));
    add_field(dir, kind, bz_buf_str(&entry));
    bz_buf_release(&digest);
    bz_buf_release(&entry);
}

static void add_link(struct bz_buf *dir, struct bz_str name, struct bz_str target)
{
    struct bz_buf entry = {0};

    add_field(&entry, 1, name);
    add_field(&entry, 2, target);
    add_field(dir, 3, bz_buf_str(&entry));
    bz_buf_release(&entry);
}

struct made {
    struct bz_buf dirs[DIRS];
    struct bz_reapi_digest digests[DIRS];
    size_t n;
};

/* One that is made already, or else one that is nowhere. */
static struct bz_reapi_digest earlier(struct input *in, const struct made *m)
{
    unsigned i = next(in);

    if (m->n == 0)
        return (struct bz_reapi_digest){{{9}}, i};
    return m->digests[i % m->n];
}

static void add_many(struct bz_buf *dir, const struct bz_reapi_digest *d)
{
    static const char names[] = "abcdefghijklmnop";

    for (size_t i = 0; i < sizeof(names) - 1; i++)
        add_entry(dir, 2, bz_str_of(&names[i], 1), d);
}

static void follow(struct place *p, struct input *in, struct made *m)
{
    struct bz_buf *dir = &m->dirs[m->n];
    const struct bz_reapi_digest absent = {{{1}}, 3};
    struct bz_reapi_digest d;
    struct bz_str name;
    struct bz_err err;

    switch (next(in) % 8) {
    case 0:
        BZ_ASSERT(bz_cas_put(p->cas, p->h, dir->data, dir->len, &m->digests[m->n],
                             &err) == 0);
        m->n++;
        break;
    case 1:
        add_entry(dir, 1, next_text(in), &absent);
        break;
    case 2:
        name = next_text(in);
        d = earlier(in, m);
        add_entry(dir, 2, name, &d);
        break;
    case 3: /* as the last, but for the size */
        name = next_text(in);
        d = earlier(in, m);
        d.size ^= 1;
        add_entry(dir, 2, name, &d);
        break;
    case 4:
        name = next_text(in);
        add_link(dir, name, next_text(in));
        break;
    case 5:
        add_entry(dir, 1, next_text(in), &p->known);
        break;
    case 6:
        d = earlier(in, m);
        add_many(dir, &d);
        break;
    default:
        bz_buf_add_str(dir, next_text(in));
        break;
    }
}

/* The last one is the root; parents come before their children. */
static void make_tree(struct place *p, struct input in, struct bz_buf *out)
{
    struct made m = {.n = 0};
    struct bz_str dirs[DIRS];
    struct bz_reapi_tree tree = {.dirs = dirs};

    while (in.n > 0 && m.n < DIRS)
        follow(p, &in, &m);
    for (size_t i = m.n; i > 0; i--)
        dirs[tree.ndirs++] = bz_buf_str(&m.dirs[i - 1]);
    if (m.n > 0) {
        p->root = m.digests[m.n - 1];
        bz_reapi_tree_encode(&tree, out);
    }
    for (size_t i = 0; i < DIRS; i++)
        bz_buf_release(&m.dirs[i]);
}

/* ---- what must hold ---- */

static bool is_expected(int rc)
{
    return rc == 0 || rc == BZ_E_CORRUPT || rc == BZ_E_LIMIT;
}

/* Unfolds it, step by step, to count what loading has added up. */
static void check_sums(const struct bz_tree_load *t)
{
    struct BZ_VEC(uint32_t) open = {0};
    struct bz_tree_stats sum = {0};
    uint64_t entries = 0;

    BZ_VEC_PUSH(&open, 0);
    while (open.len > 0) {
        const struct bz_tree_load_dir *d = &t->dirs[open.at[--open.len]];

        entries += 1 + d->dir.nfiles + d->dir.nlinks + d->dir.nwhiteouts;
        sum.dirs++;
        sum.files += d->dir.nfiles;
        sum.links += d->dir.nlinks;
        for (size_t i = 0; i < d->dir.nfiles; i++)
            sum.bytes += d->dir.files[i].digest.size;
        for (size_t i = 0; i < d->dir.ndirs; i++) {
            BZ_ASSERT(d->subs[i] < t->ndirs);
            BZ_VEC_PUSH(&open, d->subs[i]);
        }
    }
    BZ_ASSERT(entries == t->dirs[0].entries);
    BZ_ASSERT(memcmp(&sum, &t->dirs[0].sum, sizeof(sum)) == 0);
    bz_vec_release(&open);
}

static unsigned count(const struct bz_closure_blobs *all,
                      const struct bz_reapi_digest *d)
{
    unsigned n = 0;

    for (size_t i = 0; i < all->len; i++)
        n += bz_digest_eq(&all->at[i].hash, &d->hash);
    return n;
}

/* All that the tree names is in the closure, once. */
static void check_closure(struct place *p, const struct bz_tree_load *t, bool loaded)
{
    struct bz_closure_blobs all = {0};
    struct bz_err err;
    int rc = bz_closure_tree(p->cas, p->h, &p->tree, &all, &err);

    BZ_ASSERT(is_expected(rc) && (rc == 0 || !loaded));
    for (size_t i = 0; loaded && i < t->ndirs; i++)
        for (size_t k = 0; k < t->dirs[i].dir.nfiles; k++) {
            const struct bz_reapi_digest *d = &t->dirs[i].dir.files[k].digest;

            BZ_ASSERT(bz_reapi_digest_none(d) || count(&all, d) == 1);
        }
    bz_vec_release(&all);
}

static unsigned count_names(int fd)
{
    DIR *d = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    unsigned n = 0;

    BZ_ASSERT(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* It is made where it was asked for, or not at all. */
static void check_restored(struct place *p)
{
    const struct bz_tree_out out = {.threads = {.pool = p->pool},
                                    .how = BZ_CAS_FILE_PRIVATE};
    unsigned before = count_names(p->fd);
    struct bz_tree_stats stats;
    struct bz_err err;
    int rc = bz_tree_restore(p->cas, &p->tree, p->fd, "out", &out, &stats, &err);

    BZ_ASSERT(bz_fs_exists(p->fd, "out") == (rc == 0));
    BZ_ASSERT(count_names(p->fd) == before + (rc == 0));
    if (rc == 0)
        BZ_ASSERT(bz_fs_remove(p->fd, "out", &err) == 0);
}

/* Whether all files of a tree are in the store. */
static bool has_all(struct place *p, const struct bz_tree_load *t)
{
    for (size_t i = 0; i < t->ndirs; i++)
        for (size_t k = 0; k < t->dirs[i].dir.nfiles; k++)
            if (!bz_cas_has(p->cas, &t->dirs[i].dir.files[k].digest))
                return false;
    return true;
}

static void put_result(struct place *p, uint8_t number, const struct bz_reapi_outdir *d)
{
    struct bz_reapi_outdir dir = *d;
    const struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    const struct bz_digest key = {{number}};
    enum bz_action_put how;
    struct bz_err err;

    BZ_ASSERT(bz_action_put(p->cas, p->h, &key, &r, &how, &err) == 0);
}

/* A collector counts each reference in and out again, and knows what is whole. */
static void check_inventory(struct place *p, const struct bz_tree_load *t, bool loaded)
{
    struct bz_inventory v;
    struct bz_err err;

    put_result(p, 1, &(struct bz_reapi_outdir){.tree = p->tree, .sorted = true});
    put_result(p, 2, &(struct bz_reapi_outdir){.root = p->root});
    BZ_ASSERT(bz_inventory_take(p->cas, NULL, NULL, &v, &err) == 0);
    BZ_ASSERT(v.results.len == 2 && !v.results.at[0].damaged &&
              !v.results.at[1].damaged);
    if (loaded && has_all(p, t))
        BZ_ASSERT(!v.results.at[0].broken);
    for (size_t i = 0; i < v.edges.len; i++)
        BZ_ASSERT(v.edges.at[i] < v.blobs.len);
    for (size_t i = 0; i < v.nodes.len; i++)
        BZ_ASSERT(v.nodes.at[i].first + v.nodes.at[i].n <= v.edges.len);
    for (size_t i = 0; i < v.results.len; i++)
        bz_inventory_count(&v, &v.results.at[i], true, NULL, NULL);
    for (size_t i = 0; i < v.results.len; i++)
        bz_inventory_count(&v, &v.results.at[i], false, NULL, NULL);
    for (size_t i = 0; i < v.blobs.len; i++)
        BZ_ASSERT(v.blobs.at[i].refs == 0);
    bz_inventory_release(&v);
}

static void check_all(struct place *p, bool store)
{
    const struct bz_crew_threads threads = {.pool = p->pool};
    struct bz_tree_load t;
    struct bz_err err;
    int rc = bz_tree_load(p->cas, &p->tree, &threads, &t, &err);

    BZ_ASSERT(is_expected(rc) && (rc == 0 || err.msg[0]));
    if (rc == 0) {
        BZ_ASSERT(t.ndirs > 0 && t.dirs[0].entries <= BZ_TREE_ENTRIES &&
                  t.dirs[0].height <= BZ_TREE_DEPTH);
        if (t.dirs[0].entries <= LOOK)
            check_sums(&t);
    }
    check_closure(p, &t, rc == 0);
    if (rc < 0 || t.dirs[0].entries <= LAY)
        check_restored(p);
    if (store)
        check_inventory(p, &t, rc == 0);
    bz_tree_load_release(&t);
}

/* The first byte says whether the others are a Tree message or instructions for one,
 * and whether the whole store is looked at, which takes much longer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct place p = {.dir = "/dev/shm/bz-fuzz-XXXXXX"};
    struct bz_buf bytes = {0};
    char root[64];
    struct bz_err err;

    if (size == 0)
        return 0;
    bz_log_set_level(BZ_LOG_ERROR);
    BZ_ASSERT(mkdtemp(p.dir));
    p.fd = open(p.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(root, sizeof(root), "%s/s", p.dir);
    BZ_ASSERT(bz_cas_open(root, &opts, &p.cas, &err) == 0 &&
              bz_digest_hasher_new(&p.h, &err) == 0 &&
              bz_pool_new(&(struct bz_pool_opts){.compute = 1}, &p.pool, &err) == 0 &&
              bz_cas_put(p.cas, p.h, "known\n", 6, &p.known, &err) == 0);
    p.root = p.known;
    if (data[0] & MADE)
        make_tree(&p, (struct input){data + 1, size - 1}, &bytes);
    else
        bz_buf_add_str(&bytes, bz_str_of((const char *)data + 1, size - 1));
    BZ_ASSERT(bz_cas_put(p.cas, p.h, bytes.data, bytes.len, &p.tree, &err) == 0);
    check_all(&p, data[0] & STORE);
    bz_buf_release(&bytes);
    bz_pool_free(p.pool);
    bz_digest_hasher_free(p.h);
    bz_cas_close(p.cas);
    close(p.fd);
    BZ_ASSERT(bz_fs_remove(AT_FDCWD, p.dir, &err) == 0);
    return 0;
}
