#include "opt.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"

/* How much of a user's word a message repeats. */
#define SHOWN "%.48s"

/* A line being read: the words and how far we are. */
struct reader {
    const struct bz_opt_line *line;
    char *const *words;
    int n;
    int next;
    size_t args; /* arguments seen */
    bool stop;
};

/* A row with the struct it writes to. */
struct found {
    const struct bz_opt *row;
    void *into;
};

/* The option as the user wrote it, for messages: "--jobs" or "-j". */
struct spelling {
    char text[64];
};

static const struct bz_opt *row_of(const struct bz_opt *rows, const char *name,
                                   size_t len, char letter)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++) {
        if (letter && rows->letter == letter)
            return rows;
        if (name && strlen(rows->name) == len && memcmp(rows->name, name, len) == 0)
            return rows;
    }
    return NULL;
}

static struct found find(const struct bz_opt_line *line, const char *name, size_t len,
                         char letter)
{
    const struct bz_opt *row = row_of(line->own, name, len, letter);

    if (row)
        return (struct found){row, line->into};
    row = row_of(line->global, name, len, letter);
    return (struct found){row, row ? line->global_into : NULL};
}

static bool takes_value(const struct bz_opt *row)
{
    return row->kind >= BZ_OPT_KIND_TEXT;
}

static void *slot(struct found f)
{
    return (char *)f.into + f.row->at;
}

static void append(struct bz_opt_list *list, const char *word)
{
    list->word = bz_mem_resize(list->word, list->n + 1, sizeof(*list->word));
    list->word[list->n++] = word;
}

static int store_number(struct found f, const struct spelling *as, const char *text,
                        struct bz_err *err)
{
    const struct bz_opt *row = f.row;
    bool digits = text[text[0] == '-'] >= '0' && text[text[0] == '-'] <= '9';
    char *end = NULL;
    int64_t value;

    errno = 0;
    value = digits ? strtoll(text, &end, 10) : 0;
    if (!digits || *end != '\0' || errno == ERANGE || value < row->min ||
        value > row->max)
        return bz_fail(err, BZ_E_INVAL,
                       "%s: '" SHOWN "' is not a number from %" PRId64 " to %" PRId64,
                       as->text, text, row->min, row->max);
    *(int64_t *)slot(f) = value;
    return 0;
}

static int store_choice(struct found f, const struct spelling *as, const char *text,
                        struct bz_err *err)
{
    struct bz_near near;
    char all[96] = "";
    char hint[96];

    bz_near_init(&near, bz_str_from(text));
    for (int i = 0; f.row->choices[i]; i++) {
        if (strcmp(f.row->choices[i], text) == 0) {
            *(int *)slot(f) = i;
            return 0;
        }
        bz_near_offer(&near, bz_str_from(f.row->choices[i]));
        if (i > 0)
            strncat(all, ", ", sizeof(all) - strlen(all) - 1);
        strncat(all, f.row->choices[i], sizeof(all) - strlen(all) - 1);
    }
    return bz_fail(err, BZ_E_INVAL, "%s: '" SHOWN "' is none of %s%s", as->text, text,
                   all, bz_near_text(&near, "", hint, sizeof(hint)));
}

static int store_value(struct found f, const struct spelling *as, const char *text,
                       struct bz_err *err)
{
    switch (f.row->kind) {
    case BZ_OPT_KIND_NUMBER:
        return store_number(f, as, text, err);
    case BZ_OPT_KIND_CHOICE:
        return store_choice(f, as, text, err);
    case BZ_OPT_KIND_LIST:
        append(slot(f), text);
        return 0;
    default:
        *(const char **)slot(f) = text;
        return 0;
    }
}

static void store_flag(struct reader *r, struct found f, bool on)
{
    *(bool *)slot(f) = on;
    r->stop = r->stop || f.row->kind == BZ_OPT_KIND_STOP;
}

/* The value in the next word. A word that looks like an option is more likely a
 * forgotten value than meant as one; whoever means it writes --name=-x. */
static int store_next(struct reader *r, struct found f, const struct spelling *as,
                      struct bz_err *err)
{
    const char *word = r->next < r->n ? r->words[r->next] : NULL;

    if (!word)
        return bz_fail(err, BZ_E_INVAL, "%s needs a value: %s %s", as->text, as->text,
                       f.row->value);
    if (word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9'))
        return bz_fail(err, BZ_E_INVAL,
                       "%s needs a value, but '" SHOWN "' follows; to pass that, write "
                       "--%s=" SHOWN,
                       as->text, word, f.row->name, word);
    r->next++;
    return store_value(f, as, word, err);
}

static void offer_all(struct bz_near *near, const struct bz_opt *rows)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++)
        bz_near_offer(near, bz_str_from(rows->name));
}

static int fail_unknown(struct reader *r, const struct spelling *as, struct bz_err *err)
{
    struct bz_near near;
    char hint[96];

    bz_near_init(&near, bz_str_from(as->text + 2));
    offer_all(&near, r->line->own);
    offer_all(&near, r->line->global);
    return bz_fail(err, BZ_E_INVAL, "unknown option '%s'%s", as->text,
                   bz_near_text(&near, "--", hint, sizeof(hint)));
}

static struct spelling spell_long(const char *name, size_t len)
{
    struct spelling as = {.text = "--"};

    if (len > sizeof(as.text) - 3)
        len = sizeof(as.text) - 3;
    memcpy(as.text + 2, name, len);
    as.text[2 + len] = '\0';
    return as;
}

static int take_long(struct reader *r, const char *name, struct bz_err *err)
{
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    struct spelling as = spell_long(name, len);
    struct found f = find(r->line, name, len, 0);
    bool on = true;

    if (!f.row && len > 3 && memcmp(name, "no-", 3) == 0) {
        f = find(r->line, name + 3, len - 3, 0);
        if (f.row && f.row->kind != BZ_OPT_KIND_SWITCH)
            return bz_fail(err, BZ_E_INVAL, "%s: --%s cannot be turned off", as.text,
                           f.row->name);
        on = false;
    }
    if (!f.row)
        return fail_unknown(r, &as, err);
    if (takes_value(f.row))
        return value ? store_value(f, &as, value, err) : store_next(r, f, &as, err);
    if (value)
        return bz_fail(err, BZ_E_INVAL, "%s takes no value, but got '" SHOWN "'",
                       as.text, value);
    store_flag(r, f, on);
    return 0;
}

/* The letters after one dash. The first that takes a value takes the rest of the
 * word for it, or the next word. */
static int take_short(struct reader *r, const char *letters, struct bz_err *err)
{
    for (const char *c = letters; *c && !r->stop; c++) {
        struct found f = find(r->line, NULL, 0, *c);
        struct spelling as = {
            .text = {'-', *c}
        };

        if (!f.row) {
            struct found whole = find(r->line, letters, strcspn(letters, "="), 0);

            if (whole.row)
                return bz_fail(err, BZ_E_INVAL,
                               "unknown option '-" SHOWN "'; did you mean '--%s'?",
                               letters, whole.row->name);
            return bz_fail(err, BZ_E_INVAL, "unknown option '-%c'%s" SHOWN "%s", *c,
                           letters[1] ? " in '-" : "", letters[1] ? letters : "",
                           letters[1] ? "'" : "");
        }
        if (takes_value(f.row))
            return c[1] ? store_value(f, &as, c + 1, err) : store_next(r, f, &as, err);
        store_flag(r, f, true);
    }
    return 0;
}

static bool is_list(enum bz_opt_many many)
{
    return many == BZ_OPT_MANY_SOME || many == BZ_OPT_MANY_ANY;
}

/* The row that argument number i belongs to; an END row if there are too many. */
static const struct bz_opt_arg *arg_of(const struct bz_opt_arg *rows, size_t i)
{
    for (; i > 0 && rows->many != BZ_OPT_MANY_END && !is_list(rows->many); i--)
        rows++;
    return rows;
}

static int take_arg(struct reader *r, const char *word, struct bz_err *err)
{
    const struct bz_opt_arg *row = arg_of(r->line->args, r->args++);
    void *at = (char *)r->line->into + row->at;

    if (row->many == BZ_OPT_MANY_END)
        return bz_fail(err, BZ_E_INVAL, "unexpected argument '" SHOWN "'", word);
    if (is_list(row->many))
        append(at, word);
    else
        *(const char **)at = word;
    return 0;
}

static int take_word(struct reader *r, const char *word, struct bz_err *err)
{
    if (word[0] != '-' || word[1] == '\0')
        return take_arg(r, word, err);
    if (word[1] != '-')
        return take_short(r, word + 1, err);
    return take_long(r, word + 2, err);
}

/* The first row that has to have an argument and has none. A list is the last row, so
 * a row's place decides whether it got one. */
static const struct bz_opt_arg *missing_arg(const struct bz_opt_arg *rows, size_t seen)
{
    for (size_t i = 0; rows[i].many != BZ_OPT_MANY_END; i++) {
        bool needed =
            rows[i].many == BZ_OPT_MANY_ONE || rows[i].many == BZ_OPT_MANY_SOME;

        if (needed && i >= seen)
            return &rows[i];
    }
    return NULL;
}

int bz_opt_parse(const struct bz_opt_line *line, int n, char *const *words,
                 struct bz_err *err)
{
    struct reader r = {.line = line, .words = words, .n = n};
    const struct bz_opt_arg *missing;
    bool only_args = false;
    int rc = 0;

    while (rc == 0 && !r.stop && r.next < n) {
        const char *word = words[r.next];
        bool is_arg = only_args || word[0] != '-' || word[1] == '\0';

        if (is_arg && !line->args)
            return r.next;
        r.next++;
        if (only_args)
            rc = take_arg(&r, word, err);
        else if (strcmp(word, "--") == 0)
            only_args = true;
        else
            rc = take_word(&r, word, err);
    }
    if (rc < 0)
        return rc;
    if (r.stop || !line->args)
        return r.next;
    missing = missing_arg(line->args, r.args);
    if (missing)
        return bz_fail(err, BZ_E_INVAL, "missing argument %s: %s", missing->name,
                       missing->help);
    return r.next;
}

void bz_opt_init(const struct bz_opt *rows, void *into)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++) {
        struct found f = {rows, into};

        if (rows->kind == BZ_OPT_KIND_SWITCH)
            *(bool *)slot(f) = rows->initial != 0;
        else if (rows->kind == BZ_OPT_KIND_NUMBER)
            *(int64_t *)slot(f) = rows->initial;
        else if (rows->kind == BZ_OPT_KIND_CHOICE)
            *(int *)slot(f) = (int)rows->initial;
    }
}

static void release_list(struct bz_opt_list *list)
{
    free(list->word);
    *list = (struct bz_opt_list){0};
}

static void release_rows(const struct bz_opt *rows, void *into)
{
    for (; rows && rows->kind != BZ_OPT_KIND_END; rows++)
        if (rows->kind == BZ_OPT_KIND_LIST)
            release_list(slot((struct found){rows, into}));
}

void bz_opt_release(const struct bz_opt_line *line)
{
    const struct bz_opt_arg *arg = line->args;

    release_rows(line->own, line->into);
    release_rows(line->global, line->global_into);
    for (; arg && arg->many != BZ_OPT_MANY_END; arg++)
        if (is_list(arg->many))
            release_list((void *)((char *)line->into + arg->at));
}
