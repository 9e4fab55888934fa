#include "recipe/wildcard.h"

#include <fnmatch.h>
#include <string.h>

#include "os/path.h"

enum { DEEPEST = 64 }; /* components of a pattern, directories in directories */

struct walk {
    struct bz_library *lib;
    const struct bz_wildcard_to *to;
    struct bz_buf path;
    unsigned depth;
    struct bz_err *err;
};

static bool is_magic(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("*?[", s.p[i]))
            return true;
    return false;
}

static int go_deeper(struct walk *w)
{
    if (++w->depth <= DEEPEST)
        return 0;
    return bz_fail(w->err, BZ_E_LIMIT, "BBFILES: %s is nested more than %d deep",
                   bz_buf_text(&w->path), DEEPEST);
}

/* Adds a name to the path and returns the length to cut it back to. */
static size_t add_name(struct walk *w, struct bz_str name)
{
    size_t before = w->path.len;

    if (before > 0 && w->path.data[before - 1] != '/')
        bz_buf_add_char(&w->path, '/');
    bz_buf_add_str(&w->path, name);
    return before;
}

/* The directory that the path leads to, which is reported; "" is the working one. */
static const struct bz_library_list *list_here(struct walk *w)
{
    struct bz_str dir = w->path.len > 0 ? bz_buf_str(&w->path) : BZ_STR(".");

    w->to->looked(w->to->ctx, dir);
    return bz_library_list(w->lib, dir);
}

static int walk_pattern(struct walk *w, struct bz_str rest);

/* What in the directory at hand fits the pattern, and in these what fits the rest. Only
 * a directory can have something in it, and what a link leads to shows when it is
 * listed. */
static int walk_entries(struct walk *w, struct bz_str pattern, struct bz_str rest)
{
    const struct bz_library_list *list = list_here(w);
    BZ_CLEANUP(bz_buf_release) struct bz_buf terminated = {0};
    int rc = 0;

    bz_buf_add_str(&terminated, pattern);
    for (size_t i = 0; list && i < list->len && rc == 0; i++) {
        const struct bz_library_entry *e = &list->at[i];
        size_t before;

        if (fnmatch(bz_buf_text(&terminated), e->name.p, FNM_PERIOD | FNM_NOESCAPE))
            continue;
        before = add_name(w, e->name);
        if (rest.n == 0)
            w->to->found(w->to->ctx, bz_buf_str(&w->path));
        else if (e->kind != BZ_LIBRARY_OTHER)
            rc = walk_pattern(w, rest);
        bz_buf_truncate(&w->path, before);
    }
    return rc;
}

static int walk_pattern(struct walk *w, struct bz_str rest)
{
    struct bz_str name, tail;
    int rc = go_deeper(w);

    if (rc < 0)
        return rc;
    bz_str_cut(rest, '/', &name, &tail);
    while (bz_str_cut_prefix(&tail, BZ_STR("/")))
        continue;
    if (is_magic(name)) {
        rc = walk_entries(w, name, tail);
    } else {
        size_t before = add_name(w, name);

        if (tail.n > 0) {
            rc = walk_pattern(w, tail);
        } else {
            w->to->looked(w->to->ctx, bz_buf_str(&w->path));
            if (bz_library_exists(w->lib, bz_buf_str(&w->path)))
                w->to->found(w->to->ctx, bz_buf_str(&w->path));
        }
        bz_buf_truncate(&w->path, before);
    }
    w->depth--;
    return rc;
}

int bz_wildcard_expand(struct bz_library *lib, struct bz_str pattern,
                       const struct bz_wildcard_to *to, struct bz_err *err)
{
    struct walk w = {.lib = lib, .to = to, .err = err};
    size_t root = 0, slash;
    int rc;

    /* What precedes the first wildcard is one path, not a step for each part. */
    while (root < pattern.n && !strchr("*?[", pattern.p[root]))
        root++;
    slash = bz_str_rfind_byte(bz_str_sub(pattern, 0, root), '/');
    root = slash == BZ_STR_NONE ? 0 : slash + 1;
    bz_buf_add_str(&w.path, bz_str_sub(pattern, 0, root > 1 ? root - 1 : root));
    pattern = bz_str_sub(pattern, root, pattern.n);
    rc = walk_pattern(&w, pattern);
    bz_buf_release(&w.path);
    return rc;
}

static bool is_ignored(struct bz_str name)
{
    return bz_str_eq(name, BZ_STR("SCCS")) || bz_str_eq(name, BZ_STR("CVS")) ||
           bz_str_eq(name, BZ_STR(".svn"));
}

static int walk_below(struct walk *w)
{
    const struct bz_library_list *list = list_here(w);
    int rc = go_deeper(w);

    for (size_t i = 0; list && i < list->len && rc == 0; i++) {
        const struct bz_library_entry *e = &list->at[i];
        size_t before = add_name(w, e->name);

        if (e->kind == BZ_LIBRARY_DIR && !is_ignored(e->name))
            rc = walk_below(w);
        else if (e->kind != BZ_LIBRARY_DIR &&
                 (bz_str_ends(e->name, BZ_STR(".bb")) ||
                  bz_str_ends(e->name, BZ_STR(".bbappend"))))
            w->to->found(w->to->ctx, bz_buf_str(&w->path));
        bz_buf_truncate(&w->path, before);
    }
    w->depth--;
    return rc;
}

int bz_wildcard_below(struct bz_library *lib, struct bz_str dir,
                      const struct bz_wildcard_to *to, struct bz_err *err)
{
    struct walk w = {.lib = lib, .to = to, .err = err};
    int rc;

    bz_buf_add_str(&w.path, dir);
    rc = walk_below(&w);
    bz_buf_release(&w.path);
    return rc;
}
