#include "plan/output.h"

void bz_output_release(struct bz_output *o)
{
    bz_vec_release(&o->own);
    bz_vec_release(&o->shared);
}

static void write_list(const struct bz_output_layers *list, const char *kind,
                       struct bz_arena *a, struct bz_reapi_result *r)
{
    for (size_t i = 0; i < list->len; i++)
        r->dirs[r->ndirs++] = (struct bz_reapi_outdir){
            .path = bz_arena_printf(a, "%s/%04zu/%.*s", kind, i,
                                    BZ_STR_ARG(list->at[i].task)),
            .tree = list->at[i].tree,
            .sorted = true};
}

void bz_output_write(const struct bz_output *o, struct bz_arena *a,
                     struct bz_reapi_result *r)
{
    r->dirs = BZ_ARENA_ARRAY(a, struct bz_reapi_outdir, o->own.len + o->shared.len);
    r->ndirs = 0;
    write_list(&o->own, "own", a, r);
    write_list(&o->shared, "shared", a, r);
}

int bz_output_read(struct bz_output *o, const struct bz_reapi_result *r,
                   struct bz_err *err)
{
    *o = (struct bz_output){0};
    for (size_t i = 0; i < r->ndirs; i++) {
        struct bz_str kind, number, task;
        struct bz_output_layers *list;

        bz_str_cut(r->dirs[i].path, '/', &kind, &task);
        bz_str_cut(task, '/', &number, &task);
        list = bz_str_eq(kind, BZ_STR("own")) ? &o->own : &o->shared;
        if ((list == &o->shared && !bz_str_eq(kind, BZ_STR("shared"))) || task.n == 0) {
            bz_output_release(o);
            return bz_fail(err, BZ_E_CORRUPT, "the result has a directory '%.*s'",
                           BZ_STR_ARG(r->dirs[i].path));
        }
        BZ_VEC_PUSH(list, (struct bz_output_layer){task, r->dirs[i].tree});
    }
    return 0;
}
