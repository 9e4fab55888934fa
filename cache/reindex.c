#include "cache/reindex.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cache/action.h"
#include "cache/shelf_dir.h"
#include "cache/trash.h"
#include "os/clock.h"
#include "os/fs_walk.h"

#define PARTS 512 /* of blobs, then of results */
#define FLUSH_EVERY 1024

struct job {
    struct bz_cas *cas;
    struct bz_index *index;
    struct bz_digest_hasher *h;
    struct bz_cancel *cancel; /* or NULL */
    struct bz_reindex_stats *stats;
    uint64_t noted;
    bool stopped;
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

/* Written as it comes: what others want from the index waits for no more than that. */
static int keep_up(struct job *job, struct bz_err *err)
{
    if (++job->noted % FLUSH_EVERY != 0)
        return BZ_FS_WALK_ON;
    job->stopped = bz_cancel_check(job->cancel) < 0;
    if (job->stopped)
        return BZ_FS_WALK_STOP;
    return bz_index_flush(job->index, err) < 0 ? err->code : BZ_FS_WALK_ON;
}

static int visit_blob(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct job *job = ctx;
    struct bz_reapi_digest d;

    if (!S_ISREG(e->st->st_mode) ||
        bz_digest_parse(bz_str_from(e->name), &d.hash, err) < 0)
        return BZ_FS_WALK_ON;
    d.size = (uint64_t)e->st->st_size;
    bz_index_note_blob(job->index, &d, bz_trash_last_use(e->st), NULL, 0);
    job->stats->blobs++;
    return keep_up(job, err);
}

/* Looking is no use: collectors go by that. */
static bool peek(struct job *job, const struct bz_digest *key, struct bz_arena *a,
                 struct bz_reapi_result *out)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    struct bz_err err;
    size_t n = 0;

    return bz_shelf_peek(&job->cas->actions, key, &fd, &err) == 0 &&
           bz_fs_read_fd(fd, "an action result", BZ_REAPI_MESSAGE_MAX, &bytes, &n,
                         &err) == 0 &&
           bz_reapi_result_decode(a, bz_arena_dup(a, bz_str_of(bytes, n)), job->h, out,
                                  &err) == 0;
}

static int visit_action(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct job *job = ctx;
    struct bz_reapi_result r;
    struct bz_digest key;

    if (!S_ISREG(e->st->st_mode) ||
        bz_digest_parse(bz_str_from(e->name), &key, err) < 0 ||
        !peek(job, &key, &a, &r))
        return BZ_FS_WALK_ON;
    bz_reindex_result(job->index, &key, &r, bz_trash_last_use(e->st));
    for (size_t i = 0; i < r.ndirs; i++)
        if (!bz_reapi_digest_none(&r.dirs[i].tree))
            (void)note_tree(job, &r.dirs[i].tree, bz_trash_last_use(e->st));
    job->stats->actions++;
    return keep_up(job, err);
}

/* Blobs before the results that name them. */
static int fill_part(struct job *job, int part, struct bz_err *err)
{
    bool blobs = part < PARTS / 2;
    BZ_CLEANUP(bz_fs_closep) int dir = -1;
    char name[4];

    snprintf(name, sizeof(name), "%02x", (unsigned)part % (PARTS / 2));
    dir = bz_shelf_dir_fan(blobs ? &job->cas->blobs : &job->cas->actions, name);
    if (dir < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? 0
                   : bz_fail_sys(err, "open %s of the store", name);
    return bz_fs_walk(dir, ".", blobs ? visit_blob : visit_action, job, err);
}

int bz_reindex_fill(struct bz_cas *cas, struct bz_index *index,
                    struct bz_cancel *cancel, struct bz_reindex_stats *stats,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct job job = {.cas = cas, .index = index, .cancel = cancel, .stats = stats};
    int part = bz_index_next_part(index);
    uint64_t noted = 0;
    int rc = bz_digest_hasher_new(&h, err);

    *stats = (struct bz_reindex_stats){0};
    job.h = h;
    if (rc < 0 || part == BZ_INDEX_FILLED)
        return rc;
    for (; part < PARTS; part++) {
        if (bz_cancel_check(cancel) < 0)
            return 0;
        rc = fill_part(&job, part, err);
        if (rc == 0)
            rc = bz_index_flush(index, err);
        if (rc < 0 || job.stopped)
            return rc;
        if (job.noted > noted) /* an empty part is as quickly looked at again */
            bz_index_set_next_part(index, part + 1);
        noted = job.noted;
    }
    bz_index_set_next_part(index, BZ_INDEX_FILLED);
    return 0;
}

int bz_reindex(struct bz_cas *cas, struct bz_index *index,
               struct bz_reindex_stats *stats, struct bz_err *err)
{
    int rc = bz_index_clear(index, err);

    *stats = (struct bz_reindex_stats){0};
    if (rc < 0)
        return rc;
    bz_index_set_next_part(index, 0);
    return bz_reindex_fill(cas, index, NULL, stats, err);
}
