/* py_parse.h - the text of a Python module as a tree.
 *
 * A recursive parser of the grammar of CPython 3.11, which accepts f-strings as later
 * versions do. What only the compiler objects to (a return outside of a function, a
 * name that is global and a parameter) is accepted, as ast.parse() does. Depth is
 * bounded by that of brackets and indentation, which CPython bounds too, and time is
 * linear in the length of the text.
 */
#ifndef BZ_CODE_PY_PARSE_H
#define BZ_CODE_PY_PARSE_H

#include "code/py_lex.h"
#include "code/py_node.h"

#define BZ_PY_PARSE_SIZE ((size_t)4 << 20) /* bytes of text */

enum bz_py_form {
    BZ_PY_FORM_MODULE,     /* statements: compile(..., "exec") */
    BZ_PY_FORM_EXPRESSION, /* one expression: compile(..., "eval") */
};

/* Parses all of `code`, which has '\n' only as line ends, into a tree that lies in the
 * arena and points into the code. BZ_E_INVAL, "[FILE:LINE: ]SyntaxError: ...": Python
 * refuses it. BZ_E_LIMIT: it is too long or too deep. */
int bz_py_parse(struct bz_str code, enum bz_py_form form, struct bz_py_origin origin,
                struct bz_arena *arena, struct bz_py_node **out,
                struct bz_err *err) BZ_MUST_CHECK;

/* The rest is for the parts of the parser: py_expr.c, py_args.c, py_fstring.c,
 * py_stmt.c and py_pattern.c. Their functions return NULL or false after a failure,
 * which `err` describes. */
struct bz_py_parser {
    struct bz_py_lex lex;
    struct bz_arena *arena;
    struct bz_err *err;
    unsigned depth; /* of calls that may call themselves */
};

/* Reads the next token; takes one that has to be there. */
bool bz_py_parse_next(struct bz_py_parser *p) BZ_MUST_CHECK;
bool bz_py_parse_expect(struct bz_py_parser *p, enum bz_py_tok tok) BZ_MUST_CHECK;

/* Fails over the token at hand, or in these words. */
void *bz_py_parse_unexpected(struct bz_py_parser *p);
void *bz_py_parse_refuse(struct bz_py_parser *p, const char *what);

/* Counts the depth up, to a limit; who has called it counts down again. */
bool bz_py_parse_enter(struct bz_py_parser *p) BZ_MUST_CHECK;

static inline bool bz_py_parse_at(const struct bz_py_parser *p, enum bz_py_tok tok)
{
    return p->lex.tok == tok;
}

static inline struct bz_py_node *bz_py_parse_node(struct bz_py_parser *p,
                                                  enum bz_py_node_kind kind)
{
    return bz_py_node_new(p->arena, kind);
}

#endif
