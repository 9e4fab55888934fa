/* larder.h - a project of two recipes with a store, for what is kept beside results. */
#ifndef BZ_TEST_BUILD_LARDER_H
#define BZ_TEST_BUILD_LARDER_H

#include "build/filing.h"
#include "sig/recording.h"
#include "tests/unit/recipe/files.h"

static const struct file larder_files[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"},
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"             },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"       },
    {"layer/classes/base.bbclass",
     "addtask make\naddtask build after do_make\ndo_build[noexec] = \"1\"\n"
     "do_make[deptask] = \"do_build\"\ndo_make() {\n    : ${A}\n}\n"
     "do_build() {\n    :\n}\n"                                                    },
    {"layer/app.bb",               "DEPENDS = \"lib\"\nA = \"1\"\n"                },
    {"layer/lib.bb",               "A = \"1\"\n"                                   },
};

/* All that a build of app knows when it is over. */
struct larder {
    struct bz_catalog p;
    struct bz_goal g;
    struct bz_signing s;
    struct bz_record r;
    struct bz_str *names;
    struct bz_arena arena;
    struct bz_bitset made; /* all that has something to run */
    struct bz_cache *cache;
};

static inline void larder_open(struct larder *l, struct world *w)
{
    static const char *const target = "app";
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    struct bz_cache_opts cache = {
        .root = at(w, "store").p, .store = {BZ_SHELF_WRITE, BZ_FS_NOSYNC}
    };
    BZ_CLEANUP(bz_buf_release) struct bz_buf notes = {0}, why = {0}, name = {0};

    *l = (struct larder){0};
    assert_ok(bz_catalog_open(&l->p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&l->p, &w->err), &w->err);
    l->g.survey = &l->p.survey;
    assert_ok(bz_goal_open(&l->g, &goal, &notes, &why, &w->err), &w->err);
    assert_ok(bz_signing_run(&l->s, &l->p, &l->g, &w->err), &w->err);
    assert_ok(bz_recording_run(&l->r, &l->s, &l->p, &l->g, &w->err), &w->err);
    l->names = BZ_ARENA_ARRAY(&l->arena, struct bz_str, l->g.graph.dag.n);
    for (uint32_t t = 0; t < l->g.graph.dag.n; t++) {
        bz_buf_truncate(&name, 0);
        bz_goal_task_name(&l->g, t, &name);
        l->names[t] = bz_arena_dup(&l->arena, bz_buf_str(&name));
        if (!l->g.graph.tasks[t].facts->noexec)
            bz_bitset_set(&l->made, t);
    }
    assert_ok(bz_cache_open(&cache, &l->cache, &w->err), &w->err);
}

static inline void larder_file(struct larder *l, struct world *w)
{
    assert_ok(bz_filing_put(l->cache, &l->r, &l->g.graph, l->names, &l->made, &w->err),
              &w->err);
}

static inline void larder_close(struct larder *l)
{
    bz_cache_close(l->cache);
    bz_bitset_release(&l->made);
    bz_record_release(&l->r);
    bz_signing_release(&l->s);
    bz_goal_close(&l->g);
    bz_catalog_close(&l->p);
    bz_arena_release(&l->arena);
}

/* Whether there is a record of the task as it is now. */
static inline bool larder_has(struct larder *l, const char *task, struct bz_digest *key)
{
    struct bz_digest_hasher *h;
    struct bz_err err;

    assert_ok(bz_digest_hasher_new(&h, &err), &err);
    bz_action_record_key(h, &bz_record_find(&l->r, bz_str_from(task))->key, key);
    bz_digest_hasher_free(h);
    return bz_action_has(bz_cache_cas(l->cache), key);
}

#endif
