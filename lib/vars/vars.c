#include "vars/vars.h"

#include "base/mem.h"
#include "vars/assign.h"
#include "vars/expand.h"
#include "vars/flag.h"
#include "vars/names.h"
#include "vars/override.h"
#include "vars/store.h"
#include "vars/value.h"

enum {
    COPY_NAMES = 150, /* a copy is for a recipe, which asks for at least so many */
};

struct bz_vars *bz_vars_new(const struct bz_vars *parent)
{
    struct bz_vars *v;

    if (parent)
        return bz_store_new(parent, COPY_NAMES, COPY_NAMES / 2);
    v = bz_store_new(NULL, 0, 0);
    bz_override_mark(v, bz_store_cell(v, BZ_STR("OVERRIDES")));
    bz_override_mark(v, bz_store_cell(v, BZ_STR("FILE")));
    return v;
}

void bz_vars_free(struct bz_vars *v)
{
    if (!v)
        return;
    for (struct bz_store_variants *all = v->indexed; all; all = all->next_indexed)
        bz_map_release(&all->index);
    for (size_t i = 0; i < v->spare.len; i++)
        bz_buf_release(&v->spare.at[i]);
    bz_vec_release(&v->spare);
    bz_vec_release(&v->dynamic);
    bz_vec_release(&v->exports);
    bz_vec_release(&v->clocked);
    bz_vec_release(&v->overrides.list);
    bz_map_release(&v->overrides.set);
    bz_map_release(&v->filters);
    bz_map_release(&v->renames);
    bz_map_release(&v->flag_cells);
    bz_map_release(&v->cells);
    bz_map_release(&v->nodes);
    bz_arena_release(&v->arena);
    free(v->names);
    free(v);
}

void bz_vars_freep(struct bz_vars **v)
{
    bz_vars_free(*v);
}

int bz_vars_get(struct bz_vars *v, struct bz_str name, unsigned how, struct bz_str *out,
                struct bz_err *err)
{
    return bz_value_get(v, bz_store_cell(v, name), how, out, err);
}

int bz_vars_removed(struct bz_vars *v, struct bz_str name, const struct bz_str **texts,
                    size_t *n, struct bz_err *err)
{
    struct bz_store_cell *c = bz_store_cell(v, name);
    struct bz_str value;
    int rc = bz_value_get(v, c, 0, &value, err);

    *texts = c->removed;
    *n = rc < 0 ? 0 : c->nremoved;
    return rc;
}

int bz_vars_set(struct bz_vars *v, struct bz_str name, struct bz_str value,
                unsigned how, const struct bz_vars_at *at, struct bz_err *err)
{
    return bz_assign_set(v, name, value, how, at, err);
}

int bz_vars_append(struct bz_vars *v, struct bz_str name, struct bz_str value,
                   const struct bz_vars_at *at, struct bz_err *err)
{
    return bz_assign_op(v, name, ":append", value, BZ_STR("append"), at, err);
}

int bz_vars_prepend(struct bz_vars *v, struct bz_str name, struct bz_str value,
                    const struct bz_vars_at *at, struct bz_err *err)
{
    return bz_assign_op(v, name, ":prepend", value, BZ_STR("prepend"), at, err);
}

int bz_vars_del(struct bz_vars *v, struct bz_str name, const struct bz_vars_at *at,
                struct bz_err *err)
{
    return bz_assign_del(v, name, at, err);
}

int bz_vars_check_renamed(struct bz_str name, struct bz_err *err)
{
    return bz_assign_check_renamed(name, err);
}

int bz_vars_rename(struct bz_vars *v, struct bz_str from, struct bz_str to,
                   const struct bz_vars_at *at, struct bz_err *err)
{
    return bz_assign_rename(v, from, to, at, err);
}

int bz_vars_get_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                     unsigned how, struct bz_str *out, struct bz_err *err)
{
    struct bz_store_cell *c = bz_store_cell(v, name);

    if (bz_str_eq(flag, BZ_STR("_content")))
        return bz_value_get(v, c, how, out, err);
    return bz_value_flag(v, c, flag, how, out, err);
}

int bz_vars_set_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                     struct bz_str value, const struct bz_vars_at *at,
                     struct bz_err *err)
{
    return bz_assign_flag(v, name, flag, value, at, err);
}

int bz_vars_append_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                        struct bz_str value, const struct bz_vars_at *at,
                        struct bz_err *err)
{
    return bz_assign_extend_flag(v, name, flag, (struct bz_str){0}, value, at, err);
}

int bz_vars_prepend_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                         struct bz_str value, const struct bz_vars_at *at,
                         struct bz_err *err)
{
    return bz_assign_extend_flag(v, name, flag, value, (struct bz_str){0}, at, err);
}

void bz_vars_del_flag(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                      const struct bz_vars_at *at)
{
    bz_assign_del_flag(v, name, flag, at);
}

void bz_vars_del_flags(struct bz_vars *v, struct bz_str name,
                       const struct bz_vars_at *at)
{
    bz_assign_del_flags(v, name, at);
}

void bz_vars_flags(struct bz_vars *v, struct bz_str name, bz_vars_flag_fn fn, void *ctx)
{
    bz_flag_each(bz_store_cell(v, name)->var, fn, ctx);
}

int bz_vars_names(struct bz_vars *v, const struct bz_str **names, size_t *n,
                  struct bz_err *err)
{
    return bz_names_list(v, names, n, err);
}

int bz_vars_exported(struct bz_vars *v, const struct bz_str **names, size_t *n,
                     struct bz_err *err)
{
    return bz_names_exported(v, false, names, n, err);
}

int bz_vars_unexported(struct bz_vars *v, const struct bz_str **names, size_t *n,
                       struct bz_err *err)
{
    return bz_names_exported(v, true, names, n, err);
}

int bz_vars_flag_true(struct bz_vars *v, struct bz_str name, struct bz_str flag,
                      bool *yes, struct bz_err *err)
{
    return bz_names_flag_true(v, name, flag, yes, err);
}

bool bz_vars_exists(struct bz_vars *v, struct bz_str name)
{
    return !bz_store_empty(bz_store_cell(v, name)->var);
}

int bz_vars_expand(struct bz_vars *v, struct bz_str text, struct bz_str name,
                   struct bz_refs *refs, struct bz_str *out, struct bz_err *err)
{
    struct bz_buf buf;
    int rc;

    *out = text;
    if (!text.p)
        return 0;
    buf = bz_store_take(v);
    rc = bz_expand_named(v, text, name, refs, &buf, err);
    if (rc == 0)
        *out = bz_arena_dup(&v->arena, bz_buf_str(&buf));
    bz_store_give(v, &buf);
    return rc;
}

int bz_vars_expand_keys(struct bz_vars *v, struct bz_err *err)
{
    return bz_names_expand(v, err);
}

void bz_vars_set_filter(struct bz_vars *v, struct bz_str name, struct bz_str filter)
{
    struct bz_str *kept = BZ_ARENA_NEW(&v->arena, struct bz_str);

    *kept = bz_store_keep(v, filter, (struct bz_str){0});
    bz_map_put(&v->filters, bz_store_cell(v, name)->name)->p = kept;
    v->any_filter = true;
    bz_store_changed(v);
}

void bz_vars_set_python(struct bz_vars *v, const struct bz_vars_python *python)
{
    v->python = *python;
    bz_store_changed(v);
}

void bz_vars_set_keep(struct bz_vars *v, const struct bz_vars_keep *keep)
{
    BZ_ASSERT(keep->plain == v->parent);
    v->keep = *keep;
    bz_store_changed(v);
}

struct bz_vars_impure bz_vars_impure(const struct bz_vars *v)
{
    return v->impure;
}

void bz_vars_note_clock(struct bz_vars *v, struct bz_str name)
{
    BZ_VEC_PUSH(&v->clocked, bz_store_cell(v, name)->name);
}

bool bz_vars_names_clock(const struct bz_vars *v, struct bz_str text)
{
    for (; v; v = v->parent)
        for (size_t i = 0; i < v->clocked.len; i++) {
            size_t at = bz_str_find(text, v->clocked.at[i]);

            if (at != BZ_STR_NONE && at >= 2 && memcmp(text.p + at - 2, "${", 2) == 0)
                return true;
        }
    return false;
}

bool bz_vars_clock_read(struct bz_vars *v)
{
    for (const struct bz_vars *s = v; s; s = s->parent)
        for (size_t i = 0; i < s->clocked.len; i++)
            if (bz_vars_was_read(v, s->clocked.at[i]))
                return true;
    return false;
}

int bz_vars_set_clocked(struct bz_vars *v, struct bz_str text, struct bz_err *err)
{
    int rc = 0;

    for (const struct bz_vars *s = v->parent; s && rc == 0; s = s->parent)
        for (size_t i = 0; i < s->clocked.len && rc == 0; i++)
            rc = bz_vars_set(v, s->clocked.at[i], text, 0, NULL, err);
    return rc;
}

void bz_vars_set_clock(struct bz_vars *v, int64_t seconds)
{
    v->clock = seconds;
    bz_store_changed(v);
}

bool bz_vars_was_read(struct bz_vars *v, struct bz_str name)
{
    const struct bz_store_cell *c = bz_store_cell(v, name);

    return c->text_gen > 0 || c->raw_gen > 0;
}

void bz_vars_each_read(struct bz_vars *v, bz_vars_read_fn fn, void *ctx)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&v->cells, NULL); e; e = bz_map_next(&v->cells, e))
        for (const struct bz_store_cell *c = e->p; c; c = c->next)
            if (c->raw_gen > 0 && c->raw.p)
                fn(ctx, c->name, c->raw);
}

bool bz_vars_asked_overrides(const struct bz_vars *v)
{
    return v->asked_overrides;
}

bool bz_vars_by_task(const struct bz_vars *v)
{
    return v->by_task;
}

void bz_vars_set_watch(struct bz_vars *v, const struct bz_vars_watch *watch)
{
    v->watch = watch;
}

struct bz_str bz_vars_keep(struct bz_vars *v, struct bz_str text)
{
    return bz_store_keep(v, text, (struct bz_str){0});
}
