/* cmd_open.h - builds that commands open, for the project that the line or the
 * environment names, or that the working directory is in. */
#ifndef BZ_CMD_CMD_OPEN_H
#define BZ_CMD_CMD_OPEN_H

#include "build/build.h"
#include "cmd.h"

/* Runs the stages up to `last`, and shows what they have to say. Options that the
 * command line and the settings do not decide are set before. Evaluating recipes is
 * shown with a line of progress on a terminal when it takes long. Close *b in any case.
 */
int bz_cmd_open_build(struct bz_cmd_env *env, struct bz_build *b,
                      enum bz_build_stage last, struct bz_err *err) BZ_MUST_CHECK;

/* The project and its configurations, without its recipes. */
int bz_cmd_open_project(struct bz_cmd_env *env, struct bz_build *b,
                        struct bz_err *err) BZ_MUST_CHECK;

/* Shows what a stage has to say: of struct bz_build_opts; ctx is the environment. A
 * command may set one of its own that calls it. */
void bz_cmd_open_ended(void *ctx, struct bz_build *b, int rc);

/* Tells what to do about repositories that are not there. `kas` may be NULL. */
void bz_cmd_open_advise(struct bz_cmd_env *env, const struct bz_kas *kas);

/* Shows what the parser has had to say since. */
void bz_cmd_open_diags(struct bz_cmd_env *env, struct bz_catalog *p);

/* For a command without targets: those of the project's kas file, with its task unless
 * *task is set. BZ_E_INVAL if the project is no kas file. Texts are the arena's. */
int bz_cmd_open_defaults(struct bz_cmd_env *env, struct bz_arena *a,
                         struct bz_opt_list *targets, const char **task,
                         struct bz_err *err) BZ_MUST_CHECK;

/* Warns that Python functions were not run, unless there are none. */
void bz_cmd_open_warn_python(struct bz_cmd_env *env, size_t functions);

/* The same for those of a recipe, or else of a configuration. */
int bz_cmd_open_warn_meta(struct bz_cmd_env *env, struct bz_meta *m, bool recipe,
                          struct bz_err *err) BZ_MUST_CHECK;

#endif
