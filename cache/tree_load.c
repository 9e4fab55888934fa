#include "cache/tree_load.h"

#include "base/map.h"
#include "base/mem.h"

#define DIRS_AT_ONCE 16

struct loader {
    struct bz_crew crew;
    struct bz_reapi_tree tree;
    struct bz_tree_load *out;
};

static void decode_some(struct bz_worker *w, size_t begin, size_t end, void *arg)
{
    struct loader *l = arg;
    struct bz_digest_hasher *h = bz_crew_take(&l->crew);
    struct bz_arena *a = &l->out->dirs[begin].a;
    struct bz_err err;

    (void)w;
    if (!h)
        return;
    for (size_t i = begin; i < end && !bz_crew_stopped(&l->crew); i++) {
        struct bz_tree_load_dir *d = &l->out->dirs[i];
        struct bz_str bytes = l->tree.dirs[i];

        bz_digest_bytes(h, bytes.p, bytes.n, &d->hash);
        if (bz_reapi_dir_decode(a, bytes, &d->dir, &err) < 0)
            bz_crew_fail(&l->crew, &err);
    }
    bz_crew_give(&l->crew, h);
}

static void decode_all(struct bz_worker *w, void *arg)
{
    struct loader *l = arg;

    bz_pool_for(w, 0, l->out->ndirs, DIRS_AT_ONCE, decode_some, l);
}

static struct bz_str key_of(const struct bz_digest *d)
{
    return bz_str_of((const char *)d->b, sizeof(d->b));
}

/* From digests to places. */
static int resolve(const struct bz_reapi_tree *tree, struct bz_tree_load *t,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_map_release) struct bz_map places = {0};

    bz_map_reserve(&places, t->ndirs);
    for (size_t i = 0; i < t->ndirs; i++)
        bz_map_put(&places, key_of(&t->dirs[i].hash))->u = i;
    for (size_t i = 0; i < t->ndirs; i++) {
        struct bz_tree_load_dir *d = &t->dirs[i];

        d->subs = BZ_ARENA_ARRAY(&t->a, uint32_t, d->dir.ndirs);
        for (size_t k = 0; k < d->dir.ndirs; k++) {
            const struct bz_reapi_subdir *sub = &d->dir.dirs[k];
            const struct bz_map_entry *e =
                bz_map_get(&places, key_of(&sub->digest.hash));

            if (!e || tree->dirs[e->u].n != sub->digest.size)
                return bz_fail(err, BZ_E_CORRUPT, "directory '%.*s' is not in the tree",
                               BZ_STR_ARG(sub->name));
            d->subs[k] = (uint32_t)e->u;
        }
    }
    return 0;
}

struct step {
    uint32_t place;
    size_t next; /* of its subdirectories */
};

struct path BZ_VEC(struct step);

/* All below it are counted. */
static int finish(struct bz_tree_load *t, struct bz_tree_load_dir *d,
                  struct bz_err *err)
{
    d->entries = 1 + d->dir.nfiles + d->dir.nlinks + d->dir.nwhiteouts;
    d->sum = (struct bz_tree_stats){
        .files = d->dir.nfiles, .dirs = 1, .links = d->dir.nlinks};
    for (size_t k = 0; k < d->dir.nfiles; k++)
        d->sum.bytes += d->dir.files[k].digest.size;
    for (size_t k = 0; k < d->dir.ndirs; k++) {
        const struct bz_tree_load_dir *sub = &t->dirs[d->subs[k]];

        d->entries += sub->entries; /* each at most the limit: no overflow */
        d->sum.files += sub->sum.files;
        d->sum.dirs += sub->sum.dirs;
        d->sum.links += sub->sum.links;
        d->sum.bytes += sub->sum.bytes;
        if (sub->height + 1 > d->height)
            d->height = sub->height + 1;
        if (d->entries > BZ_TREE_ENTRIES)
            return bz_fail(err, BZ_E_LIMIT, "a tree of more than %d entries",
                           BZ_TREE_ENTRIES);
    }
    return d->height > BZ_TREE_DEPTH
               ? bz_fail(err, BZ_E_LIMIT, "a tree of more than %d levels",
                         BZ_TREE_DEPTH)
               : 0;
}

/* Counts what the tree unfolds to, each directory once. That none contains itself is
 * the digests' doing; the depth is bounded anyway. */
static int measure(struct bz_tree_load *t, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct path path = {0};

    BZ_VEC_PUSH(&path, (struct step){0});
    while (path.len > 0) {
        struct step *s = &BZ_VEC_LAST(&path);
        struct bz_tree_load_dir *d = &t->dirs[s->place];
        int rc;

        if (path.len > BZ_TREE_DEPTH + 1)
            return bz_fail(err, BZ_E_LIMIT, "a tree of more than %d levels",
                           BZ_TREE_DEPTH);
        if (s->next < d->dir.ndirs) {
            uint32_t sub = d->subs[s->next++];

            if (t->dirs[sub].entries == 0)
                BZ_VEC_PUSH(&path, (struct step){.place = sub});
            continue;
        }
        rc = finish(t, d, err);
        if (rc < 0)
            return rc;
        path.len--;
    }
    return 0;
}

static int load(struct loader *l, const struct bz_crew_threads *threads,
                struct bz_str bytes, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    int rc = bz_reapi_tree_decode(&a, bytes, &l->tree, err);

    if (rc < 0)
        return rc;
    l->out->ndirs = l->tree.ndirs;
    l->out->dirs = bz_mem_array(l->tree.ndirs, sizeof(*l->out->dirs));
    bz_crew_run(threads, decode_all, l);
    rc = bz_crew_result(&l->crew, err);
    if (rc == 0)
        rc = resolve(&l->tree, l->out, err);
    if (rc == 0)
        rc = measure(l->out, err);
    return rc;
}

int bz_tree_load(struct bz_cas *cas, const struct bz_reapi_digest *tree,
                 const struct bz_crew_threads *threads, struct bz_tree_load *out,
                 struct bz_err *err)
{
    struct loader l = {.out = out};
    struct bz_digest_hasher *h;
    int rc;

    *out = (struct bz_tree_load){0};
    bz_crew_init(&l.crew, NULL);
    h = bz_crew_take(&l.crew);
    if (h) {
        rc = bz_cas_read(cas, h, tree, BZ_REAPI_TREE_MAX, &out->bytes, err);
        bz_crew_give(&l.crew, h);
        if (rc == 0)
            rc = load(&l, threads, bz_str_of(out->bytes, tree->size), err);
    } else {
        rc = bz_crew_result(&l.crew, err);
    }
    bz_crew_release(&l.crew);
    if (rc < 0)
        bz_tree_load_release(out);
    return rc;
}

mode_t bz_tree_load_mode(const struct bz_reapi_file *f)
{
    if (f->props.has_mode)
        return f->props.mode;
    return f->executable ? 0755 : 0644;
}

void bz_tree_load_release(struct bz_tree_load *t)
{
    for (size_t i = 0; i < t->ndirs; i++)
        bz_arena_release(&t->dirs[i].a);
    bz_arena_release(&t->a);
    free(t->dirs);
    free(t->bytes);
    *t = (struct bz_tree_load){0};
}
