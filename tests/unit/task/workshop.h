/* workshop.h - a project with two layers and one recipe, ready to make jobs. */
#ifndef BZ_TEST_TASK_WORKSHOP_H
#define BZ_TEST_TASK_WORKSHOP_H

#include "task/jobs.h"
#include "tests/unit/sig/bench.h"

struct workshop {
    struct bench b;
    struct bz_ground ground;
    struct bz_jobs j;
};

/* With the files as they are. */
static inline void workshop_begin(struct workshop *s, struct world *w)
{
    *s = (struct workshop){0};
    bench_begin(&s->b, w);
    bz_ground_usual(&s->ground);
    assert_ok(bz_jobs_open(&s->j, &s->b.p, &s->b.g, &s->ground, &w->err), &w->err);
    s->j.signing = &s->b.s;
}

static inline void workshop_open(struct workshop *s, struct world *w)
{
    bench_files(w);
    workshop_begin(s, w);
}

static inline void workshop_close(struct workshop *s)
{
    bz_jobs_release(&s->j);
    bench_close(&s->b);
}

#endif
