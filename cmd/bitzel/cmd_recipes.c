#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/near.h"
#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "graph/prefer.h"
#include "os/path.h"
#include "report/columns.h"

struct recipes_values {
    const char *pattern, *provides;
    bool skipped, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct recipes_values, provides, 0, "provides", "NAME",
                "List the recipes that provide NAME, as a target and at run time"),
    BZ_OPT_FLAG(struct recipes_values, skipped, 0, "skipped",
                "Only recipes that are skipped, with the reason"),
    BZ_OPT_FLAG(struct recipes_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct recipes_values, pattern, "PATTERN",
                 "Only recipes whose name matches, as file names match in a shell"),
    BZ_OPT_END,
};

/* A line of the list: one recipe of a name. */
struct line {
    const struct bz_facts *f;
    struct bz_str version; /* with the epoch */
    bool preferred, latest;
};

struct listing {
    struct bz_provide *p;
    struct bz_arena arena;
    struct listing_lines
        BZ_VEC(struct line) lines; /* by name, the preferred one first */
};

/* Nobody evaluates the version of a recipe that is skipped; its file has one. */
static struct bz_str version_of(struct bz_arena *arena, const struct bz_facts *f)
{
    struct bz_str name, head, version, rest;

    if (bz_provide_usable(f))
        return f->pe.n > 0 ? bz_arena_printf(arena, "%.*s:%.*s", BZ_STR_ARG(f->pe),
                                             BZ_STR_ARG(f->pv))
                           : f->pv;
    name = bz_path_basename(f->path);
    bz_str_cut_suffix(&name, BZ_STR(".bb"));
    bz_str_cut(name, '_', &head, &rest);
    bz_str_cut(rest, '_', &version, &rest);
    return version.n > 0 ? version : BZ_STR("?");
}

static int by_name(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return bz_str_cmp(x->f->pn, y->f->pn);
}

static int by_preference(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return y->preferred - x->preferred;
}

static bool is_wanted(const struct recipes_values *v, struct bz_arena *arena,
                      const struct bz_facts *f)
{
    if (v->skipped && !f->skipped.p)
        return false;
    return !v->pattern || fnmatch(v->pattern, bz_arena_dup(arena, f->pn).p, 0) == 0;
}

static int nothing_matched(struct listing *l, const struct recipes_values *v,
                           struct bz_err *err)
{
    struct bz_near near;
    char text[200];

    if (!v->pattern)
        return bz_fail(err, BZ_E_NOENT, "there are no%s recipes",
                       v->skipped ? " skipped" : "");
    bz_near_init(&near, bz_str_from(v->pattern));
    for (size_t i = 0; i < l->p->nfacts; i++)
        bz_near_offer(&near, l->p->facts[i].pn);
    return bz_fail(err, BZ_E_NOENT, "no%s recipe is called '%.80s'%s",
                   v->skipped ? " skipped" : "", v->pattern,
                   bz_near_text(&near, "", text, sizeof(text)));
}

/* Finds the best of the lines of one name and puts it first. */
static int mark_best(struct listing *l, struct line *lines, size_t n,
                     struct bz_err *err)
{
    struct bz_prefer_best best;
    size_t usable;
    int rc;

    bz_provide_recipes(l->p, lines[0].f->pn, &usable);
    if (usable == 0)
        return 0;
    rc = bz_prefer_best(l->p, lines[0].f->pn, &best, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        lines[i].preferred = best.preferred != BZ_PREFER_NONE &&
                             lines[i].f == &l->p->facts[best.preferred];
        lines[i].latest = lines[i].f == &l->p->facts[best.latest];
    }
    bz_vec_sort(lines, n, sizeof(*lines), by_preference);
    return 0;
}

static int gather(struct listing *l, const struct recipes_values *v, struct bz_err *err)
{
    size_t end;
    int rc = 0;

    for (size_t i = 0; i < l->p->nfacts; i++) {
        const struct bz_facts *f = &l->p->facts[i];

        if (is_wanted(v, &l->arena, f))
            BZ_VEC_PUSH(&l->lines,
                        (struct line){.f = f, .version = version_of(&l->arena, f)});
    }
    if (l->lines.len == 0)
        return nothing_matched(l, v, err);
    BZ_VEC_SORT(&l->lines, by_name);
    for (size_t i = 0; i < l->lines.len && rc == 0; i = end) {
        struct line *at = &l->lines.at[i];

        for (end = i + 1; end < l->lines.len && by_name(at, at + (end - i)) == 0;)
            end++;
        rc = mark_best(l, at, end - i, err);
    }
    return rc;
}

/* ---- JSON ---- */

static void write_text_key(struct bz_jsonw *w, const char *key, struct bz_str text)
{
    if (text.p)
        bz_jsonw_str(bz_jsonw_key(w, key), text);
}

/* The members of one recipe of a name. */
static void write_facts(struct bz_jsonw *w, const struct bz_facts *f,
                        struct bz_str version)
{
    bz_jsonw_str(bz_jsonw_key(w, "version"), version);
    if (bz_provide_usable(f)) {
        write_text_key(w, "pe", f->pe);
        write_text_key(w, "pv", f->pv);
        write_text_key(w, "pr", f->pr);
    }
    write_text_key(w, "layer", f->layer);
    bz_jsonw_int(bz_jsonw_key(w, "priority"), f->priority);
    bz_jsonw_str(bz_jsonw_key(w, "file"), f->path);
    if (f->variant.n > 0)
        bz_jsonw_str(bz_jsonw_key(w, "variant"), f->variant);
    write_text_key(w, "skipped", f->skipped);
    write_text_key(w, "error", f->error);
}

static void write_json(struct bz_out *out, const struct listing *l)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "recipes"));
    for (size_t i = 0; i < l->lines.len; i++) {
        const struct line *at = &l->lines.at[i];

        if (i == 0 || !bz_str_eq(at->f->pn, at[-1].f->pn)) {
            if (i > 0) {
                bz_jsonw_list_end(&w);
                bz_jsonw_map_end(&w);
            }
            bz_jsonw_map(&w);
            bz_jsonw_str(bz_jsonw_key(&w, "name"), at->f->pn);
            bz_jsonw_list(bz_jsonw_key(&w, "versions"));
        }
        bz_jsonw_map(&w);
        write_facts(&w, at->f, at->version);
        bz_jsonw_bool(bz_jsonw_key(&w, "preferred"), at->preferred);
        bz_jsonw_bool(bz_jsonw_key(&w, "latest"), at->latest);
        bz_jsonw_map_end(&w);
    }
    if (l->lines.len > 0) {
        bz_jsonw_list_end(&w);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

/* ---- text ---- */

struct widths {
    size_t name, version;
};

static void widen(struct widths *w, struct bz_str name, struct bz_str version)
{
    size_t first = bz_columns_of(name, true), second = bz_columns_of(version, true);

    w->name = first > w->name ? first : w->name;
    w->version = second > w->version ? second : w->version;
}

static void put_line(struct bz_out *out, const struct widths *w, struct bz_str name,
                     const struct line *l, bool reason)
{
    const struct bz_facts *f = l->f;
    struct bz_str layer = f->layer.p ? f->layer : BZ_STR("-");

    bz_out_cell(out, name, w->name);
    bz_out_print(out, l->preferred ? "* " : "  ");
    bz_out_cell(out, l->version, w->version);
    bz_out_plain(out, layer.p, layer.n);
    if (f->error.p)
        bz_out_print(out, "  broken");
    else if (f->skipped.p && reason) {
        bz_out_print(out, "  skipped: ");
        bz_out_plain(out, f->skipped.p, f->skipped.n);
    } else if (f->skipped.p)
        bz_out_print(out, "  skipped");
    bz_out_print(out, "\n");
}

static void write_text(struct bz_out *out, const struct listing *l, bool reasons)
{
    struct widths w = {0};

    for (size_t i = 0; i < l->lines.len; i++)
        widen(&w, l->lines.at[i].f->pn, l->lines.at[i].version);
    for (size_t i = 0; i < l->lines.len; i++) {
        const struct line *at = &l->lines.at[i];
        bool again = i > 0 && bz_str_eq(at->f->pn, at[-1].f->pn);

        put_line(out, &w, again ? BZ_STR("") : at->f->pn, at, reasons);
    }
}

/* ---- who provides a name ---- */

static const char *const kinds[] = {
    [BZ_PROVIDE_BUILD] = "build",
    [BZ_PROVIDE_RUNTIME] = "runtime",
};

static void write_choice(struct bz_jsonw *w, struct listing *l,
                         const struct bz_prefer_choice *c)
{
    bz_jsonw_map(w);
    bz_jsonw_bool(bz_jsonw_key(w, "settled"), c->settled);
    bz_jsonw_list(bz_jsonw_key(w, "providers"));
    for (size_t i = 0; i < c->eligible.len; i++) {
        const struct bz_facts *f = &l->p->facts[c->eligible.at[i]];

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "name"), f->pn);
        write_facts(w, f, version_of(&l->arena, f));
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
    bz_jsonw_map_end(w);
}

static void write_choice_text(struct bz_out *out, struct listing *l, const char *kind,
                              const struct bz_prefer_choice *c)
{
    struct widths w = {0};

    for (size_t i = 0; i < c->eligible.len; i++) {
        const struct bz_facts *f = &l->p->facts[c->eligible.at[i]];

        widen(&w, f->pn, version_of(&l->arena, f));
    }
    for (size_t i = 0; i < c->eligible.len; i++) {
        const struct bz_facts *f = &l->p->facts[c->eligible.at[i]];
        struct line line = {
            .f = f, .version = version_of(&l->arena, f), .preferred = i == 0};

        bz_out_print(out, "%-7s  ", kind);
        put_line(out, &w, f->pn, &line, true);
    }
}

/* One kind of name; BZ_E_NOENT if nothing provides it. */
static int show_kind(struct bz_cmd_env *env, struct listing *l,
                     enum bz_provide_kind kind, struct bz_str name, struct bz_jsonw *w,
                     struct bz_err *err)
{
    struct bz_prefer_choice c = {0};
    int rc = bz_prefer_choose(l->p, kind, name, &c, err);

    if (rc == 0 && w)
        write_choice(bz_jsonw_key(w, kinds[kind]), l, &c);
    else if (rc == 0)
        write_choice_text(&env->out, l, kinds[kind], &c);
    bz_prefer_release(&c);
    return rc;
}

/* Both kinds of names. That nothing provides it is an error only if it is so for both,
 * and then what is said about targets is shown. */
static int show_providers(struct bz_cmd_env *env, struct listing *l,
                          const struct recipes_values *v, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    struct bz_str name = bz_str_from(v->provides);
    struct bz_err run_err;
    bool assumed = bz_provide_assumed(l->p, name);
    int build, run;

    bz_jsonw_map(&w);
    bz_jsonw_str(bz_jsonw_key(&w, "name"), name);
    bz_jsonw_bool(bz_jsonw_key(&w, "assumed"), assumed);
    build = show_kind(env, l, BZ_PROVIDE_BUILD, name, v->json ? &w : NULL, err);
    run = show_kind(env, l, BZ_PROVIDE_RUNTIME, name, v->json ? &w : NULL, &run_err);
    bz_jsonw_map_end(&w);
    if (v->json && (build == 0 || run == 0 || assumed))
        bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
    else if (build < 0 && run < 0 && assumed)
        bz_out_print(&env->out, "assumed  %s is in ASSUME_PROVIDED\n", v->provides);
    if (run < 0 && run != BZ_E_NOENT)
        *err = run_err;
    if (run < 0 && (run != BZ_E_NOENT || (build == BZ_E_NOENT && !assumed)))
        return run;
    return build < 0 && build != BZ_E_NOENT ? build : BZ_CMD_EXIT_SUCCESS;
}

static void show_notes(struct bz_cmd_env *env, const struct bz_provide *p)
{
    for (size_t i = 0; i < p->notes.len; i++) {
        const struct bz_provide_note *n = &p->notes.at[i];

        if (!n->warning && env->global.quiet)
            continue;
        if (n->warning)
            bz_out_paint(&env->log, BZ_OUT_YELLOW, "warning: ");
        else
            bz_out_print(&env->log, "note: ");
        bz_out_plain(&env->log, n->text.p, n->text.n);
        bz_out_print(&env->log, "\n");
    }
}

static int show(struct bz_cmd_env *env, struct listing *l,
                const struct recipes_values *v, struct bz_err *err)
{
    int rc;

    if (v->provides)
        return show_providers(env, l, v, err);
    rc = gather(l, v, err);
    if (rc < 0)
        return rc;
    if (v->json)
        write_json(&env->out, l);
    else
        write_text(&env->out, l, v->skipped);
    return BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct recipes_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    struct bz_survey *s = &b.catalog.survey;
    BZ_CLEANUP(bz_pyfunc_release) struct bz_pyfunc_set python = {0};
    struct listing l = {0};
    struct bz_vars *settings;
    int rc = bz_cmd_open_build(env, &b, BZ_BUILD_CATALOG, err);

    if (rc == 0)
        rc = bz_survey_settings(s, 0, &settings, err);
    if (rc == 0)
        rc = bz_provide_new(s->parts.at[0].facts.at, s->parts.at[0].facts.len, settings,
                            &l.p, err);
    if (rc == 0) {
        rc = show(env, &l, v, err);
        show_notes(env, l.p);
        (void)bz_survey_python(s, false, &python);
        bz_cmd_open_warn_python(env, python.list.len);
    }
    bz_vec_release(&l.lines);
    bz_arena_release(&l.arena);
    bz_provide_free(l.p);
    return rc;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel recipes 'lib*'",                    "List the recipes whose names begin so"},
    {"bitzel recipes --provides virtual/kernel",
     "See which recipes may be meant, and which is"                                     },
    {NULL,                                       NULL                                   },
};

const struct bz_cmd bz_cmd_recipes = {
    .name = "recipes",
    .summary = "List the recipes, their versions and who provides what",
    .detail =
        "Lists the recipes of the project by name: versions, with a star before "
        "the one that would be built, and layers. Recipes that are skipped or "
        "broken are listed as such. With --provides it lists instead which recipes "
        "a target or a run time name may mean, the chosen one first. The exit "
        "status is 3 if there are none.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct recipes_values),
    .run = run,
};
