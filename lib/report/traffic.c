#include "report/traffic.h"

#include <stdlib.h>

/* Scheme and host of an address, without what comes before an '@'. */
static struct bz_str origin_of(struct bz_str address)
{
    size_t at = bz_str_find(address, BZ_STR("://")), end;

    if (at == BZ_STR_NONE)
        return address;
    end = bz_str_find_byte(bz_str_drop(address, at + 3), '/');
    return end == BZ_STR_NONE ? address : bz_str_sub(address, 0, at + 3 + end);
}

static int by_bytes(const void *a, const void *b)
{
    const struct bz_traffic_row *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return bz_str_cmp(x->from, y->from);
}

void bz_traffic_downloads(struct bz_traffic *t, const struct bz_account *a)
{
    BZ_CLEANUP(bz_map_release) struct bz_map rows = {0}; /* origin -> row, from 1 */

    for (size_t i = 0; i < a->downloads.len; i++) {
        const struct bz_account_download *d = &a->downloads.at[i];
        struct bz_map_entry *it = bz_map_put(&rows, origin_of(d->from));
        struct bz_traffic_row *row;

        if (it->u == 0) {
            BZ_VEC_PUSH(t, (struct bz_traffic_row){.from = it->key});
            it->u = t->len;
        }
        row = &t->at[it->u - 1];
        row->files++;
        row->bytes += d->bytes;
        row->took += d->took;
    }
    if (t->len > 1)
        qsort(t->at, t->len, sizeof(*t->at), by_bytes);
}

bool bz_traffic_is_local(const struct bz_account_place *p)
{
    return bz_str_eq(p->kind, BZ_STR("local"));
}
