/* bench.h - a project with two layers and one recipe, signed. */
#ifndef BZ_TEST_SIG_BENCH_H
#define BZ_TEST_SIG_BENCH_H

#include "sig/signing.h"
#include "tests/unit/recipe/files.h"

static const struct file bench_project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\n"
     "BBLAYERS = \"${TOPDIR}/../layer ${TOPDIR}/../more/layer\"\n"      },
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"
     "ONE := \"${LAYERDIR}\"\n"                                         },
    {"more/layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nTWO := \"${LAYERDIR}\"\n"
     "BBFILE_COLLECTIONS += \"two\"\nBBFILE_PATTERN_two = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_COMPAT_two = \"x\"\n"                                 },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"
     "WORKDIR = \"${TOPDIR}/tmp/work/${PN}\"\nT = \"${WORKDIR}/temp\"\n"
     "D = \"${WORKDIR}/image\"\nDEPLOY_DIR = \"${TOPDIR}/tmp/deploy\"\n"},
    {"layer/classes/base.bbclass",
     "addtask build\ndo_build() {\n    : ${WORKDIR} ${ONE}/f ${ONE}more ${TWO} "
     "${@os.path.normpath(d.getVar('ONE'))}/tidy\n}\n"                  },
    {"layer/app.bb",               "do_build[network] = \"1\"\n"        },
};

struct bench {
    struct bz_catalog p;
    struct bz_goal g;
    struct bz_signing s;
};

static inline void bench_files(struct world *w)
{
    put_files(w, bench_project, BZ_COUNTOF(bench_project));
}

/* With the files as they are. */
static inline void bench_begin(struct bench *b, struct world *w)
{
    static const char *const target = "app";
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    struct bz_buf notes = {0}, why = {0};

    *b = (struct bench){0};
    assert_ok(bz_catalog_open(&b->p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&b->p, &w->err), &w->err);
    b->g.survey = &b->p.survey;
    assert_ok(bz_goal_open(&b->g, &goal, &notes, &why, &w->err), &w->err);
    assert_ok(bz_signing_run(&b->s, &b->p, &b->g, &w->err), &w->err);
    bz_buf_release(&notes);
    bz_buf_release(&why);
}

static inline void bench_open(struct bench *b, struct world *w)
{
    bench_files(w);
    bench_begin(b, w);
}

static inline void bench_close(struct bench *b)
{
    bz_signing_release(&b->s);
    bz_goal_close(&b->g);
    bz_catalog_close(&b->p);
}

#endif
