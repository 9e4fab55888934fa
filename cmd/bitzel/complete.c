#include "complete.h"

#include <ctype.h>
#include <string.h>

#define HELP_MOST 200 /* bytes of what recipes say of themselves */

static const struct {
    const char *name;
    enum bz_complete_kind kind;
} kinds[] = {
    {"COMMAND",    BZ_COMPLETE_COMMANDS   },
    {"FILE",       BZ_COMPLETE_FILES      },
    {"PROJECT",    BZ_COMPLETE_FILES      },
    {"OLD",        BZ_COMPLETE_FILES      },
    {"NEW",        BZ_COMPLETE_FILES      },
    {"DIR",        BZ_COMPLETE_DIRS       },
    {"TARGET",     BZ_COMPLETE_TARGETS    },
    {"RECIPE",     BZ_COMPLETE_RECIPES    },
    {"PATTERN",    BZ_COMPLETE_RECIPES    },
    {"TASK",       BZ_COMPLETE_TASKS      },
    {"VARIABLE",   BZ_COMPLETE_VARIABLES  },
    {"SETTING",    BZ_COMPLETE_SETTINGS   },
    {"NAME=VALUE", BZ_COMPLETE_ASSIGNMENTS},
    {"BUILD",      BZ_COMPLETE_BUILDS     },
    {"SHELL",      BZ_COMPLETE_SHELLS     },
};

static enum bz_complete_kind kind_of(const char *name)
{
    for (size_t i = 0; i < BZ_COUNTOF(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return BZ_COMPLETE_NOTHING;
}

/* A line has a tab and an end; a word that has one itself is not offered. */
void bz_complete_offer(struct bz_complete *c, struct bz_str typed, struct bz_str word,
                       struct bz_str help)
{
    if (!bz_str_starts(word, typed))
        return;
    for (size_t i = 0; i < word.n; i++)
        if (iscntrl((unsigned char)word.p[i]) || word.p[i] == ' ')
            return;
    bz_buf_add_str(&c->out, c->before);
    bz_buf_add_str(&c->out, word);
    bz_buf_add_char(&c->out, '\t');
    for (size_t i = 0; i < help.n && i < HELP_MOST; i++)
        bz_buf_add_char(&c->out, iscntrl((unsigned char)help.p[i]) ? ' ' : help.p[i]);
    bz_buf_add_char(&c->out, '\n');
}

static void offer(struct bz_complete *c, struct bz_str typed, const char *word,
                  const char *help)
{
    bz_complete_offer(c, typed, bz_str_from(word), bz_str_from(help));
}

/* ---- the words before the last ---- */

static const struct bz_opt *find_long(const struct bz_opt *rows, struct bz_str name)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++)
        if (bz_str_eq(bz_str_from(rows->name), name))
            return rows;
    return NULL;
}

static const struct bz_opt *find_letter(const struct bz_opt *rows, char letter)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++)
        if (rows->letter == letter)
            return rows;
    return NULL;
}

static bool takes_value(const struct bz_opt *row)
{
    return row && row->kind >= BZ_OPT_KIND_TEXT;
}

static const struct bz_opt *own_rows(const struct bz_complete *c)
{
    return c->cmd ? c->cmd->opts : NULL;
}

/* The row of "--name", and what follows after '='. */
static const struct bz_opt *read_long(const struct bz_complete *c, struct bz_str word,
                                      struct bz_str *value)
{
    const struct bz_opt *row;
    struct bz_str name;
    bool has = bz_str_cut(bz_str_drop(word, 2), '=', &name, value);

    if (!has)
        *value = (struct bz_str){0};
    row = find_long(own_rows(c), name);
    return row ? row : find_long(c->globals, name);
}

static void note_value(struct bz_complete *c, const struct bz_opt *row,
                       const char *value)
{
    if (strcmp(row->name, "directory") == 0)
        c->directory = value;
    else if (strcmp(row->name, "project") == 0)
        c->project = value;
}

/* The row whose value is the next word, or NULL. */
static const struct bz_opt *read_option(struct bz_complete *c, const char *word)
{
    const struct bz_opt *row;
    struct bz_str value;

    if (word[1] == '-') {
        row = read_long(c, bz_str_from(word), &value);
        if (takes_value(row) && value.p)
            note_value(c, row, value.p);
        return takes_value(row) && !value.p ? row : NULL;
    }
    for (word++; *word; word++) {
        row = find_letter(own_rows(c), *word);
        row = row ? row : find_letter(c->globals, *word);
        if (takes_value(row))
            return word[1] ? NULL : row;
    }
    return NULL;
}

static const struct bz_cmd *find_command(const struct bz_cmd *const *cmds,
                                         const char *name)
{
    for (; cmds && *cmds; cmds++)
        if (strcmp((*cmds)->name, name) == 0)
            return *cmds;
    return NULL;
}

/* The commands that the next argument may be the name of. */
static const struct bz_cmd *const *next_commands(const struct bz_complete *c)
{
    if (!c->cmd)
        return c->commands;
    return c->args.len == 0 ? c->cmd->subs : NULL;
}

/* False if the line makes no sense from here on. */
static bool read_argument(struct bz_complete *c, const char *word)
{
    const struct bz_cmd *cmd = find_command(next_commands(c), word);

    if (cmd)
        c->cmd = cmd;
    else if (c->cmd)
        BZ_VEC_PUSH(&c->args, word);
    return c->cmd != NULL;
}

/* ---- the last word ---- */

static void offer_options(struct bz_complete *c, struct bz_str typed,
                          const struct bz_opt *rows, const struct bz_opt *shadowed_by)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf word = {0};

        if (find_long(shadowed_by, bz_str_from(rows->name)))
            continue;
        bz_buf_addf(&word, "--%s", rows->name);
        offer(c, typed, bz_buf_text(&word), rows->help);
        if (rows->kind != BZ_OPT_KIND_SWITCH)
            continue;
        bz_buf_truncate(&word, 0);
        bz_buf_addf(&word, "--no-%s", rows->name);
        offer(c, typed, bz_buf_text(&word), rows->help);
    }
}

static void offer_commands(struct bz_complete *c, struct bz_str typed,
                           const struct bz_cmd *const *cmds)
{
    for (; cmds && *cmds; cmds++)
        if (!(*cmds)->hidden)
            offer(c, typed, (*cmds)->name, (*cmds)->summary);
}

/* The words that `help` is given. */
static void offer_path(struct bz_complete *c, struct bz_str typed)
{
    const struct bz_cmd *const *cmds = c->commands;

    for (size_t i = 0; i < c->args.len && cmds; i++) {
        const struct bz_cmd *cmd = find_command(cmds, c->args.at[i]);

        cmds = cmd ? cmd->subs : NULL;
    }
    offer_commands(c, typed, cmds);
}

static void offer_settings(struct bz_complete *c, struct bz_str typed, const char *end)
{
    for (int i = 0; i < BZ_SETTING_COUNT; i++) {
        const struct bz_setting *row = bz_setting_row((enum bz_setting_id)i);
        BZ_CLEANUP(bz_buf_release) struct bz_buf word = {0};

        bz_buf_addf(&word, "%s%s", row->name, end);
        offer(c, typed, bz_buf_text(&word), row->help);
    }
}

static void offer_choices(struct bz_complete *c, struct bz_str typed,
                          const char *const *words)
{
    for (; words && *words; words++)
        offer(c, typed, *words, "");
}

/* NAME=VALUE, where the value is one of a few words. */
static void offer_assignment(struct bz_complete *c, struct bz_str typed)
{
    static const char *const bools[] = {"true", "false", NULL};
    BZ_CLEANUP(bz_buf_release) struct bz_buf before = {0};
    struct bz_str name, value, outer = c->before;
    const struct bz_setting *row;
    enum bz_setting_id id;
    struct bz_err err;

    if (!bz_str_cut(typed, '=', &name, &value)) {
        offer_settings(c, typed, "=");
        return;
    }
    if (bz_setting_find(name, &id, &err) < 0)
        return;
    row = bz_setting_row(id);
    bz_buf_addf(&before, "%.*s%.*s=", BZ_STR_ARG(outer), BZ_STR_ARG(name));
    c->before = bz_buf_str(&before);
    offer_choices(c, value, row->type == BZ_SETTING_BOOL ? bools : row->choices);
    c->before = outer;
}

static void offer_kind(struct bz_complete *c, enum bz_complete_kind kind,
                       struct bz_str typed)
{
    static const char *const shells[] = {"bash", "fish", "zsh", NULL};

    switch (kind) {
    case BZ_COMPLETE_NOTHING:
        break;
    case BZ_COMPLETE_COMMANDS:
        offer_path(c, typed);
        break;
    case BZ_COMPLETE_FILES:
        bz_buf_addf(&c->out, ":files\n");
        break;
    case BZ_COMPLETE_DIRS:
        bz_buf_addf(&c->out, ":dirs\n");
        break;
    case BZ_COMPLETE_TARGETS:
    case BZ_COMPLETE_RECIPES:
    case BZ_COMPLETE_TASKS:
    case BZ_COMPLETE_VARIABLES:
        if (c->names)
            c->names(c, kind, typed);
        break;
    case BZ_COMPLETE_SETTINGS:
        offer_settings(c, typed, "");
        break;
    case BZ_COMPLETE_ASSIGNMENTS:
        offer_assignment(c, typed);
        break;
    case BZ_COMPLETE_BUILDS:
        offer(c, typed, "last", "the last build");
        if (c->names)
            c->names(c, kind, typed);
        break;
    case BZ_COMPLETE_SHELLS:
        offer_choices(c, typed, shells);
        break;
    }
}

static void offer_value(struct bz_complete *c, const struct bz_opt *row,
                        struct bz_str typed)
{
    enum bz_complete_kind kind = row->value ? kind_of(row->value) : BZ_COMPLETE_NOTHING;

    if (row->kind == BZ_OPT_KIND_CHOICE)
        offer_choices(c, typed, row->choices);
    else if (kind != BZ_COMPLETE_COMMANDS) /* a value so called is another shell's */
        offer_kind(c, kind, typed);
}

static void offer_argument(struct bz_complete *c, struct bz_str typed)
{
    const struct bz_opt_arg *arg = c->cmd ? c->cmd->args : NULL;
    enum bz_complete_kind kind;

    offer_commands(c, typed, next_commands(c));
    if (!arg)
        return;
    for (size_t i = 0; i < c->args.len && arg->many != BZ_OPT_MANY_END; i++)
        if (arg->many != BZ_OPT_MANY_SOME && arg->many != BZ_OPT_MANY_ANY)
            arg++;
    if (arg->many == BZ_OPT_MANY_END)
        return;
    /* Where a task stands alone its recipe goes with it. */
    kind = kind_of(arg->name);
    offer_kind(c, kind == BZ_COMPLETE_TASKS ? BZ_COMPLETE_TARGETS : kind, typed);
}

static void offer_option(struct bz_complete *c, struct bz_str typed)
{
    struct bz_str value = {0};
    const struct bz_opt *row =
        typed.n > 2 && typed.p[1] == '-' ? read_long(c, typed, &value) : NULL;

    if (value.p) {
        c->before = bz_str_of(typed.p, typed.n - value.n);
        if (takes_value(row))
            offer_value(c, row, value);
        return;
    }
    offer_options(c, typed, own_rows(c), NULL);
    offer_options(c, typed, c->globals, own_rows(c));
}

void bz_complete_line(struct bz_complete *c, const char *const *words, size_t n)
{
    const struct bz_opt *pending = NULL;
    bool only_args = false;
    struct bz_str typed;

    if (n == 0)
        return;
    for (size_t i = 0; i < n - 1; i++) {
        if (pending) {
            note_value(c, pending, words[i]);
            pending = NULL;
        } else if (only_args || words[i][0] != '-' || words[i][1] == '\0') {
            if (!read_argument(c, words[i]))
                return;
        } else if (strcmp(words[i], "--") == 0) {
            only_args = true;
        } else {
            pending = read_option(c, words[i]);
        }
    }
    typed = bz_str_from(words[n - 1]);
    if (pending)
        offer_value(c, pending, typed);
    else if (!only_args && typed.n > 0 && typed.p[0] == '-')
        offer_option(c, typed);
    else
        offer_argument(c, typed);
}

void bz_complete_release(struct bz_complete *c)
{
    bz_vec_release(&c->args);
    bz_buf_release(&c->out);
}
