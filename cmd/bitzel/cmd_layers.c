#include <inttypes.h>

#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"

struct layers_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct layers_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

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
        bz_jsonw_str(bz_jsonw_key(&w, "pattern"), l->pattern);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct layers_values *v = values;
    BZ_CLEANUP(bz_pipeline_close) struct bz_pipeline p = {0};
    int rc = bz_cmd_open_project(env, &p, err);

    if (rc < 0)
        return rc;
    if (v->json) {
        write_json(&env->out, &p.layers);
        return BZ_CMD_EXIT_SUCCESS;
    }
    for (size_t i = 0; i < p.layers.all.len; i++) {
        const struct bz_layer *l = &p.layers.all.at[i];

        bz_out_print(&env->out, "%-20.*s %4" PRId64 "  ", BZ_STR_ARG(l->name),
                     l->priority);
        bz_out_plain(&env->out, l->pattern.p, l->pattern.n);
        bz_out_print(&env->out, "\n");
    }
    return BZ_CMD_EXIT_SUCCESS;
}

const struct bz_cmd bz_cmd_layers = {
    .name = "layers",
    .summary = "List the layers with their priorities",
    .detail = "Lists the layers of the project in the order of BBLAYERS: name, "
              "priority "
              "(given, or worked out from the layers it depends on) and the "
              "pattern of "
              "its files.",
    .opts = opts,
    .args = args,
    .size = sizeof(struct layers_values),
    .run = run,
};
