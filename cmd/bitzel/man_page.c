#include "man_page.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "opt_help.h"
#include "os/fs.h"
#include "os/fs_output.h"
#include "report/eventkey.h"
#include "roff.h"

/* Rows of such a length lose all form as plain braces. */
#define TERM(n, h)                                                                     \
    {                                                                                  \
        .name = (n), .help = (h)                                                       \
    }

static const struct bz_cmd_term variables[] = {
    TERM("BITZEL_PROJECT",
         "The kas files or the build directory to work on, as --project says it"),
    TERM("BUILDDIR, BBPATH",
         "The build directory, unless something else names a project"),
    TERM("BITZEL_HOME",
         "Where settings and the store are by default, in place of HOME; below kas, "
         "which changes HOME, it is the home that kas was started with"),
    TERM("BITZEL_NO_SAMPLE",
         "If it is not empty, there must be a project; else commands are about the "
         "layer that comes with bitzel where there is none"),
    TERM("BBPRECONF, BBPOSTCONF",
         "One more file to read before and after the configuration, as with --read and "
         "--postread"),
    TERM("BB_ENV_PASSTHROUGH, BB_ENV_PASSTHROUGH_ADDITIONS, BB_PRESERVE_ENV",
         "Which variables of the environment the configuration sees, as in BitBake; "
         "MACHINE and DISTRO do unless the first is set"),
    TERM("BITZEL_CACHE_DIR, BITZEL_JOBS, ...",
         "Each setting has such a variable; they are listed in bitzel.conf(5)"),
    TERM("NO_COLOR, CLICOLOR_FORCE, TERM, COLUMNS",
         "Whether there are colours, and how wide text may be; --color decides against "
         "the first three"),
    TERM("CI, GITHUB_ACTIONS, GITLAB_CI",
         "Where nobody watches: build prints lines only, and what GitHub and GitLab "
         "make annotations of"),
    TERM(NULL, NULL),
};

static const struct bz_cmd_term files[] = {
    TERM("/etc/bitzel/bitzel.conf", "The settings of this machine, see bitzel.conf(5)"),
    TERM("~/.config/bitzel/bitzel.conf",
         "Those of the user; $XDG_CONFIG_HOME instead of ~/.config if that is set"),
    TERM(
        "conf/bitzel.conf",
        "Those of a project, in its build directory; bitzel.conf beside its kas files"),
    TERM("conf/bblayers.conf, kas-project.yml, kas.yml, .config.yaml",
         "What makes a directory, and all below it, a project"),
    TERM("cache/bitzel.catalog",
         "In the build directory: what is known of its recipes, and which tasks were "
         "forced. It may be removed"),
    TERM("~/.cache/bitzel",
         "The local store of results, unless cache.dir names another"),
    TERM("/usr/share/bitzel/recipes",
         "The layer that comes with bitzel, below the prefix that it is installed in"),
    TERM("~/.local/state/bitzel", "Indexes and keys, unless state.dir names another"),
    TERM(NULL, NULL),
};

static void title(struct bz_buf *b, const struct bz_man_page_book *book,
                  const char *name, const char *section)
{
    char source[48], capitals[64];
    struct bz_roff_title t = {capitals, section, book->date, source, "bitzel Manual"};
    size_t n = 0;

    snprintf(source, sizeof(source), "bitzel %s", book->version);
    for (; n < sizeof(capitals) - 1 && name[n]; n++)
        capitals[n] = (char)toupper((unsigned char)name[n]);
    capitals[n] = '\0';
    bz_roff_title(b, &t);
}

static void name_section(struct bz_buf *b, const char *name, const char *summary)
{
    bz_roff_section(b, "NAME");
    bz_roff_plain(b, name);
    bz_buf_addf(b, " \\- ");
    bz_buf_add_char(b, (char)tolower((unsigned char)summary[0]));
    bz_roff_plain(b, summary + 1);
    bz_roff_end(b);
}

/* A row of a table says its sentence without the full stop. */
static void sentence(struct bz_buf *b, const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf t = {0};

    bz_buf_addf(&t, "%s.", text);
    bz_roff_text(b, bz_buf_text(&t));
}

/* What stands for something else, which is written in capitals, in italics. */
static void placeholders(struct bz_buf *b, struct bz_str text)
{
    while (text.n > 0) {
        bool upper = isupper((unsigned char)text.p[0]);
        char word[64];
        size_t n = 0;

        while (n < text.n && n < sizeof(word) - 1 &&
               !isupper((unsigned char)text.p[n]) == !upper)
            n++;
        memcpy(word, text.p, n);
        word[n] = '\0';
        (upper ? bz_roff_italic : bz_roff_plain)(b, word);
        text = bz_str_drop(text, n);
    }
}

/* "bitzel build [OPTION...] TARGET..."; NULL is bitzel itself. */
static void synopsis(struct bz_buf *b, const struct bz_cmd *cmd)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf t = {0};
    char words[64];

    bz_opt_help_line(&t, bz_cmd_usage(cmd));
    bz_roff_bold(b, cmd ? bz_cmd_words(cmd, words, sizeof(words)) : "bitzel");
    placeholders(b, bz_buf_str(&t));
    bz_roff_end(b);
}

static void option_item(struct bz_buf *b, const struct bz_opt *row, bool letter)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0}, help = {0};
    char dashed[3] = {'-', row->letter, '\0'};

    bz_roff_item(b);
    if (letter) {
        bz_roff_bold(b, dashed);
        bz_roff_plain(b, ", ");
    }
    bz_buf_addf(&name, "--%s%s", row->kind == BZ_OPT_KIND_SWITCH ? "[no-]" : "",
                row->name);
    bz_roff_bold(b, bz_buf_text(&name));
    if (row->value) {
        bz_roff_plain(b, " ");
        bz_roff_italic(b, row->value);
    }
    bz_roff_end(b);
    bz_opt_help_describe(&help, row);
    sentence(b, bz_buf_text(&help));
}

/* The letters that `own`, which may be NULL, takes for itself are not shown. */
static void options(struct bz_buf *b, const struct bz_opt *rows,
                    const struct bz_opt *own)
{
    for (; rows->kind != BZ_OPT_KIND_END; rows++)
        option_item(b, rows,
                    rows->letter && !bz_opt_help_has_letter(own, rows->letter));
}

static void terms(struct bz_buf *b, const struct bz_cmd_term *term)
{
    for (; term->name; term++) {
        bz_roff_item(b);
        bz_roff_bold(b, term->name);
        bz_roff_end(b);
        sentence(b, term->help);
    }
}

static void examples(struct bz_buf *b, const struct bz_cmd_term *example)
{
    for (; example && example->name; example++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf help = {0};

        bz_roff_paragraph(b);
        bz_buf_addf(&help, "%s:", example->help);
        bz_roff_text(b, bz_buf_text(&help));
        bz_buf_addf(b, ".RS 4\n");
        bz_roff_example(b, example->name);
        bz_buf_addf(b, ".RE\n");
    }
}

/* What a command says of itself, but for its options. */
static void description(struct bz_buf *b, const struct bz_cmd *cmd)
{
    const struct bz_opt_arg *arg = cmd->args;

    bz_roff_text(b, cmd->detail);
    for (; arg->many != BZ_OPT_MANY_END; arg++) {
        bz_roff_item(b);
        bz_roff_italic(b, arg->name);
        bz_roff_end(b);
        sentence(b, arg->help);
    }
    if (!cmd->terms)
        return;
    bz_roff_subsection(b, "Terms");
    terms(b, cmd->terms);
}

/* A subsection for each command of a command.
 * NOLINTNEXTLINE(misc-no-recursion): as deep as commands have commands */
static void subcommands(struct bz_buf *b, const struct bz_cmd *cmd)
{
    for (const struct bz_cmd *const *sub = cmd->subs; sub && *sub; sub++) {
        char words[64];

        bz_roff_subsection(b, bz_cmd_words(*sub, words, sizeof(words)));
        synopsis(b, *sub);
        bz_roff_paragraph(b);
        description(b, *sub);
        options(b, (*sub)->opts, NULL);
        examples(b, (*sub)->examples);
        subcommands(b, *sub);
    }
}

static void exit_status(struct bz_buf *b)
{
    bz_roff_section(b, "EXIT STATUS");
    for (const struct bz_cmd_exit_row *row = bz_cmd_exits; row->meaning; row++) {
        char number[16];

        snprintf(number, sizeof(number), "%d", row->status);
        bz_roff_item(b);
        bz_roff_bold(b, number);
        bz_roff_end(b);
        sentence(b, row->meaning);
    }
}

static void surroundings(struct bz_buf *b)
{
    bz_roff_section(b, "ENVIRONMENT");
    terms(b, variables);
    bz_roff_section(b, "FILES");
    terms(b, files);
}

/* "bitzel-build(1)", after a comma if it is not the first. */
static void reference(struct bz_buf *b, const char *name, const char *section)
{
    bz_buf_addf(b, ".BR ");
    bz_roff_plain(b, name);
    bz_buf_addf(b, " (%s)", section);
}

void bz_man_page_program(struct bz_buf *b, const struct bz_man_page_book *book)
{
    const struct bz_cmd *const *cmd;

    title(b, book, "bitzel", "1");
    name_section(b, "bitzel",
                 "recipe task orchestrator with a content-addressed cache");
    bz_roff_section(b, "SYNOPSIS");
    synopsis(b, NULL);
    bz_roff_section(b, "DESCRIPTION");
    bz_roff_text(b, "bitzel reads BitBake's recipes, layers and configurations, and "
                    "kas project files. It finds out which tasks a target needs, signs "
                    "each with all that counts for it, and runs those whose results "
                    "are not stored yet, each in a sandbox that shows it no more than "
                    "what it depends on.");
    bz_roff_paragraph(b);
    bz_roff_text(b, "It works on the project that the current directory is in: a build "
                    "directory with conf/bblayers.conf, or kas files. Results go to "
                    "standard output, all else to standard error; most commands print "
                    "JSON with --json.");
    bz_roff_section(b, "COMMANDS");
    for (cmd = book->commands; *cmd; cmd++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

        if ((*cmd)->hidden)
            continue;
        bz_roff_item(b);
        bz_buf_addf(&name, "bitzel-%s", (*cmd)->name);
        reference(b, bz_buf_text(&name), "1");
        bz_roff_end(b);
        sentence(b, (*cmd)->summary);
    }
    bz_roff_section(b, "OPTIONS");
    bz_roff_text(b, "Every command takes these, before its name or after it.");
    options(b, book->globals, NULL);
    exit_status(b);
    surroundings(b);
    bz_roff_section(b, "EXAMPLES");
    for (cmd = book->commands; *cmd; cmd++)
        if (strcmp((*cmd)->name, "build") == 0 || strcmp((*cmd)->name, "why") == 0)
            examples(b, (*cmd)->examples);
    bz_roff_section(b, "SEE ALSO");
    reference(b, "bitzel.conf", "5");
    bz_buf_addf(b, ",\n");
    reference(b, "bitzel-build", "1");
    bz_buf_addf(b, ",\n");
    reference(b, "bitzel-help", "1");
    bz_roff_end(b);
}

void bz_man_page_command(struct bz_buf *b, const struct bz_man_page_book *book,
                         const struct bz_cmd *cmd)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    bz_buf_addf(&name, "bitzel-%s", cmd->name);
    title(b, book, bz_buf_text(&name), "1");
    name_section(b, bz_buf_text(&name), cmd->summary);
    bz_roff_section(b, "SYNOPSIS");
    synopsis(b, cmd);
    bz_roff_section(b, "DESCRIPTION");
    description(b, cmd);
    if (cmd->subs) {
        bz_roff_section(b, "COMMANDS");
        subcommands(b, cmd);
    }
    bz_roff_section(b, "OPTIONS");
    options(b, cmd->opts, NULL);
    bz_roff_subsection(b, "Options of every command");
    options(b, book->globals, cmd->opts);
    exit_status(b);
    surroundings(b);
    if (cmd->examples) {
        bz_roff_section(b, "EXAMPLES");
        examples(b, cmd->examples);
    }
    bz_roff_section(b, "SEE ALSO");
    reference(b, "bitzel", "1");
    bz_buf_addf(b, ",\n");
    reference(b, "bitzel.conf", "5");
    bz_roff_end(b);
}

/* ---- bitzel.conf(5) ---- */

static const struct bz_cmd_term types[] = {
    TERM("bool", "true or false, yes or no, on or off, 1 or 0"),
    TERM("int", "A whole number"),
    TERM("size", "Bytes: a whole number and K, M, G, T or P, which count in powers of "
                 "1024, as 20G or 512MiB"),
    TERM("duration", "Whole numbers, each with ms, s, m, h, d or w, as 30s or 1h30m; 0 "
                     "needs no unit"),
    TERM("text", "Any text"),
    TERM("path", "A file or directory: absolute, below ~, or relative to the directory "
                 "of the file that says it"),
    TERM("list",
         "Texts separated by ';'. In one file a list may be set repeatedly: the "
         "lines add up"),
    TERM("enum", "One of the words that are listed with the setting"),
    TERM(NULL, NULL),
};

static const struct bz_cmd_term tier_words[] = {
    {"dir:PATH",      "A directory that others share; it must be there"         },
    {"http:, https:", "A web server; the URL may have a user and a password"    },
    {"ro",            "For reading only, as it is unless it says something else"},
    {"rw",            "For the results of this machine too"                     },
    {"trust=KEY,...", "Take only results that one of these keys has signed"     },
    {"token=FILE",    "For web servers: a file with a bearer token"             },
    {"cert=FILE",     "A file with our certificate"                             },
    {"key=FILE",      "A file with the key of it"                               },
    {"ca=FILE",       "A file with the authorities to believe in"               },
    {NULL,            NULL                                                      },
};

static void setting_item(struct bz_buf *b, enum bz_setting_id id)
{
    static const char *const homes[] = {
        [BZ_XDG_CACHE] = "~/.cache/bitzel",
        [BZ_XDG_STATE] = "~/.local/state/bitzel",
        [BZ_XDG_CONFIG] = "~/.config/bitzel",
    };
    const struct bz_setting *row = bz_setting_row(id);
    const char *initial = row->in_home ? homes[row->home] : row->initial;
    BZ_CLEANUP(bz_buf_release) struct bz_buf help = {0};
    char variable[BZ_SETTING_ENV_MAX];

    bz_roff_item(b);
    bz_roff_bold(b, row->name);
    bz_buf_addf(b, " (%s)\n", bz_setting_type_name(row->type));
    bz_buf_addf(&help, "%s", row->help);
    for (int i = 0; row->choices && row->choices[i]; i++)
        bz_buf_addf(&help, "%s%s", i == 0 ? ". One of " : ", ", row->choices[i]);
    if (row->type == BZ_SETTING_INT)
        bz_buf_addf(&help, ". From %" PRId64 " to %" PRId64, row->min, row->max);
    bz_buf_addf(&help, ". %s%s. Variable: %s", *initial ? "Default: " : "No default",
                initial, bz_setting_env(id, variable));
    sentence(b, bz_buf_text(&help));
}

void bz_man_page_settings(struct bz_buf *b, const struct bz_man_page_book *book)
{
    title(b, book, "bitzel.conf", "5");
    name_section(b, "bitzel.conf", "settings of bitzel");
    bz_roff_section(b, "SYNOPSIS");
    for (size_t i = 0; i < 3; i++) {
        bz_roff_plain(b, files[i].name);
        bz_buf_addf(b, i < 2 ? "\n.br\n" : "\n");
    }
    bz_roff_section(b, "DESCRIPTION");
    bz_roff_text(b, "The last of these that says something about a setting counts: the "
                    "default, the file of the machine, that of the user, that of the "
                    "project, the environment, and the option --set. A file that is "
                    "not there is empty; a name that does not exist, or a value that "
                    "is none, is an error. 'bitzel config --show-origin' shows what is "
                    "set, and who set it.");
    bz_roff_paragraph(b);
    bz_roff_text(b, "A line sets a name to a value, which goes to the end of the line "
                    "without the blanks around it; in double quotes it is taken as it "
                    "is. '[cache]' on a line of its own goes before the names below "
                    "it, so that 'dir' means 'cache.dir', up to the next such line; "
                    "'[]' ends that. A comment begins with '#', at the start of a line "
                    "or after a blank.");
    bz_roff_paragraph(b);
    bz_roff_text(b, "The file of a project may be stricter than those of the machine "
                    "and the user, never less so; what it says beyond that is ignored, "
                    "with a warning. So it cannot turn on cache.upload again, nor "
                    "loosen cache.verify or sandbox, and cache.keys, cache.sign and "
                    "state.dir are not its business. Its cache.tiers count if they are "
                    "those of the machine or the user, with no more rights, or else "
                    "are only read, with trust= and keys that are trusted here, and "
                    "without files to log in with. If it sets cache.dir, nothing is "
                    "uploaded or signed.");
    bz_roff_section(b, "SETTINGS");
    for (int i = 0; i < BZ_SETTING_COUNT; i++)
        setting_item(b, (enum bz_setting_id)i);
    bz_roff_section(b, "TYPES");
    terms(b, types);
    bz_roff_section(b, "TIERS");
    bz_roff_text(b, "An item of cache.tiers is a place, and words about it. One that "
                    "fails, or is silent for cache.timeout, is left out for the rest "
                    "of the run.");
    terms(b, tier_words);
    bz_roff_section(b, "ENVIRONMENT");
    bz_roff_text(b,
                 "Each setting has a variable: its name in capitals after BITZEL_. An "
                 "empty one does not count, but empties a list.");
    bz_roff_section(b, "FILES");
    terms(b, files);
    bz_roff_section(b, "EXAMPLES");
    bz_buf_addf(b, ".EX\n");
    bz_roff_plain(b, "jobs = 8\n[cache]\ndir = /srv/build/store\nmax_size = 20G\n"
                     "tiers = dir:/srv/cache ro   # what others built\n");
    bz_buf_addf(b, ".EE\n");
    bz_roff_section(b, "SEE ALSO");
    reference(b, "bitzel", "1");
    bz_buf_addf(b, ",\n");
    reference(b, "bitzel-config", "1");
    bz_roff_end(b);
}

/* ---- bitzel-events(5) ---- */

static void event_section(struct bz_buf *b, const struct bz_eventkey_line *line)
{
    bz_roff_subsection(b, line->name);
    sentence(b, line->help);
    for (size_t i = 0; i < line->nfields; i++) {
        enum bz_eventkey key = line->fields[i].key;

        if (key == BZ_EVENTKEY_EVENT || key == BZ_EVENTKEY_AT)
            continue;
        bz_roff_item(b);
        bz_roff_bold(b, bz_eventkey_name(key));
        bz_roff_end(b);
        sentence(b, line->fields[i].help);
    }
}

void bz_man_page_events(struct bz_buf *b, const struct bz_man_page_book *book)
{
    title(b, book, "bitzel-events", "5");
    name_section(b, "bitzel-events", "what is logged of builds");
    bz_roff_section(b, "SYNOPSIS");
    bz_roff_plain(b, "builds/BUILD/events");
    bz_buf_addf(b, "\n.br\n");
    bz_roff_plain(b, "builds/BUILD/events.idle");
    bz_buf_addf(b, "\n");
    bz_roff_section(b, "DESCRIPTION");
    bz_roff_text(b,
                 "A build writes what happens as it does, one JSON object a line, to "
                 "its directory below builds/ and to the file of 'bitzel build "
                 "--events'. Of a build that runs nothing the name is another. "
                 "'bitzel report', 'bitzel trace' and others are made of it.");
    bz_roff_paragraph(b);
    bz_roff_text(b,
                 "Each object has 'event', the kind of line, and all but the first "
                 "have 'at', the seconds since tasks were looked at first. Times are "
                 "in seconds, sizes in bytes. What is not known is left out. "
                 "Programs that read it skip lines and keys that they do not know; "
                 "the version changes when known ones change their meaning. A line "
                 "is written at once, so that all but the last one are whole.");
    bz_roff_section(b, "LINES");
    for (unsigned i = 0; i < BZ_EVENTKEY_LINES; i++)
        event_section(b, bz_eventkey_line(i));
    bz_roff_section(b, "SEE ALSO");
    reference(b, "bitzel-build", "1");
    bz_buf_addf(b, ",\n");
    reference(b, "bitzel-report", "1");
    bz_roff_end(b);
}

/* ---- files ---- */

static int write_page(const char *dir, int section, const char *name, struct bz_buf *b,
                      struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf path = {0};
    int rc;

    bz_buf_addf(&path, "%s/man%d", dir, section);
    rc = bz_fs_mkdirs(AT_FDCWD, bz_buf_text(&path), 0755, err);
    bz_buf_addf(&path, "/%s.%d", name, section);
    if (rc == 0)
        rc = bz_fs_output(bz_buf_text(&path), b->data, b->len, err);
    bz_buf_release(b);
    return rc;
}

int bz_man_page_write_all(const struct bz_man_page_book *book, const char *dir,
                          struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf page = {0};
    int rc;

    bz_man_page_program(&page, book);
    rc = write_page(dir, 1, "bitzel", &page, err);
    if (rc == 0) {
        bz_man_page_settings(&page, book);
        rc = write_page(dir, 5, "bitzel.conf", &page, err);
    }
    if (rc == 0) {
        bz_man_page_events(&page, book);
        rc = write_page(dir, 5, "bitzel-events", &page, err);
    }
    for (const struct bz_cmd *const *cmd = book->commands; rc == 0 && *cmd; cmd++) {
        char name[64];

        if ((*cmd)->hidden)
            continue;
        snprintf(name, sizeof(name), "bitzel-%s", (*cmd)->name);
        bz_man_page_command(&page, book, *cmd);
        rc = write_page(dir, 1, name, &page, err);
    }
    return rc;
}
