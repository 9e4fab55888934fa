#include "query/query_parse.h"

#include "base/near.h"
#include "base/vec.h"
#include "query/query_lex.h"

struct parser {
    struct bz_query_lex lex;
    struct bz_arena *arena;
    unsigned depth;
    uint32_t column; /* of what is wrong */
    struct bz_err *err;
};

struct operand {
    const struct bz_query *q;
};

struct node_list BZ_VEC(struct operand);

/* What a function takes: x a set, w a word, k a kind and perhaps a pattern, n a number
 * that may be left out. */
static const struct {
    struct bz_str name;
    const char *takes;
} functions[] = {
    [BZ_QUERY_DEPS] = {BZ_STR("deps"),     "xn" },
    [BZ_QUERY_RDEPS] = {BZ_STR("rdeps"),    "xxn"},
    [BZ_QUERY_SOMEPATH] = {BZ_STR("somepath"), "xx" },
    [BZ_QUERY_ALLPATHS] = {BZ_STR("allpaths"), "xx" },
    [BZ_QUERY_KIND_OF] = {BZ_STR("kind"),     "kx" },
    [BZ_QUERY_FILTER] = {BZ_STR("filter"),   "wx" },
    [BZ_QUERY_ATTR] = {BZ_STR("attr"),     "wwx"},
    [BZ_QUERY_INPUTS] = {BZ_STR("inputs"),   "x"  },
    [BZ_QUERY_OUTPUTS] = {BZ_STR("outputs"),  "x"  },
};

static int parse_sets(struct parser *p, const struct bz_query **out);

static int next(struct parser *p)
{
    int rc = bz_query_lex_next(&p->lex, p->err);

    p->column = p->lex.column;
    return rc;
}

static bool at_sign(const struct parser *p, char sign)
{
    return p->lex.kind == BZ_QUERY_TOKEN_SIGN && p->lex.text.p[0] == sign;
}

static bool at_word(const struct parser *p, struct bz_str word)
{
    return p->lex.kind == BZ_QUERY_TOKEN_WORD && bz_str_eq(p->lex.text, word);
}

static bool at_text(const struct parser *p)
{
    return p->lex.kind == BZ_QUERY_TOKEN_WORD || p->lex.kind == BZ_QUERY_TOKEN_QUOTED;
}

/* "column 7: expected X, not 'y'" */
static int expected(struct parser *p, const char *what)
{
    p->column = p->lex.column;
    if (p->lex.kind == BZ_QUERY_TOKEN_END)
        return bz_fail(p->err, BZ_E_INVAL, "column %u: expected %s at the end",
                       p->column, what);
    return bz_fail(p->err, BZ_E_INVAL, "column %u: expected %s, not '%.*s'", p->column,
                   what, BZ_STR_ARG(p->lex.text));
}

static int take_sign(struct parser *p, char sign, const char *what)
{
    return at_sign(p, sign) ? next(p) : expected(p, what);
}

static struct bz_query *node(struct parser *p, enum bz_query_kind kind)
{
    struct bz_query *q = BZ_ARENA_NEW(p->arena, struct bz_query);

    *q = (struct bz_query){.kind = kind, .column = p->lex.column, .depth = UINT32_MAX};
    return q;
}

static void set_args(struct parser *p, struct bz_query *q, const struct node_list *list)
{
    q->nargs = list->len;
    q->args = BZ_ARENA_ARRAY(p->arena, const struct bz_query *, list->len);
    for (size_t i = 0; i < list->len; i++)
        q->args[i] = list->at[i].q;
}

static int parse_name(struct parser *p, const struct bz_query **out)
{
    struct bz_query *q = node(p, BZ_QUERY_NAME);

    if (p->lex.text.n == 0)
        return expected(p, "a name");
    q->text = p->lex.text;
    *out = q;
    return next(p);
}

/* set(a b c) */
static int parse_set(struct parser *p, struct bz_query *q)
{
    BZ_CLEANUP(bz_vec_release) struct node_list names = {0};
    int rc = next(p);

    while (rc == 0 && at_text(p)) {
        const struct bz_query *name = NULL;

        rc = parse_name(p, &name);
        BZ_VEC_PUSH(&names, (struct operand){name});
    }
    if (rc < 0)
        return rc;
    q->kind = BZ_QUERY_SET;
    set_args(p, q, &names);
    return take_sign(p, ')', "a name or ')'");
}

static int no_function(struct parser *p, struct bz_str name, uint32_t column)
{
    struct bz_near near;
    char text[120];

    bz_near_init(&near, name);
    for (size_t i = 0; i < BZ_COUNTOF(functions); i++)
        bz_near_offer(&near, functions[i].name);
    p->column = column;
    return bz_fail(p->err, BZ_E_INVAL, "column %u: there is no function '%.*s'%s",
                   column, BZ_STR_ARG(name),
                   bz_near_text(&near, "", text, sizeof(text)));
}

static int parse_word(struct parser *p, struct bz_query *q, size_t i, const char *what)
{
    if (!at_text(p))
        return expected(p, what);
    q->words[i] = p->lex.text;
    q->word_column[i] = p->lex.column;
    return next(p);
}

static int parse_depth(struct parser *p, struct bz_query *q)
{
    uint64_t n;
    struct bz_err err;

    if (p->lex.kind != BZ_QUERY_TOKEN_WORD ||
        bz_str_parse_u64(p->lex.text, 10, UINT32_MAX - 1, &n, &err) < 0)
        return expected(p, "a number");
    q->depth = (uint32_t)n;
    return next(p);
}

/* kind(task, ...) or kind(task do_compile, ...) */
static int parse_kind(struct parser *p, struct bz_query *q)
{
    int rc = parse_word(p, q, 0, "a kind");

    if (rc == 0 && at_text(p))
        rc = parse_word(p, q, 1, "a pattern");
    return rc;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_arg(struct parser *p, struct bz_query *q, char what, size_t *words,
                     struct node_list *args)
{
    const struct bz_query *arg = NULL;
    int rc;

    switch (what) {
    case 'w':
        return parse_word(p, q, (*words)++, "a word or a quoted text");
    case 'k':
        return parse_kind(p, q);
    case 'n':
        return parse_depth(p, q);
    default:
        rc = parse_sets(p, &arg);
        BZ_VEC_PUSH(args, (struct operand){arg});
        return rc;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_args(struct parser *p, struct bz_query *q, const char *takes)
{
    BZ_CLEANUP(bz_vec_release) struct node_list args = {0};
    size_t words = 0;
    int rc = next(p);

    for (size_t i = 0; rc == 0 && takes[i]; i++) {
        if (i > 0 && takes[i] == 'n' && !at_sign(p, ','))
            break;
        if (i > 0)
            rc = take_sign(p, ',', "','");
        if (rc == 0)
            rc = parse_arg(p, q, takes[i], &words, &args);
    }
    if (rc < 0)
        return rc;
    set_args(p, q, &args);
    return take_sign(p, ')', "')'");
}

/* A word with a '(' behind it. */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_call(struct parser *p, struct bz_query *q, struct bz_str name)
{
    if (bz_str_eq(name, BZ_STR("set")))
        return parse_set(p, q);
    q->kind = BZ_QUERY_CALL;
    for (size_t i = 0; i < BZ_COUNTOF(functions); i++)
        if (bz_str_eq(name, functions[i].name)) {
            q->function = (enum bz_query_function)i;
            return parse_args(p, q, functions[i].takes);
        }
    return no_function(p, name, q->column);
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_let(struct parser *p, struct bz_query *q)
{
    struct operand args[2] = {{NULL}, {NULL}};
    struct node_list list = {args, 2, 2};
    int rc;

    q->kind = BZ_QUERY_LET;
    q->text = p->lex.text;
    rc = next(p);
    if (rc == 0)
        rc = take_sign(p, '=', "'='");
    if (rc == 0)
        rc = parse_sets(p, &args[0].q);
    if (rc == 0)
        rc = at_word(p, BZ_STR("in")) ? next(p) : expected(p, "'in'");
    if (rc == 0)
        rc = parse_sets(p, &args[1].q);
    if (rc == 0)
        set_args(p, q, &list);
    return rc;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_group(struct parser *p, const struct bz_query **out)
{
    int rc = next(p);

    if (rc == 0)
        rc = parse_sets(p, out);
    return rc < 0 ? rc : take_sign(p, ')', "an operator or ')'");
}

static bool is_keyword(const struct parser *p)
{
    return at_word(p, BZ_STR("union")) || at_word(p, BZ_STR("intersect")) ||
           at_word(p, BZ_STR("except")) || at_word(p, BZ_STR("in"));
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_one(struct parser *p, const struct bz_query **out)
{
    struct bz_query *q = node(p, BZ_QUERY_NAME);
    bool let = at_word(p, BZ_STR("let")), plain = p->lex.kind == BZ_QUERY_TOKEN_WORD;
    int rc;

    *out = q;
    if (at_sign(p, '('))
        return parse_group(p, out);
    if (p->lex.kind == BZ_QUERY_TOKEN_REF) {
        q->kind = BZ_QUERY_REF;
        q->text = p->lex.text;
        return next(p);
    }
    if (!at_text(p) || is_keyword(p) || p->lex.text.n == 0)
        return expected(p, "a name, a function or '('");
    q->text = p->lex.text;
    rc = next(p);
    if (rc == 0 && plain && at_sign(p, '('))
        return parse_call(p, q, q->text);
    if (rc == 0 && let && p->lex.kind == BZ_QUERY_TOKEN_WORD)
        return parse_let(p, q);
    return rc;
}

/* The operator at hand, or 0. */
static char at_operator(const struct parser *p)
{
    static const struct {
        struct bz_str word;
        char op;
    } words[] = {
        {BZ_STR("union"),     '+'},
        {BZ_STR("intersect"), '^'},
        {BZ_STR("except"),    '-'},
    };

    if (at_sign(p, '+') || at_sign(p, '-') || at_sign(p, '^'))
        return p->lex.text.p[0];
    for (size_t i = 0; i < BZ_COUNTOF(words); i++)
        if (at_word(p, words[i].word))
            return words[i].op;
    return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_chain(struct parser *p, struct bz_query *q)
{
    BZ_CLEANUP(bz_vec_release) struct node_list args = {0};
    BZ_CLEANUP(bz_vec_release) struct op_list BZ_VEC(char) ops = {0};
    char op = '+';
    int rc = 0;

    while (op && rc == 0) {
        const struct bz_query *arg = NULL;

        if (args.len > 0)
            rc = next(p);
        if (rc == 0)
            rc = parse_one(p, &arg);
        BZ_VEC_PUSH(&args, (struct operand){arg});
        BZ_VEC_PUSH(&ops, op);
        op = at_operator(p);
    }
    if (rc < 0)
        return rc;
    set_args(p, q, &args);
    q->ops = bz_arena_dup(p->arena, bz_str_of(ops.at, ops.len)).p;
    return 0;
}

/* One operand, or several with operators between them. */
/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
static int parse_sets(struct parser *p, const struct bz_query **out)
{
    struct bz_query *q = node(p, BZ_QUERY_CHAIN);
    int rc;

    if (p->depth >= BZ_QUERY_PARSE_DEEPEST)
        return bz_fail(p->err, BZ_E_LIMIT, "column %u: it is nested too deep",
                       p->column);
    p->depth++;
    rc = parse_chain(p, q);
    p->depth--;
    *out = rc == 0 && q->nargs == 1 ? q->args[0] : q;
    return rc;
}

int bz_query_parse(struct bz_str text, struct bz_arena *arena,
                   const struct bz_query **out, uint32_t *column, struct bz_err *err)
{
    struct parser p = {.arena = arena, .err = err};
    int rc;

    *column = 1;
    if (text.n > BZ_QUERY_PARSE_LONGEST)
        return bz_fail(err, BZ_E_LIMIT, "column 1: a query of %zu bytes is too long",
                       text.n);
    bz_query_lex_init(&p.lex, text);
    rc = next(&p);
    if (rc == 0)
        rc = parse_sets(&p, out);
    if (rc == 0 && p.lex.kind != BZ_QUERY_TOKEN_END)
        rc = expected(&p, "an operator");
    *column = p.column;
    return rc;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by BZ_QUERY_PARSE_DEEPEST */
void bz_query_parse_names(const struct bz_query *q, bz_query_parse_name_fn fn,
                          void *ctx)
{
    if (q->kind == BZ_QUERY_NAME)
        fn(ctx, q->text);
    for (size_t i = 0; i < q->nargs; i++)
        bz_query_parse_names(q->args[i], fn, ctx);
}
