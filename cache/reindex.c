#include "cache/reindex.h"

#include "base/mem.h"
#include "base/vec.h"
#include "cache/action.h"
#include "cache/trash.h"
#include "os/clock.h"
#include "os/fs_walk.h"

struct job {
    struct bz_cas *cas;
    struct bz_index *index;
    struct bz_digest_hasher *h;
    struct bz_reindex_stats *stats;
};

struct digest_list BZ_VEC(struct bz_reapi_digest);

static void add(struct digest_list *l, const struct bz_reapi_digest *d)
{
    if (!bz_reapi_digest_none(d))
        BZ_VEC_PUSH(l, *d);
}

struct bz_str bz_reindex_label(const struct bz_reapi_result *r, struct bz_str type)
{
    for (size_t i = 0; i < r->naux; i++)
        if (bz_str_eq(r->aux[i].type, type))
            return r->aux[i].value;
    return (struct bz_str){0};
}

int64_t bz_reindex_duration(const struct bz_reapi_result *r)
{
    const struct bz_reapi_time *a = &r->when[BZ_REAPI_RUN_START];
    const struct bz_reapi_time *b = &r->when[BZ_REAPI_RUN_DONE];
    int64_t s;

    if (!a->set || !b->set || __builtin_sub_overflow(b->s, a->s, &s) || s < 0 ||
        s > INT64_MAX / BZ_CLOCK_S - 1)
        return 0;
    return s * BZ_CLOCK_S + b->ns - a->ns;
}

void bz_reindex_result(struct bz_index *index, const struct bz_digest *key,
                       const struct bz_reapi_result *r, int64_t used)
{
    BZ_CLEANUP(bz_vec_release) struct digest_list blobs = {0};
    struct bz_index_action a = {.key = *key,
                                .recipe = bz_reindex_label(r, BZ_STR(BZ_ACTION_RECIPE)),
                                .task = bz_reindex_label(r, BZ_STR(BZ_ACTION_TASK)),
                                .used = used,
                                .duration = bz_reindex_duration(r)};

    for (size_t i = 0; i < r->nfiles; i++)
        add(&blobs, &r->files[i].digest);
    for (size_t i = 0; i < r->ndirs; i++) {
        add(&blobs, &r->dirs[i].tree);
        add(&blobs, &r->dirs[i].root);
    }
    add(&blobs, &r->out);
    add(&blobs, &r->error);
    for (size_t i = 0; i < blobs.len; i++)
        a.bytes += blobs.at[i].size;
    bz_index_note_action(index, &a, blobs.at, blobs.len);
}

/* The files of all directories of a tree. */
static int note_tree(struct job *job, const struct bz_reapi_digest *d, int64_t used)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_vec_release) struct digest_list files = {0};
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_reapi_tree tree;
    struct bz_err err;

    if (bz_cas_read(job->cas, job->h, d, BZ_REAPI_TREE_MAX, &bytes, &err) < 0 ||
        bz_reapi_tree_decode(&a, bz_str_of(bytes, d->size), &tree, &err) < 0)
        return -1;
    for (size_t i = 0; i < tree.ndirs; i++) {
        struct bz_reapi_dir dir;

        if (bz_reapi_dir_decode(&a, tree.dirs[i], &dir, &err) < 0)
            return -1;
        for (size_t k = 0; k < dir.nfiles; k++)
            add(&files, &dir.files[k].digest);
    }
    bz_index_note_blob(job->index, d, used, files.at, files.len);
    return 0;
}

static int visit_blob(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct job *job = ctx;
    struct bz_reapi_digest d;

    if (S_ISREG(e->st->st_mode) &&
        bz_digest_parse(bz_str_from(e->name), &d.hash, err) == 0) {
        d.size = (uint64_t)e->st->st_size;
        bz_index_note_blob(job->index, &d, bz_trash_last_use(e->st), NULL, 0);
        job->stats->blobs++;
    }
    return BZ_FS_WALK_ON;
}

static int visit_action(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct job *job = ctx;
    struct bz_reapi_result r;
    struct bz_digest key;

    if (!S_ISREG(e->st->st_mode) ||
        bz_digest_parse(bz_str_from(e->name), &key, err) < 0 ||
        bz_action_get(job->cas, job->h, &key, BZ_ACTION_ANYONE, &a, &r, err) < 0)
        return BZ_FS_WALK_ON;
    bz_reindex_result(job->index, &key, &r, bz_trash_last_use(e->st));
    for (size_t i = 0; i < r.ndirs; i++)
        if (!bz_reapi_digest_none(&r.dirs[i].tree))
            (void)note_tree(job, &r.dirs[i].tree, bz_trash_last_use(e->st));
    job->stats->actions++;
    return BZ_FS_WALK_ON;
}

int bz_reindex(struct bz_cas *cas, struct bz_index *index,
               struct bz_reindex_stats *stats, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct job job = {.cas = cas, .index = index};
    int rc = bz_digest_hasher_new(&h, err);

    *stats = (struct bz_reindex_stats){0};
    job.h = h;
    job.stats = stats;
    if (rc == 0)
        rc = bz_index_clear(index, err);
    if (rc == 0 && cas->blobs.dir >= 0)
        rc = bz_fs_walk(cas->blobs.dir, ".", visit_blob, &job, err);
    if (rc == 0 && cas->actions.dir >= 0)
        rc = bz_fs_walk(cas->actions.dir, ".", visit_action, &job, err);
    return rc < 0 ? rc : bz_index_flush(index, err);
}
