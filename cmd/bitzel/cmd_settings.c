#include "cmd_settings.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "guard.h"
#include "os/path.h"
#include "project/locate.h"

/* The file of the project here: conf/bitzel.conf of a build directory, or bitzel.conf
 * beside the first of its kas files. NULL without a project: whether there must be one
 * is up to the command. */
static const char *project_file(const struct bz_cmd_env *env, const char *cwd,
                                struct bz_arena *a)
{
    const struct bz_locate_hints hints = {.cwd = cwd,
                                          .option = env->global.project,
                                          .variable = getenv("BITZEL_PROJECT"),
                                          .builddir = getenv("BUILDDIR"),
                                          .bbpath = getenv("BBPATH")};
    struct bz_locate found;
    struct bz_str first, rest;
    struct bz_path path;
    struct bz_err err;

    if (bz_locate_find(a, &hints, &found, &err) < 0)
        return NULL;
    if (!found.files)
        return bz_arena_printf(a, "%s/conf/bitzel.conf", found.build_dir).p;
    bz_str_cut(bz_str_from(found.files), ':', &first, &rest);
    if (bz_path_join(bz_str_from(cwd), bz_path_dirname(first), &path, &err) < 0)
        return NULL;
    return bz_arena_printf(a, "%s/bitzel.conf", path.s).p;
}

void bz_cmd_settings_load(struct bz_cmd_env *env)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    char cwd[PATH_MAX];
    struct bz_settings_opts opts = {.cwd = cwd,
                                    .env = (const char *const *)environ,
                                    .system = BZ_SETTINGS_SYSTEM,
                                    .guard = bz_guard_check,
                                    .line = env->global.set.word,
                                    .nline = env->global.set.n};

    if (!getcwd(cwd, sizeof(cwd))) {
        env->settings_rc =
            bz_fail_sys(&env->settings_err, "find the working directory");
        return;
    }
    opts.project = project_file(env, cwd, &a);
    env->settings_rc = bz_settings_load(&opts, &env->settings, &env->settings_err);
}

/* Said once; not of what the environment or the line says anyway. */
static void warn(struct bz_settings *s)
{
    for (int i = 0; i < BZ_SETTING_COUNT; i++) {
        if (s->note[i].n > 0 && s->at[i].level < BZ_SETTINGS_OF_PROJECT)
            bz_log_warn("config", "ignored: %.*s", BZ_STR_ARG(s->note[i]));
        s->note[i] = (struct bz_str){0};
    }
}

int bz_cmd_settings_get(struct bz_cmd_env *env, struct bz_settings **out,
                        struct bz_err *err)
{
    if (env->settings_rc < 0)
        *err = env->settings_err;
    else
        warn(*out = &env->settings);
    return env->settings_rc;
}
