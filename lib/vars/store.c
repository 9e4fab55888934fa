#include "vars/store.h"

#include "base/mem.h"

enum {
    SPARE_MAX = 64 << 10, /* a larger buffer is freed instead of kept for reuse */
};

struct bz_vars *bz_store_new(const struct bz_vars *parent, size_t cells, size_t nodes)
{
    struct bz_vars *v = bz_mem_zalloc(sizeof(*v));

    v->parent = parent;
    v->gen = 1;
    if (parent) {
        v->python = parent->python;
        v->watch = parent->watch;
        v->by_task = parent->by_task;
        v->impure.host = parent->impure.host;
        v->clock = parent->clock;
        v->any_filter = parent->any_filter;
        v->any_rename = parent->any_rename;
    }
    if (cells > 0)
        bz_map_reserve(&v->cells, cells);
    if (nodes > 0)
        bz_map_reserve(&v->nodes, nodes);
    return v;
}

struct bz_store_node *bz_store_find(const struct bz_vars *v, struct bz_str name,
                                    uint64_t hash)
{
    const struct bz_map_entry *e = bz_map_get_u64(&v->nodes, hash);
    struct bz_store_node *node = e ? e->p : NULL;

    while (node && !bz_str_eq(node->name, name))
        node = node->next;
    return node;
}

/* What the store's parents say about the name; the nearest counts. *name becomes a copy
 * of the name that lives as long as they do, if they have one. */
static void look_above(const struct bz_vars *v, struct bz_store_cell *c,
                       struct bz_str *name)
{
    for (const struct bz_vars *s = v->parent; s; s = s->parent) {
        const struct bz_store_node *node = bz_store_find(s, c->name, c->hash);

        if (!node)
            continue;
        *name = node->name;
        if (!c->var)
            c->var = node->var;
        if (!c->variants)
            c->variants = node->variants;
        c->steers |= node->steers;
    }
}

/* The store's own node, if a table brought one. Otherwise bz_store_own() has linked it
 * with the cell that it was made for. */
static void look_here(const struct bz_vars *v, struct bz_store_cell *c)
{
    struct bz_store_node *node = bz_store_find(v, c->name, c->hash);

    if (!node)
        return;
    c->own = node;
    c->var = node->var;
    c->variants = node->variants;
    c->steers = node->steers;
}

static struct bz_store_cell *find_cell(struct bz_vars *v, struct bz_str name)
{
    uint64_t hash = bz_str_hash(name);
    struct bz_map_entry *e = bz_map_put_u64(&v->cells, hash);
    struct bz_store_cell *c = e->p;
    struct bz_str stored = {0};

    while (c && !bz_str_eq(c->name, name))
        c = c->next;
    if (c)
        return c;
    c = BZ_ARENA_NEW(&v->arena, struct bz_store_cell);
    c->name = name;
    c->hash = hash;
    if (v->restored)
        look_here(v, c);
    look_above(v, c, &stored);
    if (c->own)
        stored = c->own->name;
    c->name = stored.p ? stored : bz_arena_dup(&v->arena, name);
    c->next = e->p;
    e->p = c;
    return c;
}

struct bz_store_cell *bz_store_cell(struct bz_vars *v, struct bz_str name)
{
    /* A statement asks for its variable up to a dozen times in a row. */
    if (!v->last || !bz_str_eq(v->last->name, name))
        v->last = find_cell(v, name);
    return v->last;
}

void bz_store_add(struct bz_vars *v, struct bz_store_node *node)
{
    struct bz_map_entry *e = bz_map_put_u64(&v->nodes, node->hash);

    node->next = e->p;
    e->p = node;
}

struct bz_store_node *bz_store_own(struct bz_vars *v, struct bz_store_cell *c)
{
    struct bz_store_node *node = c->own;

    if (node)
        return node;
    node = BZ_ARENA_NEW(&v->arena, struct bz_store_node);
    node->name = c->name;
    node->hash = c->hash;
    bz_store_add(v, node);
    c->own = node;
    if (bz_str_find(c->name, BZ_STR("${")) != BZ_STR_NONE)
        BZ_VEC_PUSH(&v->dynamic, node->name);
    return node;
}

struct bz_store_var *bz_store_write(struct bz_vars *v, struct bz_store_cell *c)
{
    struct bz_store_node *own = bz_store_own(v, c);

    bz_store_changed(v);
    if (own->var)
        return own->var;
    own->var = BZ_ARENA_NEW(&v->arena, struct bz_store_var);
    if (c->var) {
        *own->var = *c->var;
        own->var->flags.cap = 0; /* borrowed */
        for (int kind = 0; kind < BZ_STORE_KINDS; kind++)
            own->var->ops[kind].cap = 0;
    }
    c->var = own->var;
    return own->var;
}

void bz_store_unshadow(struct bz_vars *v, struct bz_store_cell *c)
{
    struct bz_store_cell fresh = {.name = c->name, .hash = c->hash};
    struct bz_str stored;

    bz_store_changed(v);
    if (c->own)
        c->own->var = NULL;
    look_above(v, &fresh, &stored);
    c->var = fresh.var;
}

bool bz_store_empty(const struct bz_store_var *var)
{
    if (!var)
        return true;
    return !var->has_content && !var->has_weak && var->flags.n == 0 &&
           var->ops[BZ_STORE_APPEND].n == 0 && var->ops[BZ_STORE_PREPEND].n == 0 &&
           var->ops[BZ_STORE_REMOVE].n == 0;
}

struct bz_str bz_store_keep(struct bz_vars *v, struct bz_str text, struct bz_str old)
{
    if (!text.p)
        return text;
    if (old.p && bz_str_eq(text, old))
        return old;
    return bz_arena_dup(&v->arena, text);
}

struct bz_buf bz_store_take(struct bz_vars *v)
{
    if (v->spare.len > 0)
        return BZ_VEC_POP(&v->spare);
    return (struct bz_buf){.limit = BZ_STORE_TEXT_MAX};
}

void bz_store_give(struct bz_vars *v, struct bz_buf *b)
{
    if (b->cap > SPARE_MAX)
        bz_buf_release(b);
    else
        bz_buf_truncate(b, 0);
    BZ_VEC_PUSH(&v->spare, *b);
    *b = (struct bz_buf){0};
}

struct bz_str bz_store_filter(const struct bz_vars *v, struct bz_str name)
{
    if (!v->any_filter)
        return (struct bz_str){0};
    for (; v; v = v->parent) {
        const struct bz_map_entry *e = bz_map_get(&v->filters, name);

        if (e)
            return *(const struct bz_str *)e->p;
    }
    return (struct bz_str){0};
}

/* The capacity to grow to, from n used elements. */
static uint32_t more(uint32_t n)
{
    return n < 2 ? 4 : n * 2;
}

void bz_store_grow_flags(struct bz_vars *v, struct bz_store_flags *f)
{
    struct bz_store_flag *at;

    if (f->n < f->cap)
        return;
    f->cap = more(f->n);
    at = BZ_ARENA_ARRAY(&v->arena, struct bz_store_flag, f->cap);
    if (f->n > 0)
        memcpy(at, f->at, f->n * sizeof(*at));
    f->at = at;
}

void bz_store_grow_ops(struct bz_vars *v, struct bz_store_ops *o)
{
    struct bz_store_op *at;

    if (o->n < o->cap)
        return;
    o->cap = more(o->n);
    at = BZ_ARENA_ARRAY(&v->arena, struct bz_store_op, o->cap);
    if (o->n > 0)
        memcpy(at, o->at, o->n * sizeof(*at));
    o->at = at;
}
