#include "pipeline/view.h"

#include <ctype.h>
#include <string.h>

#include "os/path.h"

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

static const struct bz_job_view *layer_of(struct bz_str path,
                                          const struct bz_job_view *layers, size_t n,
                                          struct bz_str *below)
{
    const struct bz_job_view *found = NULL; /* the innermost */
    size_t best = 0;

    for (size_t i = 0; i < n; i++) {
        struct bz_str rest = path;

        if (bz_str_cut_prefix(&rest, bz_str_from(layers[i].inside)) &&
            (rest.n == 0 || rest.p[0] == '/') && path.n - rest.n > best) {
            found = &layers[i];
            best = path.n - rest.n;
            *below = rest;
        }
    }
    bz_str_cut_prefix(below, BZ_STR("/"));
    return found;
}

/* A path as far as the script has it, and what comes next there. */
static void add_path(struct bz_str path, struct bz_str rest,
                     const struct bz_job_view *layers, size_t n, struct bz_arena *a,
                     struct bz_view_list *out)
{
    const struct bz_job_view *layer;
    struct bz_str below = {0};
    struct bz_job_view view;
    struct bz_path plain;
    struct bz_err ignored;

    if (is_open_end(rest))
        while (path.n > 0 && path.p[path.n - 1] != '/')
            path.n--;
    layer = layer_of(trim_slashes(path), layers, n, &below);
    if (!layer)
        return;
    view = *layer;
    /* With ".." in it, all that it leads through has to be there. */
    below = bz_arena_printf(a, "/%.*s", BZ_STR_ARG(below));
    if (bz_path_is_safe(bz_str_drop(below, 1)) &&
        bz_path_normalise(below, &plain, &ignored) == 0 && plain.n > 1) {
        view.inside = bz_arena_printf(a, "%s%s", layer->inside, plain.s).p;
        view.host = bz_arena_printf(a, "%s%s", layer->host, plain.s).p;
    }
    for (size_t i = 0; i < out->len; i++)
        if (strcmp(out->at[i].host, view.host) == 0)
            return;
    BZ_VEC_PUSH(out, view);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct bz_job_view *)a)->host,
                  ((const struct bz_job_view *)b)->host);
}

static bool is_within(const char *path, const char *dir)
{
    struct bz_str rest = bz_str_from(path);

    return bz_str_cut_prefix(&rest, bz_str_from(dir)) &&
           (rest.n == 0 || rest.p[0] == '/');
}

/* Only the topmost of those that lie in each other. "a-b" sorts before "a/b", so the
 * one above need not be the neighbour. */
static void drop_inner(struct bz_view_list *list)
{
    size_t kept = 0;

    BZ_VEC_SORT(list, by_name);
    for (size_t i = 0; i < list->len; i++) {
        bool inner = false;

        for (size_t k = 0; k < kept && !inner; k++)
            inner = is_within(list->at[i].host, list->at[k].host);
        if (!inner)
            list->at[kept++] = list->at[i];
    }
    list->len = kept;
}

static bool begins_layer(struct bz_str text, const struct bz_job_view *layers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_str rest = text;

        if (bz_str_cut_prefix(&rest, bz_str_from(layers[i].inside)) &&
            (rest.n == 0 || rest.p[0] == '/' || !is_path_char(rest.p[0])))
            return true;
    }
    return false;
}

static void find_in_line(struct bz_str line, const struct bz_job_view *layers, size_t n,
                         struct bz_arena *a, struct bz_view_list *out)
{
    bool inside = false; /* of a path */

    for (size_t i = 0; i < line.n && out->len <= BZ_VIEW_MAX; i++) {
        struct bz_str rest = bz_str_drop(line, i);
        size_t end = 0;

        if (inside || line.p[i] != '/' || !begins_layer(rest, layers, n)) {
            inside = is_path_char(line.p[i]);
            continue;
        }
        while (end < rest.n && is_path_char(rest.p[end]))
            end++;
        add_path(bz_str_sub(rest, 0, end), bz_str_drop(rest, end), layers, n, a, out);
        i += end - 1;
        inside = false;
    }
}

void bz_view_find(struct bz_str script, const struct bz_job_view *layers, size_t n,
                  struct bz_arena *a, struct bz_view_list *out)
{
    struct bz_str line;

    while (script.n > 0 && bz_str_next_part(&script, '\n', &line)) {
        /* Only to say where a function is from. */
        if (bz_str_starts(line, BZ_STR("#")) ||
            bz_str_find(line, BZ_STR("bz_where=")) != BZ_STR_NONE)
            continue;
        find_in_line(line, layers, n, a, out);
    }
    if (out->len > BZ_VIEW_MAX) {
        BZ_VEC_CLEAR(out);
        for (size_t i = 0; i < n; i++)
            BZ_VEC_PUSH(out, layers[i]);
    }
    drop_inner(out);
}

static void add_layer(struct bz_arena *a, struct bz_str dir, struct bz_view_list *out)
{
    struct bz_path plain;
    struct bz_err ignored;
    const char *host;

    if (!bz_path_is_absolute(dir) || bz_path_normalise(dir, &plain, &ignored) < 0)
        return;
    host = bz_arena_dup(a, bz_path_str(&plain)).p;
    BZ_VEC_PUSH(out, (struct bz_job_view){bz_arena_dup(a, dir).p, host});
    if (strcmp(BZ_VEC_LAST(out).inside, host) != 0)
        BZ_VEC_PUSH(out, (struct bz_job_view){host, host});
}

void bz_view_layers(struct bz_pipeline *p, struct bz_arena *a, struct bz_view_list *out)
{
    struct bz_str core = {0};
    struct bz_err ignored;

    for (size_t i = 0; i < p->layers.all.len; i++)
        if (p->layers.all.at[i].dir.p)
            add_layer(a, p->layers.all.at[i].dir, out);
    if (bz_vars_get(p->mcs.at[0].config->vars, BZ_STR("COREBASE"), 0, &core,
                    &ignored) == 0 &&
        core.p)
        add_layer(a, core, out);
}

/* Whether the layer before stands in the list under two names. */
static bool is_again(const struct bz_view_list *layers, size_t i)
{
    return i > 0 && strcmp(layers->at[i - 1].host, layers->at[i].host) == 0;
}

/* How many layers up to this one are in directories of the same name. */
static size_t count_alike(const struct bz_view_list *layers, size_t i)
{
    struct bz_str name = bz_path_basename(bz_str_from(layers->at[i].host));
    size_t n = 1;

    for (size_t k = 0; k < i; k++)
        n += !is_again(layers, k) &&
             strcmp(layers->at[k].host, layers->at[i].host) != 0 &&
             bz_str_eq(bz_path_basename(bz_str_from(layers->at[k].host)), name);
    return n;
}

size_t bz_view_name_at(struct bz_str path, const struct bz_view_list *layers,
                       size_t *layer)
{
    size_t best = 0;

    *layer = 0;
    for (size_t i = 0; i < layers->len; i++) {
        struct bz_str host = bz_str_from(layers->at[i].host);

        if (host.n > best && is_within(path.p, host.p)) {
            best = host.n;
            *layer = count_alike(layers, i);
        }
    }
    while (best > 0 && path.p[best - 1] != '/')
        best--;
    return best;
}
