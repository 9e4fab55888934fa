#include "history_json.h"

#include "vars/history.h"

static void write_event(void *ctx, const struct bz_history_event *e)
{
    struct bz_jsonw *w = ctx;

    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "op"), e->op);
    bz_jsonw_cstr(bz_jsonw_key(w, "file"), e->file);
    bz_jsonw_int(bz_jsonw_key(w, "line"), e->line);
    if (e->flag.n > 0)
        bz_jsonw_str(bz_jsonw_key(w, "flag"), e->flag);
    bz_jsonw_str(bz_jsonw_key(w, "detail"), e->detail);
    bz_jsonw_map_end(w);
}

void bz_history_json_list(struct bz_jsonw *w, struct bz_vars *v, struct bz_str name)
{
    bz_jsonw_list(w);
    bz_history_each(v, name, write_event, w);
    bz_jsonw_list_end(w);
}
