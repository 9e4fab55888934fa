#include "sig/pathmap.h"

#include <ctype.h>
#include <string.h>

#include "os/path.h"

/* ---- making it ---- */

static int longest_first(const void *a, const void *b)
{
    size_t x = ((const struct bz_pathmap_place *)a)->host.n;
    size_t y = ((const struct bz_pathmap_place *)b)->host.n;

    return x < y ? 1 : x > y ? -1 : 0;
}

static bool is_taken(const struct bz_pathmap *m, struct bz_str inside)
{
    for (size_t i = 0; i < m->layers.len; i++)
        if (bz_str_eq(m->layers.at[i].inside, inside))
            return true;
    return false;
}

static struct bz_str name_layer(struct bz_pathmap *m, struct bz_str name)
{
    struct bz_str inside =
        bz_arena_printf(&m->arena, BZ_PATHMAP_LAYERS "/%.*s", BZ_STR_ARG(name));

    for (unsigned n = 2; is_taken(m, inside); n++)
        inside = bz_arena_printf(&m->arena, BZ_PATHMAP_LAYERS "/%.*s-%u",
                                 BZ_STR_ARG(name), n);
    return inside;
}

static size_t find_layer(const struct bz_pathmap *m, struct bz_str host)
{
    size_t i = 0;

    while (i < m->layers.len && !bz_str_eq(m->layers.at[i].host, host))
        i++;
    return i;
}

static void add_place(struct bz_pathmap *m, struct bz_str host, size_t layer)
{
    for (size_t i = 0; i < m->places.len; i++)
        if (bz_str_eq(m->places.at[i].host, host))
            return;
    BZ_VEC_PUSH(&m->places,
                (struct bz_pathmap_place){host, m->layers.at[layer].inside, layer});
    BZ_VEC_SORT(&m->places, longest_first);
}

void bz_pathmap_add(struct bz_pathmap *m, struct bz_str dir, struct bz_str name)
{
    struct bz_pathmap_layer layer = {.number = 1};
    struct bz_path plain;
    struct bz_err ignored;
    size_t at;

    if (!bz_path_is_absolute(dir) || bz_path_normalise(dir, &plain, &ignored) < 0)
        return;
    layer.host = bz_arena_dup(&m->arena, bz_path_str(&plain));
    layer.name = bz_path_basename(layer.host);
    at = find_layer(m, layer.host);
    if (at == m->layers.len) {
        layer.inside = m->bare ? layer.host : name_layer(m, name.p ? name : layer.name);
        for (size_t i = 0; i < m->layers.len; i++)
            layer.number += bz_str_eq(m->layers.at[i].name, layer.name);
        BZ_VEC_PUSH(&m->layers, layer);
    }
    /* Metadata has it as BBLAYERS says it, with ".." perhaps, but may tidy it up. */
    add_place(m, bz_arena_dup(&m->arena, dir), at);
    add_place(m, m->layers.at[at].host, at);
}

void bz_pathmap_open(struct bz_pathmap *m, const struct bz_catalog *p, const char *root,
                     bool bare)
{
    struct bz_str core = {0};
    struct bz_err ignored;

    *m = (struct bz_pathmap){.root = bz_str_from(root), .bare = bare};
    BZ_VEC_PUSH(&m->places, (struct bz_pathmap_place){bz_str_from(p->build_dir),
                                                      m->root, SIZE_MAX});
    for (size_t i = 0; i < p->layers.all.len; i++)
        if (p->layers.all.at[i].dir.p)
            bz_pathmap_add(m, p->layers.all.at[i].dir, (struct bz_str){0});
    /* Where openembedded-core has its scripts: above its layer, and in no other. */
    if (bz_vars_get(p->mcs.at[0].config->vars, BZ_STR("COREBASE"), 0, &core,
                    &ignored) == 0 &&
        core.p)
        bz_pathmap_add(m, core, BZ_STR("corebase"));
}

void bz_pathmap_release(struct bz_pathmap *m)
{
    bz_vec_release(&m->layers);
    bz_vec_release(&m->places);
    bz_arena_release(&m->arena);
    *m = (struct bz_pathmap){0};
}

/* ---- from the host to the sandbox ---- */

/* Whether a name in a path would go on with it. */
static bool goes_on(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '+' || c == '.';
}

static const struct bz_pathmap_place *place_at(const struct bz_pathmap *m,
                                               struct bz_str rest)
{
    for (size_t i = 0; i < m->places.len; i++) {
        struct bz_str host = m->places.at[i].host;

        if (bz_str_starts(rest, host) && (rest.n == host.n || !goes_on(rest.p[host.n])))
            return &m->places.at[i];
    }
    return NULL;
}

struct bz_str bz_pathmap_inside(const struct bz_pathmap *m, struct bz_arena *a,
                                struct bz_str text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    while (text.n > 0) {
        const struct bz_pathmap_place *p = text.p[0] == '/' ? place_at(m, text) : NULL;
        size_t n = 1;

        if (p) {
            bz_buf_add_str(&out, p->inside);
            text = bz_str_drop(text, p->host.n);
            continue;
        }
        while (n < text.n && text.p[n] != '/')
            n++;
        bz_buf_add(&out, text.p, n);
        text = bz_str_drop(text, n);
    }
    return bz_arena_dup(a, bz_buf_str(&out));
}

bool bz_pathmap_cut_root(const struct bz_pathmap *m, struct bz_str *path)
{
    struct bz_str rest = *path;

    if (!bz_str_cut_prefix(&rest, m->root) || !bz_str_cut_prefix(&rest, BZ_STR("/")))
        return false;
    *path = rest;
    return true;
}

/* ---- the paths that a script names ---- */

static bool is_path_char(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("/._+-~@,%", c));
}

/* What makes the shell go on with a word that we do not know. */
static bool is_open_end(struct bz_str rest)
{
    static const char ends[] = "$*?[{`\\";

    return rest.n > 0 && memchr(ends, rest.p[0], sizeof(ends)) != NULL;
}

static struct bz_str trim_slashes(struct bz_str s)
{
    while (s.n > 0 && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

static bool is_within(const char *path, struct bz_str dir)
{
    struct bz_str rest = bz_str_from(path);

    return bz_str_cut_prefix(&rest, dir) && (rest.n == 0 || rest.p[0] == '/');
}

/* The innermost layer of a path, and where in it the path leads. */
static const struct bz_pathmap_layer *layer_of(const struct bz_pathmap *m,
                                               struct bz_str path, struct bz_str *below)
{
    for (size_t i = 0; i < m->places.len; i++) {
        const struct bz_pathmap_place *p = &m->places.at[i];
        struct bz_str rest = path;

        if (p->layer == SIZE_MAX || !bz_str_cut_prefix(&rest, p->host) ||
            (rest.n > 0 && rest.p[0] != '/'))
            continue;
        bz_str_cut_prefix(&rest, BZ_STR("/"));
        *below = rest;
        return &m->layers.at[p->layer];
    }
    return NULL;
}

/* A path that is followed by `rest`. */
static void add_path(const struct bz_pathmap *m, struct bz_str path, struct bz_str rest,
                     struct bz_arena *a, struct bz_pathmap_paths *out)
{
    const struct bz_pathmap_layer *layer;
    struct bz_str below = {0};
    struct bz_path plain;
    struct bz_err ignored;
    const char *host;

    if (is_open_end(rest))
        while (path.n > 0 && path.p[path.n - 1] != '/')
            path.n--;
    layer = layer_of(m, trim_slashes(path), &below);
    if (!layer)
        return;
    host = layer->host.p;
    /* With ".." in it, all that it leads through has to be there. */
    below = bz_arena_printf(a, "/%.*s", BZ_STR_ARG(below));
    if (bz_path_is_safe(bz_str_drop(below, 1)) &&
        bz_path_normalise(below, &plain, &ignored) == 0 && plain.n > 1)
        host = bz_arena_printf(a, "%s%s", host, plain.s).p;
    for (size_t i = 0; i < out->len; i++)
        if (strcmp(out->at[i], host) == 0)
            return;
    BZ_VEC_PUSH(out, host);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Only the topmost of those that lie in each other. "a-b" sorts before "a/b", so the
 * one above need not be the neighbour. */
static void drop_inner(struct bz_pathmap_paths *list)
{
    size_t kept = 0;

    BZ_VEC_SORT(list, by_name);
    for (size_t i = 0; i < list->len; i++) {
        bool inner = false;

        for (size_t k = 0; k < kept && !inner; k++)
            inner = is_within(list->at[i], bz_str_from(list->at[k]));
        if (!inner)
            list->at[kept++] = list->at[i];
    }
    list->len = kept;
}

static bool begins_layer(const struct bz_pathmap *m, struct bz_str text)
{
    for (size_t i = 0; i < m->places.len; i++) {
        struct bz_str rest = text;

        if (m->places.at[i].layer != SIZE_MAX &&
            bz_str_cut_prefix(&rest, m->places.at[i].host) &&
            (rest.n == 0 || rest.p[0] == '/' || !is_path_char(rest.p[0])))
            return true;
    }
    return false;
}

static void find_in_line(const struct bz_pathmap *m, struct bz_str line,
                         struct bz_arena *a, struct bz_pathmap_paths *out)
{
    bool inside = false; /* of a path */

    for (size_t i = 0; i < line.n && out->len <= BZ_PATHMAP_MAX; i++) {
        struct bz_str rest = bz_str_drop(line, i);
        size_t end = 0;

        if (inside || line.p[i] != '/' || !begins_layer(m, rest)) {
            inside = is_path_char(line.p[i]);
            continue;
        }
        while (end < rest.n && is_path_char(rest.p[end]))
            end++;
        add_path(m, bz_str_sub(rest, 0, end), bz_str_drop(rest, end), a, out);
        i += end - 1;
        inside = false;
    }
}

void bz_pathmap_find(const struct bz_pathmap *m, struct bz_str script,
                     struct bz_arena *a, struct bz_pathmap_paths *out)
{
    struct bz_str line;

    while (script.n > 0 && bz_str_next_part(&script, '\n', &line)) {
        /* Only to say where a function is from. */
        if (bz_str_starts(line, BZ_STR("#")) ||
            bz_str_find(line, BZ_STR("bz_where=")) != BZ_STR_NONE)
            continue;
        find_in_line(m, line, a, out);
    }
    if (out->len > BZ_PATHMAP_MAX) {
        BZ_VEC_CLEAR(out);
        for (size_t i = 0; i < m->layers.len; i++)
            BZ_VEC_PUSH(out, m->layers.at[i].host.p);
    }
    drop_inner(out);
}

size_t bz_pathmap_name_at(const struct bz_pathmap *m, const char *path, size_t *number)
{
    const struct bz_pathmap_layer *best = NULL;

    for (size_t i = 0; i < m->layers.len; i++) {
        const struct bz_pathmap_layer *l = &m->layers.at[i];

        if (is_within(path, l->host) && (!best || l->host.n > best->host.n))
            best = l;
    }
    *number = best ? best->number : 0;
    return best ? best->host.n - best->name.n : 0;
}
