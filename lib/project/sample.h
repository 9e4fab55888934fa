/* sample.h - the layer that comes with bitzel, as a project of its own.
 *
 * Commands are about it where there is no other project. Its build directory is
 * build/sample of the checkout that the program was built in or, for a program that is
 * installed, `sample` in the directory for state. There conf/bblayers.conf is ours and
 * conf/local.conf the user's.
 */
#ifndef BZ_PROJECT_SAMPLE_H
#define BZ_PROJECT_SAMPLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct bz_sample {
    const char *layer;     /* its directory */
    const char *build_dir; /* which may not be there yet */
    const char *links;     /* for plainpath.h, should the layer need it */
};

/* Looks for the layer from where the program is, whose path is absolute and has no
 * links in it. `state` is the directory for state. False if it is not to be found. The
 * texts are in the arena. */
bool bz_sample_find(struct bz_arena *arena, const char *program, struct bz_str state,
                    struct bz_sample *out);

/* Makes the build directory what a command can work on. Files that are as they should
 * be are left alone. */
int bz_sample_write(const struct bz_sample *s, struct bz_err *err) BZ_MUST_CHECK;

#endif
