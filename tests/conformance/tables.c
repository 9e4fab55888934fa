/* tables - whole projects, evaluated, written as tables, read back and compared.
 *
 * usage: tables [-m] BUILD-DIRECTORY...
 *
 * Of each project the configuration, and of each recipe every variant, is written to
 * one pool and read again: over the configuration, and over the one that was itself
 * read. All that can be observed of a store must be the same, and the text of `bitzel
 * env`. With -m nothing is compared: it is for measuring.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "recipe/collect.h"
#include "recipe/config.h"
#include "recipe/finalize.h"
#include "recipe/layer.h"
#include "recipe/script.h"
#include "tests/unit/vars/observe.h"
#include "vars/vars_table.h"

struct store {
    struct bz_vars *vars;
    struct bz_str path, table;
};

struct evaluated {
    struct bz_finalize *f;
};

struct project {
    struct bz_arena arena;
    struct bz_library *library;
    struct bz_meta *config;
    struct bz_layers layers;
    struct bz_collect files;
    struct BZ_VEC(struct evaluated) recipes;
    struct BZ_VEC(struct store) stores; /* the first is the configuration */
    struct bz_string_pool strings;
    struct bz_buf pool;
    size_t bytes, differences;
};

static void must(int rc, const char *what, const struct bz_err *err)
{
    if (rc == 0)
        return;
    fprintf(stderr, "tables: %s: %s\n", what, err->msg);
    exit(1);
}

/* ---- evaluating ---- */

static void load(struct project *p, const char *dir)
{
    static const char *const envp[] = {"HOME=/root", "PATH=/bin", "PWD=/",
                                       "SHELL=/bin/bash", NULL};
    BZ_CLEANUP(bz_environ_release) struct bz_environ env = {0};
    struct bz_config_opts opts = {.env = &env, .build_dir = bz_str_from(dir)};
    struct bz_err err;

    bz_environ_read(&env, envp, NULL, 0);
    p->library = bz_library_new();
    must(bz_config_load(p->library, &opts, &p->config, &err), dir, &err);
    must(bz_layer_read(&p->layers, p->config, &err), dir, &err);
    must(bz_collect_read(&p->files, p->config, &p->layers, p->library, &err), dir,
         &err);
}

static void add_store(struct project *p, struct bz_str path, const struct bz_meta *m)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf table = {0};

    bz_vars_table_write(m->vars, m->config ? m->config->vars : NULL, &p->strings,
                        &table);
    p->bytes += table.len;
    BZ_VEC_PUSH(
        &p->stores,
        (struct store){m->vars, path, bz_arena_dup(&p->arena, bz_buf_str(&table))});
}

/* A recipe with an error is none of ours. */
static void add_recipe(struct project *p, const struct bz_collect_recipe *r)
{
    BZ_CLEANUP(bz_vec_release) struct bz_meta_names appends = {0};
    struct bz_finalize_opts opts = {.path = r->path, .appends = &appends};
    struct bz_finalize *f = NULL;
    struct bz_err err;

    if (r->layer)
        opts.layer = r->layer->name;
    bz_collect_appends(&p->files, r->path, &appends);
    if (bz_finalize_recipe(p->config, p->library, &opts, &f, &err) < 0) {
        printf("%s: left out: %s\n", r->path.p, err.msg);
        return;
    }
    BZ_VEC_PUSH(&p->recipes, (struct evaluated){f});
    for (size_t i = 0; i < f->variants.len; i++)
        add_store(p, r->path, f->variants.at[i].meta);
}

static void release(struct project *p)
{
    for (size_t i = 0; i < p->recipes.len; i++)
        bz_finalize_free(p->recipes.at[i].f);
    bz_vec_release(&p->recipes);
    bz_vec_release(&p->stores);
    bz_string_pool_release(&p->strings);
    bz_buf_release(&p->pool);
    bz_collect_release(&p->files);
    bz_layer_release(&p->layers);
    bz_meta_free(p->config);
    bz_library_free(p->library);
    bz_arena_release(&p->arena);
}

/* ---- comparing ---- */

static struct bz_vars *restore(struct project *p, size_t i,
                               const struct bz_vars *config)
{
    struct bz_vars *v = NULL;
    struct bz_err err;

    must(bz_vars_table_read(p->stores.at[i].table, bz_buf_str(&p->pool), config, &v,
                            &err),
         p->stores.at[i].path.p, &err);
    return v;
}

static void observe(struct bz_vars *v, const struct observe_names *names,
                    struct bz_buf *out)
{
    struct bz_vars *copy = bz_vars_new(v);
    struct bz_err err;
    size_t missing = 0;
    int rc;

    observe_counts(v, out);
    observe_notes(v, out);
    /* As a task is run: in a copy with an override of its own. */
    rc = bz_vars_set(copy, BZ_STR("OVERRIDES"), BZ_STR("task-compile:${OVERRIDES}"),
                     BZ_VARS_SET_PARSING, NULL, &err);
    bz_buf_addf(out, "override %d\n", rc);
    rc =
        bz_vars_prepend(copy, BZ_STR("OVERRIDES"), BZ_STR("task-compile:"), NULL, &err);
    bz_buf_addf(out, "override %d\n", rc);
    observe_store(copy, names, out);
    bz_vars_free(copy);
    observe_kept(v, names, out);
    observe_store(v, names, out);
    rc = bz_script_env(v, out, &missing, &err);
    bz_buf_addf(out, "env %d %zu\n", rc, missing);
    rc = bz_script_pythons(v, out, &err);
    bz_buf_addf(out, "pythons %d\n", rc);
    copy = bz_vars_new(v);
    rc = bz_vars_expand_keys(copy, &err);
    bz_buf_addf(out, "keys %d\n", rc);
    observe_store(copy, names, out);
    bz_vars_free(copy);
}

static void compare(struct project *p, size_t i, const struct bz_vars *config,
                    const struct observe_names *names, struct bz_str before,
                    const char *what)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf after = {0};
    struct bz_vars *restored = restore(p, i, config);
    struct bz_str one, two;

    observe(restored, names, &after);
    bz_vars_free(restored);
    if (bz_str_cmp(before, bz_buf_str(&after)) == 0)
        return;
    one = observe_difference(before, bz_buf_str(&after), &two);
    printf("%s: %s: '%.*s' became '%.*s'\n", p->stores.at[i].path.p, what,
           BZ_STR_ARG(one), BZ_STR_ARG(two));
    p->differences++;
}

static void compare_all(struct project *p)
{
    struct bz_vars *config = restore(p, 0, NULL);

    for (size_t i = 0; i < p->stores.len; i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf before = {0};
        BZ_CLEANUP(bz_vec_release) struct observe_names names = {0};

        observe_all_names(p->stores.at[i].vars, &names);
        observe(p->stores.at[i].vars, &names, &before);
        if (i == 0) {
            compare(p, i, NULL, &names, bz_buf_str(&before), "restored");
            continue;
        }
        compare(p, i, p->config->vars, &names, bz_buf_str(&before), "restored");
        compare(p, i, config, &names, bz_buf_str(&before), "restored with its parent");
    }
    bz_vars_free(config);
}

static void measure(struct project *p)
{
    for (size_t i = 1; i < p->stores.len; i++)
        bz_vars_free(restore(p, i, p->config->vars));
}

static size_t run(const char *dir, bool measuring)
{
    struct project p = {0};
    struct bz_err err;
    size_t differences;

    load(&p, dir);
    add_store(&p, BZ_STR("configuration"), p.config);
    printf("%s: configuration: table %zu, pool %llu bytes\n", dir, p.bytes,
           (unsigned long long)p.strings.block.len);
    for (size_t i = 0; i < p.files.recipes.len; i++)
        add_recipe(&p, &p.files.recipes.at[i]);
    must(bz_string_pool_write(&p.strings, &p.pool, &err), "pool", &err);
    if (measuring)
        measure(&p);
    else
        compare_all(&p);
    printf("%s: %zu stores, tables %zu, pool %zu bytes, %zu different\n", dir,
           p.stores.len, p.bytes, p.pool.len, p.differences);
    differences = p.differences + (p.stores.len < 2);
    release(&p);
    return differences;
}

static void drop_line(void *ctx, enum bz_log_level level, const char *line, size_t n)
{
    (void)ctx;
    (void)level;
    (void)line;
    (void)n;
}

int main(int argc, char **argv)
{
    static const struct bz_log_sink quiet = {drop_line, NULL};
    bool measuring = argc > 1 && strcmp(argv[1], "-m") == 0;
    size_t differences = 0;

    if (argc < 2 + measuring) {
        fprintf(stderr, "usage: tables [-m] BUILD-DIRECTORY...\n");
        return 2;
    }
    bz_log_set_sink(&quiet);
    for (int i = 1 + measuring; i < argc; i++)
        differences += run(argv[i], measuring);
    return differences > 0;
}
