/* mention.h - what a call that stands in Python code refers to.
 *
 * These are BitBake's rules (its PythonParser): only names written as literals count,
 * and only in calls whose names it knows. They decide signatures, so they are kept to
 * the letter, and they are here only: whoever parses Python describes its calls by
 * these structs.
 */
#ifndef BZ_VARS_MENTION_H
#define BZ_VARS_MENTION_H

#include "base/err.h"
#include "vars/refs.h"

enum bz_mention_type {
    BZ_MENTION_ABSENT, /* there is no such argument */
    BZ_MENTION_CODE,   /* not a constant */
    BZ_MENTION_STR,    /* text: its value */
    BZ_MENTION_SECRET, /* a string whose value is not known */
    BZ_MENTION_BYTES,
    BZ_MENTION_NONE,
    BZ_MENTION_BOOL, /* text: as str() shows it */
    BZ_MENTION_INT,  /* text: as str() shows it */
    BZ_MENTION_FLOAT,
    BZ_MENTION_COMPLEX,
    BZ_MENTION_ELLIPSIS,
};

struct bz_mention_arg {
    enum bz_mention_type type;
    struct bz_str text; /* p == NULL: not known */
};

struct bz_mention {
    struct bz_str name;            /* what is called, with its dots */
    struct bz_str owner;           /* whose code it is; may be {0} */
    struct bz_mention_arg args[2]; /* the first two without a name */
};

/* What came of it beside the references. */
struct bz_mention_result {
    bool runs;   /* the first argument is the name of a function that is run */
    bool misses; /* a name is no literal: what the call reads is not known, */
    uint8_t arg; /* because of this argument */
};

/* Adds what the call refers to. BZ_E_INVAL: BitBake fails over it; the message begins
 * with the name of the exception. BZ_E_NOSUP: it takes more than is known here. */
int bz_mention_call(const struct bz_mention *call, struct bz_refs *refs,
                    struct bz_mention_result *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
