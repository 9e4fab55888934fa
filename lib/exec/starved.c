#include "exec/starved.h"

#include "os/memory.h"

static int64_t look(struct bz_starved *s, int64_t now)
{
    int64_t kills = bz_memory_kills(s->root ? s->root : "");

    BZ_VEC_PUSH(&s->looks, (struct bz_starved_look){now, kills});
    return kills;
}

void bz_starved_begin(struct bz_starved *s, int64_t now)
{
    look(s, now);
}

uint64_t bz_starved_since(struct bz_starved *s, int64_t began, int64_t now)
{
    int64_t kills = look(s, now);
    int64_t before = s->looks.at[0].kills;

    for (size_t i = 0; i < s->looks.len && s->looks.at[i].at <= began; i++)
        before = s->looks.at[i].kills;
    return before >= 0 && kills > before ? (uint64_t)(kills - before) : 0;
}

void bz_starved_release(struct bz_starved *s)
{
    bz_vec_release(&s->looks);
}
