#include "recipe/parse.h"

#include "os/path.h"
#include "recipe/lex.h"
#include "recipe/stmt.h"

enum {
    MAX_ERRORS = 20, /* of one file; what comes after so many is not looked at */
};

struct parser {
    struct bz_arena *arena;
    enum bz_parse_kind kind;
    struct bz_diag_list *diags;
    size_t errors_before;   /* in diags, from other files */
    struct bz_diag *before; /* the last of them, or NULL */
    struct bz_ast *ast;
    struct bz_ast_stmt **tail; /* where the next statement is linked */
    struct bz_lex lex;
    struct bz_lex begin; /* as it was before the line that is being read */
};

static bool starts_with(struct bz_str s, char c)
{
    return s.n > 0 && s.p[0] == c;
}

static bool is_continued(struct bz_str s)
{
    return s.n > 0 && s.p[s.n - 1] == '\\';
}

/* The place of an offset in the line that is being read. If it consists of several that
 * were joined, this goes back to the text for the one in which the offset lies. */
static struct bz_diag_place locate(const struct parser *p, size_t offset)
{
    struct bz_diag_place place = {.path = p->ast->path, .offset = offset};
    struct bz_lex walk = p->begin;

    while (bz_lex_source(&walk, &place.source) && walk.line < p->lex.line) {
        size_t n = place.source.n - is_continued(place.source);

        if (place.offset == 0 || place.offset < n)
            break;
        place.offset -= n;
    }
    place.line = walk.line;
    if (place.offset > place.source.n)
        place.offset = place.source.n;
    return place;
}

/* The place of the line read last. */
static struct bz_diag_place here(const struct parser *p, struct bz_str line)
{
    return (struct bz_diag_place){p->ast->path, p->lex.line, line, 0};
}

static void add_stmt(struct parser *p, const struct bz_ast_stmt *st)
{
    struct bz_ast_stmt *own = BZ_ARENA_NEW(p->arena, struct bz_ast_stmt);

    *own = *st;
    *p->tail = own;
    p->tail = &own->next;
    p->ast->count++;
}

static void warn_of_tab(struct parser *p, struct bz_str line)
{
    struct bz_diag_place place;
    size_t i = 0;

    while (i < line.n && line.p[i] == ' ')
        i++;
    if (i == line.n || line.p[i] != '\t')
        return;
    place = here(p, line);
    place.offset = i;
    bz_diag_add(p->diags, BZ_DIAG_WARNING, &place, "spaces",
                "python should use 4 spaces indentation, but found tabs");
}

/* Everything up to a line that is nothing but a closing brace. */
static bool read_body(struct parser *p, struct bz_ast_stmt *st)
{
    const char *from = p->lex.out;
    struct bz_diag_place place = locate(p, 0);
    struct bz_str line;

    while (bz_lex_line(&p->lex, &line)) {
        if (line.n == 1 && line.p[0] == '}') {
            st->text = bz_str_of(from, (size_t)(line.p - from));
            return true;
        }
        if (st->python)
            warn_of_tab(p, line);
    }
    bz_diag_add(p->diags, BZ_DIAG_ERROR, &place,
                "a line with nothing but '}' before the end of the file",
                "Unparsed lines from unclosed function '%.*s'",
                BZ_STR_ARG(st->name.p ? st->name : BZ_STR("__anonymous")));
    return false;
}

/* All lines that are indented, empty or comments. BitBake finishes a definition when it
 * meets the line after it, or the end, and so names the line after it. */
static void read_indented(struct parser *p, struct bz_str head, struct bz_ast_stmt *st)
{
    struct bz_lex before = p->lex;
    struct bz_str line = head;

    st->text = head;
    while (bz_lex_line(&p->lex, &line)) {
        if (line.n > 0 && line.p[0] != '#' && !bz_lex_space(line, 0))
            break;
        warn_of_tab(p, line);
        st->text.n = (size_t)(line.p + line.n - head.p);
        before = p->lex;
    }
    p->lex = before;
    st->end_line = p->lex.line + 1;
}

/* Tells of what is wrong with a line, if anything is. */
static void report(struct parser *p, struct bz_str line,
                   const struct bz_stmt_note *note)
{
    struct bz_diag_place place;

    if (note->fault == BZ_STMT_FINE)
        return;
    place = locate(p, note->at);
    switch (note->fault) {
    case BZ_STMT_FINE:
        break;
    case BZ_STMT_TIGHT:
        bz_diag_add(p->diags, BZ_DIAG_WARNING, &place, note->expected,
                    "lack of whitespace around the assignment: '%.*s'",
                    BZ_STR_ARG(line));
        break;
    case BZ_STMT_NO_NAME:
        bz_diag_add(p->diags, BZ_DIAG_ERROR, &place, note->expected,
                    "Empty variable name in assignment: '%.*s'", BZ_STR_ARG(line));
        break;
    case BZ_STMT_TASK:
        bz_diag_add(p->diags, BZ_DIAG_ERROR, &place, note->expected,
                    "Task name '%.*s' contains a keyword which is not supported",
                    BZ_STR_ARG(note->word));
        break;
    case BZ_STMT_UNPARSED:
        bz_diag_add(p->diags, BZ_DIAG_ERROR, &place, note->expected,
                    "unparsed line: '%.*s'", BZ_STR_ARG(line));
        break;
    }
}

static void read_statement(struct parser *p, struct bz_str line)
{
    struct bz_ast_stmt st = {0};
    struct bz_stmt_note note;
    bool good = bz_stmt_read(p->arena, p->kind, line, &st, &note);

    report(p, line, &note);
    if (!good)
        return;
    st.line = p->begin.line + 1;
    st.end_line = p->lex.line;
    if (st.kind == BZ_AST_FUNCTION || st.kind == BZ_AST_DEF)
        st.line = p->lex.line; /* the last of those that the head was joined from */
    if (st.kind == BZ_AST_FUNCTION) {
        if (!read_body(p, &st))
            return;
        st.end_line = p->lex.line;
    } else if (st.kind == BZ_AST_DEF) {
        read_indented(p, line, &st);
    }
    add_stmt(p, &st);
}

/* Reads on to the end of a continued line that is in error already, so that what is
 * left of it is not taken for statements. */
static void skip_continued(struct parser *p, struct bz_str line, struct bz_str piece)
{
    while (is_continued(piece) || starts_with(piece, '#'))
        if (!bz_lex_join(&p->lex, &line, &piece))
            break;
}

static void confusing(struct parser *p)
{
    struct bz_diag_place place = locate(p, 0);

    bz_diag_add(p->diags, BZ_DIAG_ERROR, &place,
                "either every line to be a comment or none",
                "There is a confusing multiline, partially commented expression");
}

/* Joins a line of a recipe with those that continue it. False if that is not possible,
 * which has been told then. */
static bool join_recipe_line(struct parser *p, struct bz_str *line)
{
    bool comment = starts_with(*line, '#');
    struct bz_str piece = *line;
    struct bz_diag_place place;

    while (is_continued(piece)) {
        /* BitBake trips over a first line that is nothing but a backslash. */
        bool alone = line->n == 1;

        if (alone || !bz_lex_join(&p->lex, line, &piece)) {
            place = locate(p, 0);
            bz_diag_add(p->diags, BZ_DIAG_ERROR, &place,
                        alone ? "something to continue" : "a line that continues it",
                        "Unparsed lines: '%.*s'", BZ_STR_ARG(*line));
            return false;
        }
        if (starts_with(piece, '#') == comment)
            continue;
        if (comment) {
            confusing(p);
        } else {
            place = here(p, piece);
            bz_diag_add(p->diags, BZ_DIAG_ERROR, &place,
                        "what continues the line above",
                        "There is a comment in the middle of a multiline expression");
        }
        skip_continued(p, *line, piece);
        return false;
    }
    return true;
}

/* The same for a .conf file, where the rules differ: a comment can be the middle of a
 * value, the file may end after a backslash, and a backslash that an empty line lays
 * bare continues the line once more. */
static bool join_conf_line(struct parser *p, struct bz_str *line)
{
    struct bz_diag_place place;
    struct bz_str piece;

    while (is_continued(*line)) {
        bool comment = starts_with(*line, '#');

        bz_lex_join(&p->lex, line, &piece);
        if (comment && !starts_with(piece, '#')) {
            confusing(p);
            skip_continued(p, *line, piece);
            return false;
        }
    }
    if (line->n > 0)
        return true;
    place = locate(p, 0);
    bz_diag_add(p->diags, BZ_DIAG_ERROR, &place, "something to continue",
                "unparsed line: '\\'");
    return false;
}

static void read_lines(struct parser *p)
{
    struct bz_str line;

    while (p->diags->errors - p->errors_before < MAX_ERRORS) {
        p->begin = p->lex;
        if (!bz_lex_line(&p->lex, &line))
            break;
        if (line.n == 0)
            continue;
        if (is_continued(line) && !(p->kind == BZ_PARSE_BB ? join_recipe_line(p, &line)
                                                           : join_conf_line(p, &line)))
            continue;
        if (line.p[0] != '#')
            read_statement(p, line);
    }
}

/* A byte that no text has is an error of its own, before any line is looked at. */
static bool check_bytes(struct parser *p, struct bz_str text)
{
    struct bz_diag_place place = {.path = p->ast->path};
    size_t bad = bz_lex_valid(text);
    struct bz_lex walk = p->lex;

    if (bad == text.n)
        return true;
    while (bz_lex_source(&walk, &place.source))
        if (walk.at > text.p + bad)
            break;
    place.line = walk.line;
    place.offset = (size_t)(text.p + bad - place.source.p);
    place.source.n = place.offset; /* the rest may not be text */
    if (text.p[bad] == '\0')
        bz_diag_add(p->diags, BZ_DIAG_ERROR, &place, "text", "NUL byte");
    else
        bz_diag_add(p->diags, BZ_DIAG_ERROR, &place, "text in UTF-8",
                    "byte 0x%02x is not UTF-8", (unsigned char)text.p[bad]);
    return false;
}

static int outcome(const struct parser *p, struct bz_err *err)
{
    size_t errors = p->diags->errors - p->errors_before;
    const struct bz_diag *d = p->before ? p->before->next : p->diags->first;

    if (errors == 0)
        return 0;
    while (d && d->severity != BZ_DIAG_ERROR)
        d = d->next;
    if (!d)
        return bz_fail(err, BZ_E_INVAL, "%s: %zu errors", p->ast->path, errors);
    if (errors == 1)
        return bz_fail(err, BZ_E_INVAL, "%s:%u:%u: %s", d->path, d->line, d->column,
                       d->message);
    return bz_fail(err, BZ_E_INVAL, "%zu errors, the first at %s:%u:%u: %s", errors,
                   d->path, d->line, d->column, d->message);
}

int bz_parse_text(struct bz_arena *arena, const char *path, enum bz_parse_kind kind,
                  struct bz_str text, struct bz_diag_list *diags, struct bz_ast **out,
                  struct bz_err *err)
{
    struct parser p = {
        .arena = arena,
        .kind = kind,
        .diags = diags,
        .errors_before = diags->errors,
        .before = diags->last,
    };
    int rc;

    if (text.n > BZ_PARSE_MAX)
        return bz_fail(err, BZ_E_LIMIT, "%s: larger than %zu bytes", path,
                       BZ_PARSE_MAX);
    p.ast = BZ_ARENA_NEW(arena, struct bz_ast);
    p.ast->path = bz_arena_dup(arena, bz_str_from(path)).p;
    p.tail = &p.ast->first;
    bz_lex_init(&p.lex, arena, text);
    if (check_bytes(&p, text))
        read_lines(&p);
    rc = outcome(&p, err);
    if (rc == 0)
        *out = p.ast;
    return rc;
}

int bz_parse_kind_of(const char *path, enum bz_parse_kind *out, struct bz_err *err)
{
    static const struct bz_str recipes[] = {
        {".bb",      3},
        {".bbclass", 8},
        {".inc",     4}
    };
    struct bz_str base = bz_path_basename(bz_str_from(path));

    if (bz_str_ends(base, BZ_STR(".conf"))) {
        *out = BZ_PARSE_CONF;
        return 0;
    }
    while (bz_str_cut_prefix(&base, BZ_STR("."))) /* a name may begin with dots, */
        continue;                                 /* which begin no suffix */
    for (size_t i = 0; i < BZ_COUNTOF(recipes); i++) {
        if (bz_str_ends(base, recipes[i]) && base.n > recipes[i].n) {
            *out = BZ_PARSE_BB;
            return 0;
        }
    }
    return bz_fail(err, BZ_E_INVAL, "%s: not a BitBake file", path);
}
