#include <string.h>

#include "base/mem.h"
#include "cache/expanded.h"
#include "cache_view.h"
#include "cmd_open_cache.h"

struct du_values {
    bool tasks, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct du_values, tasks, 0, "tasks", "One line for each task"),
    BZ_OPT_FLAG(struct du_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

/* The results of one recipe, or of one task of it. */
struct group {
    struct bz_str recipe, task;
    uint64_t results, bytes, own; /* own: what nobody else needs */
};
struct groups BZ_VEC(struct group);

struct usage {
    struct bz_inventory v;
    struct bz_expanded laid_out;
    struct groups groups;
    uint32_t *of;   /* the group of each result */
    uint32_t *last; /* of each blob: the group that was last seen to need it, plus 1 */
    bool *shared;   /* of each blob */
    uint64_t unused;
    uint64_t failed; /* of what is laid out: left by tasks that failed */
};

static void release(struct usage *u)
{
    bz_inventory_release(&u->v);
    bz_expanded_release(&u->laid_out);
    bz_vec_release(&u->groups);
    free(u->of);
    free(u->last);
    free(u->shared);
}

static void make_groups(struct usage *u, bool tasks)
{
    BZ_CLEANUP(bz_map_release) struct bz_map known = {0};

    u->of = bz_mem_array(u->v.results.len + 1, sizeof(*u->of));
    for (size_t i = 0; i < u->v.results.len; i++) {
        const struct bz_inventory_result *r = &u->v.results.at[i];
        uint64_t id = (uint64_t)r->recipe.i << 32 | (tasks ? r->task.i : 0);
        struct bz_map_entry *e = bz_map_put_u64(&known, id);

        if (e->u == 0) {
            BZ_VEC_PUSH(
                &u->groups,
                (struct group){.recipe = bz_intern_str(&u->v.names, r->recipe),
                               .task = bz_intern_str(
                                   &u->v.names, tasks ? r->task : (struct bz_sym){0})});
            e->u = u->groups.len;
        }
        u->of[i] = (uint32_t)e->u - 1;
    }
}

static void need(struct usage *u, uint32_t group, uint32_t blob)
{
    uint32_t before = u->last[blob];
    const struct bz_inventory_blob *b = &u->v.blobs.at[blob];

    u->last[blob] = group + 1;
    u->groups.at[group].bytes += b->bytes;
    if (before == 0) {
        u->groups.at[group].own += b->bytes;
    } else if (!u->shared[blob]) {
        u->shared[blob] = true;
        u->groups.at[before - 1].own -= b->bytes;
    }
}

/* All blobs of one result, each once for its group. */
static void walk(struct usage *u, uint32_t group, const struct bz_inventory_result *r)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_inventory_node) left = {0};

    BZ_VEC_PUSH(&left, (struct bz_inventory_node){.first = r->first, .n = r->n});
    while (left.len > 0) {
        struct bz_inventory_node some = BZ_VEC_POP(&left);

        for (size_t i = 0; i < some.n; i++) {
            uint32_t blob = u->v.edges.at[some.first + i];

            if (u->last[blob] == group + 1)
                continue;
            need(u, group, blob);
            if (u->v.blobs.at[blob].node > 0)
                BZ_VEC_PUSH(&left, u->v.nodes.at[u->v.blobs.at[blob].node - 1]);
        }
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int cmp = (x->bytes < y->bytes) - (x->bytes > y->bytes); /* the largest first */

    if (cmp == 0)
        cmp = bz_str_cmp(x->recipe, y->recipe);
    return cmp != 0 ? cmp : bz_str_cmp(x->task, y->task);
}

/* Group by group, so that `last` tells a blob of this one from another's. */
static void measure(struct usage *u, bool tasks)
{
    make_groups(u, tasks);
    u->last = bz_mem_array(u->v.blobs.len + 1, sizeof(*u->last));
    u->shared = bz_mem_array(u->v.blobs.len + 1, sizeof(*u->shared));
    memset(u->last, 0, u->v.blobs.len * sizeof(*u->last));
    memset(u->shared, 0, u->v.blobs.len * sizeof(*u->shared));
    for (uint32_t g = 0; g < u->groups.len; g++)
        u->groups.at[g].results = 0;
    for (size_t i = 0; i < u->v.results.len; i++) {
        struct group *g = &u->groups.at[u->of[i]];

        g->results++;
        g->bytes += u->v.results.at[i].bytes;
        g->own += u->v.results.at[i].bytes;
    }
}

struct ordered {
    uint32_t group, result;
};
struct order BZ_VEC(struct ordered);

static int by_group(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    return (x->group > y->group) - (x->group < y->group);
}

static void add_up(struct usage *u)
{
    BZ_CLEANUP(bz_vec_release) struct order order = {0};

    for (size_t i = 0; i < u->v.results.len; i++)
        BZ_VEC_PUSH(&order, (struct ordered){u->of[i], (uint32_t)i});
    BZ_VEC_SORT(&order, by_group);
    for (size_t i = 0; i < order.len; i++)
        walk(u, order.at[i].group, &u->v.results.at[order.at[i].result]);
    for (size_t i = 0; i < u->v.blobs.len; i++)
        if (u->last[i] == 0)
            u->unused += u->v.blobs.at[i].bytes;
    BZ_VEC_SORT(&u->groups, by_bytes);
}

static void show_text(struct bz_out *out, const struct usage *u)
{
    char bytes[BZ_CACHE_VIEW_TEXT], own[BZ_CACHE_VIEW_TEXT];

    bz_out_print(out, "%9s %9s %8s  %s\n", "size", "own", "results", "of");
    for (size_t i = 0; i < u->groups.len; i++) {
        const struct group *g = &u->groups.at[i];

        bz_out_print(out, "%9s %9s %8llu  ", bz_cache_view_size(g->bytes, bytes),
                     bz_cache_view_size(g->own, own), (unsigned long long)g->results);
        if (g->recipe.n > 0)
            bz_out_plain(out, g->recipe.p, g->recipe.n);
        else
            bz_out_print(out, "(no name)");
        bz_out_print(out, "%s", g->task.n > 0 ? " " : "");
        bz_out_plain(out, g->task.p, g->task.n);
        bz_out_print(out, "\n");
    }
    bz_out_print(out, "%9s %9s %8s  not needed by any result\n",
                 bz_cache_view_size(u->unused, bytes), "", "");
    if (u->laid_out.bytes > u->failed)
        bz_out_print(out, "%9s %9s %8s  laid out for builds\n",
                     bz_cache_view_size(u->laid_out.bytes - u->failed, bytes), "", "");
    if (u->failed > 0)
        bz_out_print(out, "%9s %9s %8s  left by tasks that failed\n",
                     bz_cache_view_size(u->failed, bytes), "", "");
    bz_out_print(out, "%9s %9s %8zu  in all\n",
                 bz_cache_view_size(u->v.bytes + u->laid_out.bytes, bytes), "",
                 u->v.results.len);
}

static void show_json(struct bz_out *out, const struct usage *u)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "groups"));
    for (size_t i = 0; i < u->groups.len; i++) {
        const struct group *g = &u->groups.at[i];

        bz_jsonw_map(&w);
        bz_jsonw_str(bz_jsonw_key(&w, "recipe"), g->recipe);
        bz_jsonw_str(bz_jsonw_key(&w, "task"), g->task);
        bz_jsonw_int(bz_jsonw_key(&w, "results"), (int64_t)g->results);
        bz_jsonw_int(bz_jsonw_key(&w, "bytes"), (int64_t)g->bytes);
        bz_jsonw_int(bz_jsonw_key(&w, "own_bytes"), (int64_t)g->own);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_int(bz_jsonw_key(&w, "unused_bytes"), (int64_t)u->unused);
    bz_jsonw_int(bz_jsonw_key(&w, "results"), (int64_t)u->v.results.len);
    bz_jsonw_int(bz_jsonw_key(&w, "blobs"), (int64_t)u->v.blobs.len);
    bz_jsonw_int(bz_jsonw_key(&w, "laid_out_bytes"),
                 (int64_t)(u->laid_out.bytes - u->failed));
    bz_jsonw_int(bz_jsonw_key(&w, "failed_bytes"), (int64_t)u->failed);
    bz_jsonw_int(bz_jsonw_key(&w, "bytes"), (int64_t)(u->v.bytes + u->laid_out.bytes));
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct du_values *v = values;
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    BZ_CLEANUP(release) struct usage u = {0};
    struct bz_cache_view_progress progress;
    int rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);

    if (rc < 0)
        return rc;
    bz_cache_view_begin(&progress, env);
    rc = bz_inventory_take(bz_cache_cas(c), bz_cache_view_seen, &progress, &u.v, err);
    bz_cache_view_end(&progress, env);
    if (rc < 0)
        return rc;
    bz_expanded_take(&bz_cache_cas(c)->root, bz_shelf_now(&bz_cache_cas(c)->root),
                     &u.laid_out);
    for (size_t i = 0; i < u.laid_out.items.len; i++)
        if (u.laid_out.items.at[i].kind == BZ_EXPANDED_FAILED)
            u.failed += u.laid_out.items.at[i].bytes;
    measure(&u, v->tasks);
    add_up(&u);
    if (v->json)
        show_json(&env->out, &u);
    else
        show_text(&env->out, &u);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel cache du --tasks", "See which tasks take the space"},
    {NULL,                      NULL                            },
};

const struct bz_cmd bz_cmd_cache_du = {
    .of = "cache",
    .name = "du",
    .summary = "Show what takes the space in the store",
    .detail = "Shows for each recipe, or with --tasks for each task, what its results "
              "take on the disk with all their blobs, and how much of that no other "
              "recipe needs. What several share is counted for each of them. Reads the "
              "files, not the index.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct du_values),
    .run = run,
};
