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

struct bz_str bz_intern_str(const struct bz_intern *in, struct bz_sym sym)
{
    if (sym.i == 0)
        return BZ_STR("");
    BZ_ASSERT(sym.i < in->map.len);
    return in->map.entries[sym.i].key;
}

void bz_intern_release(struct bz_intern *in)
{
    bz_map_release(&in->map);
    bz_arena_release(&in->texts);
}
