/* expr_parse.h - the text of an expression as a tree.
 *
 * The tree lies in the scratch memory of its evaluation and points into the text. Its
 * depth is bounded, so those who walk it may recurse.
 */
#ifndef BZ_VARS_EXPR_PARSE_H
#define BZ_VARS_EXPR_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "vars/expr_lex.h"
#include "vars/expr_scratch.h"

#define BZ_EXPR_PARSE_DEPTH 200              /* of a tree */
#define BZ_EXPR_PARSE_SIZE ((size_t)1 << 18) /* bytes of text */

/* What a node's members mean; those not named are not set. "list" is a chain of nodes
 * by `next`. */
enum bz_expr_node_kind {
    BZ_EXPR_NODE_NONE,
    BZ_EXPR_NODE_TRUE,
    BZ_EXPR_NODE_FALSE,
    BZ_EXPR_NODE_INT,     /* i */
    BZ_EXPR_NODE_FLOAT,   /* f */
    BZ_EXPR_NODE_STR,     /* text: its value */
    BZ_EXPR_NODE_NAME,    /* text */
    BZ_EXPR_NODE_ATTR,    /* a.text */
    BZ_EXPR_NODE_CALL,    /* a(list b, list of KEYWORD c); n: how many are in b */
    BZ_EXPR_NODE_KEYWORD, /* text=a */
    BZ_EXPR_NODE_INDEX,   /* a[b] */
    BZ_EXPR_NODE_SLICE,   /* a:b:c as the b of INDEX; each may be NULL */
    BZ_EXPR_NODE_LIST,    /* list a; n: how many */
    BZ_EXPR_NODE_TUPLE,   /* list a; n */
    BZ_EXPR_NODE_SET,     /* list a; n */
    BZ_EXPR_NODE_DICT,    /* list of PAIR a; n */
    BZ_EXPR_NODE_PAIR,    /* a: b */
    BZ_EXPR_NODE_NOT,     /* not a */
    BZ_EXPR_NODE_UNARY,   /* op a */
    BZ_EXPR_NODE_BINARY,  /* a op b */
    BZ_EXPR_NODE_LOGIC,   /* a op b, op being OR or AND */
    BZ_EXPR_NODE_COMPARE, /* a, then list of REST b */
    BZ_EXPR_NODE_REST,    /* op a, of a comparison */
    BZ_EXPR_NODE_CHOICE,  /* a if b else c */
    BZ_EXPR_NODE_LAMBDA,  /* lambda list of NAME a: b; n: how many names */
    /* Comprehensions: a (or the PAIR a), then the list of FOR and IF c. */
    BZ_EXPR_NODE_LIST_FOR,
    BZ_EXPR_NODE_SET_FOR,
    BZ_EXPR_NODE_DICT_FOR,
    BZ_EXPR_NODE_GENERATOR,
    BZ_EXPR_NODE_FOR, /* for a in b; a is a NAME or a TUPLE of targets */
    BZ_EXPR_NODE_IF,  /* if a */
};

struct bz_expr_node {
    uint8_t kind;   /* enum bz_expr_node_kind */
    uint8_t op;     /* enum bz_expr_tok */
    uint16_t depth; /* of the tree below, this node included */
    uint32_t n;
    struct bz_expr_node *next; /* in the list it is a part of */
    struct bz_expr_node *a, *b, *c;
    union {
        struct bz_str text;
        int64_t i;
        double f;
    };
};

/* Parses all of `code`. BZ_E_NOSUP if it is not an expression of the kinds above,
 * BZ_E_INVAL ("SyntaxError: ...") if Python is certain to refuse it, BZ_E_LIMIT if it
 * is too long or too deep. */
int bz_expr_parse(struct bz_str code, struct bz_expr_scratch *mem,
                  struct bz_expr_node **out, struct bz_err *err) BZ_MUST_CHECK;

/* The rest is for expr_bracket.c, which is a part of the parser. */
struct bz_expr_parser {
    struct bz_expr_lex lex;
    struct bz_err *err;
    unsigned nested; /* calls that may call themselves under way */
};

/* A chain under construction. */
struct bz_expr_chain {
    struct bz_expr_node *first, *last;
    unsigned depth; /* of the deepest node in it */
    uint32_t n;
    bool comma; /* there was one between or after them */
    bool comp;  /* the one in it is the element of a comprehension */
};

/* Reads a token; reads one that has to be there; fails over the one at hand. */
int bz_expr_parse_next(struct bz_expr_parser *p);
int bz_expr_parse_expect(struct bz_expr_parser *p, enum bz_expr_tok tok);
int bz_expr_parse_unexpected(struct bz_expr_parser *p);

/* Counts up `nested`, to a limit; who has called it counts down again. */
int bz_expr_parse_enter(struct bz_expr_parser *p);

int bz_expr_parse_expression(struct bz_expr_parser *p, struct bz_expr_node **out);
/* An expression without `if` and `lambda` outside of brackets. */
int bz_expr_parse_disjunction(struct bz_expr_parser *p, struct bz_expr_node **out);

struct bz_expr_node *bz_expr_parse_new(struct bz_expr_parser *p,
                                       enum bz_expr_node_kind kind);
void bz_expr_parse_add(struct bz_expr_chain *c, struct bz_expr_node *node);
/* Nodes above others: of a chain, of up to three nodes, of any whose depth is known. */
int bz_expr_parse_bundle(struct bz_expr_parser *p, enum bz_expr_node_kind kind,
                         const struct bz_expr_chain *c, struct bz_expr_node **out);
int bz_expr_parse_join(struct bz_expr_parser *p, enum bz_expr_node_kind kind,
                       struct bz_expr_node *a, struct bz_expr_node *b,
                       struct bz_expr_node *c, struct bz_expr_node **out);
int bz_expr_parse_above(struct bz_expr_parser *p, struct bz_expr_node *node,
                        unsigned depth);
unsigned bz_expr_parse_deeper(unsigned a, unsigned b);

#endif
