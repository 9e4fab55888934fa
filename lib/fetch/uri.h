/* uri.h - one entry of SRC_URI, taken apart as BitBake does.
 *
 * scheme://[user[:password]@][host[:port]]/path[?query][;name=value...]. What follows
 * the first ';' are parameters, wherever it stands. The scheme and the host are in
 * lower case, the path is decoded (%20), "/" if there is none. file:// has no host, so
 * file://a/b is the relative path a/b.
 *
 * Entries are foreign: bounded, no control characters. Everything lives in the arena.
 * Pure; any thread.
 */
#ifndef BZ_FETCH_URI_H
#define BZ_FETCH_URI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

#define BZ_URI_MAX 8192
#define BZ_URI_PARAMS 64

struct bz_uri_param {
    struct bz_str name, value; /* of several with a name the last one counts */
};

struct bz_uri {
    struct bz_str text;  /* all of it */
    struct bz_str place; /* without the parameters */
    struct bz_str scheme, user, password, host, path;
    struct bz_uri_param *params;
    size_t nparams;
};

/* BZ_E_INVAL, or BZ_E_LIMIT; the message shows no password. */
int bz_uri_parse(struct bz_arena *arena, struct bz_str text, struct bz_uri *out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* The value of a parameter; p is NULL if there is none. */
struct bz_str bz_uri_param(const struct bz_uri *u, const char *name);

/* Whether a parameter says yes (1 y yes true), in any case; `otherwise` if it is not
 * there. BZ_E_INVAL for what is neither yes nor no. */
int bz_uri_flag(const struct bz_uri *u, const char *name, bool otherwise, bool *out,
                struct bz_err *err) BZ_MUST_CHECK;

/* The last part of the path. */
struct bz_str bz_uri_basename(const struct bz_uri *u);

/* Appends a path with everything quoted that does not stand for itself in an address.
 */
void bz_uri_quote(struct bz_str path, struct bz_buf *out);

/* For showing: without password, and without parameters that might be one. */
struct bz_str bz_uri_shown(struct bz_arena *arena, const struct bz_uri *u);

/* Appends any text with the users and passwords in the addresses it contains replaced:
 * what programs print. */
void bz_uri_redact(struct bz_str text, struct bz_buf *out);

#endif
