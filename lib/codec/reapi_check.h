/* reapi_check.h - the rules that reapi.h keeps for both directions.
 *
 * What decoding would refuse is not written either. Pure functions.
 */
#ifndef BZ_CODEC_REAPI_CHECK_H
#define BZ_CODEC_REAPI_CHECK_H

#include "codec/reapi.h"

#define BZ_REAPI_CHECK_MODE 07777      /* the largest mode */
#define BZ_REAPI_CHECK_NANOS 999999999 /* the most nanoseconds beside a second */

/* The properties of a directory that have a place of their own in bz_reapi_dir. */
#define BZ_REAPI_ESCAPE "bitzel.escape"
#define BZ_REAPI_ESCAPE_KIND "percent"
#define BZ_REAPI_OPAQUE "bitzel.opaque"
#define BZ_REAPI_WHITEOUT "bitzel.whiteout."

bool bz_reapi_check_utf8(struct bz_str s);

/* A name may be of one kind only: one that is there twice, or {0}. */
struct bz_str bz_reapi_check_twice(const struct bz_reapi_dir *d);

/* BZ_E_INVAL if the directory cannot be written. *escape becomes true if a name or
 * target in it is not UTF-8. */
int bz_reapi_check_dir(const struct bz_reapi_dir *d, bool *escape,
                       struct bz_err *err) BZ_MUST_CHECK;
/* The same for the paths and digests of a result. */
int bz_reapi_check_result(const struct bz_reapi_result *r,
                          struct bz_err *err) BZ_MUST_CHECK;

#endif
