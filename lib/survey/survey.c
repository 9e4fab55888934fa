#include "survey/survey.h"

#include "recipe/finalize.h"

static int by_variant(const void *a, const void *b)
{
    const struct bz_finalize_variant *x = a, *y = b;

    return bz_str_cmp(y->name, x->name);
}

static void add_broken(struct bz_survey *s, struct bz_survey_part *part,
                       const struct bz_facts *frame, const struct bz_err *why)
{
    struct bz_facts f = *frame;

    bz_facts_broken(&s->keep, bz_str_from(why->msg), &f);
    BZ_VEC_PUSH(&part->facts, f);
    s->errors++;
}

/* All or nothing: one variant that fails takes its recipe with it. */
static void add_variants(struct bz_survey *s, struct bz_survey_part *part,
                         const struct bz_facts *frame, struct bz_finalize *f)
{
    size_t before = part->facts.len, skipped = 0;

    BZ_VEC_SORT(&f->variants, by_variant);
    for (size_t i = 0; i < f->variants.len; i++) {
        struct bz_facts facts = *frame;
        struct bz_err err;

        facts.variant = bz_facts_text(&s->keep, f->variants.at[i].name);
        if (bz_facts_of(&s->keep, f->variants.at[i].meta, &facts, &err) < 0) {
            part->facts.len = before;
            bz_err_wrap(&err, "%.*s", BZ_STR_ARG(frame->path));
            add_broken(s, part, frame, &err);
            return;
        }
        skipped += facts.skipped.p != NULL;
        BZ_VEC_PUSH(&part->facts, facts);
    }
    s->variants += part->facts.len - before;
    s->skipped += skipped;
}

static struct bz_str joined(struct bz_survey *s, const struct bz_meta_names *names)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < names->len; i++)
        bz_buf_addf(&text, "%s%.*s", i > 0 ? " " : "", BZ_STR_ARG(names->at[i]));
    return bz_facts_text(&s->keep, bz_str_from(bz_buf_text(&text)));
}

static void evaluate(struct bz_survey *s, struct bz_survey_part *part,
                     const struct bz_survey_source *src,
                     const struct bz_collect_recipe *r, struct bz_library *library)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = r->path, .appends = &appends};
    struct bz_facts frame = {.path = bz_facts_text(&s->keep, r->path),
                             .variant = BZ_STR(""),
                             .hidden = r->hidden};
    struct bz_err err;

    bz_collect_appends(src->recipes, r->path, &appends);
    frame.appends = joined(s, &appends);
    if (r->layer) {
        opts.layer = r->layer->name;
        frame.layer = bz_facts_text(&s->keep, r->layer->name);
        frame.priority = r->layer->priority;
    }
    s->files++;
    s->parsed++;
    if (bz_finalize_recipe(src->config, library, &opts, &f, &err) < 0)
        add_broken(s, part, &frame, &err);
    else
        add_variants(s, part, &frame, f);
}

int bz_survey_run(struct bz_survey *s, const struct bz_survey_source *sources, size_t n,
                  struct bz_library *library, struct bz_err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        struct bz_survey_part part = {.settings = sources[i].config->vars};

        part.mc = bz_facts_text(&s->keep, sources[i].mc);
        s->masked += sources[i].recipes->masked;
        for (size_t k = 0; k < sources[i].recipes->recipes.len; k++)
            evaluate(s, &part, &sources[i], &sources[i].recipes->recipes.at[k],
                     library);
        BZ_VEC_PUSH(&s->parts, part);
    }
    return 0;
}

void bz_survey_release(struct bz_survey *s)
{
    for (size_t i = 0; i < s->parts.len; i++)
        bz_vec_release(&s->parts.at[i].facts);
    bz_vec_release(&s->parts);
    bz_facts_release(&s->keep);
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
