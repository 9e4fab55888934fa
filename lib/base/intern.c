#include "base/intern.h"

struct bz_sym bz_intern_add(struct bz_intern *in, struct bz_str s)
{
    struct bz_map_entry *e;
    uint32_t known;

    if (in->map.len == 0)
        bz_map_put(&in->map, BZ_STR("")); /* becomes symbol 0 */
    known = in->map.len;
    e = bz_map_put(&in->map, s);
    if (in->map.len > known)
        e->key = bz_arena_dup(&in->texts, s);
    return (struct bz_sym){(uint32_t)(e - in->map.entries)};
}

bool bz_intern_find(const struct bz_intern *in, struct bz_str s, struct bz_sym *sym)
{
    const struct bz_map_entry *e = bz_map_get(&in->map, s);

    *sym = (struct bz_sym){e ? (uint32_t)(e - in->map.entries) : 0};
    return e || s.n == 0;
}

struct bz_str bz_intern_str(const struct bz_intern *in, struct bz_sym sym)
{
    if (sym.i == 0)
        return BZ_STR("");
    BZ_ASSERT(sym.i < in->map.len);
    return in->map.entries[sym.i].key;
}

uint32_t bz_intern_count(const struct bz_intern *in)
{
    return in->map.len ? in->map.len : 1;
}

void bz_intern_release(struct bz_intern *in)
{
    bz_map_release(&in->map);
    bz_arena_release(&in->texts);
}
