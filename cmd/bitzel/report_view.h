/* report_view.h - what a build did, as text and as Markdown. */
#ifndef BZ_CMD_REPORT_VIEW_H
#define BZ_CMD_REPORT_VIEW_H

#include "past_build.h"
#include "report/tally.h"
#include "report/traffic.h"
#include "table_view.h"

struct bz_report_view {
    struct bz_past_build build;
    struct bz_past_causes why;
    struct bz_shape shape;
    struct bz_tally recipes, waves;
    struct bz_dag_ids slowest;
    struct bz_traffic downloads;
};

#define BZ_REPORT_VIEW_SLOWEST 20

/* Reads and adds up all that is shown. Close *r in any case. */
int bz_report_view_open(struct bz_cmd_env *env, const char *which,
                        struct bz_report_view *r, struct bz_err *err) BZ_MUST_CHECK;
void bz_report_view_close(struct bz_report_view *r);

void bz_report_view_print(const struct bz_report_view *r, struct bz_out *out,
                          enum bz_table_view_form form);

#endif
