#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "graph/pick.h"
#include "graph/target.h"
#include "history_json.h"
#include "vars/history.h"

struct getvar_values {
    const char *variable, *recipe, *flag;
    bool value, unexpand, history, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct getvar_values, recipe, 'r', "recipe", "RECIPE",
                "In the recipe of that name, not in the configuration; mc:NAME:RECIPE "
                "is that of another configuration, mc:NAME that configuration, and "
                "mc:*:RECIPE the one of each"),
    BZ_OPT_TEXT(struct getvar_values, flag, 'f', "flag", "FLAG",
                "A flag of the variable, not its value"),
    BZ_OPT_FLAG(struct getvar_values, value, 0, "value", "Print the value alone"),
    BZ_OPT_FLAG(struct getvar_values, unexpand, 'u', "unexpand",
                "Leave references as they are"),
    BZ_OPT_FLAG(struct getvar_values, history, 0, "history",
                "Also show every operation on it"),
    BZ_OPT_FLAG(struct getvar_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ONE(struct getvar_values, variable, "VARIABLE", "Its name"),
    BZ_OPT_END,
};

/* Whose variable is shown: a recipe's, or a configuration's. */
struct subject {
    struct bz_str mc, recipe; /* "" for none */
    struct bz_vars *vars;
};

static void write_json(struct bz_jsonw *w, const struct getvar_values *v,
                       const struct subject *of, struct bz_str value)
{
    bz_jsonw_map(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "variable"), v->variable);
    if (v->flag)
        bz_jsonw_cstr(bz_jsonw_key(w, "flag"), v->flag);
    if (of->mc.n > 0)
        bz_jsonw_str(bz_jsonw_key(w, "mc"), of->mc);
    if (of->recipe.n > 0)
        bz_jsonw_str(bz_jsonw_key(w, "recipe"), of->recipe);
    bz_jsonw_str(bz_jsonw_key(w, "value"), value);
    if (v->history)
        bz_history_json_list(bz_jsonw_key(w, "history"), of->vars,
                             bz_str_from(v->variable));
    bz_jsonw_map_end(w);
}

static int write_text(struct bz_out *out, const struct getvar_values *v,
                      struct bz_vars *vars, struct bz_str value, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    int rc = 0;

    if (v->history)
        rc = bz_history_write(vars, bz_str_from(v->variable), &text, err);
    bz_out_put(out, bz_buf_text(&text), text.len);
    if (v->value) {
        bz_out_put(out, value.p, value.n);
        bz_out_print(out, "\n");
        return rc;
    }
    bz_out_print(out, "%s", v->variable);
    if (v->flag)
        bz_out_print(out, "[%s]", v->flag);
    bz_out_print(out, "=\"");
    bz_out_put(out, value.p, value.n);
    bz_out_print(out, "\"\n");
    return rc;
}

static void offer_flag(void *near, struct bz_str flag, struct bz_str value)
{
    (void)value;
    bz_near_offer(near, flag);
}

/* Says so, with names that are set and look like it. */
static int not_set(const struct getvar_values *v, struct bz_vars *vars,
                   struct bz_err *err)
{
    const struct bz_str *names;
    struct bz_near near;
    char hint[120];
    size_t n = 0;

    if (v->flag) {
        bz_near_init(&near, bz_str_from(v->flag));
        bz_vars_flags(vars, bz_str_from(v->variable), offer_flag, &near);
        return bz_fail(err, BZ_E_NOENT, "%.60s[%.40s] is not set%s", v->variable,
                       v->flag, bz_near_text(&near, "", hint, sizeof(hint)));
    }
    bz_near_init(&near, bz_str_from(v->variable));
    if (bz_vars_names(vars, &names, &n, err) < 0)
        n = 0; /* then without */
    for (size_t i = 0; i < n; i++)
        bz_near_offer(&near, names[i]);
    return bz_fail(err, BZ_E_NOENT, "%.90s is not set%s", v->variable,
                   bz_near_text(&near, "", hint, sizeof(hint)));
}

/* With --json the answer goes to `w`, else to the output at once. */
static int show(struct bz_cmd_env *env, const struct getvar_values *v,
                const struct subject *of, struct bz_jsonw *w, struct bz_err *err)
{
    struct bz_str name = bz_str_from(v->variable), value;
    unsigned how = v->unexpand ? BZ_VARS_RAW : 0;
    int rc;

    if (v->flag)
        rc = bz_vars_get_flag(of->vars, name, bz_str_from(v->flag), how, &value, err);
    else
        rc = bz_vars_get(of->vars, name, how, &value, err);
    if (rc < 0)
        return rc;
    if (!value.p)
        return not_set(v, of->vars, err);
    if (!v->json)
        return write_text(&env->out, v, of->vars, value, err);
    write_json(w, v, of, value);
    return BZ_CMD_EXIT_SUCCESS;
}

static int show_in(struct bz_cmd_env *env, const struct getvar_values *v,
                   struct bz_catalog *p, struct bz_catalog_mc *mc,
                   const struct bz_target *t, struct bz_jsonw *w, struct bz_err *err)
{
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *recipe = NULL;
    struct bz_meta *meta = mc->config;
    struct subject of = {.mc = mc->name, .recipe = t->name};
    int rc = 0;

    if (t->name.n > 0)
        rc =
            bz_pick_recipe(&(struct bz_pick_from){mc->config, p->library, &mc->recipes},
                           t->name, &recipe, &meta, err);
    bz_cmd_open_diags(env, p);
    if (rc == 0)
        rc = bz_cmd_open_warn_meta(env, meta, recipe != NULL, err);
    if (rc < 0)
        return rc;
    if (t->every && !v->json && !v->value)
        bz_out_print(&env->out, "# mc:%.*s:%.*s\n", BZ_STR_ARG(mc->name),
                     BZ_STR_ARG(t->name));
    of.vars = meta->vars;
    return show(env, v, &of, w, err);
}

/* In every configuration: a list as JSON. */
static int show_all(struct bz_cmd_env *env, const struct getvar_values *v,
                    struct bz_catalog *p, const struct bz_target *t, struct bz_jsonw *w,
                    struct bz_err *err)
{
    int rc = 0;

    if (v->json)
        bz_jsonw_list(w);
    for (size_t i = 0; rc == 0 && i < p->mcs.len; i++)
        rc = show_in(env, v, p, &p->mcs.at[i], t, w, err);
    if (v->json)
        bz_jsonw_list_end(w);
    return rc;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct getvar_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    struct bz_target t = {.mc = BZ_STR(""), .name = BZ_STR("")};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    struct bz_catalog_mc *mc;
    int rc = 0;

    if (v->recipe)
        rc = bz_target_parse(bz_str_from(v->recipe), &t, err);
    if (rc == 0)
        rc = bz_cmd_open_project(env, &b, err);
    if (rc == 0 && t.every)
        rc = show_all(env, v, &b.catalog, &t, &w, err);
    else if (rc == 0 && (rc = bz_catalog_find_mc(&b.catalog, t.mc, &mc, err)) == 0)
        rc = show_in(env, v, &b.catalog, mc, &t, &w, err);
    if (rc >= 0 && v->json)
        bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
    return rc;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel getvar MACHINE",                      "Print a variable of the configuration"},
    {"bitzel getvar -r busybox --history SRC_URI",
     "See which lines of which files made that of a recipe"                               },
    {NULL,                                         NULL                                   },
};

const struct bz_cmd bz_cmd_getvar = {
    .name = "getvar",
    .summary = "Show a variable, and where its value comes from",
    .detail = "Prints the value of a variable as the configuration, or one recipe, "
              "has "
              "it. With --history it is preceded by every operation that took part, "
              "with file and line. The exit status is 3 if it is not set.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct getvar_values),
    .run = run,
};
