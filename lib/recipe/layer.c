#include "recipe/layer.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

static int get(struct bz_meta *m, const char *prefix, struct bz_str name,
               struct bz_str *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf var = {0};

    bz_buf_addf(&var, "%s_%.*s", prefix, BZ_STR_ARG(name));
    return bz_vars_get(m->vars, bz_buf_str(&var), 0, out, err);
}

static int read_priority(struct bz_layer *layer, struct bz_str text, struct bz_err *err)
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
    layer->has_priority = n != 0; /* 0 means "work it out", as in BitBake */
    return 0;
}

static int read_layer(struct bz_layer *layer, struct bz_meta *m, struct bz_err *err)
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
        rc = read_priority(layer, priority, err);
    if (rc == 0)
        rc = get(m, "LAYERVERSION", layer->name, &layer->version, err);
    if (rc == 0)
        rc = get(m, "LAYERDEPENDS", layer->name, &layer->depends, err);
    if (rc == 0)
        rc = get(m, "LAYERRECOMMENDS", layer->name, &layer->recommends, err);
    return rc;
}

static struct bz_layer *find(struct bz_layers *l, struct bz_str name)
{
    for (size_t i = 0; i < l->all.len; i++)
        if (bz_str_eq(l->all.at[i].name, name))
            return &l->all.at[i];
    return NULL;
}

/* The next name of a list such as "core (>= 5) other"; what is in parentheses
 * is for somebody who compares versions. */
static bool next_dependency(struct bz_str *list, struct bz_str *name)
{
    bool inside = false;

    while (bz_str_next_word(list, name)) {
        bool opens = name->p[0] == '(', closes = name->p[name->n - 1] == ')';

        if (!inside && !opens)
            return true;
        inside = !closes;
    }
    return false;
}

static int work_out_priority(struct bz_layers *l, struct bz_layer *layer, int64_t least,
                             size_t depth, struct bz_err *err);

/* Raises *highest to the priority of every layer of a list that is there. */
static int raise_above(struct bz_layers *l, struct bz_str list, int64_t least,
                       size_t depth, int64_t *highest, struct bz_err *err)
{
    struct bz_str name;
    int rc = 0;

    while (rc == 0 && next_dependency(&list, &name)) {
        struct bz_layer *dep = find(l, name);

        if (!dep)
            continue;
        if (!dep->has_priority)
            rc = work_out_priority(l, dep, least, depth + 1, err);
        if (rc == 0 && dep->priority > *highest)
            *highest = dep->priority;
    }
    return rc;
}

/* One above the highest of its dependencies. `depth` bounds layers that depend on each
 * other in a circle. */
static int work_out_priority(struct bz_layers *l, struct bz_layer *layer, int64_t least,
                             size_t depth, struct bz_err *err)
{
    int64_t highest = least;
    int rc;

    if (depth > l->all.len)
        return bz_fail(err, BZ_E_INVAL, "LAYERDEPENDS of layer '%.*s' go in a circle",
                       BZ_STR_ARG(layer->name));
    if (layer->has_priority)
        return 0;
    rc = raise_above(l, layer->depends, least, depth, &highest, err);
    if (rc == 0)
        rc = raise_above(l, layer->recommends, least, depth, &highest, err);
    layer->priority = highest + 1;
    layer->has_priority = true;
    return rc;
}

static int check_depends(struct bz_layers *l, const struct bz_layer *layer,
                         struct bz_err *err)
{
    struct bz_str list = layer->depends, name;

    while (next_dependency(&list, &name))
        if (!find(l, name))
            return bz_fail(err, BZ_E_INVAL,
                           "layer '%.*s' depends on layer '%.*s', which is not in "
                           "BBLAYERS",
                           BZ_STR_ARG(layer->name), BZ_STR_ARG(name));
    return 0;
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
    struct bz_str names, word;
    int64_t least = 0;
    int rc = bz_vars_get(m->vars, BZ_STR("BBFILE_COLLECTIONS"), 0, &names, err);

    while (rc == 0 && bz_str_next_word(&names, &word)) {
        struct bz_layer *layer;

        BZ_VEC_PUSH(&l->all, (struct bz_layer){.name = word});
        layer = &BZ_VEC_LAST(&l->all);
        rc = read_layer(layer, m, err);
        if (layer->has_priority && (least == 0 || layer->priority < least))
            least = layer->priority;
    }
    for (size_t i = 0; i < l->all.len && rc == 0; i++)
        rc = check_depends(l, &l->all.at[i], err);
    for (size_t i = 0; i < l->all.len && rc == 0; i++)
        rc = work_out_priority(l, &l->all.at[i], least, 0, err);
    if (rc == 0)
        sort_nested(l);
    return rc;
}

void bz_layer_release(struct bz_layers *l)
{
    for (size_t i = 0; i < l->all.len; i++)
        bz_regex_free(l->all.at[i].regex);
    bz_vec_release(&l->all);
    bz_vec_release(&l->nested);
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
