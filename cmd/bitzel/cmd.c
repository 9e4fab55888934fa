#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"

const struct bz_cmd *bz_cmd_find(const struct bz_cmd_env *env, const struct bz_cmd *of,
                                 const char *name, struct bz_err *err)
{
    const struct bz_cmd *const *cmd = of ? of->subs : env->commands;
    struct bz_near near;
    char hint[96];

    bz_near_init(&near, bz_str_from(name));
    for (; cmd && *cmd; cmd++) {
        if (strcmp((*cmd)->name, name) == 0)
            return *cmd;
        bz_near_offer(&near, bz_str_from((*cmd)->name));
    }
    (void)bz_near_text(&near, "", hint, sizeof(hint));
    if (of)
        (void)bz_fail(err, BZ_E_INVAL, "'%s' has no command '%.48s'%s", of->name, name,
                      hint);
    else
        (void)bz_fail(err, BZ_E_INVAL, "there is no command '%.48s'%s", name, hint);
    return NULL;
}

int bz_cmd_check_run(const struct bz_cmd *cmd, struct bz_err *err)
{
    char all[96] = "";

    if (cmd->run)
        return 0;
    for (const struct bz_cmd *const *sub = cmd->subs; *sub; sub++) {
        if (sub != cmd->subs)
            strncat(all, ", ", sizeof(all) - strlen(all) - 1);
        strncat(all, (*sub)->name, sizeof(all) - strlen(all) - 1);
    }
    return bz_fail(err, BZ_E_INVAL, "'%s' needs one of its commands: %s", cmd->name,
                   all);
}

const char *bz_cmd_words(const struct bz_cmd *cmd, char *text, size_t size)
{
    snprintf(text, size, "bitzel %s%s%s", cmd->of ? cmd->of : "", cmd->of ? " " : "",
             cmd->name);
    return text;
}
