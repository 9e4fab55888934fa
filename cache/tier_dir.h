/* tier_dir.h - a store that others share, as a tier: a directory, on NFS perhaps. */
#ifndef BZ_CACHE_TIER_DIR_H
#define BZ_CACHE_TIER_DIR_H

#include "cache/tier.h"

/* Errors as of bz_cas_open. (*out)->ops->close closes it. */
int bz_tier_dir_open(const char *root, const struct bz_cas_opts *opts,
                     struct bz_tier **out, struct bz_err *err) BZ_MUST_CHECK;

#endif
