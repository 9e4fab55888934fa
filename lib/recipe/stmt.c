#include "recipe/stmt.h"

#include <string.h>

#include "recipe/assignment.h"
#include "recipe/lex.h"
#include "recipe/word.h"

struct reader {
    struct bz_arena *arena;
    enum bz_parse_kind kind;
    struct bz_str line;
    struct bz_ast_stmt *st;
    struct bz_stmt_note *note;
};

struct keyword {
    struct bz_str word;
    enum bz_ast_kind kind;
    /* Reads what follows the word in the line; false if this is no such statement. */
    bool (*read)(struct reader *r, size_t at);
    const char *expected; /* what to say then */
};

static bool no_statement(struct reader *r, enum bz_stmt_fault fault, size_t at,
                         const char *expected)
{
    r->note->fault = fault;
    r->note->at = at;
    r->note->expected = expected;
    return false;
}

/* White space from `at` on and then everything to the end of s. If there is only white
 * space, its last character counts as the rest, as it does for the pattern `\s+(.+)`:
 * that happens to a continued line whose last part is empty. */
static bool rest_after_space(struct bz_str s, size_t at, struct bz_str *rest)
{
    size_t from = bz_lex_skip(s, at);

    if (from == s.n)
        from -= bz_lex_space_before(s, from);
    if (from <= at)
        return false;
    *rest = bz_str_sub(s, from, s.n);
    return true;
}

static bool read_text(struct reader *r, size_t at)
{
    return rest_after_space(r->line, at, &r->st->text);
}

/* A comment may follow tasks, and nothing else that is on one line. */
static bool read_tasks(struct reader *r, size_t at)
{
    struct bz_str line = r->line;
    size_t comment = bz_str_find_byte(line, '#');

    if (comment != BZ_STR_NONE)
        line.n = comment;
    return rest_after_space(line, at, &r->st->text);
}

/* Takes what comes before the next `sep` off *rest. After the last, rest->p is NULL. */
static bool next_between(struct bz_str *rest, struct bz_str sep, struct bz_str *part)
{
    size_t at;

    if (!rest->p)
        return false;
    at = bz_str_find(*rest, sep);
    if (at == BZ_STR_NONE) {
        *part = *rest;
        *rest = (struct bz_str){0};
    } else {
        *part = bz_str_sub(*rest, 0, at);
        *rest = bz_str_sub(*rest, at + sep.n, rest->n);
    }
    return true;
}

/* Text that is put together from parts of a line: one part is left where it is, more
 * are copied to `own`. */
struct joined {
    struct bz_str text;
    char *own; /* room for the whole line, or NULL */
};

static void join(struct joined *j, struct bz_arena *arena, size_t room, bool spaced,
                 struct bz_str part)
{
    if (!j->text.p) {
        j->text = part;
        return;
    }
    if (!j->own) {
        j->own = bz_arena_alloc(arena, room, 1);
        memcpy(j->own, j->text.p, j->text.n);
        j->text.p = j->own;
    }
    if (spaced)
        j->own[j->text.n++] = ' ';
    memcpy(j->own + j->text.n, part.p, part.n);
    j->text.n += part.n;
}

/* What follows `word` in s, in pieces that each end where `other` begins. Within one
 * piece a further `word` becomes a space; the pieces are put together with nothing
 * between them, which makes "bd" of "t after b before c after d", and so does BitBake.
 */
static struct bz_str names_after(struct bz_arena *arena, struct bz_str s,
                                 struct bz_str word, struct bz_str other)
{
    struct bz_str rest = s, piece, part;
    struct joined j = {0};

    while (next_between(&rest, other, &piece)) {
        bool spaced = false;

        next_between(&piece, word, &part); /* what comes before the word */
        while (next_between(&piece, word, &part)) {
            join(&j, arena, s.n, spaced, part);
            spaced = true;
        }
    }
    return j.text.n ? j.text : (struct bz_str){0};
}

/* Operations are written with colons, so one followed by an underscore is a slip. */
static bool has_operation(struct bz_str word)
{
    return bz_str_find(word, BZ_STR(":append_")) != BZ_STR_NONE ||
           bz_str_find(word, BZ_STR(":prepend_")) != BZ_STR_NONE ||
           bz_str_find(word, BZ_STR(":remove_")) != BZ_STR_NONE;
}

static bool read_addtask(struct reader *r, size_t at)
{
    const struct bz_str before = BZ_STR(" before "), after = BZ_STR(" after ");
    struct bz_str all, rest = r->line, word;

    if (!read_tasks(r, at))
        return false;
    while (bz_str_next_word(&rest, &word)) {
        if (has_operation(word)) {
            r->note->word = word;
            return no_statement(r, BZ_STMT_TASK, (size_t)(word.p - r->line.p), NULL);
        }
    }
    all = r->st->text;
    r->st->before = names_after(r->arena, all, before, after);
    r->st->after = names_after(r->arena, all, after, before);
    rest = all;
    next_between(&rest, before, &all);
    next_between(&all, after, &r->st->text);
    return true;
}

/* name, or name[flag] with a flag of two characters or more. */
static bool read_unset(struct reader *r, size_t at)
{
    struct bz_str s = r->line, flag;
    size_t from = bz_lex_skip(s, at);
    size_t to = bz_assignment_skip(s, from, BZ_ASSIGNMENT_PLAIN_NAME);

    if (from == at || to == from)
        return false;
    r->st->name = bz_str_sub(s, from, to);
    if (to == s.n)
        return true;
    flag = bz_str_sub(s, to, s.n);
    if (!bz_str_cut_prefix(&flag, BZ_STR("[")) ||
        !bz_str_cut_suffix(&flag, BZ_STR("]")) || flag.n < 2 ||
        bz_assignment_skip(flag, 0, BZ_ASSIGNMENT_FLAG_START) == 0 ||
        bz_assignment_skip(flag, 0, BZ_ASSIGNMENT_PLAIN_FLAG) != flag.n)
        return false;
    r->st->flag = flag;
    return true;
}

static bool read_export(struct reader *r, size_t at)
{
    size_t from = bz_lex_skip(r->line, at);

    if (from == at || from == r->line.n ||
        bz_assignment_skip(r->line, from, BZ_ASSIGNMENT_PLAIN_NAME) != r->line.n)
        return false;
    r->st->name = bz_str_sub(r->line, from, r->line.n);
    return true;
}

/* Splits what follows the keyword into n fields as the pattern `\s+(.+)\s+(.+)...`
 * does: every field as far to the right as it can begin, the white space before it as
 * long as it can be. With single spaces between words this means the last n - 1 words,
 * and all that comes before them. */
static bool split_fields(struct bz_str s, size_t at, struct bz_str *fields, size_t n)
{
    size_t starts[4], ends[4], end = s.n, len;

    BZ_ASSERT(n > 0 && n <= BZ_COUNTOF(starts));
    for (size_t i = n - 1; i > 0; i--) {
        size_t from = end - 1; /* the field has at least one byte */

        while (from > at && bz_lex_space_before(s, from) == 0)
            from--;
        if (from <= at)
            return false;
        starts[i] = from;
        ends[i] = end;
        end = from - bz_lex_space_before(s, from);
    }
    starts[0] = at + bz_lex_space(s, at);
    ends[0] = end;
    if (starts[0] == at || starts[0] >= end)
        return false;
    for (size_t i = 0; i < n; i++) {
        while ((len = bz_lex_space(s, starts[i])) != 0 && starts[i] + len < ends[i])
            starts[i] += len;
        fields[i] = bz_str_sub(s, starts[i], ends[i]);
    }
    return true;
}

static bool read_addpylib(struct reader *r, size_t at)
{
    struct bz_str fields[2];

    if (r->kind != BZ_PARSE_BASECONF ||
        !split_fields(r->line, at, fields, BZ_COUNTOF(fields)))
        return false;
    r->st->text = fields[0];
    r->st->before = fields[1];
    return true;
}

static bool read_addfragments(struct reader *r, size_t at)
{
    struct bz_str fields[4];

    if (!split_fields(r->line, at, fields, BZ_COUNTOF(fields)))
        return false;
    r->st->text = fields[0];
    r->st->name = fields[1];
    r->st->before = fields[2];
    r->st->after = fields[3];
    return true;
}

/* def name...: with a colon anywhere after the name. */
static bool read_def(struct reader *r, size_t at)
{
    size_t from = bz_lex_skip(r->line, at);
    size_t to = bz_word_skip(r->line, from);

    if (from == at || to == from ||
        bz_str_find_byte(bz_str_sub(r->line, to, r->line.n), ':') == BZ_STR_NONE)
        return false;
    r->st->name = bz_str_sub(r->line, from, to);
    r->st->python = true;
    return true;
}

static bool is_function_name(struct bz_str s)
{
    size_t at = 0;

    while (at < s.n) {
        size_t to = bz_word_skip(s, at);

        if (to == at && !strchr(".-+{}$:", s.p[at]))
            return false;
        at = to > at ? to : at + 1;
    }
    return true;
}

/* The words before the parentheses: any number of `python` and `fakeroot`, then a name
 * or none. A last word `fakeroot` is the name if the parenthesis touches it. */
static bool read_function_words(struct bz_ast_stmt *st, struct bz_str words,
                                bool spaced)
{
    struct bz_str word;

    if (bz_lex_space(words, 0))
        return false;
    while (bz_str_next_word(&words, &word)) {
        bool last = bz_str_trim_start(words).n == 0;

        if (bz_str_eq(word, BZ_STR("python"))) {
            st->python = true;
        } else if (bz_str_eq(word, BZ_STR("fakeroot")) && (!last || spaced)) {
            st->fakeroot = true;
        } else {
            st->name = word;
            return last && is_function_name(word);
        }
    }
    return true;
}

/* [python] [fakeroot] [name] () { */
static bool read_function(struct reader *r)
{
    struct bz_str head = r->line, words;

    if (!bz_str_cut_suffix(&head, BZ_STR("{")))
        return false;
    head = bz_str_trim_end(head);
    if (!bz_str_cut_suffix(&head, BZ_STR(")")))
        return false;
    head = bz_str_trim_end(head);
    if (!bz_str_cut_suffix(&head, BZ_STR("(")))
        return false;
    words = bz_str_trim_end(head);
    if (!read_function_words(r->st, words, words.n < head.n)) {
        *r->st = (struct bz_ast_stmt){0};
        return false;
    }
    if (!r->st->name.p || bz_str_eq(r->st->name, BZ_STR("__anonymous"))) {
        r->st->name = (struct bz_str){0};
        r->st->python = true;
    }
    r->st->kind = BZ_AST_FUNCTION;
    return true;
}

/* In recipes and classes these come before assignments; in .conf files they do not
 * exist. */
static const struct keyword recipe_keywords[] = {
    {{"def", 3},               BZ_AST_DEF,           read_def,     "a name and ':' after 'def'"},
    {{"EXPORT_FUNCTIONS", 16},
     BZ_AST_EXPORT_FUNCTIONS,                        read_text,
     "names of functions"                                                                      },
    {{"addtask", 7},           BZ_AST_ADDTASK,       read_addtask, "names of tasks"            },
    {{"deltask", 7},           BZ_AST_DELTASK,       read_tasks,   "names of tasks"            },
    {{"addhandler", 10},       BZ_AST_ADDHANDLER,    read_text,    "names of functions"        },
    {{"inherit", 7},           BZ_AST_INHERIT,       read_text,    "names of classes"          },
    {{"inherit_defer", 13},    BZ_AST_INHERIT_DEFER, read_text,    "names of classes"          },
};

/* Everywhere, after assignments. */
static const struct keyword keywords[] = {
    {{"include", 7},       BZ_AST_INCLUDE,     read_text,         "the name of a file"       },
    {{"require", 7},       BZ_AST_REQUIRE,     read_text,         "the name of a file"       },
    {{"include_all", 11},  BZ_AST_INCLUDE_ALL, read_text,         "the name of a file"       },
    {{"export", 6},        BZ_AST_EXPORT,      read_export,       "one name, without a colon"},
    {{"unset", 5},
     BZ_AST_UNSET,                             read_unset,
     "one name without a colon, or name[flag] with a flag of two characters or more"         },
    {{"addpylib", 8},
     BZ_AST_ADDPYLIB,                          read_addpylib,
     "a directory and a namespace, and this in a layer.conf"                                 },
    {{"addfragments", 12},
     BZ_AST_ADDFRAGMENTS,                      read_addfragments,
     "a directory and the names of three variables"                                          },
};

/* The keyword that is the first word of the line, or NULL. */
static const struct keyword *find_keyword(const struct keyword *table, size_t n,
                                          struct bz_str line)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = table[i].word.n;

        if (line.p[0] == table[i].word.p[0] && bz_str_starts(line, table[i].word) &&
            (line.n == len || bz_lex_space(line, len)))
            return &table[i];
    }
    return NULL;
}

static bool read_keyword(struct reader *r, const struct keyword *table, size_t n)
{
    const struct keyword *k = find_keyword(table, n, r->line);

    if (!k || !k->read(r, k->word.n))
        return false;
    r->st->kind = k->kind;
    return true;
}

static bool read_assignment(struct reader *r, struct bz_assignment_stop *stop)
{
    struct bz_assignment a;

    if (!bz_assignment_read(r->line, &a, stop))
        return false;
    r->st->kind = BZ_AST_ASSIGN;
    r->st->op = a.op;
    r->st->exported = a.exported;
    r->st->name = a.name;
    r->st->flag = a.flag;
    r->st->text = a.value;
    if (a.name.n == 0)
        no_statement(r, BZ_STMT_NO_NAME, (size_t)(a.name.p - r->line.p),
                     "the name of a variable");
    else if (a.tight)
        no_statement(r, BZ_STMT_TIGHT, a.op_at,
                     "white space on both sides of the operator");
    return true;
}

/* Looks for what the author of a line meant that is no statement. */
static void explain(struct reader *r, const struct bz_assignment_stop *stop)
{
    const struct keyword *k;

    no_statement(r, BZ_STMT_UNPARSED, stop->at, stop->expected);
    if (bz_lex_space(r->line, 0)) {
        no_statement(r, BZ_STMT_UNPARSED, 0, "a statement, in the first column");
        return;
    }
    k = find_keyword(recipe_keywords, BZ_COUNTOF(recipe_keywords), r->line);
    if ((k || bz_str_ends(r->line, BZ_STR("{"))) && r->kind != BZ_PARSE_BB) {
        no_statement(
            r, BZ_STMT_UNPARSED, 0,
            "what a .conf file may have: assignments, include, require, unset");
        return;
    }
    if (bz_str_ends(r->line, BZ_STR("{")))
        no_statement(r, BZ_STMT_UNPARSED, 0, "the head of a function: name () {");
    if (!k)
        k = find_keyword(keywords, BZ_COUNTOF(keywords), r->line);
    if (k)
        no_statement(r, BZ_STMT_UNPARSED, bz_lex_skip(r->line, k->word.n), k->expected);
}

bool bz_stmt_read(struct bz_arena *arena, enum bz_parse_kind kind, struct bz_str line,
                  struct bz_ast_stmt *st, struct bz_stmt_note *note)
{
    struct reader r = {arena, kind, line, st, note};
    struct bz_assignment_stop stop;

    *note = (struct bz_stmt_note){0};
    if (kind == BZ_PARSE_BB) {
        if (read_function(&r) ||
            read_keyword(&r, recipe_keywords, BZ_COUNTOF(recipe_keywords)))
            return true;
        if (note->fault != BZ_STMT_FINE)
            return false;
    }
    if (read_assignment(&r, &stop))
        return note->fault != BZ_STMT_NO_NAME;
    if (read_keyword(&r, keywords, BZ_COUNTOF(keywords)))
        return true;
    explain(&r, &stop);
    return false;
}
