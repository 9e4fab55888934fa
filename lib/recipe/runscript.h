/* runscript.h - the shell script that is one task: what goes before it, the task, and
 * what comes after.
 *
 * Directories that [cleandirs] and [dirs] name are made first, the last of [dirs] is
 * the working directory; [umask] holds; the functions of [prefuncs] and [postfuncs] run
 * before and after, each as the task does. When a command fails, the script ends with
 * its status and says which one it was (waymark.h).
 */
#ifndef BZ_RECIPE_RUNSCRIPT_H
#define BZ_RECIPE_RUNSCRIPT_H

#include "base/buf.h"
#include "vars/vars.h"

#define BZ_RUNSCRIPT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* `v` is the recipe's store as the task sees it. `body`, if p is not NULL, is run
 * instead of the task's own. BZ_E_NOSUP if the task or a function around it is in
 * Python. */
int bz_runscript_write(struct bz_vars *v, struct bz_str task, struct bz_str body,
                       struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

/* Only what comes after a task that is carried out otherwise; nothing if nothing does.
 * BZ_E_NOSUP if something goes before it. */
int bz_runscript_after(struct bz_vars *v, struct bz_str task, struct bz_buf *out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* The next directory of a list such as [dirs]. A blank ends one, but for those of
 * `top`, the value of TOPDIR: the build directory may be anywhere. False at the end. */
bool bz_runscript_next_dir(struct bz_str *rest, struct bz_str top, struct bz_str *dir);

/* Sets what is different while a task runs: BB_CURRENTTASK, the override task-NAME, and
 * what the environment would tell of whoever runs it: HOME, USER and so on, if they are
 * set, and the part of PATH that is `path`, the caller's own, which becomes the usual
 * one. */
int bz_runscript_enter(struct bz_vars *v, struct bz_str task, struct bz_str path,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
