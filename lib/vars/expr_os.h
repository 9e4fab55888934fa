/* expr_os.h - the functions of Python's modules os and time.
 *
 * Those of os.path are text alone, by the rules of posixpath, except for the few that
 * ask whether a file exists. Relative names are not made absolute: the directory
 * BitBake runs in is not ours.
 */
#ifndef BZ_VARS_EXPR_OS_H
#define BZ_VARS_EXPR_OS_H

#include "vars/expr_call.h"

/* By the whole name, "os.path.join"; or NULL. */
const struct bz_expr_fn *bz_expr_os_find(struct bz_str name);

/* os.path.normpath(path), os.path.relpath(path, start), os.path.join(a, b). */
int bz_expr_os_normpath(struct bz_expr_run *r, struct bz_str path,
                        struct bz_expr_value *out);
int bz_expr_os_relpath(struct bz_expr_run *r, const struct bz_expr_value *path,
                       const struct bz_expr_value *start, struct bz_expr_value *out);
int bz_expr_os_join(struct bz_expr_run *r, struct bz_str a, struct bz_str b,
                    struct bz_expr_value *out);

/* os.path.exists(path); with `executable`, os.path.isfile(path) and os.access(path,
 * os.X_OK). BZ_E_NOSUP for a relative path. */
int bz_expr_os_exists(struct bz_expr_run *r, struct bz_str path, bool executable,
                      bool *out);

/* Notes that code asks for what no file of the metadata decides: the clock or the
 * number of the process, or else the host. */
void bz_expr_os_impure(struct bz_expr_run *r, bool clock);

/* len(os.sched_getaffinity(0)) */
int bz_expr_os_cpus(struct bz_expr_run *r, int64_t *out);

#endif
