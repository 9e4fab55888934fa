/* query.h - a question about a graph, as it was understood.
 *
 * A question is an expression over sets of nodes: names and patterns, functions, and
 * set operators, which all bind alike and to the left.
 *
 *     deps(busybox:do_build) - deps(glibc:do_build)
 *     let x = rdeps(*:*, zlib:do_compile) in kind(task do_install, $x)
 *
 * Trees lie in the arena they were parsed into and do not change.
 */
#ifndef BZ_QUERY_QUERY_H
#define BZ_QUERY_QUERY_H

#include <stdint.h>

#include "base/str.h"

enum bz_query_kind {
    BZ_QUERY_NAME,  /* text: a name or a pattern */
    BZ_QUERY_SET,   /* args: names */
    BZ_QUERY_REF,   /* text: what `let` gave a value, without the $ */
    BZ_QUERY_LET,   /* text: the name; args: its value, and where it holds */
    BZ_QUERY_CHAIN, /* args[0] ops[1] args[1] ops[2] args[2] ...; ops[0] is '+' */
    BZ_QUERY_CALL,  /* function; args, words and depth as it takes them */
};

enum bz_query_function {
    BZ_QUERY_DEPS,
    BZ_QUERY_RDEPS,
    BZ_QUERY_SOMEPATH,
    BZ_QUERY_ALLPATHS,
    BZ_QUERY_KIND_OF,
    BZ_QUERY_FILTER,
    BZ_QUERY_ATTR,
    BZ_QUERY_INPUTS,
    BZ_QUERY_OUTPUTS,
};

struct bz_query {
    enum bz_query_kind kind;
    enum bz_query_function function;
    uint32_t column;         /* where it begins, from 1 */
    struct bz_str text;      /* see above */
    struct bz_str words[2];  /* of a call: what is no set; p == NULL: not given */
    uint32_t word_column[2]; /* where these begin */
    uint32_t depth;          /* of a call: how far to go; UINT32_MAX: all the way */
    const char *ops;         /* of a chain: '+', '^', '-' */
    const struct bz_query **args;
    size_t nargs;
};

#endif
