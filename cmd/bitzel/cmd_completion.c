#include <string.h>

#include "cmd.h"
#include "completion_scripts.h"

struct completion_values {
    const char *shell;
};

static const struct bz_opt opts[] = {BZ_OPT_END};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ONE(struct completion_values, shell, "SHELL", "bash, zsh or fish"),
    BZ_OPT_END,
};

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct completion_values *v = values;
    const struct bz_completion_script *s = bz_completion_scripts;

    for (; s->shell; s++) {
        if (strcmp(s->shell, v->shell) == 0) {
            bz_out_put(&env->out, s->text, strlen(s->text));
            return BZ_CMD_EXIT_SUCCESS;
        }
    }
    return bz_fail(err, BZ_E_INVAL,
                   "there is no completion for '%.48s'; it is for bash, zsh and fish",
                   v->shell);
}

static const struct bz_cmd_term examples[] = {
    {"source <(bitzel completion bash)",        "For this shell; or put it into ~/.bashrc"},
    {"bitzel completion zsh >~/.zfunc/_bitzel",
     "For zsh, if fpath in ~/.zshrc has that directory"                                   },
    {"bitzel completion fish | source",         "For fish; or put it into config.fish"    },
    {NULL,                                      NULL                                      },
};

const struct bz_cmd bz_cmd_completion = {
    .name = "completion",
    .summary = "Print a script that lets a shell complete lines",
    .detail = "Prints a script for a shell, after which the tab key completes "
              "commands, options and their values, and the names of recipes, tasks, "
              "configurations and settings. Recipes are those that the last command "
              "in the project found; none is evaluated for it. Where bitzel was "
              "installed with its scripts nothing needs to be done.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct completion_values),
    .run = run,
};
