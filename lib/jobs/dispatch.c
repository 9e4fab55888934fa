#include "jobs/dispatch.h"

#include "base/mem.h"

struct bz_dispatch *bz_dispatch_new(void)
{
    return bz_mem_zalloc(sizeof(struct bz_dispatch));
}

void bz_dispatch_free(struct bz_dispatch *d)
{
    if (d) {
        for (size_t i = 0; i < d->copies.len; i++)
            free(d->copies.at[i].handler);
        bz_vec_release(&d->copies);
        bz_map_release(&d->by_name);
        bz_vec_release(&d->offered);
    }
    free(d);
}

int bz_dispatch_offer(struct bz_dispatch *d, const struct bz_handler *h,
                      struct bz_err *err)
{
    struct bz_str name = bz_str_from(h->name);

    if (name.n == 0 || name.n > BZ_REQUEST_NAME)
        return bz_fail(err, BZ_E_INVAL, "'%.*s' cannot be the name of a handler",
                       BZ_REQUEST_NAME, h->name);
    if (bz_map_get(&d->by_name, name))
        return bz_fail(err, BZ_E_EXISTS, "there is a handler %s already", h->name);
    BZ_VEC_PUSH(&d->offered, (struct bz_dispatch_row){h});
    bz_map_put(&d->by_name, name)->u = d->offered.len;
    return 0;
}

/* By its name, or by that of the function it would be in a program. */
static const struct bz_handler *lookup(const struct bz_dispatch *d, struct bz_str name)
{
    const struct bz_map_entry *e = bz_map_get(&d->by_name, name);

    if (!e && bz_str_cut_prefix(&name, BZ_STR("handler_")))
        e = bz_map_get(&d->by_name, name);
    return e ? d->offered.at[e->u - 1].handler : NULL;
}

int bz_dispatch_bind(struct bz_dispatch *d, uint32_t opcode, struct bz_str name,
                     struct bz_err *err)
{
    const struct bz_handler *h = lookup(d, name);

    if (opcode >= BZ_REQUEST_OPCODES)
        return bz_fail(err, BZ_E_INVAL, "an opcode is below %d", BZ_REQUEST_OPCODES);
    if (!h)
        return bz_fail(err, BZ_E_NOENT, "there is no handler %.*s", BZ_STR_ARG(name));
    if (d->by_number[opcode])
        return bz_fail(err, BZ_E_EXISTS, "opcode %u is %s already", opcode,
                       d->by_number[opcode]->name);
    d->by_number[opcode] = h;
    return 0;
}

void bz_dispatch_isolate(struct bz_dispatch *d, uint32_t opcode, bool isolate)
{
    const struct bz_handler *h = d->by_number[opcode];
    struct bz_handler *copy;

    if (h->isolate == isolate)
        return;
    copy = bz_mem_alloc(sizeof(*copy));
    *copy = *h;
    copy->isolate = isolate;
    BZ_VEC_PUSH(&d->copies, (struct bz_dispatch_copy){copy});
    d->by_number[opcode] = copy;
}

const struct bz_handler *bz_dispatch_find(const struct bz_dispatch *d,
                                          const struct bz_request *r)
{
    if (r->opname.n == 0)
        return r->opcode < BZ_REQUEST_OPCODES ? d->by_number[r->opcode] : NULL;
    return lookup(d, r->opname);
}
