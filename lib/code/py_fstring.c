#include "code/py_fstring.h"

#include "base/buf.h"

#include "code/py_expr.h"
#include "code/py_text.h"

/* What the strings are so far. */
struct joined {
    struct bz_str first; /* the only part, */
    struct bz_buf more;  /* or all of them */
    unsigned parts;
    bool bytes, format, known;
    struct bz_py_node *fields; /* a node that has them, if format */
};

static bool value_of(struct bz_py_parser *p, struct bz_py_quote q, struct bz_str body,
                     struct bz_str *out, bool *known)
{
    if (bz_py_text_value(q, body, p->arena, out, known, p->err) == 0)
        return true;
    bz_py_lex_refuse(&p->lex, body.p, p->err->msg, p->err);
    return false;
}

static bool pieces(struct bz_py_parser *p, struct bz_py_quote q, bool format,
                   struct bz_py_node *to);

/* !r, !s or !a behind the expression of a field. */
static bool conversion(struct bz_py_parser *p)
{
    struct bz_str name;

    if (!bz_py_parse_at(p, BZ_PY_TOK_BANG))
        return true;
    if (!bz_py_parse_next(p))
        return false;
    name = p->lex.text;
    if (!bz_py_parse_at(p, BZ_PY_TOK_NAME) || name.n != 1 || !strchr("rsa", *name.p)) {
        bz_py_parse_refuse(p, "f-string: expected '!r', '!s' or '!a'");
        return false;
    }
    return bz_py_parse_next(p);
}

/* The format behind the ':' of a field, which may have fields; then the '}'. */
static bool format_of(struct bz_py_parser *p, struct bz_py_quote q,
                      struct bz_py_node *field)
{
    struct bz_py_node *format = bz_py_parse_node(p, BZ_PY_NODE_OTHER);

    if (!pieces(p, q, true, format))
        return false;
    if (p->lex.at == p->lex.end || *p->lex.at != '}') {
        bz_py_parse_refuse(p, "f-string: expecting '}'");
        return false;
    }
    bz_py_lex_close_field(&p->lex);
    bz_py_node_add(field, format);
    return true;
}

/* A field, at its '{'; afterwards the lexer is behind its '}'. */
static bool field(struct bz_py_parser *p, struct bz_py_quote q, struct bz_py_node *to)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER), *value;
    uint16_t outer;
    bool fine;

    if (bz_py_lex_enter_field(&p->lex, &outer, p->err) < 0 || !bz_py_parse_next(p) ||
        !bz_py_parse_enter(p))
        return false;
    value = bz_py_expr_yield_or_list(p);
    if (!value)
        return false;
    bz_py_node_add(n, value);
    bz_py_node_add(to, n);
    if (bz_py_parse_at(p, BZ_PY_TOK_ASSIGN) && !bz_py_parse_next(p))
        return false;
    if (!conversion(p))
        return false;
    bz_py_lex_leave_field(&p->lex, outer);
    if (bz_py_parse_at(p, BZ_PY_TOK_COLON))
        fine = format_of(p, q, n);
    else if (!(fine = bz_py_parse_at(p, BZ_PY_TOK_CLOSE_DICT)))
        bz_py_parse_unexpected(p);
    p->depth--;
    return fine;
}

/* Text and fields up to the closing quotes or, of a format, the '}'. */
static bool pieces(struct bz_py_parser *p, struct bz_py_quote q, bool format,
                   struct bz_py_node *to)
{
    for (;;) {
        struct bz_str piece, ignored;
        bool known;

        if (bz_py_lex_piece(&p->lex, q, format, &piece, p->err) < 0 ||
            !value_of(p, q, piece, &ignored, &known))
            return false;
        if (*p->lex.at != '{')
            return true;
        if (!field(p, q, to))
            return false;
    }
}

/* An f-string, behind its first quotes. */
static bool formatted(struct bz_py_parser *p, struct joined *j)
{
    struct bz_py_quote q = p->lex.quote;

    if (!j->fields)
        j->fields = bz_py_parse_node(p, BZ_PY_NODE_OTHER);
    j->format = true;
    if (!pieces(p, q, false, j->fields))
        return false;
    p->lex.at += q.triple ? 3 : 1;
    p->lex.tok = BZ_PY_TOK_STRING; /* as a whole it has been one */
    return true;
}

static bool add_part(struct bz_py_parser *p, struct joined *j)
{
    struct bz_py_quote q = p->lex.quote;
    struct bz_str value = {0};
    bool known = true;

    if (j->parts > 0 && j->bytes != q.bytes) {
        bz_py_parse_refuse(p, "cannot mix bytes and nonbytes literals");
        return false;
    }
    j->bytes = q.bytes;
    if (bz_py_parse_at(p, BZ_PY_TOK_FSTRING)) {
        if (!formatted(p, j))
            return false;
    } else if (!value_of(p, q, p->lex.text, &value, &known)) {
        return false;
    }
    j->known &= known;
    if (j->parts == 1)
        bz_buf_add_str(&j->more, j->first);
    if (j->parts > 0)
        bz_buf_add_str(&j->more, value);
    else
        j->first = value;
    j->parts++;
    return bz_py_parse_next(p);
}

static struct bz_py_node *result(struct bz_py_parser *p, const struct joined *j)
{
    struct bz_py_node *n;

    if (j->format)
        return j->fields;
    n = bz_py_parse_node(p, j->bytes   ? BZ_PY_NODE_BYTES
                            : j->known ? BZ_PY_NODE_STR
                                       : BZ_PY_NODE_SECRET);
    n->text = j->parts > 1 ? bz_arena_dup(p->arena, bz_buf_str(&j->more)) : j->first;
    return n;
}

struct bz_py_node *bz_py_fstring_join(struct bz_py_parser *p)
{
    struct joined j = {.known = true};
    struct bz_py_node *n = NULL;
    bool fine = true;

    while (fine && (bz_py_parse_at(p, BZ_PY_TOK_STRING) ||
                    bz_py_parse_at(p, BZ_PY_TOK_FSTRING)))
        fine = add_part(p, &j);
    if (fine)
        n = result(p, &j);
    bz_buf_release(&j.more);
    return n;
}
