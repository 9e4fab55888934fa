/* main.c - the commands, the options all of them take, and the exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "cmd_settings.h"
#include "kashome.h"

/* In the order the overview shows them. */
static const struct bz_cmd *const commands[] = {
    &bz_cmd_appends,
    &bz_cmd_build,
    &bz_cmd_builds,
    &bz_cmd_cache,
    &bz_cmd_complete,
    &bz_cmd_completion,
    &bz_cmd_config,
    &bz_cmd_doctor,
    &bz_cmd_env,
    &bz_cmd_fetch,
    &bz_cmd_getvar,
    &bz_cmd_graph,
    &bz_cmd_help,
    &bz_cmd_layers,
    &bz_cmd_log,
    &bz_cmd_parse,
    &bz_cmd_plan,
    &bz_cmd_project,
    &bz_cmd_query,
    &bz_cmd_recipes,
    &bz_cmd_report,
    &bz_cmd_serve,
    &bz_cmd_shell,
    &bz_cmd_sig,
    &bz_cmd_trace,
    &bz_cmd_version,
    &bz_cmd_warm,
    &bz_cmd_why,
    NULL,
};

static const char *const color_choices[] = {
    [BZ_OUT_COLOR_AUTO] = "auto",
    [BZ_OUT_COLOR_ALWAYS] = "always",
    [BZ_OUT_COLOR_NEVER] = "never",
    NULL,
};

#define G struct bz_cmd_globals
static const struct bz_opt globals[] = {
    BZ_OPT_TEXT(G, directory, 0, "directory", "DIR",
                "Change to DIR before anything else"),
    BZ_OPT_TEXT(G, project, 0, "project", "PROJECT",
                "The kas files FILE[:FILE...] or the build directory to work on; else "
                "BITZEL_PROJECT, or what is found from here upwards"),
    BZ_OPT_LIST(G, read, 'r', "read", "FILE", "Read FILE before the configuration"),
    BZ_OPT_LIST(G, postread, 'R', "postread", "FILE", "Read FILE after bitbake.conf"),
    BZ_OPT_LIST(G, set, 0, "set", "NAME=VALUE",
                "Change a setting, see 'bitzel config'"),
    BZ_OPT_CHOICE(G, color, 0, "color", "WHEN", color_choices, BZ_OUT_COLOR_AUTO,
                  "Use colours"),
    BZ_OPT_FLAG(G, quiet, 'q', "quiet", "Show problems only"),
    BZ_OPT_FLAG(G, verbose, 'v', "verbose",
                "Show diagnostics, and where an error arose"),
    BZ_OPT_STOP(G, help, 'h', "help", "Show help and exit"),
    BZ_OPT_STOP(G, version, 0, "version", "Show the version and exit"),
    BZ_OPT_END,
};

/* How each way to fail ends the program. */
static int exit_of(int code)
{
    static const struct {
        enum bz_code code;
        enum bz_cmd_exit status;
    } exits[] = {
        {BZ_E_INVAL,    BZ_CMD_EXIT_USAGE},
        {BZ_E_NOENT,    BZ_CMD_EXIT_NONE },
        {BZ_E_EXISTS,   BZ_CMD_EXIT_INFRA},
        {BZ_E_IO,       BZ_CMD_EXIT_INFRA},
        {BZ_E_CORRUPT,  BZ_CMD_EXIT_INFRA},
        {BZ_E_LIMIT,    BZ_CMD_EXIT_USAGE},
        {BZ_E_BUSY,     BZ_CMD_EXIT_INFRA},
        {BZ_E_CANCELED, BZ_CMD_EXIT_INFRA},
        {BZ_E_TIMEOUT,  BZ_CMD_EXIT_INFRA},
        {BZ_E_TASK,     BZ_CMD_EXIT_TASK },
        {BZ_E_NOSUP,    BZ_CMD_EXIT_INFRA},
    };

    for (size_t i = 0; i < BZ_COUNTOF(exits); i++)
        if (exits[i].code == code)
            return exits[i].status;
    return BZ_CMD_EXIT_INFRA;
}

static void report(struct bz_cmd_env *env, const struct bz_err *err)
{
    bz_out_paint(&env->log, BZ_OUT_RED, "error:");
    bz_out_print(&env->log, " ");
    bz_out_plain(&env->log, err->msg, strlen(err->msg));
    bz_out_print(&env->log, "\n");
    if (env->global.verbose)
        bz_out_print(&env->log, "at:    %s (%s)\n", err->where, bz_err_name(err->code));
}

static int usage_error(struct bz_cmd_env *env, const struct bz_cmd *cmd,
                       const struct bz_err *err)
{
    char words[64];

    report(env, err);
    bz_out_print(&env->log, "help:  %s --help\n",
                 cmd ? bz_cmd_words(cmd, words, sizeof(words)) : "bitzel");
    return BZ_CMD_EXIT_USAGE;
}

static void choose_colors(struct bz_cmd_env *env)
{
    int color = env->global.color;

    if (color < 0)
        color = (int)bz_settings_get(&env->settings, BZ_SETTING_COLOR)->number;
    bz_out_init(&env->out, STDOUT_FILENO, (enum bz_out_color)color);
    bz_out_init(&env->log, STDERR_FILENO, (enum bz_out_color)color);
}

/* Runs cmd with its options read. */
static int run_command(struct bz_cmd_env *env, const struct bz_cmd *cmd,
                       const void *values)
{
    struct bz_err err;
    int rc;

    if (env->global.directory && chdir(env->global.directory) != 0) {
        (void)bz_fail_sys(&err, "change to directory '%.99s'", env->global.directory);
        report(env, &err);
        return BZ_CMD_EXIT_USAGE;
    }
    bz_cmd_settings_load(env);
    choose_colors(env);
    if (env->global.quiet)
        bz_log_set_level(BZ_LOG_ERROR);
    if (env->global.verbose)
        bz_log_set_level(BZ_LOG_DEBUG);
    rc = cmd->run(env, values, &err);
    if (rc >= 0)
        return rc;
    report(env, &err);
    return env->status ? env->status : exit_of(rc);
}

/* What --help and --version ask for, or else the command. */
static int answer(struct bz_cmd_env *env, const struct bz_cmd *cmd, const void *values)
{
    if (env->global.version)
        bz_cmd_version_line(&env->out);
    else if (!cmd)
        bz_cmd_help_overview(env);
    else if (env->global.help)
        bz_cmd_help_on(env, cmd);
    else
        return run_command(env, cmd, values);
    return BZ_CMD_EXIT_SUCCESS;
}

static int read_globals(struct bz_cmd_env *env, const struct bz_opt_line *line, int n,
                        char *const *words, struct bz_err *err)
{
    int used = bz_opt_parse(line, n, words, err);

    choose_colors(env);
    if (used >= 0 && env->global.quiet && env->global.verbose)
        return bz_fail(err, BZ_E_INVAL, "--quiet and --verbose contradict each other");
    return used;
}

/* Whether a command's own options are all what they are unless they are given. */
static bool is_untouched(const struct bz_cmd *cmd, const void *values)
{
    BZ_CLEANUP(bz_mem_freep) void *fresh = bz_mem_zalloc(cmd->size);

    bz_opt_init(cmd->opts, fresh);
    return memcmp(fresh, values, cmd->size) == 0;
}

static int run_words(struct bz_cmd_env *env, const struct bz_cmd *cmd, int n,
                     char *const *words);

/* The line goes on with the name of one of cmd's own commands. */
static int run_sub(struct bz_cmd_env *env, const struct bz_cmd *cmd, const void *values,
                   int n, char *const *words)
{
    struct bz_err err;
    const struct bz_cmd *sub = bz_cmd_find(env, cmd, words[0], &err);

    if (!sub)
        return usage_error(env, cmd, &err);
    if (!is_untouched(cmd, values)) {
        (void)bz_fail(&err, BZ_E_INVAL, "options of '%s %s' come after '%s'", cmd->name,
                      sub->name, sub->name);
        return usage_error(env, sub, &err);
    }
    return run_words(env, sub, n - 1, words + 1);
}

/* The command that the first word names, of one that takes arguments as well. */
static const struct bz_cmd *find_first(const struct bz_cmd *cmd, int n,
                                       char *const *words)
{
    const struct bz_cmd *const *sub = bz_cmd_has_args(cmd) && n > 0 ? cmd->subs : NULL;

    for (; sub && *sub; sub++)
        if (strcmp((*sub)->name, words[0]) == 0)
            return *sub;
    return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as commands have commands */
static int run_words(struct bz_cmd_env *env, const struct bz_cmd *cmd, int n,
                     char *const *words)
{
    BZ_CLEANUP(bz_mem_freep) void *values = bz_mem_zalloc(cmd->size);
    struct bz_opt_line line = {.own = cmd->opts,
                               .args = cmd->subs && !bz_cmd_has_args(cmd) ? NULL
                                                                          : cmd->args,
                               .into = values,
                               .global = globals,
                               .global_into = &env->global};
    const struct bz_cmd *sub = find_first(cmd, n, words);
    struct bz_err err;
    bool asked;
    int status;
    int used;

    if (sub)
        return run_words(env, sub, n - 1, words + 1);
    bz_opt_init(cmd->opts, values);
    used = read_globals(env, &line, n, words, &err);
    asked = env->global.help || env->global.version;
    if (used == n && !asked && bz_cmd_check_run(cmd, &err) < 0)
        used = BZ_E_INVAL;
    if (used < 0)
        status = usage_error(env, cmd, &err);
    else if (used < n && !asked)
        status = run_sub(env, cmd, values, n - used, words + used);
    else
        status = answer(env, cmd, values);
    bz_opt_release(&line);
    return status;
}

static bool has_row(const struct bz_opt *rows, const char *word)
{
    size_t n = strcspn(word + 2, "=");

    for (; rows->kind != BZ_OPT_KIND_END; rows++) {
        if (word[1] != '-' && rows->letter == word[1])
            return true;
        if (word[1] == '-' && strlen(rows->name) == n &&
            memcmp(rows->name, word + 2, n) == 0)
            return true;
    }
    return false;
}

/* What went wrong may be that an option of a command stands before its name. */
static void explain_order(struct bz_cmd_env *env, int n, char *const *words,
                          struct bz_err *err)
{
    const struct bz_cmd *cmd = NULL;
    struct bz_err none;
    int at = 0;

    for (; at < n && !cmd; at++)
        cmd = words[at][0] != '-' ? bz_cmd_find(env, NULL, words[at], &none) : NULL;
    for (int i = 0; cmd && i < at - 1; i++) {
        if (words[i][0] != '-' || !words[i][1] || has_row(globals, words[i]) ||
            !has_row(cmd->opts, words[i]))
            continue;
        (void)bz_fail(err, BZ_E_INVAL,
                      "options of '%s' come after its name: bitzel %s %.48s", cmd->name,
                      cmd->name, words[i]);
        return;
    }
}

static int dispatch(struct bz_cmd_env *env, int n, char *const *words)
{
    struct bz_opt_line line = {.global = globals, .global_into = &env->global};
    const struct bz_cmd *cmd = NULL;
    struct bz_err err;
    int status;
    int used;

    bz_opt_init(globals, &env->global);
    env->global.color = -1; /* not given */
    used = read_globals(env, &line, n, words, &err);
    if (used < 0)
        explain_order(env, n, words, &err);
    if (used >= 0 && used < n && !env->global.help && !env->global.version) {
        cmd = bz_cmd_find(env, NULL, words[used], &err);
        used = cmd ? used : BZ_E_INVAL;
    }
    if (used < 0)
        status = usage_error(env, NULL, &err);
    else if (cmd)
        status = run_words(env, cmd, n - used - 1, words + used + 1);
    else
        status = answer(env, NULL, NULL);
    bz_opt_release(&line);
    return status;
}

/* A descriptor 0 to 2 that the caller closed would be given to the next file opened,
 * and output would land there. Its place is taken by /dev/null, opened so that
 * writing results to it fails. */
static void occupy_standard_fds(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_RDWR};

    for (int fd = 0; fd < (int)BZ_COUNTOF(modes); fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", modes[fd]); /* gets the lowest number: fd */
}

/* Hands over what is left of the results. Returns the exit status: `status`, unless
 * they could not be written. */
static int finish_output(struct bz_cmd_env *env, int status)
{
    struct bz_err err;

    if (bz_out_close(&env->out, "standard output", &err) == 0)
        return status;
    /* A reader that has seen enough, as in `bitzel ... | head`, is no failure: end as
     * the signal would have ended us, without a word. */
    if (err.sys == EPIPE)
        return status == BZ_CMD_EXIT_SUCCESS ? 128 + SIGPIPE : status;
    report(env, &err);
    return status == BZ_CMD_EXIT_SUCCESS ? BZ_CMD_EXIT_INFRA : status;
}

int main(int argc, char **argv)
{
    struct bz_cmd_env env = {.commands = commands, .global_rows = globals};
    int status;

    occupy_standard_fds();
    bz_kashome_adopt();
    /* A reader that goes away shows as EPIPE, so that work under way ends properly. */
    (void)signal(SIGPIPE, SIG_IGN);
    choose_colors(&env);
    status = argc > 0 ? dispatch(&env, argc - 1, argv + 1) : dispatch(&env, 0, argv);
    status = finish_output(&env, status);
    bz_out_flush(&env.log); /* stays open: sanitizers report there after main */
    bz_buf_release(&env.log.buf);
    bz_settings_release(&env.settings);
    return status;
}
