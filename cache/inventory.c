#include "cache/inventory.h"

#include <errno.h>

#include "base/mem.h"
#include "cache/reindex.h"
#include "cache/trash.h"
#include "os/fs_walk.h"

#define DISK_BLOCK 512 /* what st_blocks counts */
#define STARTS 65537
#define REPORT_EVERY 4096

enum content { TREE, DIRECTORY };

/* A blob whose content is to be looked at. */
struct todo {
    uint32_t blob;
    enum content as;
    uint64_t size;
};

struct taker {
    struct bz_cas *cas;
    struct bz_inventory *v;
    struct bz_digest_hasher *h;
    bz_inventory_fn progress;
    void *ctx;
    uint64_t seen;
    bool names;   /* what results name does not matter */
    bool foreign; /* the result at hand is not ours */
    struct BZ_VEC(struct todo) todo;
};

static void count_file(struct taker *t)
{
    if (++t->seen % REPORT_EVERY == 0 && t->progress)
        t->progress(t->ctx, t->seen);
}

/* Visited in the order of names, which is the order of digests. A file in a directory
 * that is not its own is none of ours. */
static bool is_key(const struct bz_fs_walk_entry *e, struct bz_digest *key)
{
    char name[BZ_SHELF_NAME];
    struct bz_err err;

    if (!S_ISREG(e->st->st_mode) ||
        bz_digest_parse(bz_str_from(e->name), key, &err) < 0)
        return false;
    bz_shelf_name(key, name);
    return strcmp(name, e->path) == 0;
}

static int visit_blob(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct taker *t = ctx;
    struct bz_inventory_blob b = {.bytes = (uint64_t)e->st->st_blocks * DISK_BLOCK,
                                  .used = bz_trash_last_use(e->st),
                                  .inode = e->st->st_ino,
                                  .names = (uint32_t)e->st->st_nlink,
                                  .alone = e->st->st_nlink == 1};

    if (!is_key(e, &b.hash))
        return BZ_FS_WALK_ON;
    if (t->v->blobs.len == BZ_INVENTORY_NONE)
        return bz_fail(err, BZ_E_LIMIT, "more blobs than can be counted");
    BZ_VEC_PUSH(&t->v->blobs, b);
    t->v->bytes += b.bytes;
    count_file(t);
    return BZ_FS_WALK_ON;
}

static unsigned leading(const struct bz_digest *d)
{
    return (unsigned)d->b[0] << 8 | d->b[1];
}

static void make_starts(struct bz_inventory *v)
{
    size_t i = 0;

    v->starts = bz_mem_array(STARTS, sizeof(*v->starts));
    for (unsigned lead = 0; lead < STARTS; lead++) {
        while (i < v->blobs.len && leading(&v->blobs.at[i].hash) < lead)
            i++;
        v->starts[lead] = (uint32_t)i;
    }
}

uint32_t bz_inventory_find(const struct bz_inventory *v, const struct bz_digest *hash)
{
    uint32_t low = v->starts[leading(hash)], high = v->starts[leading(hash) + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int cmp = bz_digest_cmp(&v->blobs.at[middle].hash, hash);

        if (cmp == 0)
            return middle;
        if (cmp < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return BZ_INVENTORY_NONE;
}

/* Whether a blob that is not in the picture came in the meantime, or lies in the trash
 * of a collector: then it is not missing. */
static bool came_later(const struct taker *t, const struct bz_digest *hash)
{
    return bz_shelf_has(&t->cas->blobs, hash) ||
           bz_shelf_in_trash(&t->cas->blobs, hash);
}

/* Adds an edge; *broken if there is nothing to lead to. */
static uint32_t add_edge(struct taker *t, const struct bz_reapi_digest *d, bool *broken)
{
    uint32_t at = BZ_INVENTORY_NONE;

    if (bz_reapi_digest_none(d))
        return at;
    at = bz_inventory_find(t->v, &d->hash);
    if (at != BZ_INVENTORY_NONE)
        BZ_VEC_PUSH(&t->v->edges, at);
    else if (!*broken && (d->size > 0 || !t->foreign)) /* others store nothing empty */
        *broken = !came_later(t, &d->hash);
    return at;
}

static void add_content(struct taker *t, const struct bz_reapi_digest *d,
                        enum content as, bool *broken)
{
    uint32_t at = add_edge(t, d, broken);

    if (at != BZ_INVENTORY_NONE && t->v->blobs.at[at].node == 0)
        BZ_VEC_PUSH(&t->todo, (struct todo){at, as, d->size});
}

/* The right bytes of a blob, or BZ_E_NOENT: nothing is put aside here. What keeps us
 * from reading is a failure: nobody may conclude that there is nothing to read. */
static int read_blob(struct taker *t, const struct todo *what, char **out,
                     struct bz_err *err)
{
    const struct bz_digest *want = &t->v->blobs.at[what->blob].hash;
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_digest got;
    size_t n = 0;
    int rc = bz_shelf_peek(&t->cas->blobs, want, &fd, err);

    *out = NULL;
    if (rc == 0)
        rc = bz_fs_read_fd(fd, "a blob", BZ_REAPI_TREE_MAX, out, &n, err);
    if (rc == BZ_E_LIMIT || (rc < 0 && (err->sys == EIO || err->sys == ESTALE)))
        return BZ_E_NOENT;
    if (rc < 0)
        return rc;
    bz_digest_bytes(t->h, *out, n, &got);
    return n == what->size && bz_digest_eq(&got, want) ? 0 : BZ_E_NOENT;
}

static bool add_dir(struct taker *t, struct bz_arena *a, struct bz_str bytes,
                    enum content as, bool *broken)
{
    struct bz_reapi_dir dir;
    struct bz_err err;

    if (bz_reapi_dir_decode(a, bytes, &dir, &err) < 0)
        return false;
    for (size_t i = 0; i < dir.nfiles; i++)
        add_edge(t, &dir.files[i].digest, broken);
    for (size_t i = 0; as == DIRECTORY && i < dir.ndirs; i++)
        add_content(t, &dir.dirs[i].digest, as, broken);
    return true;
}

static bool add_tree(struct taker *t, struct bz_arena *a, struct bz_str bytes,
                     bool *broken)
{
    struct bz_reapi_tree tree;
    struct bz_err err;

    if (bz_reapi_tree_decode(a, bytes, &tree, &err) < 0)
        return false;
    for (size_t i = 0; i < tree.ndirs; i++) {
        struct bz_arena_mark mark = bz_arena_mark(a);

        if (!add_dir(t, a, tree.dirs[i], TREE, broken))
            return false;
        bz_arena_rewind(a, mark);
    }
    return true;
}

static int open_content(struct taker *t, const struct todo *what, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_inventory_node node = {.first = t->v->edges.len};
    int rc = read_blob(t, what, &bytes, err);

    if (rc < 0 && rc != BZ_E_NOENT)
        return rc;
    if (rc < 0)
        node.broken = true;
    else if (what->as == TREE)
        node.broken |= !add_tree(t, &a, bz_str_of(bytes, what->size), &node.broken);
    else
        node.broken |=
            !add_dir(t, &a, bz_str_of(bytes, what->size), DIRECTORY, &node.broken);
    node.n = t->v->edges.len - node.first;
    BZ_VEC_PUSH(&t->v->nodes, node);
    t->v->blobs.at[what->blob].node = (uint32_t)t->v->nodes.len;
    return 0;
}

static void name_result(struct taker *t, struct bz_inventory_result *out,
                        const struct bz_reapi_result *r)
{
    out->sealed = r->sealed;
    out->duration = bz_reindex_duration(r);
    out->recipe =
        bz_intern_add(&t->v->names, bz_reindex_label(r, BZ_STR(BZ_ACTION_RECIPE)));
    out->task =
        bz_intern_add(&t->v->names, bz_reindex_label(r, BZ_STR(BZ_ACTION_TASK)));
    out->record =
        bz_str_eq(bz_intern_str(&t->v->names, out->task), BZ_STR(BZ_ACTION_RECORD));
}

/* The edges of the result itself come first, those of what it names after them. */
static int add_result(struct taker *t, struct bz_inventory_result *out,
                      const struct bz_reapi_result *r, struct bz_err *err)
{
    int rc = 0;

    t->foreign = !r->sealed;
    name_result(t, out, r);
    if (t->names)
        return 0;
    for (size_t i = 0; i < r->nfiles; i++)
        if (r->files[i].contents.n == 0)
            add_edge(t, &r->files[i].digest, &out->broken);
    for (size_t i = 0; i < r->ndirs; i++) {
        /* Of the two ways to tell a directory one is enough. */
        bool ignored = !bz_reapi_digest_none(&r->dirs[i].tree);

        add_content(t, &r->dirs[i].tree, TREE, &out->broken);
        add_content(t, &r->dirs[i].root, DIRECTORY, ignored ? &ignored : &out->broken);
    }
    add_edge(t, &r->out, &out->broken);
    add_edge(t, &r->error, &out->broken);
    out->n = t->v->edges.len - out->first;
    while (rc == 0 && t->todo.len > 0) {
        struct todo what = BZ_VEC_POP(&t->todo);

        if (t->v->blobs.at[what.blob].node == 0)
            rc = open_content(t, &what, err);
    }
    return rc;
}

static int read_result(struct taker *t, const struct bz_digest *key,
                       struct bz_inventory_result *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_reapi_result r;
    size_t n = 0;
    int rc = bz_shelf_peek(&t->cas->actions, key, &fd, err);

    if (rc == 0)
        rc = bz_fs_read_fd(fd, "an action result", BZ_REAPI_MESSAGE_MAX, &bytes, &n,
                           err);
    if (rc == BZ_E_LIMIT || (rc < 0 && err->sys == EIO)) {
        out->damaged = true;
        return 0;
    }
    if (rc < 0)
        return rc;
    if (bz_reapi_result_decode(&a, bz_str_of(bytes, n), t->h, &r, err) < 0 ||
        bz_action_bound(&r, key) == BZ_ACTION_ELSEWHERE) {
        out->damaged = true;
        return 0;
    }
    return add_result(t, out, &r, err);
}

static int visit_result(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct taker *t = ctx;
    struct bz_inventory_result r = {.bytes = (uint64_t)e->st->st_blocks * DISK_BLOCK,
                                    .used = bz_trash_last_use(e->st),
                                    .first = t->v->edges.len};
    int rc;

    if (!is_key(e, &r.key))
        return BZ_FS_WALK_ON;
    rc = read_result(t, &r.key, &r, err);
    if (rc == BZ_E_NOENT)
        return BZ_FS_WALK_ON; /* gone in the meantime */
    if (rc < 0)
        return bz_err_wrap(err, "ac/%s", e->path);
    BZ_VEC_PUSH(&t->v->results, r);
    t->v->bytes += r.bytes;
    count_file(t);
    return BZ_FS_WALK_ON;
}

struct step {
    struct bz_inventory_node *node;
    size_t next; /* of its edges */
};

static struct bz_inventory_node *node_at(struct bz_inventory *v, size_t edge)
{
    uint32_t node = v->blobs.at[v->edges.at[edge]].node;

    return node > 0 ? &v->nodes.at[node - 1] : NULL;
}

/* A directory is broken if one below it is: those are settled first. That none contains
 * itself is the digests' doing; one that did would be taken for whole. */
static void settle(struct bz_inventory *v, struct bz_inventory_node *top)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct step) path = {0};

    top->settled = true;
    BZ_VEC_PUSH(&path, (struct step){top, 0});
    while (path.len > 0) {
        struct step *s = &BZ_VEC_LAST(&path);
        struct bz_inventory_node *below;

        if (s->next == s->node->n) {
            struct bz_inventory_node *done = BZ_VEC_POP(&path).node;

            if (path.len > 0)
                BZ_VEC_LAST(&path).node->broken |= done->broken;
            continue;
        }
        s->node->broken |= v->blobs.at[v->edges.at[s->node->first + s->next]].bad;
        below = node_at(v, s->node->first + s->next++);
        if (!below)
            continue;
        s->node->broken |= below->broken;
        if (!below->settled) {
            below->settled = true;
            BZ_VEC_PUSH(&path, (struct step){below, 0});
        }
    }
}

void bz_inventory_settle(struct bz_inventory *v)
{
    for (size_t i = 0; i < v->nodes.len; i++)
        v->nodes.at[i].settled = false;
    for (size_t i = 0; i < v->nodes.len; i++)
        if (!v->nodes.at[i].settled)
            settle(v, &v->nodes.at[i]);
    for (size_t i = 0; i < v->results.len; i++) {
        struct bz_inventory_result *r = &v->results.at[i];

        for (size_t k = 0; !r->broken && k < r->n; k++) {
            const struct bz_inventory_node *below = node_at(v, r->first + k);

            r->broken =
                (below && below->broken) || v->blobs.at[v->edges.at[r->first + k]].bad;
        }
    }
}

int bz_inventory_take(struct bz_cas *cas, bz_inventory_fn progress, void *ctx,
                      struct bz_inventory *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct taker t = {.cas = cas, .v = out, .progress = progress, .ctx = ctx};
    int rc = bz_digest_hasher_new(&h, err);

    *out = (struct bz_inventory){0};
    t.h = h;
    if (rc == 0 && cas->blobs.dir >= 0)
        rc = bz_fs_walk(cas->blobs.dir, ".", visit_blob, &t, err);
    make_starts(out);
    if (rc == 0 && cas->actions.dir >= 0)
        rc = bz_fs_walk(cas->actions.dir, ".", visit_result, &t, err);
    bz_vec_release(&t.todo);
    if (rc == 0)
        bz_inventory_settle(out);
    return rc;
}

int bz_inventory_take_results(struct bz_cas *cas, struct bz_inventory *out,
                              struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct taker t = {.cas = cas, .v = out, .names = true};
    int rc = bz_digest_hasher_new(&h, err);

    *out = (struct bz_inventory){0};
    t.h = h;
    make_starts(out);
    if (rc == 0 && cas->actions.dir >= 0)
        rc = bz_fs_walk(cas->actions.dir, ".", visit_result, &t, err);
    return rc;
}

uint32_t bz_inventory_find_result(const struct bz_inventory *v,
                                  const struct bz_digest *key)
{
    size_t low = 0, high = v->results.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int cmp = bz_digest_cmp(&v->results.at[middle].key, key);

        if (cmp == 0)
            return (uint32_t)middle;
        if (cmp < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return BZ_INVENTORY_NONE;
}

void bz_inventory_release(struct bz_inventory *v)
{
    bz_vec_release(&v->blobs);
    bz_vec_release(&v->results);
    bz_vec_release(&v->nodes);
    bz_vec_release(&v->edges);
    bz_intern_release(&v->names);
    free(v->starts);
    *v = (struct bz_inventory){0};
}

void bz_inventory_count(struct bz_inventory *v, const struct bz_inventory_result *r,
                        bool in, bz_inventory_turn turn, void *ctx)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_inventory_node) left = {0};

    BZ_VEC_PUSH(&left, (struct bz_inventory_node){.first = r->first, .n = r->n});
    while (left.len > 0) {
        struct bz_inventory_node some = BZ_VEC_POP(&left);

        for (size_t i = 0; i < some.n; i++) {
            struct bz_inventory_blob *b = &v->blobs.at[v->edges.at[some.first + i]];

            /* Only the first one in, and the last one out, take along what it names. */
            if (in ? b->refs++ > 0 : --b->refs > 0)
                continue;
            if (turn)
                turn(ctx, b);
            if (b->node > 0)
                BZ_VEC_PUSH(&left, v->nodes.at[b->node - 1]);
        }
    }
}

struct latecomers {
    struct taker t;
    bz_inventory_gone gone;
    bz_inventory_turn turn;
    void *ctx;
};

static int visit_late(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct latecomers *l = ctx;
    struct bz_inventory *v = l->t.v;
    struct bz_inventory_result r = {.first = v->edges.len};
    uint32_t known;
    int rc;

    if (!is_key(e, &r.key))
        return BZ_FS_WALK_ON;
    known = bz_inventory_find_result(v, &r.key);
    if (known != BZ_INVENTORY_NONE && !l->gone(l->ctx, known))
        return BZ_FS_WALK_ON;
    rc = read_result(&l->t, &r.key, &r, err);
    if (rc < 0 && rc != BZ_E_NOENT)
        return bz_err_wrap(err, "ac/%s", e->path);
    if (rc == 0)
        bz_inventory_count(v, &r, true, l->turn, l->ctx);
    return BZ_FS_WALK_ON;
}

int bz_inventory_look_again(struct bz_cas *cas, struct bz_inventory *v,
                            bz_inventory_gone gone, bz_inventory_turn turn, void *ctx,
                            struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct latecomers l = {
        .t = {.cas = cas, .v = v},
          .gone = gone, .turn = turn, .ctx = ctx
    };
    int rc = bz_digest_hasher_new(&h, err);

    l.t.h = h;
    if (rc == 0 && cas->actions.dir >= 0)
        rc = bz_fs_walk(cas->actions.dir, ".", visit_late, &l, err);
    bz_vec_release(&l.t.todo);
    return rc;
}
