#include "exec/overlap.h"

#include "base/log.h"
#include "cache/tree_load.h"
#include "exec/state.h"

#define PATHS_MAX ((size_t)1 << 20)
#define KINDS_MAX 4 /* contents of one path that are compared */

/* What is at a path. */
struct content {
    enum { FILE_THERE, LINK_THERE, DIR_THERE, NOTHING_THERE } what;
    uint32_t mode;
    struct bz_digest bytes; /* of a file, or of what a link says; of a directory that
                               hides others', all below it */
};

/* One content of a path. */
struct kind {
    const struct kind *next;
    uint32_t task; /* the first that wrote it */
    struct content content;
};

struct look {
    struct bz_exec *x;
    uint32_t task;
    const struct bz_tree_load *tree;
    struct bz_buf path;
};

static uint64_t pair_of(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

/* Whether `late` waits for `early`, which comes before it in the order. */
static bool search(const struct bz_exec *x, uint32_t early, uint32_t late)
{
    const struct bz_dag *dag = &x->o->plan.graph->dag;
    BZ_CLEANUP(bz_vec_release) struct bz_exec_ids todo = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset seen = {0};

    BZ_VEC_PUSH(&todo, late);
    while (todo.len > 0) {
        uint32_t t = BZ_VEC_POP(&todo);

        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++) {
            uint32_t d = dag->to[e];

            if (d == early)
                return true;
            if (x->plan.tasks[d].rank < x->plan.tasks[early].rank ||
                bz_bitset_test(&seen, d))
                continue;
            bz_bitset_set(&seen, d);
            BZ_VEC_PUSH(&todo, d);
        }
    }
    return false;
}

static bool in_order(struct bz_exec *x, uint32_t a, uint32_t b)
{
    bool first = x->plan.tasks[a].rank < x->plan.tasks[b].rank;
    uint32_t early = first ? a : b, late = first ? b : a;
    struct bz_map_entry *e = bz_map_put_u64(&x->overlap.order, pair_of(early, late));

    if (e->u == 0)
        e->u = search(x, early, late) ? 1 : 2;
    return e->u == 1;
}

static void add_clash(struct bz_overlap *o, uint32_t a, uint32_t b, struct bz_str path)
{
    struct bz_map_entry *e = bz_map_put_u64(&o->pairs, pair_of(a, b));

    if (e->u > 0) {
        o->clashes.at[e->u - 1].more++;
        return;
    }
    BZ_VEC_PUSH(&o->clashes, (struct bz_overlap_clash){.a = a, .b = b, .path = path});
    e->u = o->clashes.len;
}

static bool is_same(const struct content *a, const struct content *b)
{
    return a->what == b->what && a->mode == b->mode &&
           bz_digest_eq(&a->bytes, &b->bytes);
}

/* Whether no path can be added any more. */
static bool is_full(struct bz_overlap *o)
{
    size_t most = o->most ? o->most : PATHS_MAX;

    if (o->paths.len < most)
        return false;
    if (!o->full)
        bz_log_warn(
            "exec",
            "there are more than %zu paths: of the rest nobody says which tasks "
            "write them differently",
            most);
    o->full = true;
    return true;
}

static void add_path(struct look *l, struct bz_str name, const struct content *content)
{
    struct bz_overlap *o = &l->x->overlap;
    size_t n = l->path.len, kinds = 0;
    struct bz_map_entry *e;
    struct kind *mine;

    if (is_full(o))
        return;
    bz_buf_addf(&l->path, "%.*s", BZ_STR_ARG(name));
    e = bz_map_get(&o->paths, bz_buf_str(&l->path));
    if (!e)
        e = bz_map_put(&o->paths, bz_arena_dup(&o->arena, bz_buf_str(&l->path)));
    bz_buf_truncate(&l->path, n);
    for (const struct kind *k = e->p; k; k = k->next, kinds++) {
        if (is_same(&k->content, content))
            return;
        if (k->task != l->task)
            add_clash(o, k->task, l->task, e->key);
    }
    if (kinds == KINDS_MAX)
        return;
    mine = BZ_ARENA_NEW(&o->arena, struct kind);
    *mine = (struct kind){e->p, l->task, *content};
    e->p = mine;
}

static uint32_t mode_of(const struct bz_reapi_props *props, bool executable)
{
    if (props->has_mode)
        return props->mode;
    return executable ? 0755 : 0644;
}

static void add_files(struct look *l, const struct bz_reapi_dir *dir)
{
    for (size_t i = 0; i < dir->nfiles; i++) {
        const struct bz_reapi_file *f = &dir->files[i];

        add_path(l, f->name,
                 &(struct content){FILE_THERE, mode_of(&f->props, f->executable),
                                   f->digest.hash});
    }
    for (size_t i = 0; i < dir->nlinks; i++) {
        struct content link = {.what = LINK_THERE};

        bz_digest_bytes(l->x->hasher, dir->links[i].target.p, dir->links[i].target.n,
                        &link.bytes);
        add_path(l, dir->links[i].name, &link);
    }
    for (size_t i = 0; i < dir->nwhiteouts; i++)
        add_path(l, dir->whiteouts[i], &(struct content){.what = NOTHING_THERE});
}

/* As deep as bz_tree_load() allows. */
static void add_dir(struct look *l, uint32_t place)
{
    const struct bz_tree_load_dir *d = &l->tree->dirs[place];

    add_files(l, &d->dir);
    for (size_t i = 0; i < d->dir.ndirs; i++) {
        const struct bz_reapi_dir *sub = &l->tree->dirs[d->subs[i]].dir;
        struct content content = {DIR_THERE, mode_of(&sub->props, true), {{0}}};
        size_t n = l->path.len;

        if (sub->opaque)
            content.bytes = d->dir.dirs[i].digest.hash;
        add_path(l, d->dir.dirs[i].name, &content);

        bz_buf_addf(&l->path, "%.*s/", BZ_STR_ARG(d->dir.dirs[i].name));
        add_dir(l, d->subs[i]);
        bz_buf_truncate(&l->path, n);
    }
}

static void look_into(struct bz_exec *x, uint32_t task,
                      const struct bz_output_layer *layer)
{
    const struct bz_crew_threads threads = {x->o->pool, NULL};
    struct bz_tree_load tree = {0};
    struct look l = {.x = x, .task = task, .tree = &tree};
    struct bz_str key =
        bz_str_of((const char *)layer->tree.hash.b, sizeof(layer->tree.hash.b));
    struct bz_err ignored;

    if (bz_map_get(&x->overlap.read, key) || is_full(&x->overlap))
        return; /* the same tree twice is the same content */
    bz_map_put(&x->overlap.read, bz_arena_dup(&x->overlap.arena, key));
    if (bz_tree_load(bz_cache_cas(x->o->cache), &layer->tree, &threads, &tree,
                     &ignored) == 0)
        add_dir(&l, 0);
    bz_tree_load_release(&tree);
    bz_buf_release(&l.path);
}

/* Those that are in no order with another one of the list. */
static void look_at_list(struct bz_exec *x, const struct bz_output_layers *list,
                         struct bz_bitset *seen)
{
    uint32_t before = 0; /* from 1 */

    for (size_t i = list->len; i > 0; i--) { /* in the order of the graph */
        const struct bz_map_entry *e = bz_map_get(&x->plan.ids, list->at[i - 1].task);

        if (!e)
            continue; /* of another graph */
        bz_bitset_set(seen, (uint32_t)e->u - 1);
        if (before > 0 && !in_order(x, before - 1, (uint32_t)e->u - 1))
            break;
        before = (uint32_t)e->u;
        if (i == 1)
            return; /* each waits for the one before it */
    }
    for (size_t i = 0; i < list->len; i++) {
        const struct bz_map_entry *e = bz_map_get(&x->plan.ids, list->at[i].task);

        if (!e)
            continue;
        bz_bitset_set(seen, (uint32_t)e->u - 1);
        look_into(x, (uint32_t)e->u - 1, &list->at[i]);
    }
}

static void tell(struct bz_exec *x, const struct bz_overlap_clash *c)
{
    x->overlap.told++;
    bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_OVERLAP,
                                       .task = c->a,
                                       .other = c->b,
                                       .what = c->path.p, /* of bz_arena_dup() */
                                       .more = c->more});
}

void bz_overlap_check(struct bz_exec *x, const struct bz_output *handed)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset seen = {0};
    struct bz_overlap *o = &x->overlap;

    if (handed->own.len > 1)
        look_at_list(x, &handed->own, &seen);
    if (handed->shared.len > 1)
        look_at_list(x, &handed->shared, &seen);
    for (size_t i = 0; i < o->clashes.len; i++) {
        struct bz_overlap_clash *c = &o->clashes.at[i];

        if (c->settled || !bz_bitset_test(&seen, c->a) || !bz_bitset_test(&seen, c->b))
            continue;
        c->settled = true;
        if (!in_order(x, c->a, c->b))
            tell(x, c);
    }
}

void bz_overlap_release(struct bz_overlap *o)
{
    bz_map_release(&o->order);
    bz_map_release(&o->read);
    bz_map_release(&o->paths);
    bz_map_release(&o->pairs);
    bz_vec_release(&o->clashes);
    bz_arena_release(&o->arena);
    *o = (struct bz_overlap){0};
}
