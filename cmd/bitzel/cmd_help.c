#include <stdio.h>

#include "cmd.h"
#include "opt_help.h"

struct help_values {
    struct bz_opt_list words;
};

static const struct bz_opt opts[] = {BZ_OPT_END};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ANY(struct help_values, words, "COMMAND",
               "The command to explain; without it, all are listed"),
    BZ_OPT_END,
};

/* The line of bitzel itself, which main.c reads in two steps. */
static const struct bz_opt_arg bitzel_args[] = {
    {.many = BZ_OPT_MANY_ONE, .name = "COMMAND" },
    {.many = BZ_OPT_MANY_ANY, .name = "ARGUMENT"},
    BZ_OPT_END,
};

/* And the line of a command that has commands of its own. */
static const struct bz_opt_arg sub_args[] = {
    {.many = BZ_OPT_MANY_MAYBE, .name = "COMMAND" },
    {.many = BZ_OPT_MANY_ANY,   .name = "ARGUMENT"},
    BZ_OPT_END,
};

static const struct {
    enum bz_cmd_exit status;
    const char *meaning;
} exits[] = {
    {BZ_CMD_EXIT_SUCCESS,   "Success"                                               },
    {BZ_CMD_EXIT_TASK,      "A task failed"                                         },
    {BZ_CMD_EXIT_USAGE,     "The command line, a configuration or a recipe is wrong"},
    {BZ_CMD_EXIT_NONE,      "A target or a query matched nothing"                   },
    {BZ_CMD_EXIT_INFRA,     "The system failed or lacks something needed"           },
    {BZ_CMD_EXIT_DIFFERENT, "A verification found a difference"                     },
};

static void list_commands(struct bz_out *out, const struct bz_cmd *const *cmd)
{
    char left[64];

    bz_out_heading(out, "Commands:");
    for (; *cmd; cmd++) {
        snprintf(left, sizeof(left), "  %s", (*cmd)->name);
        bz_opt_help_row(out, left, (*cmd)->summary);
    }
}

void bz_cmd_help_overview(struct bz_cmd_env *env)
{
    struct bz_out *out = &env->out;

    bz_out_wrap(out, 0, 0,
                "bitzel: recipe task orchestrator with a content-addressed cache");
    bz_out_print(out, "\n");
    bz_opt_help_usage(out, "bitzel", bitzel_args);

    list_commands(out, env->commands);
    bz_opt_help_options(out, "Options of every command:", env->global_rows, NULL);

    bz_out_heading(out, "Exit status:");
    for (size_t i = 0; i < BZ_COUNTOF(exits); i++) {
        bz_out_print(out, "  %d", exits[i].status);
        bz_out_row(out, 3, 5, exits[i].meaning);
    }
    bz_out_print(out, "\n");
    bz_out_wrap(out, 0, 0, "'bitzel help COMMAND' explains one command.");
}

static void list_terms(struct bz_out *out, const struct bz_cmd_term *terms)
{
    enum { SPLIT = 28 };

    bz_out_heading(out, "Terms:");
    for (; terms->name; terms++) {
        bz_out_print(out, "  %s", terms->name);
        bz_out_row(out, 2 + (unsigned)strlen(terms->name), SPLIT, terms->help);
    }
}

void bz_cmd_help_on(struct bz_cmd_env *env, const struct bz_cmd *cmd)
{
    struct bz_out *out = &env->out;
    char name[64];

    (void)bz_cmd_words(cmd, name, sizeof(name));
    bz_opt_help_usage(out, name,
                      !cmd->subs || bz_cmd_has_args(cmd) ? cmd->args
                      : cmd->run                         ? sub_args
                                                         : bitzel_args);
    bz_out_print(out, "\n");
    bz_out_wrap(out, 0, 0, cmd->detail);
    bz_opt_help_args(out, cmd->args);
    if (cmd->terms)
        list_terms(out, cmd->terms);
    if (cmd->subs)
        list_commands(out, cmd->subs);
    bz_opt_help_options(out, "Options:", cmd->opts, NULL);
    bz_opt_help_options(out, "Options of every command:", env->global_rows, cmd->opts);
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct help_values *v = values;
    const struct bz_cmd *cmd = NULL;

    if (v->words.n == 0) {
        bz_cmd_help_overview(env);
        return BZ_CMD_EXIT_SUCCESS;
    }
    for (size_t i = 0; i < v->words.n; i++) {
        if (cmd && !cmd->subs)
            return bz_fail(err, BZ_E_INVAL,
                           "'%s' has no commands, so '%.48s' is one word too many",
                           cmd->name, v->words.word[i]);
        cmd = bz_cmd_find(env, cmd, v->words.word[i], err);
        if (!cmd)
            return BZ_E_INVAL;
    }
    bz_cmd_help_on(env, cmd);
    return BZ_CMD_EXIT_SUCCESS;
}

const struct bz_cmd bz_cmd_help = {
    .name = "help",
    .summary = "Show help on bitzel or on one command",
    .detail = "Lists the commands and the options all of them take, or explains one "
              "command.",
    .opts = opts,
    .args = args,
    .size = sizeof(struct help_values),
    .run = run,
};
