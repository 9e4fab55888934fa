#include "recipe/meta.h"

#include <stdlib.h>

#include "base/mem.h"

struct bz_meta *bz_meta_new(void)
{
    struct bz_meta *m = bz_mem_zalloc(sizeof(*m));

    m->vars = bz_vars_new(NULL);
    m->class_type = "recipe";
    return m;
}

static void copy_names(struct bz_meta_names *to, const struct bz_meta_names *from)
{
    BZ_VEC_RESERVE(to, from->len);
    for (size_t i = 0; i < from->len; i++)
        BZ_VEC_PUSH(to, from->at[i]);
}

/* Text is not copied: the original outlives its copies. */
struct bz_meta *bz_meta_copy(const struct bz_meta *from)
{
    struct bz_meta *m = bz_mem_zalloc(sizeof(*m));

    m->vars = bz_vars_new(from->vars);
    m->class_type = from->class_type;
    m->skipped = from->skipped;
    copy_names(&m->inherited, &from->inherited);
    copy_names(&m->handlers, &from->handlers);
    copy_names(&m->anonymous, &from->anonymous);
    for (size_t i = 0; i < from->bodies.len; i++)
        BZ_VEC_PUSH(&m->bodies, from->bodies.at[i]);
    for (size_t i = 0; i < from->pylibs.len; i++)
        BZ_VEC_PUSH(&m->pylibs, from->pylibs.at[i]);
    for (size_t i = 0; i < from->deferred.len; i++)
        BZ_VEC_PUSH(&m->deferred, from->deferred.at[i]);
    m->config = from->complete ? from : from->config;
    if (!from->complete) {
        copy_names(&m->looked_at, &from->looked_at);
        bz_map_reserve(&m->looked_set, m->looked_at.len);
        for (size_t i = 0; i < m->looked_at.len; i++)
            bz_map_put(&m->looked_set, m->looked_at.at[i])->u = 1;
    }
    bz_taskdef_copy(&m->tasks, &from->tasks);
    return m;
}

void bz_meta_free(struct bz_meta *m)
{
    if (!m)
        return;
    bz_vec_release(&m->inherited);
    bz_vec_release(&m->deferred);
    bz_vec_release(&m->handlers);
    bz_vec_release(&m->anonymous);
    bz_vec_release(&m->bodies);
    bz_vec_release(&m->pylibs);
    bz_vec_release(&m->looked_at);
    bz_map_release(&m->looked_set);
    bz_taskdef_release(&m->tasks);
    bz_vars_free(m->vars);
    bz_arena_release(&m->arena);
    free(m);
}

void bz_meta_freep(struct bz_meta **m)
{
    bz_meta_free(*m);
}

int bz_meta_get(struct bz_meta *m, const char *name, struct bz_str *out,
                struct bz_err *err)
{
    return bz_vars_get(m->vars, bz_str_from(name), 0, out, err);
}

int bz_meta_set(struct bz_meta *m, const char *name, struct bz_str value,
                struct bz_err *err)
{
    return bz_vars_set(m->vars, bz_str_from(name), value, 0, NULL, err);
}

bool bz_meta_looked(const struct bz_meta *m, struct bz_str path)
{
    return bz_map_get(&m->looked_set, path) != NULL;
}

bool bz_meta_look(struct bz_meta *m, struct bz_str path)
{
    struct bz_str kept;

    if (bz_meta_looked(m, path))
        return false;
    kept = bz_arena_dup(&m->arena, path);
    BZ_VEC_PUSH(&m->looked_at, kept);
    bz_map_put(&m->looked_set, kept)->u = 1;
    return true;
}

bool bz_meta_has(const struct bz_meta_names *names, struct bz_str name)
{
    for (size_t i = 0; i < names->len; i++)
        if (bz_str_eq(names->at[i], name))
            return true;
    return false;
}
