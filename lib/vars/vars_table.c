#include "vars/vars_table.h"

#include "vars/history.h"
#include "vars/store.h"

/* Layout of a table. Numbers are varints; REF is a reference into the pool.
 *
 *     magic FORMAT
 *     bits impure.clock impure.host clock REF:overrides
 *     n {REF:name REF:filter}        n {REF:name REF:hint}
 *     n {REF:clocked name}           n {REF:dynamic name}       n {REF:exported name}
 *     n {distance from the node before}
 *     n {REF:clocked name that was read}
 *
 * A node is a string of the pool, so that tables share equal ones. Its references have
 * four bytes. The history is a string of its own and is not read before it is asked
 * for (history.h).
 *
 *     bits REF:name [REF:content] [REF:weak] [REF:history]
 *     for each list in its bits: n {REF REF}
 *
 * Nodes are in the order of the pool and do not overlap, so the work of reading a table
 * is bounded by the size of the pool. */

#define MAGIC "bzvt"

enum {
    NODES_MAX = 1 << 26, /* more than memory holds */
    REF_BYTES = 4,
    PAIR_BYTES = 8,
    COUNT_BYTES = 5, /* the longest varint of 32 bits */
    FEW = 64,        /* nodes */
};

enum { /* bits of a table */
       WHOLE = 1,
       BY_TASK = 2,
       ASKED_OVERRIDES = 4,
       OVERRIDES_KNOWN = 8,
       CLOCK = 16,
       TABLE_BITS = 31,
};

enum { /* bits of a node */
       VAR = 1,
       CONTENT = 2,
       WEAK = 4,
       EVENTS = 8,
       STEERS = 16,
       LISTED = 32,
       PRESENT = 64,
       FLAGS = 128, /* from here on lists of pairs, in this order */
       OPS = 256,   /* BZ_STORE_KINDS bits */
       VARIANTS = OPS << BZ_STORE_KINDS,
       NODE_BITS = VARIANTS * 2 - 1,
       VAR_BITS = VARIANTS - FLAGS + CONTENT + WEAK, /* mean nothing without VAR */
};

/* ---- writing ---- */

/* The stores to write, the outermost first. */
struct level {
    const struct bz_vars *v;
};

struct levels BZ_VEC(struct level);

/* A string that was added, found by its address: within one table nothing moves. */
struct added {
    struct bz_str s;
    uint32_t ref;
};

enum { ADDED = 256 }; /* a power of two */

struct writer {
    struct levels levels;
    struct bz_string_pool *pool;
    struct bz_buf node, events;
    struct BZ_VEC(uint32_t) nodes;
    const char *file; /* of the last event */
    uint32_t file_ref;
    size_t before; /* bytes of the pool without this table */
    uint32_t high; /* the highest reference in the node, or the events, under way */
    struct added added[ADDED];
};

static uint32_t add_string(struct writer *w, struct bz_str s)
{
    uint64_t key = (uint64_t)(uintptr_t)s.p;
    struct added *a = &w->added[(key ^ key >> 8 ^ s.n) % ADDED];

    if (!s.p)
        return 0;
    if (a->s.p == s.p && a->s.n == s.n)
        return a->ref;
    *a = (struct added){s, bz_string_pool_add(w->pool, s)};
    return a->ref;
}

static void put_ref(struct writer *w, struct bz_buf *out, struct bz_str s)
{
    bz_string_pool_put(out, add_string(w, s));
}

/* One name in all levels. */
struct flat {
    struct bz_str name;
    const struct bz_store_var *var;           /* the nearest */
    const struct bz_store_variants *variants; /* likewise */
    unsigned bits;
    size_t pairs; /* at most, in all lists */
};

/* Where the bytes of a node go; there is room for them. */
struct node_out {
    struct writer *w;
    unsigned char *at;
};

static void store_number32(struct node_out *o, uint32_t ref)
{
    if (o->w->high < ref)
        o->w->high = ref;
    bz_string_pool_store32(o->at, ref);
    o->at += REF_BYTES;
}

static void store_ref(struct node_out *o, struct bz_str s)
{
    store_number32(o, add_string(o->w, s));
}

/* A node, or its events. If it refers to a string that is new in this table, no table
 * before has it. */
static uint32_t add_packed(struct writer *w, const struct bz_buf *bytes)
{
    return bz_string_pool_add_refs(w->pool, bz_str_of(bz_buf_text(bytes), bytes->len),
                                   w->high >= w->before);
}

static void store_number(struct node_out *o, uint32_t number)
{
    for (; number >= 0x80; number >>= 7)
        *o->at++ = (unsigned char)(0x80 | (number & 0x7f));
    *o->at++ = (unsigned char)number;
}

static const struct bz_store_node *at_level(const struct writer *w, size_t level,
                                            const struct bz_store_node *node)
{
    return bz_store_find(w->levels.at[level].v, node->name, node->hash);
}

static void flatten_level(struct flat *f, const struct bz_store_node *node)
{
    if (!f->var)
        f->var = node->var;
    if (!f->variants)
        f->variants = node->variants;
    if (node->past.n > 0 || node->first)
        f->bits |= EVENTS;
    f->bits |= (node->steers ? STEERS : 0U) | (node->listed ? LISTED : 0U);
}

static void add_var_bits(struct flat *f)
{
    const struct bz_store_var *var = f->var;

    f->bits |= VAR | (var->has_content ? CONTENT : 0U) | (var->has_weak ? WEAK : 0U) |
               (var->flags.n > 0 ? FLAGS : 0U);
    f->pairs += var->flags.n;
    for (unsigned kind = 0; kind < BZ_STORE_KINDS; kind++) {
        f->bits |= var->ops[kind].n > 0 ? (unsigned)OPS << kind : 0U;
        f->pairs += var->ops[kind].n;
    }
}

/* The levels from this one on. */
static void flatten(const struct writer *w, size_t level,
                    const struct bz_store_node *node, struct flat *f)
{
    *f = (struct flat){.name = node->name};
    flatten_level(f, node);
    while (++level < w->levels.len) {
        const struct bz_store_node *other = at_level(w, level, node);

        if (other)
            flatten_level(f, other);
    }
    if (f->var)
        add_var_bits(f);
    if (f->variants) {
        f->bits |= VARIANTS | (f->variants->present ? PRESENT : 0U);
        f->pairs += f->variants->n;
    }
}

static void store_flags(struct node_out *o, const struct bz_store_flags *flags)
{
    store_number(o, flags->n);
    for (uint32_t i = 0; i < flags->n; i++) {
        store_ref(o, flags->at[i].name);
        store_ref(o, flags->at[i].value);
    }
}

static void store_ops(struct node_out *o, const struct bz_store_ops *ops)
{
    store_number(o, ops->n);
    for (uint32_t i = 0; i < ops->n; i++) {
        store_ref(o, ops->at[i].text);
        store_ref(o, ops->at[i].override);
    }
}

static void store_variants(struct node_out *o, const struct bz_store_variants *all)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < all->n; i++)
        n += all->at[i].name.p != NULL;
    store_number(o, n);
    for (uint32_t i = 0; i < all->n; i++) {
        if (!all->at[i].name.p)
            continue; /* taken out */
        store_ref(o, all->at[i].name);
        store_ref(o, all->at[i].override);
    }
}

static void pack_event(void *ctx, const struct bz_history_event *e)
{
    struct writer *w = ctx;
    struct node_out o = {w, NULL};

    if (e->file != w->file) {
        w->file = e->file;
        w->file_ref = bz_string_pool_add(w->pool, bz_str_from(e->file));
    }
    o.at = (unsigned char *)bz_buf_reserve(&w->events, BZ_HISTORY_EVENT_BYTES);
    store_number32(&o, w->file_ref);
    bz_string_pool_store32(o.at, e->line);
    o.at += REF_BYTES;
    store_ref(&o, e->op);
    store_ref(&o, e->flag);
    store_ref(&o, e->detail);
    bz_buf_commit(&w->events, BZ_HISTORY_EVENT_BYTES);
}

/* The events of all levels, the oldest first. */
static uint32_t pack_events(struct writer *w, const struct bz_store_node *node)
{
    uint32_t high = w->high, ref;

    bz_buf_truncate(&w->events, 0);
    w->high = 0;
    for (size_t level = w->levels.len; level-- > 0;) {
        const struct bz_store_node *other = at_level(w, level, node);

        if (other)
            bz_history_each_own(w->levels.at[level].v, other, pack_event, w);
    }
    ref = add_packed(w, &w->events);
    w->high = high;
    return ref;
}

static void put_node(struct writer *w, size_t level, const struct bz_store_node *node)
{
    struct node_out o = {w, NULL};
    struct flat f;

    for (size_t nearer = 0; nearer < level; nearer++)
        if (at_level(w, nearer, node))
            return; /* written there */
    flatten(w, level, node, &f);
    if (f.bits == 0)
        return;
    bz_buf_truncate(&w->node, 0);
    w->high = 0;
    o.at = (unsigned char *)bz_buf_reserve(
        &w->node,
        4 * REF_BYTES + (3 + BZ_STORE_KINDS) * COUNT_BYTES + f.pairs * 2 * REF_BYTES);
    store_number(&o, f.bits);
    store_ref(&o, f.name);
    if (f.bits & CONTENT)
        store_ref(&o, f.var->content);
    if (f.bits & WEAK)
        store_ref(&o, f.var->weak);
    if (f.bits & EVENTS)
        store_number32(&o, pack_events(w, node));
    if (f.bits & FLAGS)
        store_flags(&o, &f.var->flags);
    for (unsigned kind = 0; kind < BZ_STORE_KINDS; kind++)
        if (f.bits & (unsigned)OPS << kind)
            store_ops(&o, &f.var->ops[kind]);
    if (f.bits & VARIANTS)
        store_variants(&o, f.variants);
    bz_buf_commit(&w->node, (size_t)(o.at - (unsigned char *)w->node.data));
    BZ_VEC_PUSH(&w->nodes, add_packed(w, &w->node));
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* They are nearly in order: most are new, and those of classes are added first. */
static void sort_nodes(struct writer *w)
{
    if (w->nodes.len > FEW) {
        BZ_VEC_SORT(&w->nodes, by_number);
        return;
    }
    for (size_t i = 1; i < w->nodes.len; i++) {
        uint32_t ref = w->nodes.at[i];
        size_t k = i;

        for (; k > 0 && w->nodes.at[k - 1] > ref; k--)
            w->nodes.at[k] = w->nodes.at[k - 1];
        w->nodes.at[k] = ref;
    }
}

static void put_nodes(struct writer *w, struct bz_buf *out)
{
    uint32_t before = 0;

    sort_nodes(w);
    bz_string_pool_put(out, w->nodes.len);
    for (size_t i = 0; i < w->nodes.len; i++) {
        bz_string_pool_put(out, w->nodes.at[i] - before);
        before = w->nodes.at[i];
    }
}

/* The filters, or the renames, of all levels; of those with one name the nearest. They
 * keep the order in which bz_dump_each() shows them. */
static void put_pairs(struct writer *w, bool renames, struct bz_buf *out)
{
    struct bz_map all = {0};
    const struct bz_map_entry *e;

    for (size_t level = w->levels.len; level-- > 0;) {
        const struct bz_vars *v = w->levels.at[level].v;
        const struct bz_map *own = renames ? &v->renames : &v->filters;

        for (e = bz_map_next(own, NULL); e; e = bz_map_next(own, e))
            bz_map_put(&all, e->key)->p = e->p;
    }
    bz_string_pool_put(out, all.len);
    for (e = bz_map_next(&all, NULL); e; e = bz_map_next(&all, e)) {
        const struct bz_str *value = e->p;

        put_ref(w, out, e->key);
        put_ref(w, out, *value);
    }
    bz_map_release(&all);
}

/* Names, each once. */
static void put_names(struct writer *w, struct bz_map *names, struct bz_buf *out)
{
    const struct bz_map_entry *e;

    bz_string_pool_put(out, names->len);
    for (e = bz_map_next(names, NULL); e; e = bz_map_next(names, e))
        put_ref(w, out, e->key);
    bz_map_release(names);
}

static void put_clocked(struct writer *w, struct bz_buf *out)
{
    struct bz_map names = {0};

    for (size_t level = 0; level < w->levels.len; level++) {
        const struct bz_vars *v = w->levels.at[level].v;

        for (size_t i = 0; i < v->clocked.len; i++)
            bz_map_put(&names, v->clocked.at[i]);
    }
    put_names(w, &names, out);
}

/* In the order in which they are looked at, which decides about the first error. */
static void put_dynamic(struct writer *w, struct bz_buf *out)
{
    struct bz_map names = {0};

    for (size_t level = 0; level < w->levels.len; level++) {
        const struct bz_vars *v = w->levels.at[level].v;

        for (size_t i = 0; i < v->dynamic.len; i++)
            bz_map_put(&names, v->dynamic.at[i]);
    }
    put_names(w, &names, out);
}

static void put_exports(struct writer *w, struct bz_buf *out)
{
    struct bz_map names = {0};

    for (size_t level = 0; level < w->levels.len; level++) {
        const struct bz_vars *v = w->levels.at[level].v;

        for (size_t i = 0; i < v->exports.len; i++)
            bz_map_put(&names, v->exports.at[i]);
    }
    put_names(w, &names, out);
}

static bool was_read(const struct bz_vars *v, struct bz_str name)
{
    const struct bz_map_entry *e = bz_map_get_u64(&v->cells, bz_str_hash(name));
    const struct bz_store_cell *c = e ? e->p : NULL;

    while (c && !bz_str_eq(c->name, name))
        c = c->next;
    return c && (c->text_gen > 0 || c->raw_gen > 0);
}

/* The names that bz_vars_clock_read() asks for and that were read. */
static void put_clocked_read(struct writer *w, const struct bz_vars *v,
                             struct bz_buf *out)
{
    struct bz_map read = {0};

    for (const struct bz_vars *s = v; s; s = s->parent)
        for (size_t i = 0; i < s->clocked.len; i++)
            if (was_read(v, s->clocked.at[i]))
                bz_map_put(&read, s->clocked.at[i]);
    put_names(w, &read, out);
}

static void put_head(struct writer *w, const struct bz_vars *v,
                     const struct bz_vars *ancestor, struct bz_buf *out)
{
    unsigned bits = 0;

    if (!ancestor)
        bits |= WHOLE;
    if (v->by_task)
        bits |= BY_TASK;
    if (v->asked_overrides)
        bits |= ASKED_OVERRIDES;
    if (v->overrides.known || v->overrides.saved)
        bits |= OVERRIDES_KNOWN;
    if (v->clock != (ancestor ? ancestor->clock : 0))
        bits |= CLOCK;
    bz_buf_add_str(out, BZ_STR(MAGIC));
    bz_string_pool_put(out, BZ_VARS_TABLE_FORMAT);
    bz_string_pool_put(out, bits);
    bz_string_pool_put(out, v->impure.clock);
    bz_string_pool_put(out, v->impure.host);
    bz_string_pool_put(out, (bits & CLOCK) ? (uint64_t)v->clock : 0);
    put_ref(w, out, (bits & OVERRIDES_KNOWN) ? v->overrides.text : (struct bz_str){0});
}

void bz_vars_table_write(const struct bz_vars *v, const struct bz_vars *ancestor,
                         struct bz_string_pool *pool, struct bz_buf *out)
{
    struct writer w = {.pool = pool, .before = bz_string_pool_block(pool).n};
    const struct bz_vars *s;

    BZ_ASSERT(!v->overrides.busy);
    for (s = v; s && s != ancestor; s = s->parent)
        BZ_VEC_PUSH(&w.levels, (struct level){s});
    BZ_ASSERT(s == ancestor);
    put_head(&w, v, ancestor, out);
    put_pairs(&w, false, out);
    put_pairs(&w, true, out);
    put_clocked(&w, out);
    put_dynamic(&w, out);
    put_exports(&w, out);
    for (size_t level = 0; level < w.levels.len; level++) {
        const struct bz_map *nodes = &w.levels.at[level].v->nodes;
        const struct bz_map_entry *e;

        for (e = bz_map_next(nodes, NULL); e; e = bz_map_next(nodes, e))
            for (const struct bz_store_node *node = e->p; node; node = node->next)
                put_node(&w, level, node);
    }
    put_nodes(&w, out);
    put_clocked_read(&w, v, out);
    bz_vec_release(&w.levels);
    bz_vec_release(&w.nodes);
    bz_buf_release(&w.node);
    bz_buf_release(&w.events);
}

/* ---- reading ---- */

struct reader {
    struct bz_vars *v;
    struct bz_str pool;
    struct bz_string_pool_cursor in; /* the table */
    size_t hashed;                   /* bytes of names so far */
    bool bad;
};

static inline struct bz_str get_string(struct reader *r, uint64_t ref)
{
    struct bz_str s;

    if (BZ_UNLIKELY(!bz_string_pool_get(r->pool, ref, &s)))
        r->bad = true;
    return s;
}

/* A string that must not be NULL. */
static inline struct bz_str get_name(struct reader *r, uint64_t ref)
{
    struct bz_str s = get_string(r, ref);

    if (BZ_UNLIKELY(!s.p))
        r->bad = true;
    return s;
}

/* A name that is going to be hashed. The names in one list differ, so together they are
 * no longer than the pool, and there are four lists. Checking that bounds the time of
 * hashing. */
static struct bz_str get_key(struct reader *r, uint64_t ref)
{
    struct bz_str s = get_name(r, ref);

    r->hashed += s.n;
    if (BZ_UNLIKELY(r->hashed / 4 > r->pool.n))
        r->bad = true;
    return r->bad ? BZ_STR("") : s;
}

/* The next reference of a node. The caller has checked that it is there. */
static inline uint32_t next_ref(struct bz_string_pool_cursor *c)
{
    uint32_t ref = bz_string_pool_load32(c->at);

    c->at += REF_BYTES;
    return ref;
}

/* How many elements follow, each of at least `least` bytes. */
static uint32_t take_count(struct reader *r, struct bz_string_pool_cursor *c,
                           size_t least)
{
    uint64_t n = bz_string_pool_take(c);

    if (BZ_UNLIKELY(n > (size_t)(c->end - c->at) / least || n > UINT32_MAX)) {
        r->bad = true;
        return 0;
    }
    return (uint32_t)n;
}

static void read_flags(struct reader *r, struct bz_string_pool_cursor *c,
                       struct bz_store_flags *flags)
{
    uint32_t n = take_count(r, c, PAIR_BYTES);

    flags->at = bz_arena_alloc(&r->v->arena, n * sizeof(*flags->at), _Alignof(void *));
    flags->n = n; /* cap stays 0: a change copies the array */
    for (uint32_t i = 0; i < n; i++) {
        flags->at[i].name = get_name(r, next_ref(c));
        flags->at[i].value = get_string(r, next_ref(c));
    }
}

static void read_ops(struct reader *r, struct bz_string_pool_cursor *c,
                     struct bz_store_ops *ops)
{
    uint32_t n = take_count(r, c, PAIR_BYTES);

    ops->at = bz_arena_alloc(&r->v->arena, n * sizeof(*ops->at), _Alignof(void *));
    ops->n = n;
    for (uint32_t i = 0; i < n; i++) {
        ops->at[i].text = get_string(r, next_ref(c));
        ops->at[i].override = get_string(r, next_ref(c));
    }
}

static void read_variants(struct reader *r, struct bz_string_pool_cursor *c,
                          bool present, struct bz_store_node *node)
{
    struct bz_store_variants *all =
        BZ_ARENA_NEW(&r->v->arena, struct bz_store_variants);
    uint32_t n = take_count(r, c, PAIR_BYTES);

    node->variants = all;
    all->present = present;
    all->at = bz_arena_alloc(&r->v->arena, n * sizeof(*all->at), _Alignof(void *));
    all->n = n;
    all->cap = n;
    for (uint32_t i = 0; i < n; i++) {
        all->at[i].name = get_name(r, next_ref(c));
        all->at[i].override = get_string(r, next_ref(c));
    }
}

/* A node, and its variable if it has one. */
struct pair {
    struct bz_store_node node;
    struct bz_store_var var;
};

static void read_lists(struct reader *r, struct bz_string_pool_cursor *c, unsigned bits,
                       struct pair *to)
{
    if (bits & FLAGS)
        read_flags(r, c, &to->var.flags);
    for (unsigned kind = 0; kind < BZ_STORE_KINDS; kind++)
        if (bits & (unsigned)OPS << kind)
            read_ops(r, c, &to->var.ops[kind]);
    if (bits & VARIANTS)
        read_variants(r, c, bits & PRESENT, &to->node);
}

/* How many references come before the lists of a node. */
static size_t head_refs(uint64_t bits)
{
    return 1U + !!(bits & CONTENT) + !!(bits & WEAK) + !!(bits & EVENTS);
}

static void read_node(struct reader *r, struct bz_str record, struct pair *to)
{
    struct bz_string_pool_cursor c = bz_string_pool_cursor(record);
    uint64_t bits = bz_string_pool_take(&c);
    struct bz_store_node *node = &to->node;

    *to = (struct pair){.node.steers = bits & STEERS,
                        .node.listed = bits & LISTED,
                        .node.var = (bits & VAR) ? &to->var : NULL,
                        .var.has_content = bits & CONTENT,
                        .var.has_weak = bits & WEAK};
    if (bits > NODE_BITS || (!(bits & VAR) && (bits & VAR_BITS)) ||
        (size_t)(c.end - c.at) / REF_BYTES < head_refs(bits)) {
        r->bad = true;
        return;
    }
    node->name = get_key(r, next_ref(&c));
    node->hash = bz_str_hash(node->name);
    if (bits & CONTENT)
        to->var.content = get_string(r, next_ref(&c));
    if (bits & WEAK)
        to->var.weak = get_string(r, next_ref(&c));
    if (bits & EVENTS)
        node->past = get_name(r, next_ref(&c));
    if (bits >= FLAGS)
        read_lists(r, &c, (unsigned)bits, to);
    if (c.bad || c.at != c.end || node->past.n % BZ_HISTORY_EVENT_BYTES != 0)
        r->bad = true;
    if (!r->bad)
        bz_store_add(r->v, node);
    for (const struct bz_store_node *other = node->next; other; other = other->next)
        r->bad |= bz_str_eq(other->name, node->name);
}

/* The next node of a table. `*behind` is where the one before ended, NULL at first.
 * False if it leads nowhere or overlaps with the one before. */
static bool next_node(struct bz_str pool, struct bz_string_pool_cursor *in,
                      uint64_t *ref, const char **behind, struct bz_str *record)
{
    *ref += bz_string_pool_take(in);
    if (*ref > UINT32_MAX || !bz_string_pool_get(pool, *ref, record) || !record->p)
        return false;
    if (*behind && pool.p + *ref < *behind)
        return false;
    *behind = record->p + record->n;
    return true;
}

static void read_nodes(struct reader *r)
{
    uint32_t n = take_count(r, &r->in, 1);
    struct pair *nodes;
    const char *behind = NULL;
    uint64_t ref = 0;

    if (n > NODES_MAX) {
        r->bad = true;
        return;
    }
    nodes = bz_arena_alloc(&r->v->arena, n * sizeof(*nodes), _Alignof(struct pair));
    bz_map_reserve(&r->v->nodes, n);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        struct bz_str record;

        if (!next_node(r->pool, &r->in, &ref, &behind, &record))
            r->bad = true;
        else
            read_node(r, record, &nodes[i]);
    }
}

/* Filters, or renames. */
static void read_pairs(struct reader *r, struct bz_map *to, bool *any)
{
    for (uint32_t n = take_count(r, &r->in, 2); n > 0 && !r->bad; n--) {
        struct bz_str name = get_key(r, bz_string_pool_take(&r->in));
        struct bz_str *value = BZ_ARENA_NEW(&r->v->arena, struct bz_str);

        *value = get_string(r, bz_string_pool_take(&r->in));
        bz_map_put(to, name)->p = value;
        *any = true;
    }
}

static void read_names(struct reader *r)
{
    struct bz_vars *v = r->v;

    for (uint32_t n = take_count(r, &r->in, 1); n > 0 && !r->bad; n--)
        BZ_VEC_PUSH(&v->clocked, get_name(r, bz_string_pool_take(&r->in)));
    for (uint32_t n = take_count(r, &r->in, 1); n > 0 && !r->bad; n--)
        BZ_VEC_PUSH(&v->dynamic, get_name(r, bz_string_pool_take(&r->in)));
    for (uint32_t n = take_count(r, &r->in, 1); n > 0 && !r->bad; n--)
        BZ_VEC_PUSH(&v->exports, get_name(r, bz_string_pool_take(&r->in)));
}

/* Marks variables as read, without a value that could be taken for the current one. */
static void read_clocked_read(struct reader *r)
{
    for (uint32_t n = take_count(r, &r->in, 1); n > 0 && !r->bad; n--) {
        struct bz_str name = get_key(r, bz_string_pool_take(&r->in));

        bz_store_cell(r->v, name)->raw_gen = r->v->gen;
    }
    bz_store_changed(r->v);
}

/* False if the table is not for a store with, or without, a parent. */
static bool read_head(struct reader *r)
{
    struct bz_vars *v = r->v;
    uint64_t bits = bz_string_pool_take(&r->in), clock;
    struct bz_str overrides;

    v->impure.clock = (unsigned)bz_string_pool_take(&r->in);
    v->impure.host = (unsigned)bz_string_pool_take(&r->in);
    clock = bz_string_pool_take(&r->in);
    overrides = get_string(r, bz_string_pool_take(&r->in));
    if (bits > TABLE_BITS)
        r->bad = true;
    if (r->bad)
        return true;
    if (bits & CLOCK)
        v->clock = (int64_t)clock;
    v->by_task = bits & BY_TASK;
    v->asked_overrides = bits & ASKED_OVERRIDES;
    if (bits & OVERRIDES_KNOWN) {
        v->overrides.saved = true;
        v->overrides.text = overrides;
    }
    return !(bits & WHOLE) == !!v->parent;
}

static int read_table(struct reader *r, struct bz_err *err)
{
    if (!read_head(r))
        return bz_fail(err, BZ_E_CORRUPT, "the table is %s",
                       r->v->parent ? "a whole store, not a difference"
                                    : "a difference, not a whole store");
    read_pairs(r, &r->v->filters, &r->v->any_filter);
    read_pairs(r, &r->v->renames, &r->v->any_rename);
    read_names(r);
    read_nodes(r);
    read_clocked_read(r);
    if (r->bad || r->in.bad || r->in.at != r->in.end)
        return bz_fail(err, BZ_E_CORRUPT, "the table of variables is damaged");
    return 0;
}

/* The bytes behind the magic and the version. */
static int check_format(struct bz_str table, struct bz_str pool,
                        struct bz_string_pool_cursor *in, struct bz_err *err)
{
    uint64_t format;
    int rc = bz_string_pool_check(pool, err);

    *in = (struct bz_string_pool_cursor){0};
    if (rc < 0)
        return rc;
    if (!bz_str_cut_prefix(&table, BZ_STR(MAGIC)))
        return bz_fail(err, BZ_E_CORRUPT, "the bytes are no table of variables");
    *in = bz_string_pool_cursor(table);
    format = bz_string_pool_take(in);
    if (format != BZ_VARS_TABLE_FORMAT)
        return bz_fail(err, BZ_E_CORRUPT,
                       "the table of variables has format %llu, expected %d",
                       (unsigned long long)format, BZ_VARS_TABLE_FORMAT);
    return 0;
}

int bz_vars_table_read(struct bz_str table, struct bz_str pool,
                       const struct bz_vars *parent, struct bz_vars **out,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = NULL;
    struct reader r = {.pool = pool};
    int rc = check_format(table, pool, &r.in, err);

    if (rc < 0)
        return rc;
    v = bz_store_new(parent, 0, 0);
    v->restored = true;
    v->pool = pool;
    r.v = v;
    rc = read_table(&r, err);
    if (rc < 0)
        return rc;
    *out = v;
    v = NULL; /* the caller owns it now */
    return 0;
}
