/* cmd_open.h - from the current directory to an open project, for the commands that
 * need one. */
#ifndef BZ_CMD_CMD_OPEN_H
#define BZ_CMD_CMD_OPEN_H

#include "cmd.h"
#include "pipeline/pipeline.h"

/* Opens the build directory that the working directory, BUILDDIR or BBPATH lead
 * to. What the parser has to say goes to standard error. Close *p in any case.
 */
int bz_cmd_open_project(struct bz_cmd_env *env, struct bz_pipeline *p,
                        struct bz_err *err) BZ_MUST_CHECK;

/* Shows what the parser has had to say since. */
void bz_cmd_open_diags(struct bz_cmd_env *env, struct bz_pipeline *p);

#endif
