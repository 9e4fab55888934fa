#include "code/py_stmt.h"

#include "code/py_args.h"
#include "code/py_expr.h"
#include "code/py_pattern.h"
#include "code/py_simple.h"

static bool statement(struct bz_py_parser *p, struct bz_py_node *to);

static struct bz_py_node *new_node(struct bz_py_parser *p)
{
    return bz_py_parse_node(p, BZ_PY_NODE_OTHER);
}

bool bz_py_stmt_block(struct bz_py_parser *p, struct bz_py_node *to)
{
    if (!bz_py_parse_expect(p, BZ_PY_TOK_COLON))
        return false;
    if (!bz_py_parse_at(p, BZ_PY_TOK_NEWLINE))
        return bz_py_simple_line(p, to);
    if (!bz_py_parse_next(p))
        return false;
    if (!bz_py_parse_at(p, BZ_PY_TOK_INDENT)) {
        bz_py_parse_refuse(p, "expected an indented block");
        return false;
    }
    if (!bz_py_parse_next(p))
        return false;
    while (!bz_py_parse_at(p, BZ_PY_TOK_DEDENT))
        if (!statement(p, to))
            return false;
    return bz_py_parse_next(p);
}

/* else: or finally: and what belongs to it, if it is there. */
static bool branch(struct bz_py_parser *p, enum bz_py_tok word, struct bz_py_node *to)
{
    if (!bz_py_parse_at(p, word))
        return true;
    return bz_py_parse_next(p) && bz_py_stmt_block(p, to);
}

/* if and its elifs: each elif is the one statement of the else before it. */
static bool if_statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *n, *test;

    do {
        n = new_node(p);
        bz_py_node_add(to, n);
        test = bz_py_parse_next(p) ? bz_py_expr_named(p) : NULL;
        if (!test)
            return false;
        bz_py_node_add(n, test);
        if (!bz_py_stmt_block(p, n))
            return false;
        to = n;
    } while (bz_py_parse_at(p, BZ_PY_TOK_ELIF));
    return branch(p, BZ_PY_TOK_ELSE, n);
}

static bool while_statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *n = new_node(p), *test;

    bz_py_node_add(to, n);
    test = bz_py_parse_next(p) ? bz_py_expr_named(p) : NULL;
    if (!test)
        return false;
    bz_py_node_add(n, test);
    return bz_py_stmt_block(p, n) && branch(p, BZ_PY_TOK_ELSE, n);
}

static bool for_statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *n = new_node(p), *part;

    bz_py_node_add(to, n);
    part = bz_py_parse_next(p) ? bz_py_expr_targets(p) : NULL;
    if (!part || !bz_py_parse_expect(p, BZ_PY_TOK_IN))
        return false;
    bz_py_node_add(n, part);
    part = bz_py_expr_star_list(p);
    if (!part)
        return false;
    bz_py_node_add(n, part);
    return bz_py_stmt_block(p, n) && branch(p, BZ_PY_TOK_ELSE, n);
}

/* ---- with ---- */

/* One target, without a comma. */
static struct bz_py_node *as_target(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_parse_at(p, BZ_PY_TOK_STAR) ? bz_py_expr_starred(p)
                                                             : bz_py_expr_bitwise(p);

    if (n && !bz_py_node_is_target(n, false))
        return bz_py_parse_refuse(p, "cannot assign to what stands here");
    return n;
}

static bool with_item(struct bz_py_parser *p, struct bz_py_nodes *items)
{
    struct bz_py_node *n = new_node(p), *part = bz_py_expr_expression(p);

    if (!part)
        return false;
    bz_py_node_add(n, part);
    bz_py_node_push(items, n);
    if (!bz_py_parse_at(p, BZ_PY_TOK_AS))
        return true;
    part = bz_py_parse_next(p) ? as_target(p) : NULL;
    bz_py_node_add(n, part);
    return part != NULL;
}

/* with (a as b, c): the parentheses are the statement's if a ':' follows them. */
static bool with_in_brackets(struct bz_py_parser *p, struct bz_py_nodes *items)
{
    if (!bz_py_parse_next(p))
        return false;
    do {
        if (!with_item(p, items))
            return false;
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            break;
        if (!bz_py_parse_next(p))
            return false;
    } while (!bz_py_parse_at(p, BZ_PY_TOK_CLOSE));
    return bz_py_parse_expect(p, BZ_PY_TOK_CLOSE) && bz_py_parse_at(p, BZ_PY_TOK_COLON);
}

static bool with_plain(struct bz_py_parser *p, struct bz_py_nodes *items)
{
    for (;;) {
        if (!with_item(p, items))
            return false;
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            return true;
        if (!bz_py_parse_next(p))
            return false;
    }
}

static bool with_statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *n = new_node(p);
    struct bz_py_nodes items = {0};
    bool done = false;

    bz_py_node_add(to, n);
    if (!bz_py_parse_next(p))
        return false;
    if (bz_py_parse_at(p, BZ_PY_TOK_OPEN)) {
        struct bz_py_parser here = *p;

        done = with_in_brackets(p, &items);
        if (!done) {
            *p = here;
            items = (struct bz_py_nodes){0};
        }
    }
    if (!done && !with_plain(p, &items))
        return false;
    bz_py_node_add_all(n, items);
    return bz_py_stmt_block(p, n);
}

/* ---- try ---- */

/* except [*] [what [as NAME]]: */
static bool handler(struct bz_py_parser *p, struct bz_py_node *to, bool star)
{
    struct bz_py_node *n = new_node(p), *what;

    bz_py_node_add(to, n);
    if (!bz_py_parse_next(p))
        return false;
    if (star != bz_py_parse_at(p, BZ_PY_TOK_STAR)) {
        bz_py_parse_refuse(p,
                           "cannot have both 'except' and 'except*' on the same 'try'");
        return false;
    }
    if (star && !bz_py_parse_next(p))
        return false;
    if (star || !bz_py_parse_at(p, BZ_PY_TOK_COLON)) {
        what = bz_py_expr_expression(p);
        if (!what)
            return false;
        bz_py_node_add(n, what);
        if (bz_py_parse_at(p, BZ_PY_TOK_AS) &&
            !(bz_py_parse_next(p) && bz_py_parse_expect(p, BZ_PY_TOK_NAME)))
            return false;
    }
    return bz_py_stmt_block(p, n);
}

/* Whether a star follows the `except` at hand. */
static bool is_starred(const struct bz_py_parser *p)
{
    struct bz_py_lex look = p->lex;
    struct bz_err ignored;

    return bz_py_lex_next(&look, &ignored) == 0 && look.tok == BZ_PY_TOK_STAR;
}

static bool try_statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *n = new_node(p);
    bool star;

    bz_py_node_add(to, n);
    if (!bz_py_parse_next(p) || !bz_py_stmt_block(p, n))
        return false;
    if (bz_py_parse_at(p, BZ_PY_TOK_FINALLY))
        return branch(p, BZ_PY_TOK_FINALLY, n);
    if (!bz_py_parse_at(p, BZ_PY_TOK_EXCEPT)) {
        bz_py_parse_refuse(p, "expected 'except' or 'finally' block");
        return false;
    }
    star = is_starred(p);
    while (bz_py_parse_at(p, BZ_PY_TOK_EXCEPT))
        if (!handler(p, n, star))
            return false;
    return branch(p, BZ_PY_TOK_ELSE, n) && branch(p, BZ_PY_TOK_FINALLY, n);
}

/* ---- functions and classes ---- */

static bool def_statement(struct bz_py_parser *p, struct bz_py_node *n,
                          struct bz_py_nodes decorators)
{
    struct bz_py_node *args, *returns = NULL;

    if (!bz_py_parse_next(p))
        return false;
    n->text = p->lex.text;
    if (!bz_py_parse_expect(p, BZ_PY_TOK_NAME))
        return false;
    args = bz_py_args_def(p);
    if (!args)
        return false;
    bz_py_node_add(n, args);
    if (bz_py_parse_at(p, BZ_PY_TOK_ARROW)) {
        returns = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
        if (!returns)
            return false;
    }
    if (!bz_py_stmt_block(p, n))
        return false;
    bz_py_node_add_all(n, decorators);
    bz_py_node_add(n, returns);
    return true;
}

static bool class_statement(struct bz_py_parser *p, struct bz_py_node *n,
                            struct bz_py_nodes decorators)
{
    if (!bz_py_parse_next(p))
        return false;
    n->text = p->lex.text;
    if (!bz_py_parse_expect(p, BZ_PY_TOK_NAME))
        return false;
    if (bz_py_parse_at(p, BZ_PY_TOK_OPEN) && !bz_py_args_call(p, n))
        return false;
    if (!bz_py_stmt_block(p, n))
        return false;
    bz_py_node_add_all(n, decorators);
    return true;
}

static bool decorator(struct bz_py_parser *p, struct bz_py_nodes *list)
{
    struct bz_py_node *n = bz_py_parse_next(p) ? bz_py_expr_named(p) : NULL;

    bz_py_node_push(list, n);
    return n && bz_py_parse_expect(p, BZ_PY_TOK_NEWLINE);
}

/* def, class or async def with its decorators, of which the first may be at hand. */
static bool definition(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_DEF);
    struct bz_py_nodes decorators = {0};
    bool fine;

    n->from = (uint32_t)(p->lex.from - p->lex.start);
    n->line = bz_py_lex_line(&p->lex, p->lex.from);
    bz_py_node_add(to, n);
    while (bz_py_parse_at(p, BZ_PY_TOK_AT))
        if (!decorator(p, &decorators))
            return false;
    if (bz_py_parse_at(p, BZ_PY_TOK_CLASS)) {
        fine = class_statement(p, n, decorators);
    } else {
        if (bz_py_parse_at(p, BZ_PY_TOK_ASYNC) && !bz_py_parse_next(p))
            return false;
        fine = bz_py_parse_at(p, BZ_PY_TOK_DEF) ? def_statement(p, n, decorators)
                                                : bz_py_parse_unexpected(p) != NULL;
    }
    n->to = (uint32_t)(p->lex.before - p->lex.start);
    return fine;
}

static bool async_statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_parser here = *p;

    if (!bz_py_parse_next(p))
        return false;
    switch (p->lex.tok) {
    case BZ_PY_TOK_FOR:
        return for_statement(p, to);
    case BZ_PY_TOK_WITH:
        return with_statement(p, to);
    default:
        *p = here;
        return definition(p, to);
    }
}

/* ---- match ---- */

static bool at_word(const struct bz_py_parser *p, struct bz_str word)
{
    return bz_py_parse_at(p, BZ_PY_TOK_NAME) && bz_str_eq(p->lex.text, word);
}

/* match SUBJECT: and the line after it, up to the first `case`. */
static bool match_head(struct bz_py_parser *p, struct bz_py_node *n)
{
    struct bz_py_node *subject;

    if (!bz_py_parse_next(p))
        return false;
    subject = bz_py_pattern_subject(p);
    if (!subject)
        return false;
    bz_py_node_add(n, subject);
    return bz_py_parse_expect(p, BZ_PY_TOK_COLON) &&
           bz_py_parse_expect(p, BZ_PY_TOK_NEWLINE) &&
           bz_py_parse_expect(p, BZ_PY_TOK_INDENT) && at_word(p, BZ_STR("case"));
}

static bool match_case(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *n = new_node(p), *part;

    bz_py_node_add(to, n);
    part = bz_py_parse_next(p) ? bz_py_pattern_list(p) : NULL;
    if (!part)
        return false;
    bz_py_node_add(n, part);
    if (bz_py_parse_at(p, BZ_PY_TOK_IF)) {
        part = bz_py_parse_next(p) ? bz_py_expr_named(p) : NULL;
        if (!part)
            return false;
        bz_py_node_add(n, part);
    }
    return bz_py_stmt_block(p, n);
}

/* `match` is a name as well: what follows it decides. */
static bool match_statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_parser here = *p;
    struct bz_py_node *n = new_node(p);

    if (!match_head(p, n)) {
        *p = here;
        return bz_py_simple_line(p, to);
    }
    bz_py_node_add(to, n);
    while (at_word(p, BZ_STR("case")))
        if (!match_case(p, n))
            return false;
    return bz_py_parse_expect(p, BZ_PY_TOK_DEDENT);
}

/* ---- all of them ---- */

static bool statement(struct bz_py_parser *p, struct bz_py_node *to)
{
    switch (p->lex.tok) {
    case BZ_PY_TOK_IF:
        return if_statement(p, to);
    case BZ_PY_TOK_WHILE:
        return while_statement(p, to);
    case BZ_PY_TOK_FOR:
        return for_statement(p, to);
    case BZ_PY_TOK_WITH:
        return with_statement(p, to);
    case BZ_PY_TOK_TRY:
        return try_statement(p, to);
    case BZ_PY_TOK_DEF:
    case BZ_PY_TOK_CLASS:
    case BZ_PY_TOK_AT:
        return definition(p, to);
    case BZ_PY_TOK_ASYNC:
        return async_statement(p, to);
    case BZ_PY_TOK_NAME:
        if (at_word(p, BZ_STR("match")))
            return match_statement(p, to);
        return bz_py_simple_line(p, to);
    default:
        return bz_py_simple_line(p, to);
    }
}

struct bz_py_node *bz_py_stmt_module(struct bz_py_parser *p)
{
    struct bz_py_node *n = new_node(p);

    while (!bz_py_parse_at(p, BZ_PY_TOK_END))
        if (!statement(p, n))
            return NULL;
    return n;
}
