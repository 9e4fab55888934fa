#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "man_page.h"
#include "opt_help.h"

struct help_values {
    struct bz_opt_list words;
    const char *man_dir;
    bool man;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct help_values, man, 0, "man",
                "Print the manual page of bitzel, of a command, of bitzel.conf or "
                "bitzel-events, for "
                "man(1)"),
    BZ_OPT_TEXT(struct help_values, man_dir, 0, "man-dir", "DIR",
                "Write all manual pages below DIR, as man1/bitzel.1"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ANY(struct help_values, words, "COMMAND",
               "The command to explain; without it, all are listed"),
    BZ_OPT_END,
};

static void list_commands(struct bz_out *out, const struct bz_cmd *const *cmd)
{
    char left[64];

    bz_out_heading(out, "Commands:");
    for (; *cmd; cmd++) {
        if ((*cmd)->hidden)
            continue;
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
    bz_opt_help_usage(out, "bitzel", bz_cmd_usage(NULL));

    list_commands(out, env->commands);
    bz_opt_help_options(out, "Options of every command:", env->global_rows, NULL);

    bz_out_heading(out, "Exit status:");
    for (const struct bz_cmd_exit_row *row = bz_cmd_exits; row->meaning; row++) {
        bz_out_print(out, "  %d", row->status);
        bz_out_row(out, 3, 5, row->meaning);
    }
    bz_out_print(out, "\n");
    bz_out_wrap(out, 0, 0, "'bitzel help COMMAND' explains one command.");
}

static void list_examples(struct bz_out *out, const struct bz_cmd_term *examples)
{
    enum { INDENT = 6 };

    bz_out_heading(out, "Examples:");
    for (; examples->name; examples++) {
        bz_out_print(out, "  ");
        bz_out_wrap(out, 2, INDENT, examples->name);
        bz_out_print(out, "%*s", INDENT, "");
        bz_out_wrap(out, INDENT, INDENT, examples->help);
    }
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
    bz_opt_help_usage(out, name, bz_cmd_usage(cmd));
    bz_out_print(out, "\n");
    bz_out_wrap(out, 0, 0, cmd->detail);
    bz_opt_help_args(out, cmd->args);
    if (cmd->terms)
        list_terms(out, cmd->terms);
    if (cmd->subs)
        list_commands(out, cmd->subs);
    bz_opt_help_options(out, "Options:", cmd->opts, NULL);
    bz_opt_help_options(out, "Options of every command:", env->global_rows, cmd->opts);
    if (cmd->examples)
        list_examples(out, cmd->examples);
}

static int find_command(const struct bz_cmd_env *env, const struct bz_opt_list *words,
                        const struct bz_cmd **out, struct bz_err *err)
{
    const struct bz_cmd *cmd = NULL;

    for (size_t i = 0; i < words->n; i++) {
        if (cmd && !cmd->subs)
            return bz_fail(err, BZ_E_INVAL,
                           "'%s' has no commands, so '%.48s' is one word too many",
                           cmd->name, words->word[i]);
        cmd = bz_cmd_find(env, cmd, words->word[i], err);
        if (!cmd)
            return BZ_E_INVAL;
    }
    *out = cmd;
    return 0;
}

/* The page of a command tells of its commands too, so the first word decides. */
static int print_page(struct bz_cmd_env *env, const struct bz_man_page_book *book,
                      const struct bz_opt_list *words, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf page = {0};
    const struct bz_cmd *cmd = NULL;
    int rc;

    if (words->n == 1 && strcmp(words->word[0], "bitzel.conf") == 0) {
        bz_man_page_settings(&page, book);
    } else if (words->n == 1 && strcmp(words->word[0], "bitzel-events") == 0) {
        bz_man_page_events(&page, book);
    } else {
        rc = find_command(env, words, &cmd, err);
        if (rc == 0 && cmd && cmd->of)
            cmd = bz_cmd_find(env, NULL, words->word[0], err);
        if (rc < 0)
            return rc;
        if (cmd)
            bz_man_page_command(&page, book, cmd);
        else
            bz_man_page_program(&page, book);
    }
    bz_out_put(&env->out, page.data, page.len);
    return BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct help_values *v = values;
    const struct bz_man_page_book book = {BZ_VERSION, BZ_VERSION_DATE, env->commands,
                                          env->global_rows};
    const struct bz_cmd *cmd = NULL;
    int rc;

    if (v->man_dir)
        return bz_man_page_write_all(&book, v->man_dir, err);
    if (v->man)
        return print_page(env, &book, &v->words, err);
    rc = find_command(env, &v->words, &cmd, err);
    if (rc == 0 && cmd)
        bz_cmd_help_on(env, cmd);
    else if (rc == 0)
        bz_cmd_help_overview(env);
    return rc;
}

static const struct bz_cmd_term help_examples[] = {
    {"bitzel help cache gc",                     "Explain a command"   },
    {"bitzel help --man build | man -l -",       "Read its manual page"},
    {"bitzel help --man-dir ~/.local/share/man",
     "Put all pages where man(1) looks for them"                       },
    {NULL,                                       NULL                  },
};

const struct bz_cmd bz_cmd_help = {
    .name = "help",
    .summary = "Show help on bitzel or on one command",
    .detail = "Lists the commands and the options all of them take, or explains one "
              "command. The same is there as manual pages: bitzel(1), one for each "
              "command, as bitzel-build(1), bitzel.conf(5) and bitzel-events(5).",
    .opts = opts,
    .args = args,
    .examples = help_examples,
    .size = sizeof(struct help_values),
    .run = run,
};
