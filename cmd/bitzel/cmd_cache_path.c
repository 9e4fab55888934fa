#include <stdio.h>
#include <string.h>

#include "cache_view.h"
#include "cmd_open_cache.h"

struct path_values {
    const char *key;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct path_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct path_values, key, "KEY",
                 "A result or a blob, by its digest or its first digits"),
    BZ_OPT_END,
};

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct path_values *v = values;
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    struct bz_cache_view_found found = {0};
    struct bz_cache_opts cache;
    const char *path;
    int rc = bz_cmd_open_cache_opts(env, &a, &cache, err);

    if (rc < 0)
        return rc;
    path = cache.root;
    if (v->key) {
        char name[BZ_SHELF_NAME];

        rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);
        if (rc == 0)
            rc = bz_cache_view_find(bz_cache_cas(c), v->key, &found, err);
        if (rc < 0)
            return rc;
        bz_shelf_name(&found.key, name);
        path = bz_arena_printf(&a, "%s/%s/%s", cache.root, found.result ? "ac" : "cas",
                               name)
                   .p;
    }
    if (!v->json) {
        bz_out_print(&env->out, "%s\n", path);
        return BZ_CMD_EXIT_SUCCESS;
    }
    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "path"), path);
    bz_jsonw_map_end(&w);
    bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"ls $(bitzel cache path)", "Look into the store itself"},
    {NULL,                      NULL                        },
};

const struct bz_cmd bz_cmd_cache_path = {
    .of = "cache",
    .name = "path",
    .summary = "Print the directory of the store, or the file of a key",
    .detail = "Prints where the store is, whether or not it is there yet; with KEY the "
              "file of that result or blob.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct path_values),
    .run = run,
};
