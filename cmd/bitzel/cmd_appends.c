#include <fnmatch.h>
#include <strings.h>

#include "base/near.h"
#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "os/path.h"

struct appends_values {
    const char *recipe;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct appends_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct appends_values, recipe, "RECIPE",
                 "Only recipes whose name matches, as file names match in a shell"),
    BZ_OPT_END,
};

/* A recipe and its appends, in the order they apply. */
struct target {
    const struct bz_collect_recipe *recipe;
    struct bz_str name; /* what its file says it is called; terminated */
    struct bz_meta_names appends;
};

struct plan {
    struct bz_collect *all;
    const struct bz_layers *layers;
    struct bz_arena arena;
    struct plan_targets BZ_VEC(struct target) targets;
    size_t dangling; /* appends that apply to no recipe */
    bool fatal;      /* and that stops a build */
};

static struct bz_str name_of(struct bz_arena *arena, struct bz_str path)
{
    struct bz_str name = bz_path_basename(path), head, tail;

    bz_str_cut_suffix(&name, BZ_STR(".bb"));
    bz_str_cut(name, '_', &head, &tail);
    return bz_arena_dup(arena, head);
}

static void make_plan(struct plan *p, const char *pattern)
{
    for (size_t i = 0; i < p->all->recipes.len; i++) {
        struct target t = {.recipe = &p->all->recipes.at[i]};

        t.name = name_of(&p->arena, t.recipe->path);
        bz_collect_appends(p->all, t.recipe->path, &t.appends);
        if (pattern ? fnmatch(pattern, t.name.p, 0) == 0 : t.appends.len > 0)
            BZ_VEC_PUSH(&p->targets, t);
        else
            bz_vec_release(&t.appends);
    }
    for (size_t i = 0; i < p->all->appends.len; i++)
        p->dangling += p->all->appends.at[i].recipes == 0;
}

static int nothing_matched(struct plan *p, const char *pattern, struct bz_err *err)
{
    struct bz_near near;
    char text[200];

    bz_near_init(&near, bz_str_from(pattern));
    for (size_t i = 0; i < p->all->recipes.len; i++)
        bz_near_offer(&near, name_of(&p->arena, p->all->recipes.at[i].path));
    return bz_fail(err, BZ_E_NOENT, "no recipe is called '%.80s'%s", pattern,
                   bz_near_text(&near, "", text, sizeof(text)));
}

static void write_file(struct bz_jsonw *w, const struct plan *p, struct bz_str path)
{
    const struct bz_layer *layer = bz_layer_of(p->layers, path);

    bz_jsonw_str(bz_jsonw_key(w, "file"), path);
    if (layer)
        bz_jsonw_str(bz_jsonw_key(w, "layer"), layer->name);
}

static void write_json(struct bz_out *out, const struct plan *p, bool all)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "recipes"));
    for (size_t i = 0; i < p->targets.len; i++) {
        const struct target *t = &p->targets.at[i];

        bz_jsonw_map(&w);
        bz_jsonw_str(bz_jsonw_key(&w, "name"), t->name);
        write_file(&w, p, t->recipe->path);
        bz_jsonw_list(bz_jsonw_key(&w, "appends"));
        for (size_t k = 0; k < t->appends.len; k++) {
            bz_jsonw_map(&w);
            write_file(&w, p, t->appends.at[k]);
            bz_jsonw_map_end(&w);
        }
        bz_jsonw_list_end(&w);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    if (all) {
        bz_jsonw_list(bz_jsonw_key(&w, "dangling"));
        for (size_t i = 0; i < p->all->appends.len; i++) {
            if (p->all->appends.at[i].recipes > 0)
                continue;
            bz_jsonw_map(&w);
            write_file(&w, p, p->all->appends.at[i].path);
            bz_jsonw_map_end(&w);
        }
        bz_jsonw_list_end(&w);
    }
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static void put_path(struct bz_out *out, const char *before, struct bz_str path)
{
    bz_out_print(out, "%s", before);
    bz_out_plain(out, path.p, path.n);
    bz_out_print(out, "\n");
}

static void write_text(struct bz_out *out, const struct plan *p, bool all)
{
    for (size_t i = 0; i < p->targets.len; i++) {
        put_path(out, "", p->targets.at[i].recipe->path);
        for (size_t k = 0; k < p->targets.at[i].appends.len; k++)
            put_path(out, "  ", p->targets.at[i].appends.at[k]);
    }
    if (!all || p->dangling == 0)
        return;
    bz_out_print(out, "without a recipe\n");
    for (size_t i = 0; i < p->all->appends.len; i++)
        if (p->all->appends.at[i].recipes == 0)
            put_path(out, "  ", p->all->appends.at[i].path);
}

/* BB_DANGLINGAPPENDS_WARNONLY: "1", "yes" or "true" in any case. */
static int read_warn_only(struct bz_vars *vars, bool *out, struct bz_err *err)
{
    static const char *const yes[] = {"1", "yes", "true"};
    struct bz_str value;
    int rc = bz_vars_get(vars, BZ_STR("BB_DANGLINGAPPENDS_WARNONLY"), 0, &value, err);

    *out = false;
    for (size_t i = 0; rc == 0 && i < BZ_COUNTOF(yes); i++)
        if (strlen(yes[i]) == value.n && strncasecmp(yes[i], value.p, value.n) == 0)
            *out = true;
    return rc;
}

static int show(struct bz_cmd_env *env, struct plan *p, const struct appends_values *v,
                struct bz_err *err)
{
    if (v->recipe && p->targets.len == 0)
        return nothing_matched(p, v->recipe, err);
    if (v->json)
        write_json(&env->out, p, !v->recipe);
    else
        write_text(&env->out, p, !v->recipe);
    if (v->recipe || p->dangling == 0)
        return BZ_CMD_EXIT_SUCCESS;
    if (p->fatal)
        return bz_fail(err, BZ_E_INVAL,
                       "%zu append%s no recipe: remove them, mask them with BBMASK or "
                       "set BB_DANGLINGAPPENDS_WARNONLY",
                       p->dangling, p->dangling == 1 ? " has" : "s have");
    bz_out_paint(&env->log, BZ_OUT_YELLOW, "warning: ");
    bz_out_print(&env->log, "%zu append%s no recipe\n", p->dangling,
                 p->dangling == 1 ? " has" : "s have");
    return BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct appends_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    struct plan plan = {0};
    bool warn_only = false;
    int rc = bz_cmd_open_project(env, &b, err);

    if (rc == 0)
        rc = read_warn_only(b.catalog.mcs.at[0].config->vars, &warn_only, err);
    if (rc < 0)
        return rc;
    plan.all = &b.catalog.mcs.at[0].recipes;
    plan.layers = &b.catalog.layers;
    plan.fatal = !warn_only;
    make_plan(&plan, v->recipe);
    rc = show(env, &plan, v, err);
    for (size_t i = 0; i < plan.targets.len; i++)
        bz_vec_release(&plan.targets.at[i].appends);
    bz_vec_release(&plan.targets);
    bz_arena_release(&plan.arena);
    return rc;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel appends",          "List all recipes that have appends"},
    {"bitzel appends 'linux*'", "Only those of some recipes"        },
    {NULL,                      NULL                                },
};

const struct bz_cmd bz_cmd_appends = {
    .name = "appends",
    .summary = "List the appends and the recipes they apply to",
    .detail =
        "Lists the recipes that .bbappend files apply to, each followed by its "
        "appends in the order they apply, and then the appends that apply to no "
        "recipe. Those are an error, unless BB_DANGLINGAPPENDS_WARNONLY is set; the "
        "exit status is then 2. It is 3 if no recipe has that name.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct appends_values),
    .run = run,
};
