#include "sig/roots.h"

#include <ctype.h>

#include "os/path.h"

enum { SHORTEST = 4 }; /* bytes: "/" or "/x" in a text mean nothing */

static void add_dir(struct bz_roots *r, struct bz_str dir, struct bz_str name,
                    const char *advice)
{
    while (dir.n > 1 && bz_str_ends(dir, BZ_STR("/")))
        dir.n--;
    if (dir.n < SHORTEST || !bz_str_starts(dir, BZ_STR("/")))
        return;
    for (size_t i = 0; i < r->list.len; i++)
        if (bz_str_eq(r->list.at[i].dir, dir))
            return;
    BZ_VEC_PUSH(&r->list, (struct bz_roots_root){bz_arena_dup(&r->arena, dir), name,
                                                 bz_str_from(advice)});
}

/* As it is written and as it is meant. */
static void add_both(struct bz_roots *r, struct bz_str dir, struct bz_str name,
                     const char *advice)
{
    struct bz_path path;
    struct bz_err err;

    add_dir(r, dir, name, advice);
    if (bz_path_normalise(dir, &path, &err) == 0)
        add_dir(r, bz_path_str(&path), name, advice);
}

static bool is_taken(const struct bz_roots *r, struct bz_str name)
{
    for (size_t i = 0; i < r->list.len; i++)
        if (bz_str_eq(r->list.at[i].name, name))
            return true;
    return false;
}

/* A name of its own for every layer: that of its directory, with a number if it is
 * another's. Tasks see layers under the same names (task/jobs.h). */
static void add_layers(struct bz_roots *r, struct bz_str layers)
{
    struct bz_str layer;

    while (bz_str_next_word(&layers, &layer)) {
        struct bz_str base = bz_path_basename(layer);
        struct bz_str name =
            bz_arena_printf(&r->arena, "<layer %.*s>", BZ_STR_ARG(base));

        for (unsigned n = 2; is_taken(r, name); n++)
            name = bz_arena_printf(&r->arena, "<layer %.*s-%u>", BZ_STR_ARG(base), n);
        add_both(r, layer, name,
                 "${LAYERDIR} in its layer.conf, or ${THISDIR} with :=");
    }
}

/* The directory that the build directory and all layers share. */
static void add_checkout(struct bz_roots *r, struct bz_str top, struct bz_str layers)
{
    struct bz_path path;
    struct bz_err err;
    struct bz_str common, layer;

    if (bz_path_normalise(top, &path, &err) < 0)
        return;
    common = bz_path_dirname(bz_path_str(&path));
    while (bz_str_next_word(&layers, &layer)) {
        struct bz_path own;

        if (bz_path_normalise(layer, &own, &err) < 0)
            return;
        while (common.n > 1 && !(bz_str_starts(bz_path_str(&own), common) &&
                                 (own.n == common.n || own.s[common.n] == '/')))
            common = bz_path_dirname(common);
    }
    add_dir(r, common, (struct bz_str){0}, "a variable that the project sets once");
}

static int by_length(const void *a, const void *b)
{
    const struct bz_roots_root *x = a, *y = b;

    return x->dir.n < y->dir.n ? 1 : x->dir.n > y->dir.n ? -1 : 0;
}

int bz_roots_open(struct bz_roots *r, struct bz_vars *v, struct bz_err *err)
{
    struct bz_str top = {0}, layers = {0}, home = {0}, core = {0};
    int rc;

    *r = (struct bz_roots){0};
    if ((rc = bz_vars_get(v, BZ_STR("TOPDIR"), 0, &top, err)) < 0 ||
        (rc = bz_vars_get(v, BZ_STR("BBLAYERS"), 0, &layers, err)) < 0 ||
        (rc = bz_vars_get(v, BZ_STR("COREBASE"), 0, &core, err)) < 0 ||
        (rc = bz_vars_get(v, BZ_STR("HOME"), 0, &home, err)) < 0)
        return rc;
    add_both(r, top, BZ_STR("<TOPDIR>"), "${TOPDIR}");
    add_layers(r, layers);
    add_both(r, core, BZ_STR("<layer COREBASE>"), "${COREBASE}");
    add_checkout(r, top, layers);
    add_dir(r, home, (struct bz_str){0}, "a variable that the environment sets");
    BZ_VEC_SORT(&r->list, by_length);
    return 0;
}

void bz_roots_close(struct bz_roots *r)
{
    bz_vec_release(&r->list);
    bz_arena_release(&r->arena);
    *r = (struct bz_roots){0};
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._-+~", c)) || (c & 0x80);
}

/* The longest directory that a path at the start of the text leads to. */
static const struct bz_roots_root *match(const struct bz_roots *r, struct bz_str text)
{
    for (size_t i = 0; i < r->list.len; i++) {
        struct bz_str dir = r->list.at[i].dir;

        if (bz_str_starts(text, dir) &&
            (text.n == dir.n || !is_name_char(text.p[dir.n])))
            return &r->list.at[i];
    }
    return NULL;
}

/* Whether a path may begin at this slash: not within a path or after a variable, but
 * after an option of one dash, as in -I/usr/include, and in file:///usr. */
static bool begins_path(struct bz_str text, size_t at)
{
    size_t i = at;

    if (at == 0)
        return true;
    if (text.p[at - 1] == '/')
        return at > 2 && memcmp(text.p + at - 3, "://", 3) == 0;
    if (!is_name_char(text.p[at - 1]))
        return text.p[at - 1] != '}';
    while (i > 0 && at - i < 16 && isalpha((unsigned char)text.p[i - 1]))
        i--;
    return i > 0 && i < at && text.p[i - 1] == '-' &&
           (i == 1 || !is_name_char(text.p[i - 2]));
}

const struct bz_roots_root *bz_roots_find(const struct bz_roots *r, struct bz_str text,
                                          size_t from, size_t *at)
{
    while (from < text.n) {
        const struct bz_roots_root *root;
        const char *slash = memchr(text.p + from, '/', text.n - from);

        if (!slash)
            return NULL;
        *at = (size_t)(slash - text.p);
        from = *at + 1;
        root = match(r, bz_str_sub(text, *at, text.n));
        if (root && begins_path(text, *at))
            return root;
    }
    return NULL;
}

/* A directory with a name at or after `from`, wherever it stands: so do the scripts of
 * tasks have it replaced. */
static const struct bz_roots_root *
find_named(const struct bz_roots *r, struct bz_str text, size_t from, size_t *at)
{
    const char *slash;

    while (from < text.n && (slash = memchr(text.p + from, '/', text.n - from))) {
        const struct bz_roots_root *root;

        *at = (size_t)(slash - text.p);
        root = match(r, bz_str_sub(text, *at, text.n));
        if (root && root->name.p)
            return root;
        from = *at + 1;
    }
    return NULL;
}

bool bz_roots_name(const struct bz_roots *r, struct bz_str text, struct bz_buf *out,
                   struct bz_buf *places)
{
    const struct bz_roots_root *root;
    size_t done = 0, at = 0;

    while ((root = find_named(r, text, done, &at))) {
        bz_buf_add(out, text.p + done, at - done);
        bz_buf_addf(places, "%zu ", out->len);
        bz_buf_add_str(out, root->name);
        done = at + root->dir.n;
    }
    if (done > 0)
        bz_buf_add(out, text.p + done, text.n - done);
    return done > 0;
}
