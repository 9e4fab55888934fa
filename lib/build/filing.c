#include "build/filing.h"

#include "os/clock.h"

#define BURST 1024                 /* records at once: uploads have a queue */
#define PATIENCE (30 * BZ_CLOCK_S) /* with them, in all */

struct filing {
    struct bz_cache *cache;
    const struct bz_record *r;
    const struct bz_tgraph *graph;
    const struct bz_str *names;
    const struct bz_bitset *made;
    struct bz_digest_hasher *hasher;
    size_t put;
    int64_t deadline;
};

/* The key under which the record of a task has to be filed now. */
static bool is_due(const struct filing *f, uint32_t t, struct bz_digest *key)
{
    const struct bz_record_task *task = bz_record_find(f->r, f->names[t]);

    if (!task || (!bz_bitset_test(f->made, t) && !f->graph->tasks[t].facts->noexec))
        return false;
    bz_action_record_key(f->hasher, &task->key, key);
    return !bz_action_has(bz_cache_cas(f->cache), key);
}

/* The tasks of the recipe that has the task `name`: they are beside each other, since
 * they begin with its name. */
static int put_blob(struct filing *f, struct bz_str name, struct bz_reapi_digest *out,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str prefix = bz_str_of(name.p, bz_str_rfind_byte(name, ':') + 1);
    size_t first = (size_t)(bz_record_find(f->r, name) - f->r->tasks.at), last = first;
    int rc;

    while (first > 0 && bz_str_starts(f->r->tasks.at[first - 1].name, prefix))
        first--;
    while (last < f->r->tasks.len && bz_str_starts(f->r->tasks.at[last].name, prefix))
        last++;
    bz_record_pack(f->r, first, last - first, &text);
    rc = bz_cas_put(bz_cache_cas(f->cache), f->hasher, text.data, text.len, out, err);
    if (rc == 0)
        bz_index_note_blob(bz_cache_index(f->cache), out, bz_clock_wall(), NULL, 0);
    return rc;
}

static int put_recipe(struct filing *f, uint32_t recipe, struct bz_err *err)
{
    const struct bz_tgraph_recipe *r = &f->graph->recipes[recipe];
    const struct bz_cache_labels labels = {r->facts->pn, BZ_STR(BZ_ACTION_RECORD)};
    struct bz_reapi_outfile file = {.path = BZ_STR(BZ_ACTION_RECORD)};
    const struct bz_reapi_result result = {.files = &file, .nfiles = 1};
    struct bz_digest key;
    enum bz_action_put how;
    int rc = 0;

    for (uint32_t t = r->first; t < r[1].first && rc == 0; t++) {
        if (!is_due(f, t, &key))
            continue;
        if (bz_reapi_digest_none(&file.digest))
            rc = put_blob(f, f->names[t], &file.digest, err);
        if (rc == 0)
            rc = bz_cache_put(f->cache, f->hasher, &key, &result, &labels, &how, err);
        if (rc == 0 && ++f->put % BURST == 0 && bz_cache_upload(f->cache))
            (void)bz_upload_flush(bz_cache_upload(f->cache), f->deadline);
    }
    return rc;
}

int bz_filing_put(struct bz_cache *cache, const struct bz_record *r,
                  const struct bz_tgraph *graph, const struct bz_str *names,
                  const struct bz_bitset *made, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    struct filing f = {
        .cache = cache, .r = r, .graph = graph, .names = names, .made = made};
    int rc = bz_digest_hasher_new(&hasher, err);

    f.hasher = hasher;
    f.deadline = bz_clock_in(PATIENCE);
    for (uint32_t i = 0; i < graph->nrecipes && rc == 0; i++)
        rc = put_recipe(&f, i, err);
    return rc;
}
