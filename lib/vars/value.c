#include "vars/value.h"

#include "vars/expand.h"
#include "vars/expr.h"
#include "vars/flag.h"
#include "vars/ops.h"
#include "vars/override.h"

static int read_raw(struct bz_vars *v, struct bz_store_cell *c, unsigned depth,
                    struct bz_err *err);

/* The variant that stands for the variable now, or NULL. */
static int find_match(struct bz_vars *v, const struct bz_store_cell *c,
                      struct bz_store_cell **match, struct bz_err *err)
{
    struct bz_str name;
    int rc;

    *match = NULL;
    if (!c->variants || c->variants->n == 0)
        return 0;
    rc = bz_override_need(v, err);
    if (rc < 0)
        return rc;
    name = bz_override_choose(v, c->variants);
    if (name.p)
        *match = bz_store_cell(v, name);
    return 0;
}

/* The content, or else the weak default. */
static struct bz_str plain(const struct bz_store_var *var, unsigned how)
{
    if (!var)
        return (struct bz_str){0};
    if (var->has_content || (how & BZ_VARS_NOWEAK))
        return var->content;
    return var->weak;
}

/* What stands before expansion: the value with :append and :prepend. Operations apply
 * to a variant's value as well as to the variable's own. */
static int assemble(struct bz_vars *v, struct bz_store_cell *c, unsigned how,
                    unsigned depth, struct bz_str *out, bool *removes,
                    struct bz_err *err)
{
    struct bz_str value = {0};
    struct bz_store_cell *match;
    struct bz_buf buf;
    bool any;
    int rc = find_match(v, c, &match, err);

    *removes = c->var && c->var->ops[BZ_STORE_REMOVE].n > 0;
    if (rc == 0 && match) {
        rc = read_raw(v, match, depth + 1, err);
        value = match->raw;
        *removes |= match->removes;
    }
    if (rc < 0)
        return rc;
    if (!value.p)
        value = plain(c->var, how);
    *out = value;
    if (!c->var || !bz_ops_pending(c->var))
        return 0;
    buf = bz_store_take(v);
    rc = bz_ops_apply(v, c->var, value, &buf, &any, err);
    if (rc == 0 && any)
        *out = bz_store_keep(v, bz_str_of(bz_buf_text(&buf), buf.len), c->raw);
    bz_store_give(v, &buf);
    return rc;
}

/* Brings c->raw up to date. */
static int read_raw(struct bz_vars *v, struct bz_store_cell *c, unsigned depth,
                    struct bz_err *err)
{
    struct bz_str raw;
    bool removes;
    int rc;

    if (c->raw_gen == v->gen)
        return 0;
    if (depth > BZ_EXPAND_DEPTH)
        return bz_fail(err, BZ_E_LIMIT, "too many overrides in %.*s",
                       BZ_STR_ARG(c->name));
    rc = assemble(v, c, 0, depth, &raw, &removes, err);
    if (rc < 0)
        return rc;
    c->raw = raw;
    c->removes = removes;
    c->raw_gen = v->gen;
    return 0;
}

/* The :remove operations that apply: those of the variable, and of its variant those
 * that took something out of the variant's own value. */
static int collect_removes(struct bz_vars *v, struct bz_store_cell *c,
                           struct bz_ops_texts *texts, struct bz_err *err)
{
    struct bz_store_cell *match;
    struct bz_str ignored;
    int rc = find_match(v, c, &match, err);

    if (rc == 0 && match)
        rc = read_raw(v, match, 0, err);
    if (rc == 0 && match && match->removes) {
        rc = bz_value_get(v, match, 0, &ignored, err);
        for (size_t i = 0; rc == 0 && i < match->nremoved; i++)
            BZ_VEC_PUSH(texts, match->removed[i]);
    }
    if (rc == 0 && c->var)
        rc = bz_ops_removes(v, c->var, texts, err);
    return rc;
}

/* The value without the words to be removed. */
static int apply_removes(struct bz_vars *v, struct bz_store_cell *c,
                         struct bz_ops_texts *texts, struct bz_buf *value,
                         struct bz_err *err)
{
    struct bz_buf left;
    int rc = collect_removes(v, c, texts, err);

    if (rc < 0 || texts->len == 0)
        return rc;
    /* What is removed from a reference that stands for itself is not known here. */
    if (v->keep.ask && memchr(value->data, BZ_VARS_MARK, value->len))
        for (size_t i = 0; i < texts->len && rc == 0; i++)
            rc = bz_buf_try_addf(value, err, " %c-%.*s", BZ_VARS_MARK,
                                 BZ_STR_ARG(texts->at[i]));
    if (rc < 0)
        return rc;
    left = bz_store_take(v);
    rc = bz_ops_remove(v, bz_buf_str(value), texts, &left, err);
    if (rc == 0) {
        struct bz_buf t = *value;

        *value = left;
        left = t;
    }
    bz_store_give(v, &left);
    return rc;
}

/* How a value comes about. */
struct job {
    struct bz_str raw;
    bool removes;
    struct bz_str filter;
    struct bz_buf value;       /* the result */
    struct bz_ops_texts texts; /* the removals that had an effect */
};

static struct bz_str filter_of(const struct bz_vars *v, const struct bz_store_cell *c)
{
    struct bz_str base, rest;

    if (!v->any_filter)
        return (struct bz_str){0};
    bz_str_cut(c->name, ':', &base, &rest);
    return bz_str_trim(bz_store_filter(v, base));
}

static int apply_filter(struct bz_vars *v, struct job *job, struct bz_err *err)
{
    struct bz_str out;
    int rc = bz_expr_filter(v, job->filter, bz_buf_str(&job->value), &out, err);

    if (rc < 0)
        return bz_err_wrap(err, "filter %.*s", BZ_STR_ARG(job->filter));
    bz_buf_truncate(&job->value, 0);
    return bz_buf_try_add_str(&job->value, out, err);
}

/* Expands, removes, filters. The caller gives job->value and job->texts back. */
static int run(struct bz_vars *v, struct bz_store_cell *c, unsigned how,
               struct job *job, struct bz_err *err)
{
    struct bz_store_frame f = {.name = c->name, .cell = c, .how = how};
    int rc = bz_expand_enter(v, &f, err);

    job->value = bz_store_take(v);
    if (rc < 0)
        return rc;
    if (bz_expand_needed(job->raw))
        rc = bz_expand_text(v, job->raw, NULL, &job->value, err);
    else
        rc = bz_buf_try_add_str(&job->value, job->raw, err);
    if (rc == 0 && job->removes && job->value.len > 0)
        rc = apply_removes(v, c, &job->texts, &job->value, err);
    if (rc == 0 && job->filter.n > 0 && job->value.len > 0)
        rc = apply_filter(v, job, err);
    bz_expand_leave(v, &f);
    return rc;
}

static struct bz_str result(const struct job *job)
{
    return bz_str_of(bz_buf_text(&job->value), job->value.len);
}

/* The value for the unusual ways to read it, which are not cached. */
static int get_uncached(struct bz_vars *v, struct bz_store_cell *c, unsigned how,
                        struct bz_str *out, struct bz_err *err)
{
    struct job job = {.filter = filter_of(v, c)};
    int rc = 0;

    if (how & BZ_VARS_PARSING)
        job.raw = plain(c->var, how);
    else
        rc = assemble(v, c, how, 0, &job.raw, &job.removes, err);
    *out = job.raw;
    if (rc < 0 || !job.raw.p || (how & BZ_VARS_RAW))
        return rc;
    rc = run(v, c, how, &job, err);
    if (rc == 0)
        *out = bz_store_keep(v, result(&job), c->text);
    bz_store_give(v, &job.value);
    bz_vec_release(&job.texts);
    return rc;
}

static bool same_texts(const struct bz_store_cell *c, const struct bz_ops_texts *texts)
{
    if (c->nremoved != texts->len)
        return false;
    for (size_t i = 0; i < texts->len; i++)
        if (!bz_str_eq(c->removed[i], texts->at[i]))
            return false;
    return true;
}

/* Caches a value that the store keeps already. */
static void remember(struct bz_vars *v, struct bz_store_cell *c, struct bz_str text,
                     const struct bz_ops_texts *texts)
{
    c->text = text;
    if (!same_texts(c, texts)) {
        c->removed = NULL;
        c->nremoved = texts->len;
        if (texts->len > 0) {
            size_t n = texts->len * sizeof(*texts->at);
            struct bz_str *removed =
                bz_arena_alloc(&v->arena, n, _Alignof(struct bz_str));

            memcpy(removed, texts->at, n);
            c->removed = removed;
        }
    }
    c->text_gen = v->gen;
}

/* Brings c->text up to date. */
static int read_text(struct bz_vars *v, struct bz_store_cell *c, struct bz_err *err)
{
    struct job job = {.filter = filter_of(v, c)};
    int rc = read_raw(v, c, 0, err);

    if (rc < 0)
        return rc;
    job.raw = c->raw;
    job.removes = c->removes;
    if (!job.raw.p ||
        (!job.removes && job.filter.n == 0 && !bz_expand_needed(job.raw))) {
        remember(v, c, job.raw, &job.texts);
        return 0;
    }
    rc = run(v, c, 0, &job, err);
    if (rc == 0)
        remember(v, c, bz_store_keep(v, result(&job), c->text), &job.texts);
    bz_store_give(v, &job.value);
    bz_vec_release(&job.texts);
    return rc;
}

int bz_value_get(struct bz_vars *v, struct bz_store_cell *c, unsigned how,
                 struct bz_str *out, struct bz_err *err)
{
    int rc;

    *out = (struct bz_str){0};
    if (how & (BZ_VARS_NOWEAK | BZ_VARS_PARSING))
        return get_uncached(v, c, how, out, err);
    if (how & BZ_VARS_RAW) {
        rc = read_raw(v, c, 0, err);
        if (rc == 0)
            *out = c->raw;
        return rc;
    }
    if (c->text_gen != v->gen) {
        rc = read_text(v, c, err);
        if (rc < 0)
            return rc;
    }
    *out = c->text;
    return 0;
}

/* ---- flags ---- */

static struct bz_store_flag_cell *
flag_cell(struct bz_vars *v, const struct bz_store_cell *c, struct bz_str flag)
{
    uint64_t hash = bz_map_hash_u64(c->hash + 1) ^ bz_str_hash(flag);
    struct bz_map_entry *e = bz_map_put_u64(&v->flag_cells, hash);
    struct bz_store_flag_cell *f = e->p;

    while (f && !(bz_str_eq(f->name, c->name) && bz_str_eq(f->flag, flag)))
        f = f->next;
    if (f)
        return f;
    f = BZ_ARENA_NEW(&v->arena, struct bz_store_flag_cell);
    f->name = c->name;
    f->flag = bz_arena_dup(&v->arena, flag);
    f->next = e->p;
    e->p = f;
    return f;
}

int bz_value_flag(struct bz_vars *v, const struct bz_store_cell *c, struct bz_str flag,
                  unsigned how, struct bz_str *out, struct bz_err *err)
{
    struct bz_str value = bz_flag_read(c->var, flag, how);
    struct bz_store_flag_cell *f;
    struct bz_buf text, name;
    int rc;

    *out = value;
    if ((how & BZ_VARS_RAW) || !value.p || !bz_expand_needed(value))
        return 0;
    f = flag_cell(v, c, flag);
    if (f->gen == v->gen && !(how & BZ_VARS_NOWEAK)) {
        *out = f->text;
        return 0;
    }
    text = bz_store_take(v);
    name = bz_store_take(v);
    rc = bz_buf_try_addf(&name, err, "%.*s[%.*s]", BZ_STR_ARG(c->name),
                         BZ_STR_ARG(flag));
    if (rc == 0)
        rc = bz_expand_named(v, value, bz_buf_str(&name), NULL, &text, err);
    if (rc == 0) {
        *out = bz_store_keep(v, bz_str_of(bz_buf_text(&text), text.len), f->text);
        if (!(how & BZ_VARS_NOWEAK)) {
            f->text = *out;
            f->gen = v->gen;
        }
    }
    bz_store_give(v, &name);
    bz_store_give(v, &text);
    return rc;
}
