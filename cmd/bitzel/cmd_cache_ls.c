#include <fnmatch.h>
#include <string.h>

#include "cache_view.h"
#include "cmd_open_cache.h"

struct ls_values {
    const char *pattern, *task;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct ls_values, task, 0, "task", "TASK",
                "Only results of tasks whose name matches"),
    BZ_OPT_FLAG(struct ls_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct ls_values, pattern, "RECIPE",
                 "Only results of recipes whose name matches, as file names match in a "
                 "shell"),
    BZ_OPT_END,
};

/* A result in the list, and what it weighs with all its blobs. */
struct line {
    const struct bz_inventory_result *r;
    struct bz_str recipe, task;
    uint64_t bytes;
};
struct lines BZ_VEC(struct line);

static int by_name(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int cmp = bz_str_cmp(x->recipe, y->recipe);

    if (cmp == 0)
        cmp = bz_str_cmp(x->task, y->task);
    if (cmp == 0)
        cmp = (x->r->used < y->r->used) - (x->r->used > y->r->used);
    return cmp != 0 ? cmp : bz_digest_cmp(&x->r->key, &y->r->key);
}

static void add_bytes(void *ctx, struct bz_inventory_blob *b)
{
    uint64_t *bytes = ctx;

    *bytes += b->bytes;
}

static void collect(const struct ls_values *v, struct bz_inventory *all,
                    struct lines *out)
{
    for (size_t i = 0; i < all->results.len; i++) {
        const struct bz_inventory_result *r = &all->results.at[i];
        struct line line = {.r = r,
                            .recipe = bz_intern_str(&all->names, r->recipe),
                            .task = bz_intern_str(&all->names, r->task),
                            .bytes = r->bytes};

        if (r->record && !v->task)
            continue; /* beside the results */
        if ((v->pattern && fnmatch(v->pattern, line.recipe.p, 0) != 0) ||
            (v->task && fnmatch(v->task, line.task.p, 0) != 0))
            continue;
        bz_inventory_count(all, r, true, add_bytes, &line.bytes);
        bz_inventory_count(all, r, false, NULL, NULL);
        BZ_VEC_PUSH(out, line);
    }
    BZ_VEC_SORT(out, by_name);
}

static const char *state_of(const struct bz_inventory_result *r)
{
    if (r->damaged)
        return "damaged";
    if (r->broken)
        return "incomplete";
    return r->sealed ? "ok" : "unsealed";
}

static void show_text(struct bz_out *out, const struct lines *lines, int64_t now)
{
    char hex[BZ_DIGEST_HEX_LEN + 1], size[BZ_CACHE_VIEW_TEXT], age[BZ_CACHE_VIEW_TEXT],
        span[BZ_CACHE_VIEW_TEXT];

    for (size_t i = 0; i < lines->len; i++) {
        const struct line *l = &lines->at[i];

        bz_digest_hex(&l->r->key, hex);
        bz_out_print(out, "%.*s  %-10s %8s %8s %9s  ", BZ_CACHE_VIEW_DIGITS, hex,
                     state_of(l->r), bz_cache_view_size(l->bytes, size),
                     bz_cache_view_age(now - l->r->used, age),
                     bz_cache_view_span(l->r->duration, span));
        bz_out_plain(out, l->recipe.p, l->recipe.n);
        bz_out_print(out, " ");
        bz_out_plain(out, l->task.p, l->task.n);
        bz_out_print(out, "\n");
    }
}

static void show_json(struct bz_out *out, const struct lines *lines)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "results"));
    for (size_t i = 0; i < lines->len; i++) {
        const struct line *l = &lines->at[i];

        bz_jsonw_map(&w);
        bz_cache_view_json_digest(&w, "key", &l->r->key);
        bz_jsonw_str(bz_jsonw_key(&w, "recipe"), l->recipe);
        bz_jsonw_str(bz_jsonw_key(&w, "task"), l->task);
        bz_jsonw_cstr(bz_jsonw_key(&w, "state"), state_of(l->r));
        bz_jsonw_int(bz_jsonw_key(&w, "bytes"), (int64_t)l->bytes);
        bz_cache_view_json_seconds(&w, "used", l->r->used);
        bz_cache_view_json_seconds(&w, "duration", l->r->duration);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct ls_values *v = values;
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    BZ_CLEANUP(bz_inventory_release) struct bz_inventory all = {0};
    BZ_CLEANUP(bz_vec_release) struct lines lines = {0};
    struct bz_cache_view_progress progress;
    int rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);

    if (rc < 0)
        return rc;
    bz_cache_view_begin(&progress, env);
    rc = bz_inventory_take(bz_cache_cas(c), bz_cache_view_seen, &progress, &all, err);
    bz_cache_view_end(&progress, env);
    if (rc < 0)
        return rc;
    collect(v, &all, &lines);
    if (lines.len == 0 && (v->pattern || v->task))
        return bz_fail(err, BZ_E_NOENT, "no result in the store matches");
    if (v->json)
        show_json(&env->out, &lines);
    else
        show_text(&env->out, &lines, bz_shelf_now(&bz_cache_cas(c)->root));
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel cache ls busybox --task do_compile", "List the results of one task"},
    {NULL,                                        NULL                          },
};

const struct bz_cmd bz_cmd_cache_ls = {
    .of = "cache",
    .name = "ls",
    .summary = "List the results in the store",
    .detail =
        "Lists each result: the first digits of its key, whether it is whole, its "
        "size with all its blobs, when it was last used, how long it took to make, "
        "recipe and task. Results of other programs have no seal and no names.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct ls_values),
    .run = run,
};
