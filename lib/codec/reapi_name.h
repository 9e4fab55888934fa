/* reapi_name.h - file names in messages whose texts must be UTF-8.
 *
 * A name on disk is any bytes but '/' and NUL. One that is not UTF-8 is written with
 * percent escapes: each byte that is no part of a UTF-8 character, and '%' itself,
 * becomes '%' and two upper-case digits. Every name has exactly one escaped form, and
 * reading accepts no other, so that escaping never makes two names of one. Pure
 * functions.
 */
#ifndef BZ_CODEC_REAPI_NAME_H
#define BZ_CODEC_REAPI_NAME_H

#include "base/arena.h"

#define BZ_REAPI_NAME_MAX 255    /* bytes of a name on disk */
#define BZ_REAPI_TARGET_MAX 4095 /* of what a symbolic link says */

/* Whether it can name an entry of a directory: not empty, not "." or "..", not too
 * long, no '/' and no NUL. */
bool bz_reapi_name_ok(struct bz_str raw);
/* The same for what a link says, which may hold slashes and dots. */
bool bz_reapi_name_target_ok(struct bz_str raw);

struct bz_str bz_reapi_name_escape(struct bz_arena *a, struct bz_str raw);

/* BZ_E_INVAL if no name has this escaped form. */
int bz_reapi_name_unescape(struct bz_arena *a, struct bz_str text, struct bz_str *raw,
                           struct bz_err *err) BZ_MUST_CHECK;

#endif
