#include "code/sh_lex.h"

#include "base/buf.h"
#include "code/sh_quote.h"

/* What is read before it is known what it is: the same bytes mean another thing after
 * a "<<", and what follows that on its line comes after the here-document. */
enum shape { WORD, OPERATOR, NEWLINE };

struct piece {
    enum shape shape;
    char delim; /* the byte behind it; '\0': the text ends */
    uint32_t line;
    struct bz_str text;
};

struct lexer {
    struct bz_str text;
    size_t pos;
    uint32_t line, word_line;
    struct bz_arena *arena;
    struct bz_sh_lex_tokens *out;
    struct bz_buf word; /* the word under way; empty: none */
    struct bz_sh_quote quote;

    bool here, here_tabs, here_named; /* after a "<<", which may strip tabs */
    struct bz_str here_name;
    struct BZ_VEC(struct piece) held; /* the rest of the line of a here-document */
    size_t next_held;
    unsigned since_for; /* tokens since "for" or "case", that included; 0: none */
};

static const struct {
    struct bz_str text;
    enum bz_sh_lex_type type;
} operators[] =
    {
        {{"&&", 2},  BZ_SH_LEX_AND     },
        {{"||", 2},  BZ_SH_LEX_OR      },
        {{";;", 2},  BZ_SH_LEX_DSEMI   },
        {{"<<-", 3}, BZ_SH_LEX_HERE    },
        {{"<<", 2},  BZ_SH_LEX_HERE    },
        {{">>", 2},  BZ_SH_LEX_REDIRECT},
        {{"<&", 2},  BZ_SH_LEX_REDIRECT},
        {{">&", 2},  BZ_SH_LEX_REDIRECT},
        {{"<>", 2},  BZ_SH_LEX_REDIRECT},
        {{">|", 2},  BZ_SH_LEX_REDIRECT},
        {{"&", 1},   BZ_SH_LEX_AMP     },
        {{";", 1},   BZ_SH_LEX_SEMI    },
        {{"<", 1},   BZ_SH_LEX_REDIRECT},
        {{">", 1},   BZ_SH_LEX_REDIRECT},
        {{"(", 1},   BZ_SH_LEX_LPAREN  },
        {{")", 1},   BZ_SH_LEX_RPAREN  },
        {{"|", 1},   BZ_SH_LEX_PIPE    },
},
  reserved[] = {
      {{"if", 2}, BZ_SH_LEX_IF},       {{"then", 4}, BZ_SH_LEX_THEN},
      {{"else", 4}, BZ_SH_LEX_ELSE},   {{"elif", 4}, BZ_SH_LEX_ELIF},
      {{"fi", 2}, BZ_SH_LEX_FI},       {{"do", 2}, BZ_SH_LEX_DO},
      {{"done", 4}, BZ_SH_LEX_DONE},   {{"case", 4}, BZ_SH_LEX_CASE},
      {{"esac", 4}, BZ_SH_LEX_ESAC},   {{"while", 5}, BZ_SH_LEX_WHILE},
      {{"until", 5}, BZ_SH_LEX_UNTIL}, {{"for", 3}, BZ_SH_LEX_FOR},
      {{"in", 2}, BZ_SH_LEX_IN},       {{"{", 1}, BZ_SH_LEX_LBRACE},
      {{"}", 1}, BZ_SH_LEX_RBRACE},    {{"!", 1}, BZ_SH_LEX_BANG},
};

static bool all_of(struct bz_str s, bool letters)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if ((c < '0' || c > '9') &&
            (!letters || ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_')))
            return false;
    }
    return s.n > 0;
}

static enum bz_sh_lex_type classify(const struct lexer *lx, struct bz_str word,
                                    char delim)
{
    struct bz_str name, value;

    if (delim == '\0' && bz_str_cut(word, '=', &name, &value))
        return all_of(name, true) ? BZ_SH_LEX_ASSIGNMENT : BZ_SH_LEX_WORD;
    for (size_t i = 0; i < BZ_COUNTOF(reserved); i++)
        if (bz_str_eq(word, reserved[i].text))
            return reserved[i].type == BZ_SH_LEX_IN && lx->since_for != 2
                       ? BZ_SH_LEX_WORD
                       : reserved[i].type;
    return (delim == '<' || delim == '>') && all_of(word, false) ? BZ_SH_LEX_NUMBER
                                                                 : BZ_SH_LEX_WORD;
}

static void emit(struct lexer *lx, const struct piece *p, enum bz_sh_lex_type type)
{
    if (type == BZ_SH_LEX_FOR || type == BZ_SH_LEX_CASE)
        lx->since_for = 1;
    else if (lx->since_for > 0)
        lx->since_for = lx->since_for == 2 ? 0 : lx->since_for + 1;
    BZ_VEC_PUSH(lx->out, (struct bz_sh_lex_token){type, p->line, p->text});
}

static int name_here(struct lexer *lx, const struct piece *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    struct bz_sh_quote strip = {.out = &name, .strip = true};
    int rc;

    if (p->shape != WORD)
        return bz_fail(err, BZ_E_INVAL, "line %u: << needs a word after it", p->line);
    rc = bz_sh_quote_word(&strip, p->text, err);
    bz_sh_quote_release(&strip);
    if (rc < 0)
        return bz_err_wrap(err, "line %u", p->line);
    lx->here_named = true;
    lx->here_name = bz_arena_dup(lx->arena, bz_buf_str(&name));
    emit(lx, p, BZ_SH_LEX_HERE_NAME);
    return 0;
}

static void put_operator(struct lexer *lx, const struct piece *p)
{
    for (size_t i = 0; i < BZ_COUNTOF(operators); i++) {
        if (!bz_str_eq(p->text, operators[i].text))
            continue;
        emit(lx, p, operators[i].type);
        lx->here = operators[i].type == BZ_SH_LEX_HERE;
        lx->here_tabs = p->text.n == 3;
        return;
    }
}

static int put(struct lexer *lx, const struct piece *p, struct bz_err *err)
{
    if (lx->here && !lx->here_named)
        return name_here(lx, p, err);
    if (lx->here)
        BZ_VEC_PUSH(&lx->held, *p);
    else if (p->shape == OPERATOR)
        put_operator(lx, p);
    else
        emit(lx, p,
             p->shape == NEWLINE ? BZ_SH_LEX_NEWLINE : classify(lx, p->text, p->delim));
    return 0;
}

/* The word under way ends before the byte `delim`. */
static int end_word(struct lexer *lx, char delim, struct bz_err *err)
{
    struct piece p = {WORD, delim, lx->word_line, {0}};

    if (lx->word.len == 0)
        return 0;
    p.text = bz_arena_dup(lx->arena, bz_buf_str(&lx->word));
    bz_buf_truncate(&lx->word, 0);
    return put(lx, &p, err);
}

/* One line of a here-document, which goes on where its end has a backslash. */
static struct bz_str here_line(struct lexer *lx, bool *ended)
{
    size_t from = lx->pos, at = from;

    while (at < lx->text.n && lx->text.p[at] != '\n') {
        bool pair = lx->text.p[at] == '\\' && at + 1 < lx->text.n;

        lx->line += pair && lx->text.p[at + 1] == '\n';
        at += pair ? 2 : 1;
    }
    *ended = at < lx->text.n;
    lx->line += *ended;
    lx->pos = at + *ended;
    while (lx->here_tabs && from < at && lx->text.p[from] == '\t')
        from++;
    return bz_str_sub(lx->text, from, at);
}

static int read_here(struct lexer *lx, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf content = {0};
    struct piece p = {WORD, ' ', lx->line, {0}};
    bool ended = true;

    if (lx->pos >= lx->text.n || lx->here_name.n == 0)
        return bz_fail(err, BZ_E_INVAL, "line %u: a here-document has no %s", lx->line,
                       lx->here_name.n == 0 ? "name" : "text");
    while (ended) {
        struct bz_str line = here_line(lx, &ended);

        if (bz_str_eq(line, lx->here_name))
            break;
        bz_buf_add_str(&content, line);
        if (ended)
            bz_buf_add_char(&content, '\n');
    }
    lx->here = lx->here_named = false;
    p.text = bz_arena_dup(lx->arena, bz_buf_str(&content));
    return p.text.n > 0 ? put(lx, &p, err) : 0;
}

/* Reads the here-documents of the line that has just ended, each followed by what
 * stands behind it on that line. */
static int read_heres(struct lexer *lx, struct bz_err *err)
{
    lx->next_held = 0;
    while (lx->next_held < lx->held.len) {
        int rc = lx->here_named ? read_here(lx, err) : 0;

        while (rc == 0 && lx->next_held < lx->held.len && !lx->here_named) {
            struct piece p = lx->held.at[lx->next_held++];

            rc = put(lx, &p, err);
        }
        if (rc < 0)
            return rc;
    }
    BZ_VEC_CLEAR(&lx->held);
    return 0;
}

static int read_newline(struct lexer *lx, struct bz_err *err)
{
    struct piece p = {NEWLINE, '\0', lx->line, BZ_STR("\n")};
    int rc = end_word(lx, '\n', err);

    if (rc == 0)
        rc = put(lx, &p, err);
    lx->pos++;
    lx->line++;
    return rc == 0 && lx->here ? read_heres(lx, err) : rc;
}

static int read_operator(struct lexer *lx, struct bz_err *err)
{
    struct bz_str rest = bz_str_sub(lx->text, lx->pos, lx->text.n);
    struct piece p = {OPERATOR, '\0', lx->line, {0}};
    int rc = end_word(lx, rest.p[0], err);

    for (size_t i = 0; i < BZ_COUNTOF(operators) && p.text.n == 0; i++)
        if (bz_str_starts(rest, operators[i].text))
            p.text = operators[i].text;
    lx->pos += p.text.n;
    return rc < 0 ? rc : put(lx, &p, err);
}

static int read_part(struct lexer *lx, struct bz_err *err)
{
    size_t from = lx->pos;
    int rc = bz_sh_quote_part(&lx->quote, lx->text, &lx->pos, err);

    if (rc < 0)
        return bz_err_wrap(err, "line %u", lx->line);
    for (size_t i = from; i < lx->pos; i++)
        lx->line += lx->text.p[i] == '\n';
    return 0;
}

static int read_comment(struct lexer *lx, struct bz_err *err)
{
    size_t from = lx->pos;

    if (lx->here && !lx->here_named)
        return bz_fail(err, BZ_E_INVAL, "line %u: << needs a word after it", lx->line);
    while (lx->pos < lx->text.n && lx->text.p[lx->pos] != '\n')
        lx->pos++;
    if (lx->pos == lx->text.n && lx->pos > from + 1)
        return bz_fail(err, BZ_E_NOSUP,
                       "line %u: a comment at the very end is not understood, as in "
                       "BitBake; end the line",
                       lx->line);
    return 0;
}

static int step(struct lexer *lx, struct bz_err *err)
{
    char c = lx->text.p[lx->pos];

    if (lx->word.len == 0)
        lx->word_line = lx->line;
    switch (c) {
    case '\n':
        return read_newline(lx, err);
    case '\\':
    case '\'':
    case '"':
    case '`':
    case '$':
        return read_part(lx, err);
    case '&':
    case '|':
    case ';':
    case '<':
    case '>':
    case '(':
    case ')':
        return read_operator(lx, err);
    case ' ':
    case '\t':
        lx->pos++;
        return end_word(lx, c, err);
    case '#':
        if (lx->word.len == 0)
            return read_comment(lx, err);
        break;
    default:
        break;
    }
    bz_buf_add_char(&lx->word, c);
    lx->pos++;
    return 0;
}

int bz_sh_lex_text(struct bz_str text, uint32_t line, struct bz_arena *arena,
                   struct bz_sh_lex_tokens *out, struct bz_err *err)
{
    struct lexer lx = {.text = text, .line = line, .arena = arena, .out = out};
    int rc = 0;

    lx.quote.out = &lx.word;
    while (rc == 0 && lx.pos < text.n)
        rc = step(&lx, err);
    if (rc == 0)
        rc = end_word(&lx, '\0', err);
    if (rc == 0 && lx.here)
        rc = bz_fail(err, BZ_E_INVAL, "line %u: a here-document has no text", lx.line);
    if (rc == 0)
        BZ_VEC_PUSH(out, (struct bz_sh_lex_token){BZ_SH_LEX_END, lx.line, {0}});
    bz_sh_quote_release(&lx.quote);
    bz_vec_release(&lx.held);
    bz_buf_release(&lx.word);
    return rc;
}
