#include <inttypes.h>

#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "report/columns.h"
#include "vars/constraint.h"

struct layers_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct layers_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

static void write_list(struct bz_jsonw *w, const char *key, struct bz_str list)
{
    struct bz_arena arena = {0};
    struct bz_constraints c = {0};
    struct bz_err err;

    bz_jsonw_list(bz_jsonw_key(w, key));
    if (bz_constraint_parse(&arena, list, &c, &err) < 0)
        c.len = 0; /* of a recommendation only; a wrong dependency is an error */
    for (size_t i = 0; i < c.len; i++) {
        const struct bz_constraint_versions *v = &c.at[i].versions;

        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "name"), c.at[i].name);
        bz_jsonw_list(bz_jsonw_key(w, "versions"));
        for (size_t k = 0; k < v->len; k++)
            bz_jsonw_str(w,
                         bz_arena_printf(&arena, "%.*s %.*s", BZ_STR_ARG(v->at[k].op),
                                         BZ_STR_ARG(v->at[k].version)));
        bz_jsonw_list_end(w);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
    bz_constraint_release(&c);
    bz_arena_release(&arena);
}

static void write_json(struct bz_out *out, const struct bz_layers *layers)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "layers"));
    for (size_t i = 0; i < layers->all.len; i++) {
        const struct bz_layer *l = &layers->all.at[i];

        bz_jsonw_map(&w);
        bz_jsonw_str(bz_jsonw_key(&w, "name"), l->name);
        bz_jsonw_int(bz_jsonw_key(&w, "priority"), l->priority);
        if (l->version.p)
            bz_jsonw_str(bz_jsonw_key(&w, "version"), l->version);
        if (l->dir.p)
            bz_jsonw_str(bz_jsonw_key(&w, "directory"), l->dir);
        bz_jsonw_str(bz_jsonw_key(&w, "pattern"), l->pattern);
        write_list(&w, "depends", l->depends);
        write_list(&w, "recommends", l->recommends);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

/* A column's width: that of its widest entry. */
static void widen(size_t *width, struct bz_str text)
{
    size_t taken = bz_columns_of(text, true);

    if (taken > *width)
        *width = taken;
}

static void write_text(struct bz_out *out, const struct bz_layers *layers)
{
    struct bz_str title = BZ_STR("layer");
    size_t name = title.n, version = strlen("version"), depends = strlen("depends on");

    for (size_t i = 0; i < layers->all.len; i++) {
        const struct bz_layer *l = &layers->all.at[i];

        widen(&name, l->name);
        widen(&version, l->version);
        widen(&depends, bz_str_trim(l->depends));
    }
    bz_out_cell(out, title, name);
    bz_out_print(out, "priority  ");
    bz_out_cell(out, BZ_STR("version"), version);
    bz_out_cell(out, BZ_STR("depends on"), depends);
    bz_out_print(out, "directory\n");
    for (size_t i = 0; i < layers->all.len; i++) {
        const struct bz_layer *l = &layers->all.at[i];

        bz_out_cell(out, l->name, name);
        bz_out_print(out, "%8" PRId64 "  ", l->priority);
        bz_out_cell(out, l->version, version);
        bz_out_cell(out, bz_str_trim(l->depends), depends);
        bz_out_plain(out, l->dir.p ? l->dir.p : "?", l->dir.p ? l->dir.n : 1);
        bz_out_print(out, "\n");
    }
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct layers_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    int rc = bz_cmd_open_project(env, &b, err);

    if (rc < 0)
        return rc;
    if (v->json)
        write_json(&env->out, &b.catalog.layers);
    else
        write_text(&env->out, &b.catalog.layers);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel layers", "List the layers of the project here"},
    {NULL,            NULL                                 },
};

const struct bz_cmd bz_cmd_layers = {
    .name = "layers",
    .summary = "List the layers with their priorities",
    .detail =
        "Lists the layers of the project in the order of BBLAYERS: name, priority "
        "(given, or worked out from the layers it depends on), version, directory "
        "and the layers it depends on.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct layers_values),
    .run = run,
};
