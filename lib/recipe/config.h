/* config.h - the configuration everything else starts from.
 *
 * Reads, as BitBake does: conf/bblayers.conf of the build directory,
 * conf/layer.conf of each layer, conf/bitbake.conf along BBPATH with all it
 * includes, and the classes of INHERIT. Afterwards the configuration does not
 * change; recipes are evaluated on copies of it, by any number of threads.
 */
#ifndef BZ_RECIPE_CONFIG_H
#define BZ_RECIPE_CONFIG_H

#include "recipe/library.h"
#include "recipe/meta.h"

struct bz_config_env {
    struct bz_str name, value;
};

struct bz_config_opts {
    struct bz_str build_dir;         /* absolute; has conf/bblayers.conf */
    struct bz_str bbpath;            /* the environment's BBPATH, or p == NULL */
    struct bz_str mc;                /* the multiconfig, or "" */
    const struct bz_config_env *env; /* what may be passed through, [nenv] */
    size_t nenv;
    const struct bz_vars_python *python; /* for what C does not evaluate, or NULL */
};

/* On success the caller owns *out; the library must outlive it. */
int bz_config_load(struct bz_library *library, const struct bz_config_opts *opts,
                   struct bz_meta **out, struct bz_err *err) BZ_MUST_CHECK;

#endif
