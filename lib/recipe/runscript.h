/* runscript.h - the shell script that is one task: what goes before it, the task, and
 * what comes after.
 *
 * Directories that [cleandirs] and [dirs] name are made first, the last of [dirs] is
 * the working directory; the functions of [prefuncs] and [postfuncs] run before and
 * after, each as the task does; [umask] holds for all of them. When a command fails,
 * the script ends with its status and says which one it was (waymark.h).
 */
#ifndef BZ_RECIPE_RUNSCRIPT_H
#define BZ_RECIPE_RUNSCRIPT_H

#include "base/buf.h"
#include "vars/vars.h"

#define BZ_RUNSCRIPT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Why a function or a task in Python is refused. */
#define BZ_RUNSCRIPT_PYTHON "Python functions are not supported yet"

/* `v` is the recipe's store as the task sees it. `body`, if p is not NULL, is run
 * instead of the task's own. BZ_E_NOSUP if the task or a function around it is in
 * Python. */
int bz_runscript_write(struct bz_vars *v, struct bz_str task, struct bz_str body,
                       struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

#define BZ_RUNSCRIPT_UMASK 022 /* if nothing else is said */

/* What holds while the task runs: its [umask], or BB_DEFAULT_UMASK. BZ_E_INVAL if that
 * is none. */
int bz_runscript_umask(struct bz_vars *v, struct bz_str task, unsigned *out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* A failure that a flag is the reason for, with the place where it was set last, as far
 * as that is known: "FILE:LINE: ...". Returns err->code. */
int bz_runscript_blame(struct bz_vars *v, struct bz_str name, const char *flag,
                       struct bz_err *err) BZ_MUST_CHECK;

/* What goes before and after a task that is carried out otherwise: its [prefuncs] and
 * [cleandirs], and its [postfuncs]. Nothing if there is none. Its [dirs] are for
 * whoever carries it out. */
int bz_runscript_before(struct bz_vars *v, struct bz_str task, struct bz_buf *out,
                        struct bz_err *err) BZ_MUST_CHECK;
int bz_runscript_after(struct bz_vars *v, struct bz_str task, struct bz_buf *out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* The next directory of a list such as [dirs]. A blank ends one, but for those of
 * `top`, the value of TOPDIR: the build directory may be anywhere. False at the end. */
bool bz_runscript_next_dir(struct bz_str *rest, struct bz_str top, struct bz_str *dir);

/* Sets what is different while a task runs: BB_CURRENTTASK, the override task-NAME, and
 * the same values, on every machine, of the variables that tell who builds: HOME,
 * LOGNAME, SHELL, TERM and USER are exported, whether the caller has them or not, PWD
 * is not set, and the part of PATH that is `path`, the caller's own, becomes the usual
 * one. */
int bz_runscript_enter(struct bz_vars *v, struct bz_str task, struct bz_str path,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
