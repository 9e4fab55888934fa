#include "recipe/series.h"

#include "base/buf.h"
#include "base/log.h"

static struct bz_str compat_name(struct bz_meta *m, struct bz_str collection)
{
    return bz_arena_printf(&m->arena, "LAYERSERIES_COMPAT_%.*s",
                           BZ_STR_ARG(collection));
}

/* Takes a variable's value away; p == NULL if it has none or an empty one. */
static int take(struct bz_meta *m, struct bz_str name, struct bz_str *out,
                struct bz_err *err)
{
    int rc = bz_vars_get(m->vars, name, 0, out, err);

    if (rc == 0 && out->n == 0)
        *out = (struct bz_str){0};
    if (rc == 0 && out->p)
        rc = bz_vars_del(m->vars, name, NULL, err);
    return rc;
}

static struct bz_series_layer *entry(struct bz_series *s, struct bz_str collection)
{
    for (size_t i = 0; i < s->layers.len; i++)
        if (bz_str_eq(s->layers.at[i].collection, collection))
            return &s->layers.at[i];
    BZ_VEC_PUSH(&s->layers, (struct bz_series_layer){.collection = collection});
    return &BZ_VEC_LAST(&s->layers);
}

int bz_series_collect(struct bz_series *s, struct bz_meta *m, struct bz_err *err)
{
    struct bz_str collections, word, compat;
    int rc = bz_vars_get(m->vars, BZ_STR("BBFILE_COLLECTIONS"), 0, &collections, err);

    while (rc == 0 && bz_str_next_word(&collections, &word)) {
        rc = take(m, compat_name(m, word), &compat, err);
        if (rc == 0 && compat.p)
            entry(s, word)->compat = compat;
    }
    if (rc == 0 && !s->core.p)
        rc = take(m, BZ_STR("LAYERSERIES_CORENAMES"), &s->core, err);
    return rc;
}

static int by_text(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* Sets `name` to the words of `list`, sorted, each once. */
static int set_sorted(struct bz_meta *m, struct bz_str name, struct bz_str list,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names words = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str word;

    while (bz_str_next_word(&list, &word))
        if (!bz_meta_has(&words, word))
            BZ_VEC_PUSH(&words, word);
    BZ_VEC_SORT(&words, by_text);
    for (size_t i = 0; i < words.len; i++)
        bz_buf_addf(&text, "%s%.*s", i ? " " : "", BZ_STR_ARG(words.at[i]));
    return bz_vars_set(m->vars, name, bz_str_from(bz_buf_text(&text)), 0, NULL, err);
}

static bool any_in(struct bz_str words, struct bz_str list)
{
    struct bz_str word;

    while (bz_str_next_word(&words, &word))
        if (bz_str_has_word(list, word))
            return true;
    return false;
}

static int check_one(const struct bz_series *s, struct bz_str collection,
                     struct bz_str compat, struct bz_err *err)
{
    if (!compat.p) {
        bz_log_warn("layers",
                    "layer %.*s should set LAYERSERIES_COMPAT_%.*s in its "
                    "conf/layer.conf to the series it is compatible with",
                    BZ_STR_ARG(collection), BZ_STR_ARG(collection));
        return 0;
    }
    if (!s->core.p)
        return bz_fail(err, BZ_E_INVAL,
                       "no core layer found to work with layer %.*s; is one missing in "
                       "BBLAYERS?",
                       BZ_STR_ARG(collection));
    if (!any_in(compat, s->core))
        return bz_fail(err, BZ_E_INVAL,
                       "layer %.*s is compatible with '%.*s', but the core layer only "
                       "supports '%.*s'",
                       BZ_STR_ARG(collection), BZ_STR_ARG(compat), BZ_STR_ARG(s->core));
    return 0;
}

int bz_series_check(struct bz_series *s, struct bz_meta *m, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names seen = {0};
    struct bz_str collections, word;
    int rc = bz_vars_get(m->vars, BZ_STR("BBFILE_COLLECTIONS"), 0, &collections, err);

    for (size_t i = 0; i < s->layers.len && rc == 0; i++)
        rc = set_sorted(m, compat_name(m, s->layers.at[i].collection),
                        s->layers.at[i].compat, err);
    while (rc == 0 && bz_str_next_word(&collections, &word)) {
        if (bz_meta_has(&seen, word))
            return bz_fail(err, BZ_E_INVAL, "BBFILE_COLLECTIONS names '%.*s' twice",
                           BZ_STR_ARG(word));
        BZ_VEC_PUSH(&seen, word);
        rc = check_one(s, word, entry(s, word)->compat, err);
    }
    return rc < 0 ? rc : set_sorted(m, BZ_STR("LAYERSERIES_CORENAMES"), s->core, err);
}

void bz_series_release(struct bz_series *s)
{
    bz_vec_release(&s->layers);
}
