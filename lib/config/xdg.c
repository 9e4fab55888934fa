#include "config/xdg.h"

const char *bz_xdg_getenv(const char *const *env, struct bz_str name)
{
    for (; env && *env; env++)
        if (strncmp(*env, name.p, name.n) == 0 && (*env)[name.n] == '=')
            return *env + name.n + 1;
    return NULL;
}

const char *bz_xdg_home(const char *const *env)
{
    const char *home = bz_xdg_getenv(env, BZ_STR("BITZEL_HOME"));

    if (!home || home[0] != '/')
        home = bz_xdg_getenv(env, BZ_STR("HOME"));
    return home && home[0] == '/' ? home : NULL;
}

struct bz_str bz_xdg_dir(struct bz_arena *a, const char *const *env, enum bz_xdg which)
{
    static const struct {
        const char *variable, *in_home;
    } dirs[] = {
        [BZ_XDG_CACHE] = {"XDG_CACHE_HOME",  ".cache"      },
        [BZ_XDG_STATE] = {"XDG_STATE_HOME",  ".local/state"},
        [BZ_XDG_CONFIG] = {"XDG_CONFIG_HOME", ".config"     },
    };
    const char *dir = bz_xdg_getenv(env, bz_str_from(dirs[which].variable));
    const char *home;

    if (dir && dir[0] == '/')
        return bz_arena_printf(a, "%s/bitzel", dir);
    home = bz_xdg_home(env);
    if (home)
        return bz_arena_printf(a, "%s/%s/bitzel", home, dirs[which].in_home);
    return (struct bz_str){0};
}
