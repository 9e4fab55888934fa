/* cgroup.h - the control groups that this process is in, for the limits they set.
 *
 * A limit binds the group it is set on and all below it, so all groups from one's own
 * up to the root count. There are two kinds of hierarchy; in a hybrid setup both are
 * mounted, and either may hold a limit. Reads files; any thread.
 */
#ifndef BZ_OS_CGROUP_H
#define BZ_OS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum bz_cgroup_version { BZ_CGROUP_V1, BZ_CGROUP_V2 };

/* Told of the directory of a group. */
typedef void (*bz_cgroup_fn)(void *ctx, enum bz_cgroup_version v, const char *dir);

/* All groups of this process in hierarchies that have the controller, each from its own
 * up to what is mounted. `root` goes before every path that is read ("" for the real
 * system); `dir` is without it. What is missing or makes no sense is passed over. */
void bz_cgroup_walk(const char *root, struct bz_str controller, bz_cgroup_fn fn,
                    void *ctx);

/* The first two numbers of a file of a group, as far as there are. False without the
 * file, and for what is no number, like "max" and "-1". */
bool bz_cgroup_read(const char *root, const char *dir, const char *file,
                    uint64_t number[2]);

/* The number after `name` in a file of lines "NAME NUMBER". */
bool bz_cgroup_field(const char *root, const char *dir, const char *file,
                     struct bz_str name, uint64_t *out);

#endif
