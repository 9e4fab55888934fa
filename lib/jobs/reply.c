#include "jobs/reply.h"

#include "codec/jsonw.h"

void bz_reply_write(struct bz_buf *out, const struct bz_result *r, uint64_t at)
{
    struct bz_jsonw w = bz_jsonw_to(out, 0);

    bz_jsonw_map(&w);
    bz_jsonw_uint(bz_jsonw_key(&w, "task_id"), r->id);
    bz_jsonw_int(bz_jsonw_key(&w, "status"), r->status);
    bz_jsonw_bool(bz_jsonw_key(&w, "final"), r->final);
    if (at != BZ_REPLY_NOWHERE)
        bz_jsonw_uint(bz_jsonw_key(&w, "at"), at);
    if (r->data)
        bz_jsonw_str(bz_jsonw_key(&w, "data"), bz_str_of(r->data, r->size));
    if (r->status < 0)
        bz_jsonw_cstr(bz_jsonw_key(&w, "error"), r->error);
    bz_jsonw_map_end(&w);
    bz_buf_add_char(out, '\n');
}
