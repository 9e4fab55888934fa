#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"

const struct bz_cmd_exit_row bz_cmd_exits[] = {
    {BZ_CMD_EXIT_SUCCESS,   "Success"                                               },
    {BZ_CMD_EXIT_TASK,      "A task failed"                                         },
    {BZ_CMD_EXIT_USAGE,     "The command line, a configuration or a recipe is wrong"},
    {BZ_CMD_EXIT_NONE,      "A target or a query matched nothing"                   },
    {BZ_CMD_EXIT_INFRA,     "The system failed or lacks something needed"           },
    {BZ_CMD_EXIT_SANDBOX,   "There can be no sandbox here"                          },
    {BZ_CMD_EXIT_DIFFERENT, "A verification found a difference"                     },
    {0,                     NULL                                                    },
};

const struct bz_opt_arg *bz_cmd_usage(const struct bz_cmd *cmd)
{
    static const struct bz_opt_arg must[] = {
        {.many = BZ_OPT_MANY_ONE, .name = "COMMAND" },
        {.many = BZ_OPT_MANY_ANY, .name = "ARGUMENT"},
        BZ_OPT_END,
    };
    static const struct bz_opt_arg may[] = {
        {.many = BZ_OPT_MANY_MAYBE, .name = "COMMAND" },
        {.many = BZ_OPT_MANY_ANY,   .name = "ARGUMENT"},
        BZ_OPT_END,
    };

    if (!cmd)
        return must;
    if (!cmd->subs || bz_cmd_has_args(cmd))
        return cmd->args;
    return cmd->run ? may : must;
}

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
        if (!(*cmd)->hidden)
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
