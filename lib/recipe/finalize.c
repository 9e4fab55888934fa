#include "recipe/finalize.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "recipe/blame.h"

static int inherit_deferred(struct bz_eval *e, struct bz_err *err)
{
    struct bz_meta *m = e->meta;
    int rc = 0;

    while (rc == 0 && m->deferred.len > 0) {
        struct bz_meta_deferred d = m->deferred.at[0];
        struct bz_eval_frame frame = {.path = d.file, .line = d.line, .depth = 1};

        memmove(&m->deferred.at[0], &m->deferred.at[1],
                (m->deferred.len - 1) * sizeof(d));
        m->deferred.len--;
        e->top = &frame;
        rc = bz_eval_inherit(e, d.classes, true, err);
        if (rc < 0 && !e->located) {
            bz_blame_tell(e, err);
            bz_err_wrap(err, "%s:%u", d.file, d.line);
        }
        e->top = NULL;
    }
    return rc;
}

/* A recipe-level virtual name becomes its PREFERRED_PROVIDER; others stay. */
static int real_provider(struct bz_meta *m, struct bz_str virtuals, struct bz_str name,
                         struct bz_str *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf var = {0};
    int rc;

    *out = name;
    if (!bz_str_has_word(virtuals, name))
        return 0;
    bz_buf_addf(&var, "PREFERRED_PROVIDER_%.*s", BZ_STR_ARG(name));
    rc = bz_vars_get(m->vars, bz_buf_str(&var), 0, out, err);
    if (rc == 0 && out->n == 0)
        rc = bz_fail(err, BZ_E_INVAL, "recipe virtual provider %s is not set",
                     bz_buf_text(&var));
    return rc;
}

static int remap_depends(struct bz_meta *m, struct bz_str virtuals, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    struct bz_str depends, word, name;
    int rc = bz_meta_get(m, "DEPENDS", &depends, err);

    while (rc == 0 && bz_str_next_word(&depends, &word)) {
        rc = real_provider(m, virtuals, word, &name, err);
        if (list.len > 0)
            bz_buf_add_char(&list, ' ');
        bz_buf_add_str(&list, name);
    }
    if (rc == 0)
        rc = bz_meta_set(m, "DEPENDS", bz_str_from(bz_buf_text(&list)), err);
    return rc;
}

static int remap_task(struct bz_meta *m, struct bz_str virtuals, struct bz_str task,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    struct bz_str depends, word, head, tail, name;
    int rc = bz_vars_get_flag(m->vars, task, BZ_STR("depends"), 0, &depends, err);

    while (rc == 0 && bz_str_next_word(&depends, &word)) {
        if (!bz_str_cut(word, ':', &head, &tail))
            return bz_fail(err, BZ_E_INVAL,
                           "%.*s[depends]: '%.*s' is not of the form RECIPE:TASK",
                           BZ_STR_ARG(task), BZ_STR_ARG(word));
        rc = real_provider(m, virtuals, head, &name, err);
        bz_buf_addf(&list, "%s%.*s:%.*s", list.len ? " " : "", BZ_STR_ARG(name),
                    BZ_STR_ARG(tail));
    }
    if (rc == 0)
        rc = bz_vars_set_flag(m->vars, task, BZ_STR("depends"),
                              bz_str_from(bz_buf_text(&list)), NULL, err);
    return rc;
}

static int expand_name(void *ctx, struct bz_str *name, struct bz_err *err)
{
    struct bz_meta *m = ctx;

    return bz_vars_expand(m->vars, *name, (struct bz_str){0}, NULL, name, err);
}

/* Tasks get their final names and the flag that makes them tasks. */
static int name_tasks(struct bz_meta *m, struct bz_err *err)
{
    int rc = bz_taskdef_rename(&m->tasks, expand_name, m, err);

    for (size_t i = 0; i < m->tasks.order.len && rc == 0; i++)
        rc = bz_vars_set_flag(m->vars, m->tasks.order.at[i], BZ_STR("task"),
                              BZ_STR("1"), NULL, err);
    return rc;
}

static int finish_tasks(struct bz_meta *m, struct bz_err *err)
{
    struct bz_str virtuals;
    int rc = bz_meta_get(m, "BB_RECIPE_VIRTUAL_PROVIDERS", &virtuals, err);

    if (rc == 0)
        rc = remap_depends(m, virtuals, err);
    for (size_t i = 0; i < m->tasks.order.len && rc == 0; i++)
        rc = remap_task(m, virtuals, m->tasks.order.at[i], err);
    return rc < 0 ? rc : name_tasks(m, err);
}

static int check_handlers(struct bz_meta *m, struct bz_err *err)
{
    struct bz_str place;
    int rc = 0;

    for (size_t i = 0; i < m->handlers.len && rc == 0; i++) {
        rc = bz_vars_get_flag(m->vars, m->handlers.at[i], BZ_STR("filename"),
                              BZ_VARS_RAW, &place, err);
        if (rc == 0 && place.n == 0)
            rc = bz_fail(err, BZ_E_INVAL, "Undefined event handler function '%.*s'",
                         BZ_STR_ARG(m->handlers.at[i]));
    }
    return rc;
}

static int finalize(struct bz_meta *m, struct bz_library *library,
                    const struct bz_finalize_opts *opts, struct bz_err *err)
{
    struct bz_eval e = {.meta = m, .library = library, .watch = opts->watch};
    int rc = inherit_deferred(&e, err);

    if (rc == 0)
        rc = check_handlers(m, err);
    if (rc == 0)
        rc = bz_vars_expand_keys(m->vars, err);
    if (rc == 0)
        rc = finish_tasks(m, err);
    return rc;
}

/* What variants are made from: the recipe that has been finalized. */
struct origin {
    struct bz_str path, pn;
    struct bz_str extended; /* BBCLASSEXTEND, expanded, as all of them have it then */
};

/* What makes a copy the variant `name` ("native", "multilib:lib32"). */
static int extend(struct bz_meta *m, struct bz_str name, const struct origin *from,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf pn = {0};
    struct bz_str cls, rest, argument;
    int rc = bz_meta_set(m, "BBCLASSEXTEND", from->extended, err);

    if (rc < 0)
        return rc;
    if (bz_str_cut(name, ':', &cls, &rest)) {
        bz_str_cut(rest, ':', &argument, &rest);
        rc = bz_meta_set(m, "BBEXTENDCURR", cls, err);
        if (rc == 0)
            rc = bz_meta_set(m, "BBEXTENDVARIANT", argument, err);
    } else {
        bz_buf_addf(&pn, "%.*s-%.*s", BZ_STR_ARG(from->pn), BZ_STR_ARG(name));
        rc = bz_meta_set(m, "PN", bz_buf_str(&pn), err);
    }
    BZ_VEC_PUSH(&m->deferred,
                (struct bz_meta_deferred){bz_arena_dup(&m->arena, cls),
                                          bz_arena_dup(&m->arena, from->path).p, 0});
    return rc;
}

static struct bz_meta *add_copy(struct bz_finalize *f, struct bz_str name)
{
    struct bz_meta *m = bz_meta_copy(f->read);

    BZ_VEC_PUSH(&f->variants,
                (struct bz_finalize_variant){bz_arena_dup(&f->read->arena, name), m});
    return m;
}

/* A variant that is named twice is one. */
static bool has_variant(const struct bz_finalize *f, struct bz_str name)
{
    for (size_t i = 1; i < f->variants.len; i++)
        if (bz_str_eq(f->variants.at[i].name, name))
            return true;
    return false;
}

static int add_variants(struct bz_finalize *f, struct bz_library *library,
                        const struct bz_finalize_opts *opts, struct bz_err *err)
{
    struct origin from = {.path = opts->path};
    struct bz_meta *m = add_copy(f, BZ_STR(""));
    struct bz_str list, word;
    int rc = finalize(m, library, opts, err);

    if (rc == 0)
        rc = bz_meta_get(m, "BBCLASSEXTEND", &from.extended, err);
    if (rc == 0 && from.extended.n > 0)
        rc = bz_meta_get(m, "PN", &from.pn, err);
    if (rc == 0 && from.extended.n > 0)
        rc = bz_meta_set(m, "BBCLASSEXTEND", from.extended, err);
    list = from.extended;
    while (rc == 0 && bz_str_next_word(&list, &word)) {
        if ((opts->only.p && !bz_str_eq(opts->only, word)) || has_variant(f, word))
            continue;
        m = add_copy(f, word);
        rc = extend(m, word, &from, err);
        if (rc == 0)
            rc = finalize(m, library, opts, err);
    }
    return rc;
}

static int read_recipe(struct bz_meta *m, struct bz_library *library,
                       const struct bz_finalize_opts *opts, struct bz_err *err)
{
    struct bz_eval e = {
        .meta = m, .library = library, .notes = opts->notes, .watch = opts->watch};
    const struct bz_meta_names *appends = opts->appends;
    int rc = bz_meta_set(m, "__BB_RECIPE_FILE", opts->path, err);

    if (rc == 0 && opts->layer.p)
        rc = bz_meta_set(m, "FILE_LAYERNAME", opts->layer, err);
    if (rc == 0)
        rc = bz_eval_file(&e, opts->path, BZ_EVAL_RECIPE, err);
    for (size_t i = 0; appends && i < appends->len && rc == 0; i++)
        rc = bz_eval_file(&e, appends->at[i], BZ_EVAL_APPEND, err);
    return rc;
}

int bz_finalize_recipe(const struct bz_meta *config, struct bz_library *library,
                       const struct bz_finalize_opts *opts, struct bz_finalize **out,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_finalize_freep)
    struct bz_finalize *f = bz_mem_zalloc(sizeof(*f));
    int rc;

    bz_library_count(library);
    f->read = bz_meta_copy(config);
    if (opts->watch)
        bz_vars_set_watch(f->read->vars, &opts->watch->expressions);
    rc = read_recipe(f->read, library, opts, err);
    if (rc == 0)
        rc = add_variants(f, library, opts, err);
    if (rc < 0)
        return rc;
    *out = f;
    f = NULL; /* the caller owns it now */
    return 0;
}

struct bz_meta *bz_finalize_variant(const struct bz_finalize *f, struct bz_str name)
{
    for (size_t i = 0; i < f->variants.len; i++)
        if (bz_str_eq(f->variants.at[i].name, name))
            return f->variants.at[i].meta;
    return NULL;
}

void bz_finalize_free(struct bz_finalize *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->variants.len; i++)
        bz_meta_free(f->variants.at[i].meta);
    bz_vec_release(&f->variants);
    bz_meta_free(f->read);
    free(f);
}

void bz_finalize_freep(struct bz_finalize **f)
{
    bz_finalize_free(*f);
}
