/* mini - a whole project, evaluated, held against what BitBake made of it.
 *
 * usage: mini DIRECTORY
 *
 * DIRECTORY holds build/conf, layers, and expected/RECIPE.json with the final value of
 * every variable ("vars"), the text of every shell function ("functions"), and the
 * names of variables that are exported or taken out of the environment ("exported",
 * "unset"). "@MINI@" in them stands for DIRECTORY. Each difference is printed; the
 * exit code says whether there was any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "codec/json.h"
#include "os/fs.h"
#include "os/path.h"
#include "recipe/collect.h"
#include "recipe/config.h"
#include "recipe/finalize.h"
#include "recipe/layer.h"

/* Values that name the machine or are objects of Python, and what is looked at
 * otherwise. */
static const char *const not_compared[] = {
    "BB_CMDLINE", "BB_ORIGENV", "BBINCLUDED", "HOME",
    "PATH",       "PWD",        "SHELL",      "_task_deps",
};

struct mini {
    const char *dir;
    struct bz_arena arena;
    struct bz_library *library;
    struct bz_meta *config;
    struct bz_layers layers;
    struct bz_collect files;
    size_t compared, differences;
};

static void die(const char *what, const struct bz_err *err)
{
    fprintf(stderr, "mini: %s: %s\n", what, err->msg);
    exit(1);
}

static void must(int rc, const char *what, const struct bz_err *err)
{
    if (rc < 0)
        die(what, err);
}

static bool is_compared(struct bz_str name)
{
    for (size_t i = 0; i < BZ_COUNTOF(not_compared); i++)
        if (bz_str_eq(name, bz_str_from(not_compared[i])))
            return false;
    return true;
}

/* Text as expected, with the real directory in it. */
static struct bz_str settle(struct mini *m, struct bz_str text)
{
    const struct bz_str mark = BZ_STR("@MINI@");
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    for (size_t at; (at = bz_str_find(text, mark)) != BZ_STR_NONE;) {
        bz_buf_add(&out, text.p, at);
        bz_buf_addf(&out, "%s", m->dir);
        text = bz_str_sub(text, at + mark.n, text.n);
    }
    bz_buf_add_str(&out, text);
    return bz_arena_dup(&m->arena, bz_buf_str(&out));
}

static void differ(struct mini *m, const char *recipe, const char *what,
                   struct bz_str name, struct bz_str expected, struct bz_str found)
{
    m->differences++;
    printf("%s: %s %.*s\n  expected: %s%.*s\n  found:    %s%.*s\n", recipe, what,
           BZ_STR_ARG(name), expected.p ? "" : "nothing", BZ_STR_ARG(expected),
           found.p ? "" : "nothing", BZ_STR_ARG(found));
}

static void compare(struct mini *m, const char *recipe, const char *what,
                    struct bz_str name, struct bz_str expected, struct bz_str found)
{
    bool same =
        found.p && expected.p ? bz_str_eq(expected, found) : found.p == expected.p;

    m->compared++;
    if (!same)
        differ(m, recipe, what, name, expected, found);
}

static struct bz_str value(struct bz_meta *meta, struct bz_str name)
{
    struct bz_str out;
    struct bz_err err;

    must(bz_vars_get(meta->vars, name, 0, &out, &err), "get", &err);
    return out;
}

static struct bz_str flag(struct bz_meta *meta, struct bz_str name, const char *which)
{
    struct bz_str out;
    struct bz_err err;

    must(bz_vars_get_flag(meta->vars, name, bz_str_from(which), 0, &out, &err), "flag",
         &err);
    return out;
}

/* The variables expected, and none besides. */
static void compare_vars(struct mini *m, const char *recipe, struct bz_meta *meta,
                         const struct bz_doc *vars)
{
    const struct bz_str *names;
    struct bz_err err;
    size_t n;

    for (size_t i = 0; i < vars->count; i++) {
        const struct bz_doc *v = &vars->items[i];

        if (is_compared(v->key))
            compare(m, recipe, "variable", v->key, settle(m, v->text),
                    value(meta, v->key));
    }
    must(bz_vars_names(meta->vars, &names, &n, &err), "names", &err);
    for (size_t i = 0; i < n; i++) {
        struct bz_str name = bz_arena_dup(&m->arena, names[i]);

        if (names[i].p[0] == '_' || flag(meta, name, "func").n > 0 ||
            bz_doc_find(vars, name.p) || !value(meta, name).p)
            continue;
        differ(m, recipe, "variable", name, (struct bz_str){0}, value(meta, name));
    }
}

static void compare_functions(struct mini *m, const char *recipe, struct bz_meta *meta,
                              const struct bz_doc *functions)
{
    const struct bz_str *names;
    struct bz_err err;
    size_t n;

    for (size_t i = 0; i < functions->count; i++) {
        const struct bz_doc *f = &functions->items[i];
        struct bz_str text = value(meta, f->key);

        bz_str_cut_suffix(&text, BZ_STR("\n"));
        compare(m, recipe, "function", f->key, settle(m, f->text), text);
    }
    must(bz_vars_names(meta->vars, &names, &n, &err), "names", &err);
    for (size_t i = 0; i < n; i++) {
        struct bz_str name = bz_arena_dup(&m->arena, names[i]);

        if (flag(meta, name, "func").n > 0 && flag(meta, name, "python").n == 0 &&
            value(meta, name).n > 0 && !bz_doc_find(functions, name.p))
            differ(m, recipe, "function", name, (struct bz_str){0}, value(meta, name));
    }
}

/* Which variables have a flag. */
static void compare_flagged(struct mini *m, const char *recipe, struct bz_meta *meta,
                            const struct bz_doc *expected, const char *which)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf want = {0}, have = {0};
    const struct bz_str *names;
    struct bz_err err;
    size_t n;

    for (size_t i = 0; i < expected->count; i++)
        bz_buf_addf(&want, " %.*s", BZ_STR_ARG(expected->items[i].text));
    must(bz_vars_names(meta->vars, &names, &n, &err), "names", &err);
    for (size_t i = 0; i < n; i++) {
        struct bz_str name = bz_arena_dup(&m->arena, names[i]);

        if (flag(meta, name, which).n > 0)
            bz_buf_addf(&have, " %.*s", BZ_STR_ARG(name));
    }
    compare(m, recipe, "flag", bz_str_from(which), bz_buf_str(&want),
            bz_buf_str(&have));
}

static void add_list(struct bz_buf *out, const struct bz_taskdef_names *names)
{
    bz_buf_add_char(out, '[');
    for (size_t i = 0; i < names->len; i++)
        bz_buf_addf(out, "%s'%.*s'", i ? ", " : "", BZ_STR_ARG(names->at[i]));
    bz_buf_add_char(out, ']');
}

/* The tasks as BitBake prints its own table of them. */
static void compare_tasks(struct mini *m, const char *recipe, struct bz_meta *meta,
                          const struct bz_doc *vars)
{
    static const char *const flags[] = {
        "mcdepends",   "depends", "rdepends", "deptask", "rdeptask", "recrdeptask",
        "recideptask", "nostamp", "fakeroot", "noexec",  "umask"};
    const struct bz_doc *expected = bz_doc_find(vars, "_task_deps");
    const struct bz_taskdef_names *order = &meta->tasks.order;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    bz_buf_addf(&out, "{'tasks': ");
    add_list(&out, order);
    bz_buf_addf(&out, ", 'parents': {");
    for (size_t i = 0; i < order->len; i++) {
        bz_buf_addf(&out, "%s'%.*s': ", i ? ", " : "", BZ_STR_ARG(order->at[i]));
        add_list(&out, &bz_taskdef_find(&meta->tasks, order->at[i])->after);
    }
    bz_buf_addf(&out, "}");
    for (size_t k = 0; k < BZ_COUNTOF(flags); k++) {
        const char *comma = "";

        bz_buf_addf(&out, ", '%s': {", flags[k]);
        for (size_t i = 0; i < order->len; i++) {
            struct bz_str text = flag(meta, order->at[i], flags[k]);

            if (!text.p)
                continue;
            bz_buf_addf(&out, "%s'%.*s': '%.*s'", comma, BZ_STR_ARG(order->at[i]),
                        BZ_STR_ARG(text));
            comma = ", ";
        }
        bz_buf_addf(&out, "}");
    }
    bz_buf_addf(&out, "}");
    compare(m, recipe, "tasks", BZ_STR("_task_deps"), settle(m, expected->text),
            bz_buf_str(&out));
}

static void add_looks(struct bz_buf *out, const struct bz_meta *meta,
                      const struct bz_meta *without)
{
    for (size_t i = 0; i < meta->looked_at.len; i++) {
        struct bz_path path;
        struct bz_err err;

        if (without && bz_meta_looked(without, meta->looked_at.at[i]))
            continue;
        must(bz_path_normalise(meta->looked_at.at[i], &path, &err), "path", &err);
        bz_buf_addf(out, "%s%s", out->len ? " " : "", path.s);
    }
}

/* The paths that were looked at, each once, in order. */
static void compare_looks(struct mini *m, const char *recipe, struct bz_meta *meta,
                          const struct bz_doc *vars)
{
    const struct bz_doc *expected = bz_doc_find(vars, "BBINCLUDED");
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    add_looks(&out, meta->config, NULL);
    add_looks(&out, meta, meta->config);
    compare(m, recipe, "files", BZ_STR("BBINCLUDED"), settle(m, expected->text),
            bz_buf_str(&out));
}

static void compare_recipe(struct mini *m, const char *recipe, struct bz_meta *meta)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    const struct bz_doc *doc;
    struct bz_err err;
    char *text;
    size_t n;
    int rc;

    bz_buf_addf(&path, "%s/expected/%s.json", m->dir, recipe);
    rc = bz_fs_read(AT_FDCWD, bz_buf_text(&path), (size_t)16 << 20, &text, &n, &err);
    if (rc == BZ_E_NOENT)
        return;
    must(rc, "read", &err);
    must(bz_json_parse(&m->arena, bz_str_of(text, n), NULL, &doc, &err), "json", &err);
    free(text);
    compare_vars(m, recipe, meta, bz_doc_find(doc, "vars"));
    compare_functions(m, recipe, meta, bz_doc_find(doc, "functions"));
    compare_flagged(m, recipe, meta, bz_doc_find(doc, "exported"), "export");
    compare_flagged(m, recipe, meta, bz_doc_find(doc, "unset"), "unexport");
    compare_tasks(m, recipe, meta, bz_doc_find(doc, "vars"));
    compare_looks(m, recipe, meta, bz_doc_find(doc, "vars"));
    printf("%s: compared\n", recipe);
}

static void run_recipe(struct mini *m, const struct bz_collect_recipe *r)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    BZ_CLEANUP(bz_finalize_freep) struct bz_finalize *f = NULL;
    struct bz_finalize_opts opts = {.path = r->path, .appends = &appends};
    struct bz_err err;

    if (r->layer)
        opts.layer = r->layer->name;
    bz_collect_appends(&m->files, r->path, &appends);
    must(bz_finalize_recipe(m->config, m->library, &opts, &f, &err), r->path.p, &err);
    for (size_t i = 0; i < f->variants.len; i++) {
        struct bz_meta *meta = f->variants.at[i].meta;
        struct bz_str pn = bz_arena_dup(&m->arena, value(meta, BZ_STR("PN")));

        /* BitBake does not find the layer of a variant that it is asked to show. */
        if (f->variants.at[i].name.n > 0)
            must(bz_vars_del(meta->vars, BZ_STR("FILE_LAYERNAME"),
                             &(struct bz_vars_at){0}, &err),
                 "del", &err);
        compare_recipe(m, pn.p, meta);
    }
}

static void load(struct mini *m)
{
    static const char *const envp[] = {"HOME=/root", "PATH=/bin", "PWD=/",
                                       "SHELL=/bin/bash", NULL};
    BZ_CLEANUP(bz_environ_release) struct bz_environ env = {0};
    struct bz_config_opts opts = {.env = &env};
    struct bz_err err;

    bz_environ_read(&env, envp, NULL, 0);

    opts.build_dir = bz_arena_printf(&m->arena, "%s/build", m->dir);
    m->library = bz_library_new();
    must(bz_config_load(m->library, &opts, &m->config, &err), "configuration", &err);
    must(bz_layer_read(&m->layers, m->config, &err), "layers", &err);
    must(bz_collect_read(&m->files, m->config, &m->layers, m->library, &err), "recipes",
         &err);
}

static void release(struct mini *m)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf diags = {0};

    bz_library_diags(m->library, &diags);
    fputs(bz_buf_text(&diags), stderr);
    bz_collect_release(&m->files);
    bz_layer_release(&m->layers);
    bz_meta_free(m->config);
    bz_library_free(m->library);
    bz_arena_release(&m->arena);
}

int main(int argc, char **argv)
{
    struct mini m = {0};

    if (argc != 2) {
        fprintf(stderr, "usage: mini DIRECTORY\n");
        return 2;
    }
    m.dir = argv[1];
    load(&m);
    for (size_t i = 0; i < m.files.recipes.len; i++)
        run_recipe(&m, &m.files.recipes.at[i]);
    printf("%zu compared, %zu different\n", m.compared, m.differences);
    release(&m);
    return m.differences > 0 || m.compared == 0;
}
