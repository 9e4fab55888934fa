#include "recipe/config.h"

#include <string.h>

#include "base/buf.h"
#include "os/path.h"
#include "recipe/eval.h"
#include "recipe/series.h"

/* Sets `name` only if it has no value yet. */
static int set_default(struct bz_meta *m, const char *name, struct bz_str value,
                       struct bz_err *err)
{
    struct bz_str old;
    int rc = bz_meta_get(m, name, &old, err);

    return rc < 0 || old.n > 0 ? rc : bz_meta_set(m, name, value, err);
}

static int read_conf(struct bz_eval *e, struct bz_str path, struct bz_err *err)
{
    int rc = bz_eval_file(e, path, BZ_EVAL_BASE, err);

    return rc < 0 && !e->located ? bz_err_wrap(err, "%.*s", BZ_STR_ARG(path)) : rc;
}

/* `text` with every `ref` replaced by `value`; false if there is none. */
static bool replace_all(struct bz_str text, struct bz_str ref, struct bz_str value,
                        struct bz_buf *out)
{
    size_t at = bz_str_find(text, ref);

    if (at == BZ_STR_NONE)
        return false;
    bz_buf_truncate(out, 0);
    for (; at != BZ_STR_NONE; at = bz_str_find(text, ref)) {
        bz_buf_add(out, text.p, at);
        bz_buf_add_str(out, value);
        text = bz_str_sub(text, at + ref.n, text.n);
    }
    bz_buf_add_str(out, text);
    return true;
}

/* Replaces ${NAME} by its value in every variable that has it: LAYERDIR means
 * another directory in the next layer. */
static int settle_reference(struct bz_meta *m, const char *name, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf ref = {0}, text = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names names = {0};
    const struct bz_str *listed;
    struct bz_str value, old;
    size_t n;
    int rc = bz_vars_get(m->vars, bz_str_from(name), BZ_VARS_RAW, &value, err);

    bz_buf_addf(&ref, "${%s}", name);
    if (rc == 0)
        rc = bz_vars_names(m->vars, &listed, &n, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        BZ_VEC_PUSH(&names, listed[i]);
    for (size_t i = 0; rc == 0 && i < names.len; i++) {
        rc = bz_vars_get(m->vars, names.at[i], BZ_VARS_RAW, &old, err);
        if (rc == 0 && replace_all(old, bz_buf_str(&ref), value, &text))
            rc = bz_vars_set(m->vars, names.at[i], bz_buf_str(&text), 0, NULL, err);
    }
    return rc;
}

/* Python's re.escape: what is not a letter, a digit or '_' gets a backslash, of
 * the printable characters only those that mean something. */
static void escape(struct bz_str text, struct bz_buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (strchr("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", text.p[i]))
            bz_buf_add_char(out, '\\');
        bz_buf_add_char(out, text.p[i]);
    }
}

static int read_layer(struct bz_eval *e, struct bz_str layer, struct bz_series *series,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf pattern = {0};
    struct bz_path conf;
    int rc;

    while (layer.n > 1 && layer.p[layer.n - 1] == '/')
        layer.n--;
    escape(layer, &pattern);
    rc = bz_path_join(layer, BZ_STR("conf/layer.conf"), &conf, err);
    if (rc == 0)
        rc = bz_meta_set(e->meta, "LAYERDIR", layer, err);
    if (rc == 0)
        rc = bz_meta_set(e->meta, "LAYERDIR_RE", bz_buf_str(&pattern), err);
    if (rc == 0)
        rc = read_conf(e, bz_path_str(&conf), err);
    if (rc == 0)
        rc = settle_reference(e->meta, "LAYERDIR", err);
    if (rc == 0)
        rc = settle_reference(e->meta, "LAYERDIR_RE", err);
    return rc < 0 ? rc : bz_series_collect(series, e->meta, err);
}

/* BBFILES_DYNAMIC: file patterns that count if a collection is there, or is
 * not. */
static int add_dynamic_files(struct bz_meta *m, struct bz_err *err)
{
    struct bz_str list, collections, word, name, pattern;
    int rc = bz_meta_get(m, "BBFILES_DYNAMIC", &list, err);

    if (rc == 0)
        rc = bz_meta_get(m, "BBFILE_COLLECTIONS", &collections, err);
    while (rc == 0 && bz_str_next_word(&list, &word)) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
        bool inverted;

        if (!bz_str_cut(word, ':', &name, &pattern) || name.n == 0)
            return bz_fail(err, BZ_E_INVAL,
                           "BBFILES_DYNAMIC: '%.*s' is not of the form "
                           "[!]COLLECTION:PATTERN",
                           BZ_STR_ARG(word));
        inverted = bz_str_cut_prefix(&name, BZ_STR("!"));
        if (bz_str_has_word(collections, name) == inverted)
            continue;
        bz_buf_addf(&text, " %.*s", BZ_STR_ARG(pattern));
        rc = bz_vars_append(m->vars, BZ_STR("BBFILES"), bz_buf_str(&text), NULL, err);
    }
    return rc;
}

/* The directories of BBLAYERS, each with '~' at its start replaced by HOME, if that
 * passes from the environment. */
static int list_layers(struct bz_meta *m, const struct bz_environ *env,
                       struct bz_meta_names *out, struct bz_err *err)
{
    struct bz_str home = {0}, list, dir, rest;
    int rc = bz_meta_get(m, "BBLAYERS", &list, err);

    if (env)
        home = bz_environ_get(env, BZ_STR("HOME"));
    while (home.n > 0 && home.p[home.n - 1] == '/')
        home.n--;
    while (rc == 0 && bz_str_next_word(&list, &dir)) {
        rest = dir;
        if (home.p && bz_str_cut_prefix(&rest, BZ_STR("~")) &&
            (rest.n == 0 || rest.p[0] == '/'))
            dir = bz_arena_printf(&m->arena, "%.*s%.*s", BZ_STR_ARG(home),
                                  BZ_STR_ARG(rest));
        BZ_VEC_PUSH(out, dir);
    }
    return rc;
}

static int check_layers(struct bz_library *lib, const struct bz_meta_names *layers,
                        struct bz_str conf, struct bz_err *err)
{
    if (layers->len == 0)
        return bz_fail(err, BZ_E_INVAL, "%.*s does not set BBLAYERS", BZ_STR_ARG(conf));
    for (size_t i = 0; i < layers->len; i++) {
        struct bz_str dir = layers->at[i];

        if (!bz_library_exists(lib, dir))
            return bz_fail(err, BZ_E_INVAL,
                           "layer directory %.*s does not exist%s; check BBLAYERS in "
                           "%.*s",
                           BZ_STR_ARG(dir),
                           bz_path_is_absolute(dir) ? "" : " in the current directory",
                           BZ_STR_ARG(conf));
    }
    return 0;
}

static int read_layers(struct bz_eval *e, const struct bz_config_opts *opts,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names layers = {0};
    BZ_CLEANUP(bz_series_release) struct bz_series series = {0};
    struct bz_meta *m = e->meta;
    struct bz_path conf;
    int rc = bz_path_join(opts->build_dir, BZ_STR("conf/bblayers.conf"), &conf, err);

    if (rc == 0)
        rc = bz_meta_set(m, "TOPDIR", opts->build_dir, err);
    if (rc == 0)
        rc = read_conf(e, bz_path_str(&conf), err);
    if (rc == 0)
        rc = set_default(m, "BB_CACHEDIR", BZ_STR("${TOPDIR}/cache"), err);
    if (rc == 0)
        rc = list_layers(m, opts->env, &layers, err);
    if (rc == 0)
        rc = check_layers(e->library, &layers, bz_path_str(&conf), err);
    for (size_t i = 0; rc == 0 && i < layers.len; i++)
        rc = read_layer(e, layers.at[i], &series, err);
    if (rc == 0)
        rc = bz_vars_del(m->vars, BZ_STR("LAYERDIR_RE"), NULL, err);
    if (rc == 0)
        rc = bz_vars_del(m->vars, BZ_STR("LAYERDIR"), NULL, err);
    if (rc == 0)
        rc = add_dynamic_files(m, err);
    return rc < 0 ? rc : bz_series_check(&series, m, err);
}

static int inherit_classes(struct bz_eval *e, struct bz_err *err)
{
    struct bz_str names;
    int rc = bz_meta_get(e->meta, "INHERIT", &names, err);

    /* What the base class adds to INHERIT comes too late, in BitBake as well. */
    if (rc == 0)
        rc = bz_eval_inherit(e, BZ_STR("base"), false, err);
    if (rc == 0)
        rc = bz_eval_inherit(e, names, false, err);
    return rc;
}

static void note_tried(void *ctx, struct bz_str path)
{
    bz_meta_look(ctx, path);
}

/* Reads a file that the user names: along BBPATH as far as that is known, else from
 * the current directory. */
static int read_named(struct bz_eval *e, struct bz_str cwd, const char *name,
                      struct bz_err *err)
{
    struct bz_str path = bz_str_from(name), dirs, found = {0};
    struct bz_path joined;
    int rc = bz_meta_get(e->meta, "BBPATH", &dirs, err);

    if (rc < 0)
        return rc;
    if (dirs.n > 0 && !bz_path_is_absolute(path))
        found = bz_library_find(e->library, dirs, path, note_tried, e->meta);
    rc = bz_path_join(cwd, found.p ? found : path, &joined, err);
    return rc < 0 ? rc : read_conf(e, bz_path_str(&joined), err);
}

static int read_all(struct bz_eval *e, const struct bz_config_opts *opts,
                    struct bz_err *err)
{
    struct bz_str bbpath;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < opts->nfirst; i++)
        rc = read_named(e, opts->cwd, opts->first[i], err);
    if (rc == 0)
        rc = read_layers(e, opts, err);
    if (rc == 0)
        rc = bz_meta_get(e->meta, "BBPATH", &bbpath, err);
    if (rc == 0 && bbpath.n == 0)
        rc = bz_fail(err, BZ_E_INVAL, "BBPATH is not set by bblayers.conf or a layer");
    if (rc == 0)
        rc = read_conf(e, BZ_STR("conf/bitbake.conf"), err);
    for (size_t i = 0; rc == 0 && i < opts->nlast; i++)
        rc = read_named(e, opts->cwd, opts->last[i], err);
    return rc < 0 ? rc : inherit_classes(e, err);
}

static int set_environment(struct bz_meta *m, const struct bz_config_opts *opts,
                           struct bz_err *err)
{
    struct bz_vars_at at = {.file = "environment", .op = "from env"};
    int rc = 0;

    for (size_t i = 0; opts->env && i < opts->env->vars.len && rc == 0; i++) {
        const struct bz_environ_var *var = &opts->env->vars.at[i];

        rc = bz_vars_set(m->vars, var->name, var->value, 0, &at, err);
        if (rc == 0 && bz_environ_exported(var->name))
            rc = bz_vars_set_flag(m->vars, var->name, BZ_STR("export"), BZ_STR("1"),
                                  NULL, err);
    }
    if (rc == 0)
        rc = bz_meta_set(m, "BB_CURRENT_MC", opts->mc.p ? opts->mc : BZ_STR(""), err);
    return rc;
}

/* BBINCLUDED: every file that was looked at, there or not. */
static int set_included(struct bz_meta *m, struct bz_str cwd, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    int rc = 0;

    for (size_t i = 0; i < m->looked_at.len && rc == 0; i++) {
        struct bz_path joined, path;

        rc = bz_path_join(cwd, m->looked_at.at[i], &joined, err);
        if (rc == 0)
            rc = bz_path_normalise(bz_path_str(&joined), &path, err);
        if (rc == 0)
            bz_buf_addf(&text, "%s%s", i > 0 ? " " : "", path.s);
    }
    return rc < 0 ? rc : bz_meta_set(m, "BBINCLUDED", bz_buf_str(&text), err);
}

int bz_config_load(struct bz_library *library, const struct bz_config_opts *opts,
                   struct bz_meta **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_meta_freep) struct bz_meta *m = bz_meta_new();
    struct bz_eval e = {.meta = m, .library = library};
    int rc;

    m->class_type = "global";
    if (opts->python)
        bz_vars_set_python(m->vars, opts->python);
    rc = set_environment(m, opts, err);
    if (rc == 0)
        rc = read_all(&e, opts, err);
    if (rc == 0)
        rc = set_included(m, opts->cwd, err);
    if (rc < 0)
        return rc;
    m->class_type = "recipe";
    m->complete = true;
    *out = m;
    m = NULL; /* the caller owns it now */
    return 0;
}

int bz_config_multi(struct bz_meta *config, struct bz_str *out, struct bz_err *err)
{
    struct bz_str rest, name;
    int rc = bz_meta_get(config, "BBMULTICONFIG", out, err);

    rest = *out;
    while (rc == 0 && bz_str_next_word(&rest, &name))
        if (name.p[0] >= '0' && name.p[0] <= '9')
            return bz_fail(err, BZ_E_INVAL,
                           "BBMULTICONFIG: '%.*s' is no name of a configuration: it "
                           "begins with a digit",
                           BZ_STR_ARG(name));
    return rc;
}
