#include "build/history.h"

#include "base/log.h"
#include "build/builds.h"
#include "build/filing.h"
#include "build/retrieval.h"
#include "os/fs.h"
#include "sig/recording.h"

static int write_record(const struct bz_history *b, const struct bz_record *r,
                        const char *file, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    const char *path;
    int rc = bz_builds_make(&arena, b->p->build_dir, b->wall, file, &path, err);

    if (rc < 0)
        return rc;
    bz_record_pack(r, 0, r->tasks.len, &text);
    return bz_fs_write(AT_FDCWD, path, text.data, text.len, 0644, BZ_FS_NOSYNC, err);
}

static bool is_first(const struct bz_history *b)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_builds_found found;
    struct bz_err ignored;

    return bz_builds_find(&arena, b->p->build_dir, NULL, BZ_BUILDS_RECORD, &found,
                          &ignored) == BZ_E_NOENT;
}

/* Only now can it be told from what this build has made. */
static int keep_before(const struct bz_history *b, const struct bz_record *is,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_retrieval_release) struct bz_retrieval found = {0};
    const struct bz_dag_ids *targets = &b->goal->graph.targets;
    const char **dirs = BZ_ARENA_ARRAY(&a, const char *, b->store->tiers.n);
    struct bz_str *names = BZ_ARENA_ARRAY(&a, struct bz_str, targets->len);
    struct bz_retrieval_opts o = {.cache = b->cache,
                                  .dirs = dirs,
                                  .is = is,
                                  .targets = names,
                                  .ntargets = targets->len};
    int rc;

    for (size_t i = 0; i < b->store->tiers.n; i++)
        if (b->store->tiers.specs[i].kind == BZ_TIER_SPEC_DIR)
            dirs[o.ndirs++] = b->store->tiers.specs[i].place.p;
    for (size_t i = 0; i < targets->len; i++)
        names[i] = b->names[targets->at[i]];
    rc = bz_retrieval_run(&found, &o, err);
    if (rc == BZ_E_NOENT)
        return 0; /* then all is new */
    return rc < 0 ? rc : write_record(b, &found.was, BZ_BUILDS_BEFORE, err);
}

int bz_history_keep(const struct bz_history *b, const struct bz_signing *s,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    bool first = !b->alone && is_first(b);
    struct bz_err ignored;
    int rc = bz_recording_run(&r, s, b->p, b->goal, err);

    if (rc == 0)
        rc = write_record(b, &r, b->whole ? BZ_BUILDS_RECORD : BZ_BUILDS_PARTIAL, err);
    if (rc == 0 && first && keep_before(b, &r, &ignored) < 0)
        bz_log_debug("build", "%s", ignored.msg); /* it is only told a little less */
    return rc < 0
               ? rc
               : bz_filing_put(b->cache, &r, &b->goal->graph, b->names, b->made, err);
}
