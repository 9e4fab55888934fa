#include "vars/refs.h"

#include "base/mem.h"

void bz_refs_init(struct bz_refs *r, struct bz_arena *arena)
{
    *r = (struct bz_refs){.arena = arena};
}

static void release_items(struct bz_refs *r)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&r->contains, NULL); e; e = bz_map_next(&r->contains, e))
        bz_map_release(e->p);
}

void bz_refs_release(struct bz_refs *r)
{
    release_items(r);
    bz_map_release(&r->contains);
    bz_map_release(&r->reads);
    bz_map_release(&r->execs);
}

/* The entry of a key whose bytes, if it is new, are copied to the arena. */
static struct bz_map_entry *put(struct bz_refs *r, struct bz_map *m, struct bz_str key)
{
    uint32_t before = m->len;
    struct bz_map_entry *e = bz_map_put(m, key);

    if (m->len > before)
        e->key = bz_arena_dup(r->arena, key);
    return e;
}

void bz_refs_read(struct bz_refs *r, struct bz_str name)
{
    put(r, &r->reads, name);
}

void bz_refs_exec(struct bz_refs *r, struct bz_str name)
{
    put(r, &r->execs, name);
}

/* The items that the variable is asked for. */
static struct bz_map *items_of(struct bz_refs *r, struct bz_str name)
{
    struct bz_map_entry *e = put(r, &r->contains, name);

    if (!e->p)
        e->p = BZ_ARENA_NEW(r->arena, struct bz_map);
    return e->p;
}

void bz_refs_contains(struct bz_refs *r, struct bz_str name, struct bz_str item)
{
    put(r, items_of(r, name), item);
}

void bz_refs_watch(struct bz_refs *r, struct bz_str name)
{
    items_of(r, name);
}

void bz_refs_contains_only(struct bz_refs *r, struct bz_str name, struct bz_str item)
{
    bz_map_clear(items_of(r, name));
    bz_refs_contains(r, name, item);
}
