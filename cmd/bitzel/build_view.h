/* build_view.h - what `build` prints: a line for each task that ends, and the end. */
#ifndef BZ_CMD_BUILD_VIEW_H
#define BZ_CMD_BUILD_VIEW_H

#include "build/build.h"
#include "build_failure.h"
#include "build_screen.h"
#include "exec/event.h"
#include "out.h"
#include "report/traffic.h"

struct bz_build_view {
    struct bz_out *log;
    struct bz_out *out;         /* for what a dry run tells; or NULL */
    const struct bz_str *names; /* [tasks] */
    const struct bz_build *build;
    bool quiet, verbose;
    struct bz_build_screen *screen; /* where the log goes; NULL: nothing but lines */
    struct bz_build_failure failure;
    struct bz_dag_ids
        wanted; /* of a dry run: what would run, and of these those that */
    struct bz_dag_ids unless;      /* do so unless their inputs come out equal */
    struct bz_traffic_sum traffic; /* as events told it */
    struct bz_arena arena;
    struct bz_map clashes; /* paths that tasks write differently and that were told */
    size_t untold;         /* more tasks that write one of these */
};

void bz_build_view_release(struct bz_build_view *v);

/* A bz_event_fn; ctx is a struct bz_build_view. */
void bz_build_view_event(void *ctx, const struct bz_event *e);

/* The last line; what came from elsewhere and went there is told if there is any. */
void bz_build_view_end(struct bz_out *out, const struct bz_build_view *v,
                       const struct bz_event_counts *n, int64_t ns, int rc);
/* The last line of a dry run. */
void bz_build_view_dry(struct bz_out *out, const struct bz_event_counts *n);
/* One object; of a dry run with the tasks that would run, and which of these only
 * perhaps. */
void bz_build_view_json(struct bz_out *out, const struct bz_build_view *v,
                        const struct bz_event_counts *n, int64_t ns, int rc);

#endif
