#include "code/py_parse.h"

#include <stdio.h>

#include "code/py_expr.h"
#include "code/py_stmt.h"

enum { DEPTH = 1200 };

bool bz_py_parse_next(struct bz_py_parser *p)
{
    return bz_py_lex_next(&p->lex, p->err) == 0;
}

bool bz_py_parse_expect(struct bz_py_parser *p, enum bz_py_tok tok)
{
    if (p->lex.tok == tok)
        return bz_py_parse_next(p);
    bz_py_parse_unexpected(p);
    return false;
}

void *bz_py_parse_refuse(struct bz_py_parser *p, const char *what)
{
    bz_py_lex_refuse(&p->lex, p->lex.at, what, p->err);
    return NULL;
}

void *bz_py_parse_unexpected(struct bz_py_parser *p)
{
    struct bz_str text = p->lex.text;
    char what[64];

    switch (p->lex.tok) {
    case BZ_PY_TOK_END:
        return bz_py_parse_refuse(p, "the text ends too early");
    case BZ_PY_TOK_NEWLINE:
        p->lex.at = p->lex.before; /* it is this line that is wrong */
        return bz_py_parse_refuse(p, "the line ends too early");
    case BZ_PY_TOK_INDENT:
    case BZ_PY_TOK_DEDENT:
        return bz_py_parse_refuse(p, "unexpected indentation");
    default:
        break;
    }
    snprintf(what, sizeof(what), "'%.*s' is not expected here",
             text.n < 32 ? (int)text.n : 32, text.p);
    return bz_py_parse_refuse(p, what);
}

bool bz_py_parse_enter(struct bz_py_parser *p)
{
    if (++p->depth <= DEPTH)
        return true;
    bz_fail(p->err, BZ_E_LIMIT, "Python code nests too deep (line %u)",
            bz_py_lex_line(&p->lex, p->lex.at));
    return false;
}

int bz_py_parse(struct bz_str code, enum bz_py_form form, struct bz_py_origin origin,
                struct bz_arena *arena, struct bz_py_node **out, struct bz_err *err)
{
    struct bz_py_parser p = {.arena = arena, .err = err};

    if (code.n > BZ_PY_PARSE_SIZE)
        return bz_fail(err, BZ_E_LIMIT, "%zu bytes of Python are too long, %zu may be",
                       code.n, BZ_PY_PARSE_SIZE);
    bz_py_lex_init(&p.lex, code, origin);
    if (code.n > 0 && memchr(code.p, '\0', code.n)) {
        bz_py_lex_refuse(&p.lex, p.lex.at, "source code cannot contain null bytes",
                         err);
        return BZ_E_INVAL;
    }
    if (!bz_py_parse_next(&p))
        return err->code;
    *out = form == BZ_PY_FORM_MODULE ? bz_py_stmt_module(&p) : bz_py_expr_alone(&p);
    return *out ? 0 : err->code;
}
