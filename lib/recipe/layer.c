#include "recipe/layer.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "os/path.h"
#include "recipe/layer_depend.h"
#include "vars/history.h"

static int get(struct bz_meta *m, const char *prefix, struct bz_str name,
               struct bz_str *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf var = {0};

    bz_buf_addf(&var, "%s_%.*s", prefix, BZ_STR_ARG(name));
    return bz_vars_get(m->vars, bz_buf_str(&var), 0, out, err);
}

/* A priority of 0 means "work it out", but takes part in finding the least one, as in
 * BitBake. */
static int read_priority(struct bz_layers *l, struct bz_layer *layer,
                         struct bz_str text, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf copy = {0};
    char *end;
    long long n;

    if (text.n == 0)
        return 0;
    bz_buf_add_str(&copy, bz_str_trim(text));
    errno = 0;
    n = strtoll(bz_buf_text(&copy), &end, 10);
    if (errno || *end || end == copy.data || n < INT32_MIN || n > INT32_MAX)
        return bz_fail(err, BZ_E_INVAL, "BBFILE_PRIORITY_%.*s: '%.*s' is not a number",
                       BZ_STR_ARG(layer->name), BZ_STR_ARG(text));
    layer->priority = n;
    layer->has_priority = n != 0;
    if (l->least == 0 || n < l->least)
        l->least = n;
    return 0;
}

static int read_layer(struct bz_layers *l, struct bz_layer *layer, struct bz_meta *m,
                      struct bz_err *err)
{
    struct bz_str priority;
    int rc = get(m, "BBFILE_PATTERN", layer->name, &layer->pattern, err);

    if (rc == 0 && !layer->pattern.p)
        rc = bz_fail(err, BZ_E_INVAL, "BBFILE_PATTERN_%.*s is not set",
                     BZ_STR_ARG(layer->name));
    if (rc == 0 && layer->pattern.n > 0)
        rc = bz_regex_new(layer->pattern, BZ_REGEX_MATCH, &layer->regex, err);
    if (rc == 0)
        rc = get(m, "BBFILE_PRIORITY", layer->name, &priority, err);
    if (rc == 0)
        rc = read_priority(l, layer, priority, err);
    if (rc == 0)
        rc = get(m, "LAYERVERSION", layer->name, &layer->version, err);
    if (rc == 0)
        rc = get(m, "LAYERDEPENDS", layer->name, &layer->depends, err);
    if (rc == 0)
        rc = get(m, "LAYERRECOMMENDS", layer->name, &layer->recommends, err);
    return rc;
}

/* The directory of a layer is where the file lies that first names it. */
struct origin {
    struct bz_layers *l;
    struct bz_vars *vars;
    bool set;
};

static void note_origin(struct origin *o, struct bz_str names, const char *file)
{
    struct bz_str word;

    while (bz_str_next_word(&names, &word))
        for (size_t i = 0; i < o->l->all.len; i++)
            if (!o->l->all.at[i].dir.p && bz_str_eq(o->l->all.at[i].name, word))
                o->l->all.at[i].dir = bz_arena_dup(
                    &o->l->arena, bz_path_dirname(bz_path_dirname(bz_str_from(file))));
}

static void read_event(void *ctx, const struct bz_history_event *e)
{
    struct origin *o = ctx;
    struct bz_str names;
    struct bz_err err;

    if (e->flag.n > 0 || bz_str_starts(e->op, BZ_STR(":remove")) ||
        (o->set && bz_str_eq(e->op, BZ_STR("set?"))))
        return;
    o->set = true;
    if (bz_vars_expand(o->vars, e->detail, BZ_STR("BBFILE_COLLECTIONS"), NULL, &names,
                       &err) == 0)
        note_origin(o, names, e->file);
}

/* Sorted by pattern, the greatest text first: a layer inside another has a
 * longer pattern with the same beginning, and is asked first. */
static void sort_nested(struct bz_layers *l)
{
    for (size_t i = 0; i < l->all.len; i++) {
        size_t k = i;

        BZ_VEC_PUSH(&l->nested, i);
        for (; k > 0 && bz_str_cmp(l->all.at[l->nested.at[k - 1]].pattern,
                                   l->all.at[i].pattern) < 0;
             k--)
            l->nested.at[k] = l->nested.at[k - 1];
        l->nested.at[k] = i;
    }
}

int bz_layer_read(struct bz_layers *l, struct bz_meta *m, struct bz_err *err)
{
    struct origin origin = {.l = l, .vars = m->vars};
    struct bz_str names, word;
    int rc = bz_vars_get(m->vars, BZ_STR("BBFILE_COLLECTIONS"), 0, &names, err);

    while (rc == 0 && bz_str_next_word(&names, &word)) {
        BZ_VEC_PUSH(&l->all, (struct bz_layer){.name = word});
        rc = read_layer(l, &BZ_VEC_LAST(&l->all), m, err);
    }
    if (rc == 0)
        rc = bz_layer_depend_resolve(l, err);
    if (rc < 0)
        return rc;
    sort_nested(l);
    bz_history_each(m->vars, BZ_STR("BBFILE_COLLECTIONS"), read_event, &origin);
    return 0;
}

void bz_layer_release(struct bz_layers *l)
{
    for (size_t i = 0; i < l->all.len; i++) {
        bz_regex_free(l->all.at[i].regex);
        bz_vec_release(&l->all.at[i].below);
    }
    bz_vec_release(&l->all);
    bz_vec_release(&l->nested);
    bz_arena_release(&l->arena);
}

const struct bz_layer *bz_layer_of(const struct bz_layers *l, struct bz_str path)
{
    for (size_t i = 0; i < l->nested.len; i++) {
        const struct bz_layer *layer = &l->all.at[l->nested.at[i]];

        if (layer->regex && bz_regex_test(layer->regex, path))
            return layer;
    }
    return NULL;
}

int bz_layer_owns(struct bz_meta *m, struct bz_str name, struct bz_str path, bool *out,
                  struct bz_err *err)
{
    struct bz_str names, word, pattern, owner = {0};
    size_t longest = 0;
    int rc = bz_vars_get(m->vars, BZ_STR("BBFILE_COLLECTIONS"), 0, &names, err);

    while (rc == 0 && bz_str_next_word(&names, &word)) {
        struct bz_regex *regex = NULL;

        rc = get(m, "BBFILE_PATTERN", word, &pattern, err);
        if (rc < 0 || pattern.n <= longest)
            continue;
        rc = bz_regex_new(pattern, BZ_REGEX_MATCH, &regex, err);
        if (rc == 0 && bz_regex_test(regex, path)) {
            longest = pattern.n;
            owner = word;
        }
        bz_regex_free(regex);
    }
    *out = owner.p && bz_str_eq(owner, name);
    return rc;
}
