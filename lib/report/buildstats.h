/* buildstats.h - a build in the files that OpenEmbedded's buildstats class leaves, for
 * the tools that read these: buildstats-diff, buildstats-summary, pybootchartgui.
 *
 *   DIR/build_stats                     the build
 *   DIR/<recipe>-<version>-r0/do_<task> a task that ran
 *
 * What bitzel does not measure is 0: bytes and blocks read and written, faults. All
 * CPU time counts as that of children in user mode.
 */
#ifndef BZ_REPORT_BUILDSTATS_H
#define BZ_REPORT_BUILDSTATS_H

#include "report/shape.h"

/* Makes `dir` and writes below it; BZ_E_EXISTS if it is there. */
int bz_buildstats_write(const struct bz_account *a, const struct bz_shape *s,
                        const char *dir, struct bz_err *err) BZ_MUST_CHECK;

#endif
