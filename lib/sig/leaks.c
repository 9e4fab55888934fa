#include "sig/leaks.h"

#include <stdio.h>

#include "base/vec.h"
#include "vars/history.h"

struct search {
    const struct bz_roots *roots;
    struct bz_str name; /* whose text it is */
    struct bz_buf *notes;
};

static void add_note(struct search *s, struct bz_str file, struct bz_str line,
                     const struct bz_roots_root *root)
{
    bz_buf_addf(s->notes,
                "%.*s:%.*s: warning: %.*s has the path %.*s of this host in it, so "
                "signatures differ elsewhere; write %.*s, or exclude it with "
                "[vardepsexclude]\n",
                BZ_STR_ARG(file), BZ_STR_ARG(line), BZ_STR_ARG(s->name),
                BZ_STR_ARG(root->dir), BZ_STR_ARG(root->advice));
}

static void look_at(void *ctx, const struct bz_history_event *e)
{
    struct search *s = ctx;
    const struct bz_roots_root *root;
    char line[16];
    size_t at;

    if (e->flag.n > 0 || !e->file)
        return;
    root = bz_roots_find(s->roots, e->detail, 0, &at);
    snprintf(line, sizeof(line), "%u", e->line);
    if (root)
        add_note(s, bz_str_from(e->file), bz_str_from(line), root);
}

/* Of a function the history names the line where it ends. False if this is none. */
static bool look_at_function(struct search *s, struct bz_vars *v,
                             const struct bz_roots_root *root)
{
    struct bz_str file = {0}, line = {0};
    struct bz_err err;

    if (bz_vars_get_flag(v, s->name, BZ_STR("filename"), BZ_VARS_RAW, &file, &err) <
            0 ||
        bz_vars_get_flag(v, s->name, BZ_STR("lineno"), BZ_VARS_RAW, &line, &err) < 0)
        return false;
    if (file.n == 0 || line.n == 0)
        return false;
    add_note(s, file, line, root);
    return true;
}

struct found BZ_VEC(struct bz_str);

struct collection {
    const struct bz_roots *roots;
    struct bz_map *seen;
    struct found all;
};

static void collect(void *ctx, struct bz_str name, struct bz_str raw)
{
    static const struct bz_str own[] = {BZ_STR("BBLAYERS"), BZ_STR("COREBASE"),
                                        BZ_STR("HOME"), BZ_STR("TOPDIR")};
    struct collection *c = ctx;
    size_t at;

    for (size_t i = 0; i < BZ_COUNTOF(own); i++) /* they say where the roots are */
        if (bz_str_eq(name, own[i]))
            return;
    if (bz_roots_find(c->roots, raw, 0, &at) && bz_map_put(c->seen, name)->u++ == 0)
        BZ_VEC_PUSH(&c->all, name);
}

static int by_name(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

void bz_leaks_find(struct bz_vars *v, const struct bz_roots *roots, struct bz_map *seen,
                   struct bz_buf *notes)
{
    struct collection c = {roots, seen, {0}};

    bz_vars_each_read(v, collect, &c);
    BZ_VEC_SORT(&c.all, by_name);
    for (size_t i = 0; i < c.all.len; i++) {
        struct search s = {roots, c.all.at[i], notes};
        const struct bz_roots_root *root;
        struct bz_str raw = {0};
        struct bz_err ignored;
        size_t at;

        if (bz_vars_get(v, s.name, BZ_VARS_RAW, &raw, &ignored) < 0 ||
            !(root = bz_roots_find(roots, raw, 0, &at)))
            continue;
        if (!look_at_function(&s, v, root))
            bz_history_each(v, s.name, look_at, &s);
    }
    bz_vec_release(&c.all);
}
