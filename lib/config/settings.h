/* settings.h - what is set, and who set it.
 *
 * The last of these that says something counts:
 *
 *   1. the default
 *   2. /etc/bitzel/bitzel.conf
 *   3. $XDG_CONFIG_HOME/bitzel/bitzel.conf, or ~/.config/bitzel/bitzel.conf
 *   4. the project's bitzel.conf
 *   5. the environment: BITZEL_CACHE_DIR for cache.dir; an empty variable does not
 * count, unless the setting is a list, which it empties
 *   6. the command line
 *
 * What a project may not decide for those who check it out, a guard says: such a
 * setting of 4 is left out, with a note. A file that is not there is empty. In one file
 * a name may stand once, but lists add up. Every value is checked, also where another
 * wins over it. Nothing changes after loading, but for bz_settings_set; any thread may
 * read.
 */
#ifndef BZ_CONFIG_SETTINGS_H
#define BZ_CONFIG_SETTINGS_H

#include "base/arena.h"
#include "config/setting_value.h"

#define BZ_SETTINGS_SYSTEM "/etc/bitzel/bitzel.conf"

enum bz_settings_level {
    BZ_SETTINGS_DEFAULT,
    BZ_SETTINGS_OF_SYSTEM,
    BZ_SETTINGS_OF_USER,
    BZ_SETTINGS_OF_PROJECT,
    BZ_SETTINGS_OF_ENV,
    BZ_SETTINGS_OF_LINE,
};

struct bz_settings_entry {
    struct bz_setting_value value;
    struct bz_setting_value_place place; /* what names in a list are relative to */
    enum bz_settings_level level;
    struct bz_str source; /* a file, a variable or an option; "" for a default */
    unsigned line;        /* in the file, or 0 */
};

struct bz_settings {
    struct bz_arena arena;
    struct bz_str cwd, home;
    struct bz_settings_entry at[BZ_SETTING_COUNT];
    /* Why what the project's file says does not count: "path:line: name: ...", or {0}.
     */
    struct bz_str note[BZ_SETTING_COUNT];
};

/* 0 if a project's file may make of a setting what `now` is, where `before`, [COUNT],
 * is what the system and the user say. BZ_E_INVAL says why not. */
typedef int (*bz_settings_guard_fn)(const struct bz_settings_entry *before,
                                    enum bz_setting_id id,
                                    const struct bz_settings_entry *now,
                                    struct bz_err *err);

struct bz_settings_opts {
    const char *cwd;        /* absolute: where paths in 5 and 6 start */
    const char *const *env; /* as environ(7) has it, or NULL */
    const char *system;     /* the files; NULL for none */
    const char *project;
    bz_settings_guard_fn guard; /* of the project's file; NULL: it may say anything */
    const char *const *line;    /* NAME=VALUE, [nline] */
    size_t nline;
};

/* The caller releases *out, also on failure. BZ_E_INVAL for anything that is said
 * wrongly, with its place. */
int bz_settings_load(const struct bz_settings_opts *opts, struct bz_settings *out,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_settings_release(struct bz_settings *s);

/* As the command line would: for an option of its own, which `source` names. */
int bz_settings_set(struct bz_settings *s, enum bz_setting_id id, const char *text,
                    const char *source, struct bz_err *err) BZ_MUST_CHECK;

static inline const struct bz_setting_value *
bz_settings_get(const struct bz_settings *s, enum bz_setting_id id)
{
    return &s->at[id].value;
}

/* "system", "project", "command line", ... */
const char *bz_settings_level_name(enum bz_settings_level level);

#endif
