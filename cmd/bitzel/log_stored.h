/* log_stored.h - what a task printed when it ran, from the store of results. */
#ifndef BZ_CMD_LOG_STORED_H
#define BZ_CMD_LOG_STORED_H

#include "base/arena.h"
#include "cmd.h"

struct bz_log_stored {
    struct bz_str text;
    const char *path; /* of a file that is the text, or NULL: it is in the result */
};

/* Of the result with this key, in hexadecimal digits; all of it is in the arena. Tiers
 * are not asked. BZ_E_NOENT if it is not there. */
int bz_log_stored_read(struct bz_cmd_env *env, struct bz_str key, struct bz_arena *a,
                       struct bz_log_stored *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
