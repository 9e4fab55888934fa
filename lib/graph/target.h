/* target.h - the names of things to build, taken apart.
 *
 * A target is a recipe, perhaps of another configuration and with a task:
 * `busybox`, `busybox:do_compile`, `mc:arm:busybox`, `mc::busybox` (the default
 * configuration), `mc:*:busybox` (every one). `multiconfig:` is the old word for `mc:`.
 * `mc:arm` alone is a configuration without a recipe. Pure; any thread.
 */
#ifndef BZ_GRAPH_TARGET_H
#define BZ_GRAPH_TARGET_H

#include <stdbool.h>

#include "base/str.h"

struct bz_target {
    struct bz_str mc;   /* the configuration; "" is the default one */
    bool every;         /* all of them; then mc is "" */
    struct bz_str name; /* "" if only a configuration was named */
    struct bz_str task; /* with its do_, or p == NULL */
};

/* BZ_E_INVAL for a target without a recipe where one must be. */
int bz_target_parse(struct bz_str text, struct bz_target *out,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
