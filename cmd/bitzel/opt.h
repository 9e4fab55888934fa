/* opt.h - command lines, read and described by one table.
 *
 * An option is a row, written by a macro that ties it to a member of the caller's
 * struct and refuses a member of the wrong type. Parsing, help text, and whatever else
 * is made of the rows (manual pages, shell completion) cannot disagree.
 *
 * Accepted: --name=value, --name value, -n value, -nvalue, -abc for three flags,
 * options after arguments, and -- before arguments that begin with a dash. A name is
 * never abbreviated, so adding an option cannot change what a script means. Of an
 * option given twice the last counts, unless it collects a list.
 *
 * Values borrow from the words parsed; only lists own memory, see bz_opt_release().
 */
#ifndef BZ_CMD_OPT_H
#define BZ_CMD_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "base/err.h"

enum bz_opt_kind {
    BZ_OPT_KIND_END, /* the row after the last one */
    BZ_OPT_KIND_FLAG,
    BZ_OPT_KIND_SWITCH,
    BZ_OPT_KIND_STOP,
    BZ_OPT_KIND_TEXT,
    BZ_OPT_KIND_NUMBER,
    BZ_OPT_KIND_CHOICE,
    BZ_OPT_KIND_LIST,
};

struct bz_opt_list {
    const char **word;
    size_t n;
};

struct bz_opt {
    enum bz_opt_kind kind;
    size_t at;                  /* where the value goes in the caller's struct */
    char letter;                /* short form, or 0 */
    const char *name;           /* long form, without the dashes */
    const char *value;          /* what help calls the value: "DIR" */
    const char *help;           /* one sentence, without the full stop */
    const char *const *choices; /* of a CHOICE, up to a NULL */
    int64_t min, max;           /* of a NUMBER */
    int64_t initial;            /* of a NUMBER, a SWITCH, or a CHOICE (its index) */
};

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type cannot have them */
#define BZ_OPT_AT(T, m, type) (offsetof(T, m) * _Generic(((T *)NULL)->m, type : 1))
#define BZ_OPT_ROW(k, T, m, type, c, n, h)                                             \
    .kind = BZ_OPT_KIND_##k, .at = BZ_OPT_AT(T, m, type), .letter = (c), .name = (n),  \
    .help = (h)
#define BZ_OPT_END                                                                     \
    {                                                                                  \
        0                                                                              \
    }

/* --name; a SWITCH can also be turned off, by --no-name; after a STOP the rest of the
 * line is not read, so that --help answers also on an unfinished line. */
#define BZ_OPT_FLAG(T, m, letter, name, help)                                          \
    {                                                                                  \
        BZ_OPT_ROW(FLAG, T, m, bool, letter, name, help)                               \
    }
#define BZ_OPT_SWITCH(T, m, letter, name, on, help)                                    \
    {                                                                                  \
        BZ_OPT_ROW(SWITCH, T, m, bool, letter, name, help), .initial = (on)            \
    }
#define BZ_OPT_STOP(T, m, letter, name, help)                                          \
    {                                                                                  \
        BZ_OPT_ROW(STOP, T, m, bool, letter, name, help)                               \
    }

/* --name VALUE; a CHOICE stores the index of the chosen word. Its `init`, and that of a
 * NUMBER, may stand for not given: if it is none of those that can be. */
#define BZ_OPT_TEXT(T, m, letter, name, val, help)                                     \
    {                                                                                  \
        BZ_OPT_ROW(TEXT, T, m, const char *, letter, name, help), .value = (val)       \
    }
#define BZ_OPT_LIST(T, m, letter, name, val, help)                                     \
    {                                                                                  \
        BZ_OPT_ROW(LIST, T, m, struct bz_opt_list, letter, name, help), .value = (val) \
    }
#define BZ_OPT_NUMBER(T, m, letter, name, val, least, most, init, help)                \
    {                                                                                  \
        BZ_OPT_ROW(NUMBER, T, m, int64_t, letter, name, help),                         \
            .value = (val), .min = (least), .max = (most), .initial = (init)           \
    }
#define BZ_OPT_CHOICE(T, m, letter, name, val, words, init, help)                      \
    {                                                                                  \
        BZ_OPT_ROW(CHOICE, T, m, int, letter, name, help),                             \
            .value = (val), .choices = (words), .initial = (init)                      \
    }

/* What stands on the line without a dash. Only the last row may take several words. */
enum bz_opt_many {
    BZ_OPT_MANY_END, /* the row after the last one */
    BZ_OPT_MANY_ONE,
    BZ_OPT_MANY_MAYBE, /* none or one */
    BZ_OPT_MANY_SOME,  /* one or more */
    BZ_OPT_MANY_ANY,   /* none or more */
};

struct bz_opt_arg {
    enum bz_opt_many many;
    size_t at;
    const char *name; /* "TARGET" */
    const char *help;
};

#define BZ_OPT_ARG(k, T, m, type, n, h)                                                \
    {                                                                                  \
        .many = BZ_OPT_MANY_##k, .at = BZ_OPT_AT(T, m, type), .name = (n), .help = (h) \
    }
#define BZ_OPT_ONE(T, m, name, help) BZ_OPT_ARG(ONE, T, m, const char *, name, help)
#define BZ_OPT_MAYBE(T, m, name, help) BZ_OPT_ARG(MAYBE, T, m, const char *, name, help)
#define BZ_OPT_SOME(T, m, name, help)                                                  \
    BZ_OPT_ARG(SOME, T, m, struct bz_opt_list, name, help)
#define BZ_OPT_ANY(T, m, name, help)                                                   \
    BZ_OPT_ARG(ANY, T, m, struct bz_opt_list, name, help)

/* All that a line may hold. Own options shadow global ones of the same name. */
struct bz_opt_line {
    const struct bz_opt *own;      /* may be NULL */
    const struct bz_opt_arg *args; /* NULL: reading stops at the first argument */
    void *into;                    /* the struct that own and args fill */
    const struct bz_opt *global;   /* may be NULL */
    void *global_into;
};

/* Gives every value of a zeroed struct its initial value. */
void bz_opt_init(const struct bz_opt *rows, void *into);

/* Reads n words into the structs. Returns how many words it read: all of them unless
 * it stopped as described above, or BZ_E_INVAL with a message for the user. */
int bz_opt_parse(const struct bz_opt_line *line, int n, char *const *words,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Frees the lists. */
void bz_opt_release(const struct bz_opt_line *line);

#endif
