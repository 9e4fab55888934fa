/* config.h - the configuration everything else starts from.
 *
 * Reads, as BitBake does: conf/bblayers.conf of the build directory,
 * conf/layer.conf of each layer, conf/bitbake.conf along BBPATH with all it
 * includes, and the classes of INHERIT; before and after bitbake.conf the files that
 * the command line names. Afterwards the configuration does not
 * change; recipes are evaluated on copies of it, by any number of threads.
 */
#ifndef BZ_RECIPE_CONFIG_H
#define BZ_RECIPE_CONFIG_H

#include "recipe/environ.h"
#include "recipe/library.h"
#include "recipe/meta.h"

struct bz_config_opts {
    struct bz_str build_dir;      /* absolute; has conf/bblayers.conf */
    struct bz_str cwd;            /* absolute; where relative names start */
    struct bz_str mc;             /* the multiconfig, or "" */
    const struct bz_environ *env; /* what passes, or NULL */
    const char *const *first;     /* files to read before all others, [nfirst] */
    size_t nfirst;
    const char *const *last; /* and after bitbake.conf, [nlast] */
    size_t nlast;
    const struct bz_vars_python *python; /* for what C does not evaluate, or NULL */
};

/* On success the caller owns *out; the library must outlive it. */
int bz_config_load(struct bz_library *library, const struct bz_config_opts *opts,
                   struct bz_meta **out, struct bz_err *err) BZ_MUST_CHECK;

/* The names in BBMULTICONFIG, as words. BZ_E_INVAL for one that begins with a digit,
 * as in BitBake. */
int bz_config_multi(struct bz_meta *config, struct bz_str *out,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
