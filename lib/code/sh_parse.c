#include "code/sh_parse.h"

struct parser {
    const struct bz_sh_lex_token *at;
    const struct bz_sh_parse_fns *fns;
};

static int parse_list(struct parser *p, struct bz_err *err);

static enum bz_sh_lex_type type(const struct parser *p)
{
    return p->at->type;
}

static bool accept(struct parser *p, enum bz_sh_lex_type t)
{
    if (p->at->type != t)
        return false;
    p->at++;
    return true;
}

static int unexpected(const struct parser *p, const char *wanted, struct bz_err *err)
{
    struct bz_str text = p->at->text;

    if (type(p) == BZ_SH_LEX_END)
        return bz_fail(err, BZ_E_INVAL, "line %u: expected %s, but the text ends",
                       p->at->line, wanted);
    if (type(p) == BZ_SH_LEX_NEWLINE)
        text = BZ_STR("the end of the line");
    return bz_fail(err, BZ_E_INVAL, "line %u: expected %s, not '%.*s'", p->at->line,
                   wanted, text.n > 40 ? 40 : bz_str_width(text), text.p);
}

static int expect(struct parser *p, enum bz_sh_lex_type t, const char *wanted,
                  struct bz_err *err)
{
    return accept(p, t) ? 0 : unexpected(p, wanted, err);
}

static void skip_newlines(struct parser *p)
{
    while (accept(p, BZ_SH_LEX_NEWLINE))
        ;
}

/* "fi" is a word wherever a command's name is not expected. */
static bool is_word(const struct parser *p)
{
    return type(p) == BZ_SH_LEX_WORD || type(p) == BZ_SH_LEX_FI;
}

static bool is_redirect(const struct parser *p)
{
    return type(p) == BZ_SH_LEX_NUMBER || type(p) == BZ_SH_LEX_REDIRECT ||
           type(p) == BZ_SH_LEX_HERE;
}

static bool is_compound(const struct parser *p)
{
    switch (type(p)) {
    case BZ_SH_LEX_LPAREN:
    case BZ_SH_LEX_LBRACE:
    case BZ_SH_LEX_FOR:
    case BZ_SH_LEX_CASE:
    case BZ_SH_LEX_IF:
    case BZ_SH_LEX_WHILE:
    case BZ_SH_LEX_UNTIL:
        return true;
    default:
        return false;
    }
}

static bool begins_command(const struct parser *p)
{
    return type(p) == BZ_SH_LEX_WORD || type(p) == BZ_SH_LEX_ASSIGNMENT ||
           type(p) == BZ_SH_LEX_BANG || is_redirect(p) || is_compound(p);
}

/* Whether it can be an argument. Other reserved words end the command. */
static bool is_argument(const struct parser *p)
{
    switch (type(p)) {
    case BZ_SH_LEX_WORD:
    case BZ_SH_LEX_ASSIGNMENT:
    case BZ_SH_LEX_FI:
    case BZ_SH_LEX_FOR:
    case BZ_SH_LEX_DO:
    case BZ_SH_LEX_DONE:
    case BZ_SH_LEX_UNTIL:
    case BZ_SH_LEX_IF:
    case BZ_SH_LEX_THEN:
    case BZ_SH_LEX_BANG:
        return true;
    default:
        return false;
    }
}

static int parse_redirect(struct parser *p, struct bz_err *err)
{
    (void)accept(p, BZ_SH_LEX_NUMBER);
    if (accept(p, BZ_SH_LEX_REDIRECT))
        return expect(p, BZ_SH_LEX_WORD, "the name of a file", err);
    if (!accept(p, BZ_SH_LEX_HERE) || !accept(p, BZ_SH_LEX_HERE_NAME))
        return unexpected(p, "a redirection", err);
    return expect(p, BZ_SH_LEX_WORD, "the text of a here-document", err);
}

static int parse_redirects(struct parser *p, struct bz_err *err)
{
    while (is_redirect(p)) {
        int rc = parse_redirect(p, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Takes the token at hand as a word. */
static void push(struct parser *p, struct bz_sh_parse_words *words,
                 enum bz_sh_parse_kind kind)
{
    struct bz_sh_parse_word word = {kind, p->at->line, p->at->text};
    struct bz_str name;

    if (kind == BZ_SH_PARSE_VALUE)
        (void)bz_str_cut(p->at->text, '=', &name, &word.text);
    BZ_VEC_PUSH(words, word);
    p->at++;
}

static int parse_arguments(struct parser *p, struct bz_sh_parse_words *words,
                           struct bz_err *err)
{
    while (is_redirect(p) || is_argument(p)) {
        int rc = is_redirect(p) ? parse_redirect(p, err) : 0;

        if (rc < 0)
            return rc;
        if (is_argument(p))
            push(p, words, BZ_SH_PARSE_ARGUMENT);
    }
    return 0;
}

static int parse_simple(struct parser *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_sh_parse_words words = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_sh_parse_words values = {0};
    const struct bz_sh_lex_token *first = p->at;
    int rc = 0;

    while (rc == 0 && (is_redirect(p) || type(p) == BZ_SH_LEX_ASSIGNMENT)) {
        if (is_redirect(p))
            rc = parse_redirect(p, err);
        else
            push(p, &values, BZ_SH_PARSE_VALUE);
    }
    if (rc == 0 && (type(p) == BZ_SH_LEX_WORD || (is_word(p) && p->at > first))) {
        push(p, &words, BZ_SH_PARSE_COMMAND);
        rc = parse_arguments(p, &words, err);
    }
    if (rc == 0 && p->at == first)
        return unexpected(p, "a command", err);
    for (size_t i = 0; i < values.len; i++)
        BZ_VEC_PUSH(&words, values.at[i]);
    return rc == 0 && words.len > 0 ? p->fns->words(p->fns->ctx, &words, err) : rc;
}

static int parse_if(struct parser *p, struct bz_err *err)
{
    int rc;

    do { /* once for each "if" and "elif" */
        p->at++;
        rc = parse_list(p, err);
        if (rc == 0)
            rc = expect(p, BZ_SH_LEX_THEN, "'then'", err);
        if (rc == 0)
            rc = parse_list(p, err);
    } while (rc == 0 && type(p) == BZ_SH_LEX_ELIF);
    if (rc == 0 && accept(p, BZ_SH_LEX_ELSE))
        rc = parse_list(p, err);
    return rc < 0 ? rc : expect(p, BZ_SH_LEX_FI, "'fi'", err);
}

static int parse_do(struct parser *p, struct bz_err *err)
{
    int rc = expect(p, BZ_SH_LEX_DO, "'do'", err);

    if (rc == 0)
        rc = parse_list(p, err);
    return rc < 0 ? rc : expect(p, BZ_SH_LEX_DONE, "'done'", err);
}

static int parse_while(struct parser *p, struct bz_err *err)
{
    int rc;

    p->at++;
    rc = parse_list(p, err);
    return rc < 0 ? rc : parse_do(p, err);
}

/* The head of a "for" or "case", up to "in". */
static int parse_in(struct parser *p, struct bz_err *err)
{
    p->at++;
    if (!is_word(p))
        return unexpected(p, "a word", err);
    p->at++;
    skip_newlines(p);
    return expect(p, BZ_SH_LEX_IN, "'in'", err);
}

static int parse_for(struct parser *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_sh_parse_words words = {0};
    int rc = parse_in(p, err);

    while (rc == 0 && is_word(p))
        push(p, &words, BZ_SH_PARSE_ARGUMENT);
    if (rc == 0 && !accept(p, BZ_SH_LEX_SEMI) && type(p) != BZ_SH_LEX_NEWLINE)
        rc = unexpected(p, "';' or the end of the line", err);
    skip_newlines(p);
    if (rc == 0 && words.len > 0)
        rc = p->fns->words(p->fns->ctx, &words, err);
    return rc < 0 ? rc : parse_do(p, err);
}

/* (a|b) and the commands, up to ;; or, without one, to "esac". */
static int parse_case_item(struct parser *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_sh_parse_words words = {0};
    bool bracket = accept(p, BZ_SH_LEX_LPAREN);
    int rc = 0;

    do {
        if (!is_word(p))
            return unexpected(p, "a pattern", err);
        if (words.len == 0)
            push(p, &words, BZ_SH_PARSE_ARGUMENT);
        else
            p->at++; /* BitBake loses it */
    } while (accept(p, BZ_SH_LEX_PIPE));
    rc = expect(p, BZ_SH_LEX_RPAREN, "')'", err);
    if (rc < 0)
        return rc;
    skip_newlines(p);
    if (type(p) != BZ_SH_LEX_DSEMI && type(p) != BZ_SH_LEX_ESAC)
        rc = parse_list(p, err);
    if (rc < 0)
        return rc;
    if (accept(p, BZ_SH_LEX_DSEMI))
        bracket = false;
    else if (type(p) != BZ_SH_LEX_ESAC)
        return unexpected(p, "';;' or 'esac'", err);
    skip_newlines(p);
    /* The pattern of a last item that has both a bracket and no ;; is lost, too. */
    return bracket ? 0 : p->fns->words(p->fns->ctx, &words, err);
}

static int parse_case(struct parser *p, struct bz_err *err)
{
    int rc = parse_in(p, err);

    skip_newlines(p);
    while (rc == 0 && !accept(p, BZ_SH_LEX_ESAC))
        rc = parse_case_item(p, err);
    return rc;
}

static int parse_bracket(struct parser *p, struct bz_err *err)
{
    bool brace = type(p) == BZ_SH_LEX_LBRACE;
    int rc;

    p->at++;
    rc = parse_list(p, err);
    if (rc < 0)
        return rc;
    return expect(p, brace ? BZ_SH_LEX_RBRACE : BZ_SH_LEX_RPAREN, brace ? "'}'" : "')'",
                  err);
}

static int parse_compound(struct parser *p, struct bz_err *err)
{
    switch (type(p)) {
    case BZ_SH_LEX_FOR:
        return parse_for(p, err);
    case BZ_SH_LEX_CASE:
        return parse_case(p, err);
    case BZ_SH_LEX_IF:
        return parse_if(p, err);
    case BZ_SH_LEX_WHILE:
    case BZ_SH_LEX_UNTIL:
        return parse_while(p, err);
    default:
        return parse_bracket(p, err);
    }
}

/* NAME ( ) and a compound command. */
static int parse_function(struct parser *p, struct bz_err *err)
{
    struct bz_str name = p->at->text;
    uint32_t line = p->at->line;
    int rc;

    p->at += 2;
    rc = expect(p, BZ_SH_LEX_RPAREN, "')'", err);
    if (rc < 0)
        return rc;
    skip_newlines(p);
    if (!is_compound(p))
        return unexpected(p, "the body of a function", err);
    p->fns->function(p->fns->ctx, name);
    rc = parse_compound(p, err);
    if (rc == 0 && is_redirect(p))
        return bz_fail(err, BZ_E_NOSUP,
                       "line %u: a redirection behind the body of function %.*s is not "
                       "understood, as in BitBake; put it inside",
                       line, BZ_STR_ARG(name));
    return rc;
}

static int parse_command(struct parser *p, struct bz_err *err)
{
    int rc;

    if (type(p) == BZ_SH_LEX_WORD && p->at[1].type == BZ_SH_LEX_LPAREN)
        return parse_function(p, err);
    if (!is_compound(p))
        return parse_simple(p, err);
    rc = parse_compound(p, err);
    return rc < 0 ? rc : parse_redirects(p, err);
}

static int parse_pipeline(struct parser *p, struct bz_err *err)
{
    int rc;

    (void)accept(p, BZ_SH_LEX_BANG);
    rc = parse_command(p, err);
    while (rc == 0 && accept(p, BZ_SH_LEX_PIPE)) {
        skip_newlines(p);
        rc = parse_command(p, err);
    }
    return rc;
}

static int parse_and_or(struct parser *p, struct bz_err *err)
{
    int rc = parse_pipeline(p, err);

    while (rc == 0 && (accept(p, BZ_SH_LEX_AND) || accept(p, BZ_SH_LEX_OR))) {
        skip_newlines(p);
        rc = parse_pipeline(p, err);
    }
    return rc;
}

/* What stands between two commands: "&" or up to two ";", and ends of lines. */
enum separator { NOTHING, PLAIN, BACKGROUND };

static enum separator parse_separator(struct parser *p)
{
    enum separator found = NOTHING;

    if (accept(p, BZ_SH_LEX_AMP)) {
        found = BACKGROUND;
    } else if (accept(p, BZ_SH_LEX_SEMI)) {
        (void)accept(p, BZ_SH_LEX_SEMI);
        found = PLAIN;
    } else if (type(p) == BZ_SH_LEX_NEWLINE) {
        found = PLAIN;
    }
    skip_newlines(p);
    return found;
}

/* The commands within something. They end before what cannot begin one. */
static int parse_list(struct parser *p, struct bz_err *err)
{
    enum separator separator = PLAIN;
    int rc = 0;

    if (++*p->fns->depth > BZ_SH_PARSE_DEPTH)
        return bz_fail(err, BZ_E_LIMIT, "line %u: commands are nested too deeply",
                       p->at->line);
    skip_newlines(p);
    do {
        rc = parse_and_or(p, err);
        if (rc == 0)
            separator = parse_separator(p);
    } while (rc == 0 && separator != NOTHING && begins_command(p));
    --*p->fns->depth;
    if (rc == 0 && separator == BACKGROUND)
        return bz_fail(err, BZ_E_NOSUP,
                       "line %u: '&' at the end of a list within something is not "
                       "understood, as in BitBake; add ': ;' or a command",
                       p->at->line);
    return rc;
}

int bz_sh_parse_tokens(const struct bz_sh_lex_tokens *tokens,
                       const struct bz_sh_parse_fns *fns, struct bz_err *err)
{
    struct parser p = {tokens->at, fns};
    int rc = 0;

    skip_newlines(&p);
    while (rc == 0 && type(&p) != BZ_SH_LEX_END) {
        rc = parse_and_or(&p, err);
        if (rc == 0)
            (void)parse_separator(&p);
    }
    return rc;
}
