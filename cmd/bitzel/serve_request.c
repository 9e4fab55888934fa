#include "serve_request.h"

#include <string.h>

#include "base/near.h"
#include "base/vec.h"

struct words BZ_VEC(const char *);

static bool is_listed(const char *const *names, struct bz_str name)
{
    for (; names && *names; names++)
        if (bz_str_eq(bz_str_from(*names), name))
            return true;
    return false;
}

/* ---- one option ---- */

static const struct bz_opt *find_in(const struct bz_opt *rows, struct bz_str name)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++)
        if (bz_str_eq(bz_str_from(rows->name), name))
            return rows;
    return NULL;
}

static void offer_names(struct bz_near *near, const struct bz_serve_form *form)
{
    for (const struct bz_opt *o = form->own; o && o->kind != BZ_OPT_KIND_END; o++)
        if (!is_listed(form->refused, bz_str_from(o->name)))
            bz_near_offer(near, bz_str_from(o->name));
    for (const char *const *name = form->globals; name && *name; name++)
        bz_near_offer(near, bz_str_from(*name));
}

static int find_option(const struct bz_serve_form *form, struct bz_str name,
                       const struct bz_opt **out, struct bz_err *err)
{
    struct bz_near near;
    char hint[96];

    if (is_listed(form->refused, name))
        return bz_fail(err, BZ_E_INVAL, "the option '%.*s' makes no sense here",
                       BZ_STR_ARG(name));
    *out = find_in(form->own, name);
    if (!*out && is_listed(form->globals, name))
        *out = find_in(form->global, name);
    if (*out)
        return 0;
    bz_near_init(&near, name);
    offer_names(&near, form);
    if (name.n > 48)
        name.n = 48;
    return bz_fail(err, BZ_E_INVAL, "there is no option '%.*s'%s", BZ_STR_ARG(name),
                   bz_near_text(&near, "", hint, sizeof(hint)));
}

static int check_text(const struct bz_doc *d, struct bz_err *err)
{
    int rc = bz_doc_expect(d, BZ_DOC_STR, err);

    if (rc == 0 && d->text.n > BZ_SERVE_REQUEST_TEXT)
        return bz_fail(err, BZ_E_LIMIT, "more than %d bytes", BZ_SERVE_REQUEST_TEXT);
    return rc;
}

static int add_text(struct bz_arena *a, const struct bz_opt *o, const struct bz_doc *d,
                    struct words *argv, struct bz_err *err)
{
    int rc = check_text(d, err);

    if (rc == 0)
        BZ_VEC_PUSH(argv,
                    bz_arena_printf(a, "--%s=%.*s", o->name, BZ_STR_ARG(d->text)).p);
    return rc;
}

static int add_flag(struct bz_arena *a, const struct bz_opt *o, const struct bz_doc *d,
                    struct words *argv, struct bz_err *err)
{
    int rc = bz_doc_expect(d, BZ_DOC_BOOL, err);

    if (rc == 0 && d->b)
        BZ_VEC_PUSH(argv, bz_arena_printf(a, "--%s", o->name).p);
    else if (rc == 0 && o->kind == BZ_OPT_KIND_SWITCH)
        BZ_VEC_PUSH(argv, bz_arena_printf(a, "--no-%s", o->name).p);
    return rc;
}

static int add_number(struct bz_arena *a, const struct bz_opt *o,
                      const struct bz_doc *d, struct words *argv, struct bz_err *err)
{
    int rc = bz_doc_expect(d, BZ_DOC_INT, err);

    if (rc == 0 && (d->i < o->min || d->i > o->max))
        return bz_fail(err, BZ_E_INVAL, "not between %lld and %lld", (long long)o->min,
                       (long long)o->max);
    if (rc == 0)
        BZ_VEC_PUSH(argv, bz_arena_printf(a, "--%s=%lld", o->name, (long long)d->i).p);
    return rc;
}

static int add_list(struct bz_arena *a, const struct bz_opt *o, const struct bz_doc *d,
                    struct words *argv, struct bz_err *err)
{
    int rc = bz_doc_expect(d, BZ_DOC_LIST, err);

    if (rc == 0 && d->count > BZ_SERVE_REQUEST_TARGETS)
        return bz_fail(err, BZ_E_LIMIT, "more than %d of them",
                       BZ_SERVE_REQUEST_TARGETS);
    for (size_t i = 0; rc == 0 && i < d->count; i++)
        rc = add_text(a, o, &d->items[i], argv, err);
    return rc;
}

static int add_choice(struct bz_arena *a, const struct bz_opt *o,
                      const struct bz_doc *d, struct words *argv, struct bz_err *err)
{
    int rc = check_text(d, err);

    if (rc == 0 && !is_listed(o->choices, d->text))
        return bz_fail(err, BZ_E_INVAL, "'%.32s' is none of its values", d->text.p);
    return rc < 0 ? rc : add_text(a, o, d, argv, err);
}

static int add_option(struct bz_arena *a, const struct bz_opt *o,
                      const struct bz_doc *d, struct words *argv, struct bz_err *err)
{
    switch (o->kind) {
    case BZ_OPT_KIND_FLAG:
    case BZ_OPT_KIND_SWITCH:
        return add_flag(a, o, d, argv, err);
    case BZ_OPT_KIND_NUMBER:
        return add_number(a, o, d, argv, err);
    case BZ_OPT_KIND_CHOICE:
        return add_choice(a, o, d, argv, err);
    case BZ_OPT_KIND_LIST:
        return add_list(a, o, d, argv, err);
    case BZ_OPT_KIND_TEXT:
        return add_text(a, o, d, argv, err);
    default:
        return bz_fail(err, BZ_E_INVAL, "it makes no sense here");
    }
}

/* ---- the members ---- */

struct reading {
    struct words argv, globals, operands, env;
    bool has_env;
};

static void release_reading(struct reading *r)
{
    bz_vec_release(&r->argv);
    bz_vec_release(&r->globals);
    bz_vec_release(&r->operands);
    bz_vec_release(&r->env);
}

static int add_options(struct bz_arena *a, const struct bz_doc *options,
                       const struct bz_serve_form *form, struct reading *r,
                       struct bz_serve_request *out, struct bz_err *err)
{
    static const char *const which[] = {"project", "read", "postread", "set", NULL};
    int rc = bz_doc_expect(options, BZ_DOC_MAP, err);

    if (rc < 0)
        return bz_err_wrap(err, "options");
    for (size_t i = 0; i < options->count; i++) {
        const struct bz_doc *d = &options->items[i];
        const struct bz_opt *o = NULL;

        rc = find_option(form, d->key, &o, err);
        if (rc < 0 || !o)
            return rc;
        rc = add_option(a, o, d, &r->argv, err);
        if (rc == 0 && is_listed(which, d->key))
            rc = add_option(a, o, d, &r->globals, err);
        if (rc < 0)
            return bz_err_wrap(err, "option %s", o->name);
        if (strcmp(o->name, "project") == 0)
            out->named = bz_arena_dup(a, d->text).p;
    }
    return 0;
}

static int read_operands(struct bz_arena *a, const struct bz_doc *d,
                         const struct bz_serve_form *form, struct words *out,
                         struct bz_err *err)
{
    const struct bz_doc *items = form->several ? d->items : d;
    size_t n = 1;
    int rc = form->several ? bz_doc_expect(d, BZ_DOC_LIST, err) : 0;

    if (rc == 0 && form->several)
        n = d->count;
    if (rc == 0 && n > BZ_SERVE_REQUEST_TARGETS)
        rc = bz_fail(err, BZ_E_LIMIT, "more than %d of them", BZ_SERVE_REQUEST_TARGETS);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = check_text(&items[i], err);
        if (rc == 0)
            BZ_VEC_PUSH(out, bz_arena_dup(a, items[i].text).p);
    }
    return rc < 0 ? bz_err_wrap(err, "%s", form->operands) : 0;
}

static int read_project(struct bz_arena *a, const struct bz_doc *d, const char **out,
                        struct bz_err *err)
{
    int rc = check_text(d, err);

    if (rc < 0)
        return bz_err_wrap(err, "project");
    if (d->text.n == 0 || d->text.p[0] != '/')
        return bz_fail(err, BZ_E_INVAL, "project: it must be an absolute path");
    *out = bz_arena_dup(a, d->text).p;
    return 0;
}

static int read_env(struct bz_arena *a, const struct bz_doc *d, struct words *out,
                    struct bz_err *err)
{
    size_t bytes = 0;
    int rc = bz_doc_expect(d, BZ_DOC_MAP, err);

    if (rc < 0)
        return bz_err_wrap(err, "env");
    if (d->count > BZ_SERVE_REQUEST_VARS)
        return bz_fail(err, BZ_E_LIMIT, "env: more than %d variables",
                       BZ_SERVE_REQUEST_VARS);
    for (size_t i = 0; i < d->count; i++) {
        const struct bz_doc *v = &d->items[i];

        rc = bz_doc_expect(v, BZ_DOC_STR, err);
        if (rc < 0)
            return bz_err_wrap(err, "env: %.64s", v->key.p);
        if (v->key.n == 0 || bz_str_find_byte(v->key, '=') != BZ_STR_NONE)
            return bz_fail(err, BZ_E_INVAL, "env: '%.64s' is no name of a variable",
                           v->key.p);
        bytes += v->key.n + v->text.n + 2;
        if (bytes > BZ_SERVE_REQUEST_ENV)
            return bz_fail(err, BZ_E_LIMIT, "env: more than %zu bytes",
                           BZ_SERVE_REQUEST_ENV);
        BZ_VEC_PUSH(out, BZ_ARENA_CONCAT(a, v->key, BZ_STR("="), v->text).p);
    }
    return 0;
}

static const char *const *keep(struct bz_arena *a, const struct words *w)
{
    const char **out = BZ_ARENA_ARRAY(a, const char *, w->len + 1);

    if (w->len > 0)
        memcpy(out, w->at, w->len * sizeof(*out));
    return out;
}

const char *const *bz_serve_request_base(struct bz_arena *a, const char *const *env)
{
    static const char *const names[] = {
        "BITZEL_HOME",    "HOME",   "LANG", "LC_ALL",         "LOGNAME",
        "PATH",           "TMPDIR", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
        "XDG_STATE_HOME", NULL,
    };
    BZ_CLEANUP(bz_vec_release) struct words kept = {0};

    for (; *env; env++) {
        struct bz_str name, value;

        if (bz_str_cut(bz_str_from(*env), '=', &name, &value) && is_listed(names, name))
            BZ_VEC_PUSH(&kept, bz_arena_dup(a, bz_str_from(*env)).p);
    }
    return keep(a, &kept);
}

static int read_member(struct bz_arena *a, const struct bz_doc *d,
                       const struct bz_serve_form *form, struct reading *r,
                       struct bz_serve_request *out, struct bz_err *err)
{
    if (bz_str_eq(d->key, BZ_STR("project")))
        return read_project(a, d, &out->project, err);
    if (bz_str_eq(d->key, BZ_STR("options")))
        return add_options(a, d, form, r, out, err);
    if (bz_str_eq(d->key, BZ_STR("env"))) {
        r->has_env = true;
        return read_env(a, d, &r->env, err);
    }
    if (form->operands && bz_str_eq(d->key, bz_str_from(form->operands)))
        return read_operands(a, d, form, &r->operands, err);
    return bz_fail(err, BZ_E_INVAL, "there is no argument '%.48s'", d->key.p);
}

static void add_all(struct words *out, const char *const *words)
{
    for (; words && *words; words++)
        BZ_VEC_PUSH(out, *words);
}

int bz_serve_request_read(struct bz_arena *a, const struct bz_doc *args,
                          const struct bz_serve_form *form, const char *const *base,
                          struct bz_serve_request *out, struct bz_err *err)
{
    BZ_CLEANUP(release_reading) struct reading r = {0};
    int rc = bz_doc_expect(args, BZ_DOC_MAP, err);

    *out = (struct bz_serve_request){0};
    add_all(&r.argv, form->words);
    add_all(&r.argv, form->fixed);
    for (size_t i = 0; rc == 0 && i < args->count; i++)
        rc = read_member(a, &args->items[i], form, &r, out, err);
    if (rc < 0)
        return rc;
    if (!out->project)
        return bz_fail(err, BZ_E_INVAL, "the argument 'project' is missing");
    if (form->needed && r.operands.len == 0)
        return bz_fail(err, BZ_E_INVAL, "the argument '%s' is missing", form->operands);
    if (r.operands.len > 0)
        BZ_VEC_PUSH(&r.argv, "--");
    for (size_t i = 0; i < r.operands.len; i++)
        BZ_VEC_PUSH(&r.argv, r.operands.at[i]);
    out->argv = keep(a, &r.argv);
    out->globals = keep(a, &r.globals);
    out->operands = keep(a, &r.operands);
    out->noperands = r.operands.len;
    out->env = r.has_env ? keep(a, &r.env) : base;
    return 0;
}

/* ---- the other way ---- */

static void write_list(struct bz_jsonw *w, const struct bz_opt_list *list)
{
    bz_jsonw_list(w);
    for (size_t i = 0; i < list->n; i++)
        bz_jsonw_cstr(w, list->word[i]);
    bz_jsonw_list_end(w);
}

static void write_option(struct bz_jsonw *w, const struct bz_opt *o, const void *at)
{
    switch (o->kind) {
    case BZ_OPT_KIND_FLAG:
    case BZ_OPT_KIND_SWITCH:
        if (*(const bool *)at != (o->initial != 0))
            bz_jsonw_bool(bz_jsonw_key(w, o->name), *(const bool *)at);
        break;
    case BZ_OPT_KIND_NUMBER:
        if (*(const int64_t *)at != o->initial)
            bz_jsonw_int(bz_jsonw_key(w, o->name), *(const int64_t *)at);
        break;
    case BZ_OPT_KIND_CHOICE:
        if (*(const int *)at >= 0 && *(const int *)at != o->initial)
            bz_jsonw_cstr(bz_jsonw_key(w, o->name), o->choices[*(const int *)at]);
        break;
    case BZ_OPT_KIND_TEXT:
        if (*(const char *const *)at)
            bz_jsonw_cstr(bz_jsonw_key(w, o->name), *(const char *const *)at);
        break;
    case BZ_OPT_KIND_LIST:
        if (((const struct bz_opt_list *)at)->n > 0)
            write_list(bz_jsonw_key(w, o->name), at);
        break;
    default:
        break;
    }
}

void bz_serve_request_options(struct bz_jsonw *w, const struct bz_opt *rows,
                              const void *values, const char *const *left_out)
{
    for (; rows->kind != BZ_OPT_KIND_END; rows++)
        if (!is_listed(left_out, bz_str_from(rows->name)))
            write_option(w, rows, (const char *)values + rows->at);
}
