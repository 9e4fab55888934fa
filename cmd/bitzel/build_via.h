/* build_via.h - a build that `bitzel serve` runs, shown as if it ran here.
 *
 * What the build prints comes as messages and is printed as it is; the lines of a live
 * console are made from its events, as here.
 */
#ifndef BZ_CMD_BUILD_VIA_H
#define BZ_CMD_BUILD_VIA_H

#include "build_screen.h"
#include "cmd.h"

struct bz_build_via_opts {
    const char *socket;        /* its path, or "auto" */
    const struct bz_opt *rows; /* of `build`, and what they filled: */
    const void *values;
    const struct bz_opt_list *targets;
    const char *events; /* a file for the events, "-" for stdout, or NULL */
    bool json, dry;     /* as the options say */
    enum bz_build_screen_how console;
};

/* The exit status of the build, or an error of ours. */
int bz_build_via_run(struct bz_cmd_env *env, const struct bz_build_via_opts *o,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
