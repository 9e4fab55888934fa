/* xdg.h - where a user's files belong, by the XDG base directory specification.
 *
 * A variable that is empty or relative does not count, as the specification says.
 */
#ifndef BZ_CONFIG_XDG_H
#define BZ_CONFIG_XDG_H

#include "base/arena.h"

enum bz_xdg {
    BZ_XDG_CACHE,  /* $XDG_CACHE_HOME/bitzel: what can be made anew */
    BZ_XDG_STATE,  /* $XDG_STATE_HOME/bitzel: what belongs to this machine */
    BZ_XDG_CONFIG, /* $XDG_CONFIG_HOME/bitzel: what the user wrote */
};

/* The value of a variable in an environment as environ(7) has it, or NULL. `env` may be
 * NULL. */
const char *bz_xdg_getenv(const char *const *env, struct bz_str name);

/* The home of the user, or NULL: BITZEL_HOME, or else HOME. */
const char *bz_xdg_home(const char *const *env);

/* The directory, in the arena; {0} if the environment names no home either. */
struct bz_str bz_xdg_dir(struct bz_arena *a, const char *const *env, enum bz_xdg which);

#endif
