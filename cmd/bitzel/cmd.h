/* cmd.h - a subcommand, as main and help see it.
 *
 * A command is one constant: its words for help, its option table, and a function.
 * Adding a command is writing cmd_<name>.c and adding it to the list in main.c.
 */
#ifndef BZ_CMD_CMD_H
#define BZ_CMD_CMD_H

#include "config/settings.h"
#include "opt.h"
#include "out.h"

/* What a script can rely on. A process that a signal ends shows 128 + signal in the
 * shell. */
enum bz_cmd_exit {
    BZ_CMD_EXIT_SUCCESS = 0,
    BZ_CMD_EXIT_TASK = 1,    /* a task of the build failed */
    BZ_CMD_EXIT_USAGE = 2,   /* the command line, configuration or a recipe is wrong */
    BZ_CMD_EXIT_NONE = 3,    /* a target or query matched nothing */
    BZ_CMD_EXIT_INFRA = 4,   /* the system or the surroundings failed */
    BZ_CMD_EXIT_SANDBOX = 5, /* there can be no sandbox here */
    BZ_CMD_EXIT_DIFFERENT = 6, /* a verification found a difference */
};

struct bz_cmd_globals {
    bool quiet, verbose, help, version;
    int color; /* enum bz_out_color, or -1: as the settings say */
    const char *directory;
    const char *project;
    struct bz_opt_list read, postread, set;
};

/* What a command gets besides its own options. */
struct bz_cmd_env {
    const struct bz_cmd *const *commands; /* all of them, up to a NULL */
    const struct bz_opt *global_rows;
    struct bz_cmd_globals global;
    struct bz_settings settings; /* for cmd_settings.h, as are the next two */
    int settings_rc;
    struct bz_err settings_err;
    int status;        /* of a command that failed, unless its error says; 0: none */
    struct bz_out out; /* standard output: results only */
    struct bz_out log; /* standard error: everything else */
};

/* `values` is the struct that the option rows fill. Returns an exit status, or a
 * negative enum bz_code with *err filled. */
typedef int (*bz_cmd_fn)(struct bz_cmd_env *env, const void *values,
                         struct bz_err *err);

struct bz_cmd_term {
    const char *name; /* NULL: the row after the last one */
    const char *help;
};

/* What each exit status means, up to a row without a meaning. */
struct bz_cmd_exit_row {
    enum bz_cmd_exit status;
    const char *meaning;
};
extern const struct bz_cmd_exit_row bz_cmd_exits[];

/* A command may have commands of its own, as `project lock`. `run` is for a line that
 * names none of them, or NULL if one must be named. If it takes arguments, too, one of
 * its commands is meant only where the first word is its name. */
struct bz_cmd {
    const char *of; /* the command that this one is part of, or NULL */
    bool hidden;    /* for programs: no list has it */
    const char *name;
    const char *summary; /* a few words, as in a list */
    const char *detail;  /* a paragraph for its own help */
    const struct bz_opt *opts;
    const struct bz_opt_arg *args;
    const struct bz_cmd_term *terms; /* words of a language it understands; or NULL */
    const struct bz_cmd_term
        *examples; /* whole lines, and what they are for; or NULL */
    size_t size;   /* of the struct the rows fill, at least 1 */
    bz_cmd_fn run;
    const struct bz_cmd *const *subs; /* up to a NULL; or NULL */
};

extern const struct bz_cmd bz_cmd_appends;
extern const struct bz_cmd bz_cmd_build;
extern const struct bz_cmd bz_cmd_builds;
extern const struct bz_cmd bz_cmd_cache;
extern const struct bz_cmd bz_cmd_cache_du; /* these are of bz_cmd_cache */
extern const struct bz_cmd bz_cmd_cache_gc;
extern const struct bz_cmd bz_cmd_cache_key;
extern const struct bz_cmd bz_cmd_cache_ls;
extern const struct bz_cmd bz_cmd_cache_path;
extern const struct bz_cmd bz_cmd_cache_copy_pull;
extern const struct bz_cmd bz_cmd_cache_copy_push;
extern const struct bz_cmd bz_cmd_cache_reindex;
extern const struct bz_cmd bz_cmd_cache_show;
extern const struct bz_cmd bz_cmd_cache_verify;
extern const struct bz_cmd bz_cmd_complete;
extern const struct bz_cmd bz_cmd_completion;
extern const struct bz_cmd bz_cmd_config;
extern const struct bz_cmd bz_cmd_doctor;
extern const struct bz_cmd bz_cmd_env;
extern const struct bz_cmd bz_cmd_fetch;
extern const struct bz_cmd bz_cmd_getvar;
extern const struct bz_cmd bz_cmd_graph;
extern const struct bz_cmd bz_cmd_help;
extern const struct bz_cmd bz_cmd_layers;
extern const struct bz_cmd bz_cmd_log;
extern const struct bz_cmd bz_cmd_parse;
extern const struct bz_cmd bz_cmd_plan;
extern const struct bz_cmd bz_cmd_project;
extern const struct bz_cmd bz_cmd_project_lock; /* of bz_cmd_project */
extern const struct bz_cmd bz_cmd_query;
extern const struct bz_cmd bz_cmd_recipes;
extern const struct bz_cmd bz_cmd_report;
extern const struct bz_cmd bz_cmd_serve;
extern const struct bz_cmd bz_cmd_shell;
extern const struct bz_cmd bz_cmd_sig;
extern const struct bz_cmd bz_cmd_sig_diff; /* of bz_cmd_sig */
extern const struct bz_cmd bz_cmd_trace;
extern const struct bz_cmd bz_cmd_version;
extern const struct bz_cmd bz_cmd_warm;
extern const struct bz_cmd bz_cmd_why;

/* The named command of `of`, or of bitzel itself if that is NULL; or NULL and *err
 * filled with the nearest names. */
const struct bz_cmd *bz_cmd_find(const struct bz_cmd_env *env, const struct bz_cmd *of,
                                 const char *name, struct bz_err *err) BZ_MUST_CHECK;

/* Whether it takes arguments of its own. */
static inline bool bz_cmd_has_args(const struct bz_cmd *cmd)
{
    return cmd->args && cmd->args[0].name;
}

/* BZ_E_INVAL, with their names, if one of its commands must be named. */
int bz_cmd_check_run(const struct bz_cmd *cmd, struct bz_err *err) BZ_MUST_CHECK;

/* The arguments that the usage of a command shows; NULL is bitzel itself. Where it has
 * commands but no arguments of its own, these are the words of a command. */
const struct bz_opt_arg *bz_cmd_usage(const struct bz_cmd *cmd);

/* Writes "bitzel project lock"; returns text. */
const char *bz_cmd_words(const struct bz_cmd *cmd, char *text, size_t size);

/* Help on all commands, and on one. */
void bz_cmd_help_overview(struct bz_cmd_env *env);
void bz_cmd_help_on(struct bz_cmd_env *env, const struct bz_cmd *cmd);

/* The line that --version and the version command begin with. */
void bz_cmd_version_line(struct bz_out *out);

#endif
