/* setting.h - what can be set, as a table.
 *
 * Adding a setting is adding an enumerator and a row. A setting is called by a dotted
 * name in files and on the command line ("cache.dir"), and by that name in capitals in
 * the environment (BITZEL_CACHE_DIR).
 */
#ifndef BZ_CONFIG_SETTING_H
#define BZ_CONFIG_SETTING_H

#include "base/str.h"
#include "config/xdg.h"

enum bz_setting_id {
    BZ_SETTING_CACHE_DIR,
    BZ_SETTING_CACHE_FLUSH,
    BZ_SETTING_CACHE_KEYS,
    BZ_SETTING_CACHE_MAX_AGE,
    BZ_SETTING_CACHE_MAX_SIZE,
    BZ_SETTING_CACHE_MIN_FREE,
    BZ_SETTING_CACHE_SIGN,
    BZ_SETTING_CACHE_SYNC,
    BZ_SETTING_CACHE_TIERS,
    BZ_SETTING_CACHE_TIMEOUT,
    BZ_SETTING_CACHE_UPLOAD,
    BZ_SETTING_CACHE_VERIFY,
    BZ_SETTING_COLOR,
    BZ_SETTING_HEARTBEAT,
    BZ_SETTING_JOBS,
    BZ_SETTING_SANDBOX,
    BZ_SETTING_STATE_DIR,
    BZ_SETTING_VIA,
    BZ_SETTING_COUNT,
};

enum bz_setting_type {
    BZ_SETTING_BOOL,
    BZ_SETTING_INT,
    BZ_SETTING_SIZE,     /* bytes: 10G, 512MiB, 4096 */
    BZ_SETTING_DURATION, /* nanoseconds: 30s, 14d, 1h30m */
    BZ_SETTING_TEXT,
    BZ_SETTING_PATH, /* absolute; ~ is the home, else relative to who says it */
    BZ_SETTING_LIST, /* texts separated by ';' */
    BZ_SETTING_ENUM, /* one of the row's choices */
};

struct bz_setting {
    const char *name;
    enum bz_setting_type type;
    const char *initial;        /* what it is unless it is set, as one would write it */
    const char *help;           /* one sentence, without the full stop */
    const char *const *choices; /* of an ENUM, up to a NULL */
    int64_t min, max;           /* of an INT */
    bool in_home;               /* `initial` is empty and stands for the directory... */
    enum bz_xdg home;           /* ...that this is */
};

/* The values of cache.verify, color and sandbox, in the order of their choices. */
enum { BZ_SETTING_VERIFY_FIRST_USE, BZ_SETTING_VERIFY_ALWAYS, BZ_SETTING_VERIFY_NEVER };
enum { BZ_SETTING_COLOR_AUTO, BZ_SETTING_COLOR_ALWAYS, BZ_SETTING_COLOR_NEVER };
enum { BZ_SETTING_SANDBOX_AUTO, BZ_SETTING_SANDBOX_REQUIRED };

/* The row of a setting. */
const struct bz_setting *bz_setting_row(enum bz_setting_id id);

/* The setting of that name. BZ_E_NOENT, with near names, if there is none. */
int bz_setting_find(struct bz_str name, enum bz_setting_id *out,
                    struct bz_err *err) BZ_MUST_CHECK;

/* "BITZEL_CACHE_DIR"; returns text. */
#define BZ_SETTING_ENV_MAX 64
const char *bz_setting_env(enum bz_setting_id id, char text[BZ_SETTING_ENV_MAX]);

/* "size", "list", ... */
const char *bz_setting_type_name(enum bz_setting_type type);

#endif
