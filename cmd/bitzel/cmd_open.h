/* cmd_open.h - from the current directory to an open project, for the commands that
 * need one. */
#ifndef BZ_CMD_CMD_OPEN_H
#define BZ_CMD_CMD_OPEN_H

#include "cmd.h"
#include "pipeline/goal.h"

/* Opens the project that the line or the environment names, or that the working
 * directory is in. What the parser has to say goes to standard error. Close *p in any
 * case. */
int bz_cmd_open_project(struct bz_cmd_env *env, struct bz_pipeline *p,
                        struct bz_err *err) BZ_MUST_CHECK;

/* The same, but only as far as kas files go. */
int bz_cmd_open_find(struct bz_cmd_env *env, bool ignore_locks, struct bz_pipeline *p,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Tells what to do about repositories that are not there. `kas` may be NULL. */
void bz_cmd_open_advise(struct bz_cmd_env *env, const struct bz_kas *kas);

/* Shows what the parser has had to say since. */
void bz_cmd_open_diags(struct bz_cmd_env *env, struct bz_pipeline *p);

/* Finds the project and surveys its recipes: from the snapshot if nothing has changed,
 * otherwise with a line of progress on a terminal when it takes long. Close *p and
 * release *s in any case, *s first. */
int bz_cmd_open_survey(struct bz_cmd_env *env, struct bz_pipeline *p,
                       struct bz_survey *s, struct bz_err *err) BZ_MUST_CHECK;

/* The same, and the graph of what targets need, in *goal with its survey. What there is
 * to say about choices and failures goes to standard error. Close both in any case, the
 * goal first. */
int bz_cmd_open_goal(struct bz_cmd_env *env, const struct bz_goal_opts *opts,
                     struct bz_pipeline *p, struct bz_goal *goal,
                     struct bz_err *err) BZ_MUST_CHECK;

/* For a command without targets: those of the project's kas file, with its task unless
 * *task is set. BZ_E_INVAL if the project is no kas file. Texts are the arena's. */
int bz_cmd_open_defaults(struct bz_cmd_env *env, struct bz_arena *a,
                         struct bz_opt_list *targets, const char **task,
                         struct bz_err *err) BZ_MUST_CHECK;

/* The second half of it, after bz_cmd_open_survey() with the survey of the goal. *said
 * is set if there was anything to say; it may be NULL. */
int bz_cmd_open_targets(struct bz_cmd_env *env, const struct bz_goal_opts *opts,
                        struct bz_goal *goal, bool *said,
                        struct bz_err *err) BZ_MUST_CHECK;

/* Warns that Python functions were not run, unless there are none. */
void bz_cmd_open_warn_python(struct bz_cmd_env *env, size_t functions);

/* The same for those of a recipe, or else of a configuration. */
int bz_cmd_open_warn_meta(struct bz_cmd_env *env, struct bz_meta *m, bool recipe,
                          struct bz_err *err) BZ_MUST_CHECK;

#endif
