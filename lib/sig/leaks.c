#include "sig/leaks.h"

#include <stdio.h>

#include "vars/history.h"

struct search {
    const struct bz_roots *roots;
    struct bz_str name, flag; /* whose text it is */
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

    if (!bz_str_eq(e->flag, s->flag) || !e->file)
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

    if (s->flag.p ||
        bz_vars_get_flag(v, s->name, BZ_STR("filename"), BZ_VARS_RAW, &file, &err) <
            0 ||
        bz_vars_get_flag(v, s->name, BZ_STR("lineno"), BZ_VARS_RAW, &line, &err) < 0)
        return false;
    if (file.n == 0 || line.n == 0)
        return false;
    add_note(s, file, line, root);
    return true;
}

void bz_leaks_find(struct bz_deps *d, size_t n, const struct bz_roots *roots,
                   struct bz_buf *notes)
{
    for (size_t i = 0; i < n; i++) {
        const struct bz_deps_item *item = &BZ_VEC_AT(&d->items, i);
        struct search s = {roots, item->name, {0}, notes};
        const struct bz_roots_root *root;
        size_t at;

        if (!item->value.p || !(root = bz_roots_find(roots, item->value, 0, &at)))
            continue;
        if (bz_str_ends(s.name, BZ_STR("]")))
            (void)bz_str_cut(bz_str_sub(s.name, 0, s.name.n - 1), '[', &s.name,
                             &s.flag);
        if (!look_at_function(&s, d->vars, root))
            bz_history_each(d->vars, s.name, look_at, &s);
    }
}
