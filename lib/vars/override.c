#include "vars/override.h"

#include "base/mem.h"
#include "vars/expand.h"
#include "vars/refs.h"
#include "vars/value.h"

enum {
    ROUNDS = 5,      /* BitBake's bound on looking for stable overrides */
    INDEX_FROM = 16, /* from this many variants on they are found by hash */
};

/* ---- variants ---- */

static void drop_index(struct bz_store_variants *all)
{
    bz_map_clear(&all->index);
    all->indexed = false;
}

static void build_index(struct bz_vars *v, struct bz_store_variants *all)
{
    if (!all->index.slots) {
        all->next_indexed = v->indexed;
        v->indexed = all;
    }
    all->indexed = true;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].name.p)
            bz_map_put(&all->index, all->at[i].name)->u = i;
}

/* The place of a variant, or all->n. */
static uint32_t place(struct bz_vars *v, struct bz_store_variants *all,
                      struct bz_str name)
{
    const struct bz_map_entry *e;
    uint32_t i;

    if (!all->indexed && all->n >= INDEX_FROM)
        build_index(v, all);
    if (all->indexed) {
        e = bz_map_get(&all->index, name);
        return e ? (uint32_t)e->u : all->n;
    }
    for (i = 0; i < all->n; i++)
        if (all->at[i].name.p && bz_str_eq(all->at[i].name, name))
            break;
    return i;
}

/* The store's own list: the parent's copied if it had none. */
static struct bz_store_variants *own_variants(struct bz_vars *v,
                                              struct bz_store_cell *c)
{
    struct bz_store_node *own = bz_store_own(v, c);
    const struct bz_store_variants *old = c->variants;
    struct bz_store_variants *all = own->variants;

    bz_store_changed(v);
    if (all)
        return all;
    all = BZ_ARENA_NEW(&v->arena, struct bz_store_variants);
    if (old && old->n > 0) {
        all->cap = old->n + old->n / 2 + 1;
        all->at = BZ_ARENA_ARRAY(&v->arena, struct bz_store_variant, all->cap);
        for (uint32_t i = 0; i < old->n; i++)
            if (old->at[i].name.p)
                all->at[all->n++] = old->at[i];
    }
    all->present = old && old->present;
    own->variants = all;
    c->variants = all;
    return all;
}

static void push(struct bz_vars *v, struct bz_store_variants *all, struct bz_str name,
                 struct bz_str override)
{
    if (all->n == all->cap) {
        uint32_t cap = all->n < 2 ? 4 : all->n * 2;
        struct bz_store_variant *at =
            BZ_ARENA_ARRAY(&v->arena, struct bz_store_variant, cap);

        if (all->n > 0)
            memcpy(at, all->at, all->n * sizeof(*at));
        all->at = at;
        all->cap = cap;
    }
    if (all->indexed)
        bz_map_put(&all->index, name)->u = all->n;
    all->at[all->n++] = (struct bz_store_variant){name, override};
}

/* Closes the gaps once they are the larger part. */
static void compact(struct bz_store_variants *all)
{
    uint32_t n = 0;

    if (all->gone * 2 <= all->n)
        return;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].name.p)
            all->at[n++] = all->at[i];
    all->n = n;
    all->gone = 0;
    drop_index(all);
}

void bz_override_put(struct bz_vars *v, struct bz_store_cell *c, struct bz_str name,
                     struct bz_str override)
{
    struct bz_store_variants *all = own_variants(v, c);

    all->present = true;
    if (place(v, all, name) == all->n)
        push(v, all, name, override);
}

void bz_override_clear(struct bz_vars *v, struct bz_store_cell *c)
{
    struct bz_store_variants *all;

    if (!c->variants)
        return;
    all = own_variants(v, c);
    all->present = false;
    all->n = 0;
    all->gone = 0;
    drop_index(all);
}

/* Splits at the ':' before `*end`, moving *end there. False when there is none or what
 * follows it cannot be an override. */
static bool next_split(struct bz_str name, size_t *end)
{
    size_t at = bz_str_rfind_byte(bz_str_sub(name, 0, *end), ':');

    if (at == BZ_STR_NONE || at + 1 >= name.n)
        return false;
    /* "X:a:b" is no variant of "", though ":a" is. */
    if (at == 0 && *end < name.n)
        return false;
    *end = at;
    return (name.p[at + 1] >= 'a' && name.p[at + 1] <= 'z') ||
           (name.p[at + 1] >= '0' && name.p[at + 1] <= '9');
}

void bz_override_add(struct bz_vars *v, struct bz_str name)
{
    size_t end = name.n;

    if (bz_str_rfind_byte(name, ':') == BZ_STR_NONE)
        return;
    name = bz_store_cell(v, name)->name; /* lives as long as the store */
    while (next_split(name, &end)) {
        struct bz_store_cell *c = bz_store_cell(v, bz_str_sub(name, 0, end));

        bz_override_put(v, c, name, bz_str_sub(name, end + 1, name.n));
    }
}

void bz_override_remove(struct bz_vars *v, struct bz_str name)
{
    size_t end = name.n;

    while (next_split(name, &end)) {
        struct bz_store_cell *c = bz_store_cell(v, bz_str_sub(name, 0, end));
        struct bz_store_variants *all;
        uint32_t i;

        if (!c->variants || c->variants->n == 0)
            continue;
        all = own_variants(v, c);
        i = place(v, all, name);
        if (i == all->n)
            continue;
        if (all->indexed)
            bz_map_remove(&all->index, name);
        all->at[i].name.p = NULL;
        all->gone++;
        compact(all);
    }
}

/* ---- what is active ---- */

static void set_list(struct bz_vars *v, struct bz_str text)
{
    struct bz_store_overrides *o = &v->overrides;
    struct bz_str rest = text.p ? text : BZ_STR(""), part;

    o->text = text;
    BZ_VEC_CLEAR(&o->list);
    bz_map_clear(&o->set);
    while (bz_str_next_part(&rest, ':', &part)) {
        if (!bz_map_get(&o->set, part))
            bz_map_put(&o->set, part)->u = o->list.len;
        BZ_VEC_PUSH(&o->list, part);
    }
    bz_store_changed(v);
}

/* OVERRIDES as it reads while the overrides found so far are active. */
static int evaluate(struct bz_vars *v, struct bz_str *text, struct bz_err *err)
{
    struct bz_store_cell *c = bz_store_cell(v, BZ_STR("OVERRIDES"));
    const struct bz_store_frame *frame = v->frame;
    int rc;

    if (v->keep.ask) /* its references are names there */
        return bz_vars_get(v->keep.plain, c->name, 0, text, err);
    /* A variable under way may well be read again here: its overrides are off. */
    v->frame = NULL;
    rc = bz_value_get(v, c, 0, text, err);
    v->frame = frame;
    return rc;
}

static int find_stable(struct bz_vars *v, struct bz_err *err)
{
    struct bz_str text;
    int rc = evaluate(v, &text, err);

    for (int round = 0; rc == 0 && round < ROUNDS; round++) {
        set_list(v, text);
        rc = evaluate(v, &text, err);
        if (rc == 0 && bz_str_eq(text, v->overrides.text))
            return 0;
    }
    if (rc < 0)
        return rc;
    return bz_fail(err, BZ_E_INVAL,
                   "OVERRIDES has no stable value: it depends on variables that the "
                   "overrides in it change (last: %.*s)",
                   BZ_STR_ARG(text));
}

int bz_override_need(struct bz_vars *v, struct bz_err *err)
{
    struct bz_store_overrides *o = &v->overrides;
    int rc;

    if (o->known || o->busy)
        return 0;
    if (o->saved) {
        o->saved = false;
        o->known = true;
        set_list(v, o->text);
        return 0;
    }
    o->busy = true;
    o->text = (struct bz_str){0};
    BZ_VEC_CLEAR(&o->list);
    bz_map_clear(&o->set);
    bz_store_changed(v);
    rc = find_stable(v, err);
    o->busy = false;
    o->known = rc == 0;
    bz_store_changed(v);
    return rc;
}

bool bz_override_active(const struct bz_vars *v, struct bz_str override)
{
    struct bz_str rest = override.p ? override : BZ_STR(""), part;

    while (bz_str_next_part(&rest, ':', &part))
        if (!bz_map_get(&v->overrides.set, part))
            return false;
    return true;
}

bool bz_override_any(const struct bz_vars *v, const struct bz_store_variants *all)
{
    for (uint32_t i = 0; all && i < all->n; i++)
        if (all->at[i].name.p && bz_override_active(v, all->at[i].override))
            return true;
    return false;
}

/* ---- the choice ----
 *
 * With plain overrides the strongest wins. With combined ones the rule is BitBake's
 * procedure, of which every quirk counts: go through the overrides, weakest first; one
 * at the end of a combination is cut off it (and ":o" wherever else it occurs in
 * there), and a variant whose override is all that is left is the choice so far. Repeat
 * while combinations get shorter. */

struct candidate {
    struct bz_str key; /* what is left of the override */
    struct bz_str name;
    bool gone;
};

struct candidates {
    struct BZ_VEC(struct candidate) all;
    size_t left;
};

/* Without each ":o". */
static struct bz_str without(struct bz_arena *arena, struct bz_str key, struct bz_str o)
{
    char *to = bz_arena_alloc(arena, key.n + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < key.n;) {
        if (key.p[i] == ':' && bz_str_starts(bz_str_sub(key, i + 1, key.n), o)) {
            i += 1 + o.n;
            continue;
        }
        to[n++] = key.p[i++];
    }
    return bz_str_of(to, n);
}

static bool ends_in(struct bz_str key, struct bz_str o)
{
    return key.n > o.n && key.p[key.n - o.n - 1] == ':' && bz_str_ends(key, o);
}

/* Replaces the candidate that has this key already, as a dictionary does. */
static void put(struct candidates *cs, struct bz_str key, struct bz_str name)
{
    cs->left++;
    for (size_t i = 0; i < cs->all.len; i++) {
        if (cs->all.at[i].gone || !bz_str_eq(cs->all.at[i].key, key))
            continue;
        cs->all.at[i].name = name;
        cs->left--;
        return;
    }
    BZ_VEC_PUSH(&cs->all, (struct candidate){.key = key, .name = name});
}

/* One override against every candidate; true if a combination became shorter. */
static bool reduce(struct bz_vars *v, struct candidates *cs, struct bz_str o,
                   struct bz_str *match)
{
    size_t n = cs->all.len; /* what is put below waits for the next override */
    bool shorter = false;

    for (size_t i = 0; i < n; i++) {
        struct candidate c = cs->all.at[i];

        if (c.gone)
            continue;
        if (ends_in(c.key, o)) {
            cs->all.at[i].gone = true;
            cs->left--;
            put(cs, without(&v->arena, c.key, o), c.name);
            shorter = true;
        } else if (bz_str_eq(c.key, o)) {
            cs->all.at[i].gone = true;
            cs->left--;
            *match = c.name;
        }
    }
    return shorter;
}

static struct bz_str choose_combined(struct bz_vars *v,
                                     const struct bz_store_variants *all)
{
    struct candidates cs = {0};
    struct bz_arena_mark mark = bz_arena_mark(&v->arena);
    struct bz_str match = {0};
    bool again = true;

    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i].name.p && bz_override_active(v, all->at[i].override))
            put(&cs, all->at[i].override, all->at[i].name);
    while (again) {
        again = false;
        for (size_t i = 0; i < v->overrides.list.len && cs.left > 0; i++)
            again |= reduce(v, &cs, v->overrides.list.at[i], &match);
    }
    bz_vec_release(&cs.all);
    bz_arena_rewind(&v->arena, mark);
    return match;
}

struct bz_str bz_override_choose(struct bz_vars *v, const struct bz_store_variants *all)
{
    struct bz_str match = {0};
    uint64_t strongest = 0;

    for (uint32_t i = 0; i < all->n; i++) {
        const struct bz_store_variant *variant = &all->at[i];
        const struct bz_map_entry *e;

        if (!variant->name.p)
            continue;
        e = bz_map_get(&v->overrides.set, variant->override);
        if (e && (!match.p || e->u >= strongest)) {
            match = variant->name;
            strongest = e->u;
        } else if (!e && bz_str_find_byte(variant->override, ':') != BZ_STR_NONE &&
                   bz_override_active(v, variant->override)) {
            return choose_combined(v, all);
        }
    }
    return match;
}

/* ---- when to compute again ---- */

void bz_override_mark(struct bz_vars *v, struct bz_store_cell *c)
{
    c->steers = true;
    bz_store_own(v, c)->steers = true;
}

static void collect(struct bz_refs *to, const struct bz_refs *from)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&from->reads, NULL); e; e = bz_map_next(&from->reads, e))
        bz_refs_read(to, e->key);
    for (e = bz_map_next(&from->contains, NULL); e; e = bz_map_next(&from->contains, e))
        bz_refs_read(to, e->key);
}

/* Adds to `found` what an expansion of the text names. */
static int names_in(struct bz_vars *v, struct bz_str text, struct bz_str name,
                    struct bz_refs *found, struct bz_err *err)
{
    struct bz_refs refs;
    struct bz_buf ignored;
    int rc;

    if (!text.p)
        return 0;
    ignored = bz_store_take(v);
    bz_refs_init(&refs, found->arena);
    rc = bz_expand_named(v, text, name, &refs, &ignored, err);
    if (rc == 0)
        collect(found, &refs);
    bz_refs_release(&refs);
    bz_store_give(v, &ignored);
    return rc;
}

/* Marks the names; true if one was not marked before. */
static bool mark_all(struct bz_vars *v, const struct bz_refs *names)
{
    const struct bz_map_entry *e;
    bool fresh = false;

    for (e = bz_map_next(&names->reads, NULL); e; e = bz_map_next(&names->reads, e)) {
        struct bz_store_cell *c = bz_store_cell(v, e->key);

        fresh |= !c->steers;
        if (!c->steers)
            bz_override_mark(v, c);
    }
    return fresh;
}

static int follow(struct bz_vars *v, struct bz_refs *names, struct bz_err *err)
{
    while (mark_all(v, names)) {
        const struct bz_map_entry *e;
        struct bz_refs next;
        struct bz_str text;
        int rc = 0;

        bz_refs_init(&next, names->arena);
        for (e = bz_map_next(&names->reads, NULL); e && rc == 0;
             e = bz_map_next(&names->reads, e)) {
            rc = bz_value_get(v, bz_store_cell(v, e->key), 0, &text, err);
            if (rc == 0)
                rc = names_in(v, text, e->key, &next, err);
        }
        bz_refs_release(names);
        *names = next;
        if (rc < 0)
            return rc;
    }
    return 0;
}

int bz_override_steer(struct bz_vars *v, struct bz_str name, struct bz_str value,
                      struct bz_err *err)
{
    struct bz_arena arena = {0};
    struct bz_refs names;
    int rc;

    bz_refs_init(&names, &arena);
    rc = names_in(v, value, name, &names, err);
    if (rc == 0)
        rc = follow(v, &names, err);
    bz_refs_release(&names);
    bz_arena_release(&arena);
    v->overrides.known = false;
    v->overrides.saved = false;
    bz_store_changed(v);
    return rc;
}
