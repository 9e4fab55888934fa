#include "survey/survey.h"

#include <stdlib.h>

#include "base/mem.h"

/* The recipes of all sources in one list, so that threads have enough to share. */
struct items {
    struct bz_sweep_item *at;
    size_t n;
    struct bz_facts_keep keep; /* of what is known before */
};

static struct bz_str joined(struct bz_facts_keep *keep,
                            const struct bz_meta_names *names)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < names->len; i++) {
        if (i > 0)
            bz_buf_add_char(&text, ' ');
        bz_buf_add_str(&text, names->at[i]);
    }
    return bz_facts_text(keep, bz_str_from(bz_buf_text(&text)));
}

static void add_item(struct items *items, const struct bz_survey_source *src,
                     const struct bz_collect_recipe *r)
{
    struct bz_sweep_item *item = &items->at[items->n++];
    struct bz_facts *f = &item->frame;

    item->config = src->config;
    bz_collect_appends(src->recipes, r->path, &item->appends);
    f->path = bz_facts_text(&items->keep, r->path);
    f->variant = BZ_STR("");
    f->hidden = r->hidden;
    f->appends = joined(&items->keep, &item->appends);
    if (r->layer) {
        f->layer = bz_facts_text(&items->keep, r->layer->name);
        f->priority = r->layer->priority;
    }
}

static void make_items(struct items *items, const struct bz_survey_opts *opts)
{
    size_t n = 0;

    for (size_t i = 0; i < opts->nsources; i++)
        n += opts->sources[i].recipes->recipes.len;
    items->at = bz_mem_array(n, sizeof(items->at[0]));
    for (size_t i = 0; i < opts->nsources; i++)
        for (size_t k = 0; k < opts->sources[i].recipes->recipes.len; k++)
            add_item(items, &opts->sources[i],
                     &opts->sources[i].recipes->recipes.at[k]);
}

static void free_items(struct items *items)
{
    for (size_t i = 0; i < items->n; i++)
        bz_vec_release(&items->at[i].appends);
    free(items->at);
}

static void count(struct bz_survey *s, const struct bz_facts *f)
{
    if (f->error.p)
        s->errors++;
    else
        s->variants++;
    if (f->skipped.p)
        s->skipped++;
}

static void take_item(struct bz_survey *s, struct bz_survey_part *part,
                      const struct bz_sweep_item *item)
{
    for (size_t i = 0; i < item->nfacts; i++) {
        count(s, &item->facts[i]);
        BZ_VEC_PUSH(&part->facts, item->facts[i]);
    }
    bz_buf_add_str(&s->notes, item->notes);
    s->files++;
    s->parsed++;
}

static void take_items(struct bz_survey *s, const struct bz_survey_opts *opts,
                       struct items *items)
{
    const struct bz_sweep_item *item = items->at;

    for (size_t i = 0; i < opts->nsources; i++) {
        const struct bz_survey_source *src = &opts->sources[i];
        struct bz_survey_part part = {.settings = src->config->vars};

        part.mc = bz_facts_text(&items->keep, src->mc);
        s->masked += src->recipes->masked;
        BZ_VEC_RESERVE(&part.facts, src->recipes->recipes.len);
        for (size_t k = 0; k < src->recipes->recipes.len; k++)
            take_item(s, &part, item++);
        BZ_VEC_PUSH(&s->parts, part);
    }
}

int bz_survey_run(struct bz_survey *s, const struct bz_survey_opts *opts,
                  struct bz_err *err)
{
    struct items items = {0};
    int rc;

    make_items(&items, opts);
    rc = bz_sweep_run(&opts->sweep, items.at, items.n, &s->keeps, err);
    if (rc == 0)
        take_items(s, opts, &items);
    free_items(&items);
    BZ_VEC_PUSH(&s->keeps, items.keep);
    return rc;
}

void bz_survey_release(struct bz_survey *s)
{
    for (size_t i = 0; i < s->parts.len; i++)
        bz_vec_release(&s->parts.at[i].facts);
    for (size_t i = 0; i < s->keeps.len; i++)
        bz_facts_release(&s->keeps.at[i]);
    bz_vec_release(&s->parts);
    bz_vec_release(&s->keeps);
    bz_buf_release(&s->notes);
    *s = (struct bz_survey){0};
}

int bz_survey_settings(struct bz_survey *s, size_t part, struct bz_vars **out,
                       struct bz_err *err)
{
    (void)err;
    BZ_ASSERT(part < s->parts.len);
    *out = s->parts.at[part].settings;
    return 0;
}
