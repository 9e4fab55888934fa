#include "cache/reindex.h"
#include "cache_view.h"
#include "cmd_open_cache.h"

struct reindex_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct reindex_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct reindex_values *v = values;
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    struct bz_reindex_stats stats = {0};
    int rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);

    if (rc == 0)
        rc = bz_reindex(bz_cache_cas(c), bz_cache_index(c), &stats, err);
    if (rc < 0)
        return rc;
    if (v->json)
        bz_out_print(&env->out, "{\"results\": %llu, \"blobs\": %llu}\n",
                     (unsigned long long)stats.actions,
                     (unsigned long long)stats.blobs);
    else
        bz_out_print(&env->out, "the index knows %llu results and %llu blobs\n",
                     (unsigned long long)stats.actions,
                     (unsigned long long)stats.blobs);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel cache reindex", "Count what other machines put into a shared store"},
    {NULL,                   NULL                                               },
};

const struct bz_cmd bz_cmd_cache_reindex = {
    .of = "cache",
    .name = "reindex",
    .summary = "Make the index anew from what lies in the store",
    .detail = "The index is private to this machine and only saves time; the files of "
              "the store are what counts. Making it anew takes in what others stored, "
              "and loses the count of hits.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct reindex_values),
    .run = run,
};
