#include <stdlib.h>
#include <sys/stat.h>

#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "graph/pick.h"
#include "graph/target.h"
#include "history_json.h"
#include "recipe/script.h"

struct env_values {
    const char *recipe;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct env_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct env_values, recipe, "RECIPE",
                 "A recipe, as it is with all its classes and appends; mc:NAME:RECIPE "
                 "in another configuration, mc:NAME that configuration itself"),
    BZ_OPT_END,
};

/* ---- JSON ---- */

static void write_flag(void *ctx, struct bz_str flag, struct bz_str value)
{
    struct bz_jsonw *w = ctx;

    bz_jsonw_key_str(w, flag);
    bz_jsonw_str(w, value);
}

/* null if it is not set. */
static void write_value(struct bz_jsonw *w, const char *key, struct bz_str value)
{
    bz_jsonw_key(w, key);
    if (value.p)
        bz_jsonw_str(w, value);
    else
        bz_jsonw_null(w);
}

/* A value that cannot be had is null, with a reason. */
static void write_one(struct bz_jsonw *w, struct bz_vars *v, struct bz_str name,
                      size_t *missing)
{
    struct bz_str value = {0}, raw = {0};
    bool exported = false, not_exported = false;
    struct bz_err err;
    int rc = bz_vars_get(v, name, BZ_VARS_RAW, &raw, &err);

    if (rc == 0)
        rc = bz_vars_get(v, name, 0, &value, &err);
    if (rc == 0)
        rc = bz_vars_flag_true(v, name, BZ_STR("export"), &exported, &err);
    if (rc == 0)
        rc = bz_vars_flag_true(v, name, BZ_STR("unexport"), &not_exported, &err);
    bz_jsonw_key_str(w, name);
    bz_jsonw_map(w);
    write_value(w, "value", value);
    if (rc < 0) {
        ++*missing;
        bz_jsonw_cstr(bz_jsonw_key(w, "error"), err.msg);
    }
    write_value(w, "unexpanded", raw);
    bz_jsonw_bool(bz_jsonw_key(w, "exported"), exported && !not_exported);
    bz_jsonw_map(bz_jsonw_key(w, "flags"));
    bz_vars_flags(v, name, write_flag, w);
    bz_jsonw_map_end(w);
    bz_history_json_list(bz_jsonw_key(w, "history"), v, name);
    bz_jsonw_map_end(w);
}

static int is_function(struct bz_vars *v, struct bz_str name, bool *yes,
                       struct bz_err *err)
{
    struct bz_str func;
    int rc = bz_vars_get_flag(v, name, BZ_STR("func"), BZ_VARS_RAW, &func, err);

    *yes = rc == 0 && func.n > 0;
    return rc;
}

static int write_json(struct bz_vars *v, struct bz_buf *out, size_t *missing,
                      struct bz_err *err)
{
    static const char *const kinds[] = {"variables", "functions"};
    struct bz_jsonw w = bz_jsonw_to(out, 2);
    const struct bz_str *names;
    size_t n;
    int rc = bz_vars_names(v, &names, &n, err);

    bz_jsonw_map(&w);
    for (size_t kind = 0; rc == 0 && kind < BZ_COUNTOF(kinds); kind++) {
        bz_jsonw_map(bz_jsonw_key(&w, kinds[kind]));
        for (size_t i = 0; rc == 0 && i < n; i++) {
            bool function;

            rc = is_function(v, names[i], &function, err);
            if (rc == 0 && function == (kind == 1) &&
                !bz_str_starts(names[i], BZ_STR("__")))
                write_one(&w, v, names[i], missing);
        }
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_map_end(&w);
    bz_buf_add_char(out, '\n');
    return rc;
}

/* ---- text ---- */

/* The files that were read, out of all that were looked for. */
static void write_files(const struct bz_meta *m, struct bz_buf *out)
{
    struct stat st;

    for (size_t i = 0; i < m->looked_at.len; i++) {
        struct bz_str path = m->looked_at.at[i];

        if (stat(path.p, &st) == 0 && S_ISREG(st.st_mode))
            bz_buf_addf(out, "# %.*s\n", BZ_STR_ARG(path));
    }
}

/* Programs that read `bitbake -e` find the files by this heading. */
static int write_text(const struct bz_meta *m, struct bz_vars *v, struct bz_buf *out,
                      size_t *missing, struct bz_err *err)
{
    int rc;

    bz_buf_addf(out, "#\n# INCLUDE HISTORY:\n#\n");
    if (m->config)
        write_files(m->config, out);
    write_files(m, out);
    rc = bz_script_env(v, out, missing, err);
    bz_buf_add_char(out, '\n');
    return rc < 0 ? rc : bz_script_pythons(v, out, err);
}

static int show(struct bz_cmd_env *env, const struct bz_meta *m, struct bz_vars *v,
                bool json, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    size_t missing = 0;
    int rc = json ? write_json(v, &text, &missing, err)
                  : write_text(m, v, &text, &missing, err);

    if (rc < 0)
        return rc;
    bz_out_put(&env->out, bz_buf_text(&text), text.len);
    if (missing > 0)
        bz_out_print(&env->log,
                     "bitzel: note: %zu %s no value here; search for %s to see why\n",
                     missing, missing == 1 ? "variable has" : "variables have",
                     json ? "\"error\"" : "'has no value here'");
    return BZ_CMD_EXIT_SUCCESS;
}

/* A configuration is shown as BitBake shows it: with the names of its variables
 * expanded, as they are in every recipe. */
static int show_config(struct bz_cmd_env *env, struct bz_meta *config, bool json,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *copy = bz_vars_new(config->vars);
    int rc = bz_vars_expand_keys(copy, err);

    if (rc == 0)
        rc = bz_cmd_open_warn_meta(env, config, false, err);
    return rc < 0 ? rc : show(env, config, copy, json, err);
}

static int show_in(struct bz_cmd_env *env, const struct env_values *v,
                   struct bz_catalog *p, struct bz_catalog_mc *mc, struct bz_str name,
                   struct bz_err *err)
{
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *recipe = NULL;
    struct bz_meta *meta;
    int rc;

    if (name.n == 0)
        return show_config(env, mc->config, v->json, err);
    rc = bz_pick_recipe(&(struct bz_pick_from){mc->config, p->library, &mc->recipes},
                        name, &recipe, &meta, err);
    bz_cmd_open_diags(env, p);
    if (rc == 0)
        rc = bz_cmd_open_warn_meta(env, meta, true, err);
    return rc < 0 ? rc : show(env, meta, meta->vars, v->json, err);
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct env_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    struct bz_target t = {.mc = BZ_STR(""), .name = BZ_STR("")};
    struct bz_catalog_mc *mc;
    int rc = 0;

    if (v->recipe)
        rc = bz_target_parse(bz_str_from(v->recipe), &t, err);
    if (rc == 0 && (t.every || t.task.p))
        rc = bz_fail(err, BZ_E_INVAL, "%.90s: expected one recipe, without a task",
                     v->recipe);
    if (rc == 0)
        rc = bz_cmd_open_project(env, &b, err);
    if (rc < 0)
        return rc;
    rc = bz_catalog_find_mc(&b.catalog, t.mc, &mc, err);
    return rc < 0 ? rc : show_in(env, v, &b.catalog, mc, t.name, err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel env busybox",        "See everything that one recipe says"},
    {"bitzel env mc:arm:busybox", "The same in another configuration"  },
    {NULL,                        NULL                                 },
};

const struct bz_cmd bz_cmd_env = {
    .name = "env",
    .summary = "Show all variables and functions, as 'bitbake -e'",
    .detail = "Prints every variable of the configuration, or of one recipe, after the "
              "names of the files that were read for it: first, as "
              "comments, each operation that took part with its file and line, then "
              "the value. Shell functions follow, then those in Python. A variable "
              "whose value cannot be had here has a comment instead that says why.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct env_values),
    .run = run,
};
