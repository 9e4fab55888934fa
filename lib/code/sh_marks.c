#include "code/sh_marks.h"

#include "code/sh_lex.h"

#define DEPTH 200

/* What is open, and what has to come next to close it. */
enum inside { IN_BRACE, IN_PAREN, IN_IF, IN_LOOP, IN_CASE, IN_PATTERN };

struct walk {
    struct bz_sh_marks *m;
    const struct bz_sh_lex_token *tok;
    struct BZ_VEC(struct bz_str) lines; /* of the text */
    enum inside open[DEPTH];
    unsigned depth;
    bool command;               /* a command may begin here */
    enum bz_sh_lex_type before; /* the last token that is no end of a line */
    bool fresh;                 /* this one is the first of its line */
    uint32_t header;            /* 1 + place in funcs, while its body has not begun */
};

static bool is_in(const struct walk *w, enum inside what)
{
    return w->depth > 0 && w->open[w->depth - 1] == what;
}

static bool close_one(struct walk *w, enum inside what)
{
    if (!is_in(w, what))
        return false;
    w->depth--;
    return true;
}

static bool begins_line(const struct walk *w, const struct bz_sh_lex_token *t)
{
    struct bz_str line;

    if (!w->fresh || t->line == 0 || t->line > w->lines.len)
        return false;
    line = bz_str_trim(w->lines.at[t->line - 1]);
    return line.n > 0 && t->text.n > 0 && line.p[0] == t->text.p[0];
}

/* Whether anything up to the end of the command reads how the one before it ended. */
static bool reads_status(const struct walk *w, const struct bz_sh_lex_token *t)
{
    uint32_t last = t->line;

    if (bz_str_eq(t->text, BZ_STR("return")) || bz_str_eq(t->text, BZ_STR("exit")))
        return true;
    while (t->type != BZ_SH_LEX_NEWLINE && t->type != BZ_SH_LEX_END)
        t++;
    last = t->line > last && t->line <= w->lines.len ? t->line : last;
    for (uint32_t i = w->tok->line; i <= last; i++)
        if (bz_str_find(w->lines.at[i - 1], BZ_STR("$?")) != BZ_STR_NONE ||
            bz_str_find(w->lines.at[i - 1], BZ_STR("${?")) != BZ_STR_NONE)
            return true;
    return false;
}

static bool may_mark(const struct walk *w)
{
    const struct bz_sh_lex_token *t = w->tok;

    switch (t->type) {
    case BZ_SH_LEX_IF:
    case BZ_SH_LEX_WHILE:
    case BZ_SH_LEX_UNTIL:
        if (t[1].type == BZ_SH_LEX_NEWLINE)
            return false;
        break;
    case BZ_SH_LEX_WORD:
    case BZ_SH_LEX_ASSIGNMENT:
    case BZ_SH_LEX_FOR:
    case BZ_SH_LEX_CASE:
    case BZ_SH_LEX_LBRACE:
    case BZ_SH_LEX_LPAREN:
        break;
    default:
        return false;
    }
    return w->depth > 0 && !w->header && w->before != BZ_SH_LEX_AND &&
           w->before != BZ_SH_LEX_OR && w->before != BZ_SH_LEX_PIPE &&
           begins_line(w, t) && !reads_status(w, t);
}

/* A command begins with an ordinary word. */
static void take_word(struct walk *w)
{
    const struct bz_sh_lex_token *t = w->tok;

    w->command = false;
    if (t->type != BZ_SH_LEX_WORD || t[1].type != BZ_SH_LEX_LPAREN ||
        t[2].type != BZ_SH_LEX_RPAREN)
        return;
    w->tok += 2;
    w->command = true;
    w->header = 1;
    if (w->depth > 0)
        return;
    BZ_VEC_PUSH(&w->m->funcs, (struct bz_sh_marks_func){t->text, t->line, 0});
}

static bool open_one(struct walk *w, enum inside what)
{
    if (w->depth == DEPTH)
        return false;
    w->open[w->depth++] = what;
    w->header = 0;
    return true;
}

static bool end_brace(struct walk *w)
{
    if (!close_one(w, IN_BRACE))
        return false;
    if (w->depth == 0 && w->m->funcs.len > 0)
        w->m->funcs.at[w->m->funcs.len - 1].last = w->tok->line;
    w->command = false;
    return true;
}

/* A token where a command may begin; false if it does not fit there. */
static bool take_command(struct walk *w)
{
    switch (w->tok->type) {
    case BZ_SH_LEX_LBRACE:
        return open_one(w, IN_BRACE);
    case BZ_SH_LEX_RBRACE:
        return end_brace(w);
    case BZ_SH_LEX_LPAREN:
        return open_one(w, IN_PAREN);
    case BZ_SH_LEX_IF:
        return open_one(w, IN_IF);
    case BZ_SH_LEX_WHILE:
    case BZ_SH_LEX_UNTIL:
        return open_one(w, IN_LOOP);
    case BZ_SH_LEX_FOR:
        w->command = false;
        return open_one(w, IN_LOOP);
    case BZ_SH_LEX_CASE:
        w->command = false;
        return open_one(w, IN_CASE);
    case BZ_SH_LEX_THEN:
    case BZ_SH_LEX_ELSE:
    case BZ_SH_LEX_ELIF:
        return is_in(w, IN_IF);
    case BZ_SH_LEX_DO:
        return is_in(w, IN_LOOP);
    case BZ_SH_LEX_FI:
        w->command = false;
        return close_one(w, IN_IF);
    case BZ_SH_LEX_DONE:
        w->command = false;
        return close_one(w, IN_LOOP);
    case BZ_SH_LEX_ESAC:
        w->command = false;
        return close_one(w, IN_CASE);
    case BZ_SH_LEX_BANG:
        return true;
    default:
        take_word(w);
        return true;
    }
}

/* Between "in" or ";;" and what ends a pattern. */
static bool take_pattern(struct walk *w)
{
    if (w->tok->type == BZ_SH_LEX_RPAREN) {
        w->depth--;
        w->command = true;
    } else if (w->tok->type == BZ_SH_LEX_ESAC) {
        w->depth--;
        w->command = false;
        return close_one(w, IN_CASE);
    }
    return true;
}

static bool take_separator(struct walk *w)
{
    switch (w->tok->type) {
    case BZ_SH_LEX_NEWLINE:
    case BZ_SH_LEX_SEMI:
    case BZ_SH_LEX_AMP:
    case BZ_SH_LEX_AND:
    case BZ_SH_LEX_OR:
    case BZ_SH_LEX_PIPE:
        w->command = true;
        return true;
    case BZ_SH_LEX_DSEMI:
        if (!is_in(w, IN_CASE))
            return false;
        return open_one(w, IN_PATTERN);
    case BZ_SH_LEX_IN:
        return !is_in(w, IN_CASE) || w->command || open_one(w, IN_PATTERN);
    case BZ_SH_LEX_RPAREN:
        w->command = false;
        return close_one(w, IN_PAREN);
    case BZ_SH_LEX_LPAREN:
        return false;
    default: /* an argument */
        return true;
    }
}

static bool is_separator(enum bz_sh_lex_type type)
{
    return type == BZ_SH_LEX_NEWLINE || type == BZ_SH_LEX_SEMI ||
           type == BZ_SH_LEX_AMP || type == BZ_SH_LEX_AND || type == BZ_SH_LEX_OR ||
           type == BZ_SH_LEX_PIPE || type == BZ_SH_LEX_DSEMI ||
           type == BZ_SH_LEX_RPAREN;
}

static bool take(struct walk *w)
{
    enum bz_sh_lex_type type = w->tok->type;
    bool ok;

    if (is_in(w, IN_PATTERN)) {
        ok = take_pattern(w);
    } else if (w->command && !is_separator(type)) {
        if (may_mark(w))
            bz_bitset_set(&w->m->lines, w->tok->line);
        ok = take_command(w);
    } else {
        ok = take_separator(w);
    }
    w->fresh = type == BZ_SH_LEX_NEWLINE;
    if (type != BZ_SH_LEX_NEWLINE)
        w->before = type;
    w->tok++;
    return ok;
}

static void split(struct walk *w, struct bz_str text)
{
    struct bz_str line;

    while (text.n > 0 && bz_str_next_part(&text, '\n', &line))
        BZ_VEC_PUSH(&w->lines, line);
}

int bz_sh_marks_find(struct bz_str text, struct bz_sh_marks *m, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_sh_lex_tokens tokens = {0};
    struct walk w = {.m = m, .command = true, .fresh = true};
    bool ok = true;
    int rc;

    *m = (struct bz_sh_marks){0};
    rc = bz_sh_lex_text(text, 1, &m->arena, &tokens, err);
    if (rc < 0)
        return rc;
    split(&w, text);
    w.tok = tokens.at;
    while (ok && w.tok->type != BZ_SH_LEX_END)
        ok = take(&w);
    ok = ok && w.depth == 0;
    bz_vec_release(&w.lines);
    return ok ? 0 : bz_fail(err, BZ_E_NOSUP, "shell text is not understood");
}

void bz_sh_marks_release(struct bz_sh_marks *m)
{
    bz_bitset_release(&m->lines);
    bz_vec_release(&m->funcs);
    bz_arena_release(&m->arena);
    *m = (struct bz_sh_marks){0};
}
