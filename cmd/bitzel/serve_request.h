/* serve_request.h - a request to `bitzel serve` as the line of a command, and back.
 *
 *     {"project": "/home/me/build", "targets": ["busybox"],
 *      "options": {"continue": true, "jobs": "4"}, "env": {"PATH": "/usr/bin"}}
 *
 * Options are those of the command, by their long names: the same rows that read a
 * line read these. A flag is true or false, a list a list of texts. Members and options
 * that are not known are errors, as are those that only make sense on a terminal.
 *
 * The environment is that of the request, all of it; without one it is what
 * bz_serve_request_base() leaves of the server's.
 */
#ifndef BZ_CMD_SERVE_REQUEST_H
#define BZ_CMD_SERVE_REQUEST_H

#include "base/arena.h"
#include "codec/doc.h"
#include "codec/jsonw.h"
#include "opt.h"

#define BZ_SERVE_REQUEST_TARGETS 4096
#define BZ_SERVE_REQUEST_TEXT 65536            /* bytes of a target or an option */
#define BZ_SERVE_REQUEST_VARS 4096             /* of the environment */
#define BZ_SERVE_REQUEST_ENV ((size_t)1 << 20) /* bytes of all of them */

/* What a request may say. */
struct bz_serve_form {
    const char *const *words;   /* of the command, up to a NULL */
    const char *const *fixed;   /* options it always has, up to a NULL */
    const char *const *refused; /* names of options that it has not, up to a NULL */
    const struct bz_opt *own, *global;
    const char *const *globals; /* names of the global ones it has, up to a NULL */
    const char *operands;       /* "targets", a list, or "variable", a text; or NULL */
    bool several;               /* it is a list */
    bool needed;
};

struct bz_serve_request {
    const char *project;        /* a directory, absolute */
    const char *named;          /* what its option "project" says, or NULL */
    const char *const *argv;    /* without the program's name, up to a NULL */
    const char *const *globals; /* those of its options that say which project it is,
                                   and how to read it; up to a NULL */
    const char *const *env;     /* up to a NULL */
    const char *const *operands;
    size_t noperands;
};

/* All of it is in the arena. BZ_E_INVAL or BZ_E_LIMIT say what is wrong. `base` is the
 * environment if the request has none. */
int bz_serve_request_read(struct bz_arena *a, const struct bz_doc *args,
                          const struct bz_serve_form *form, const char *const *base,
                          struct bz_serve_request *out,
                          struct bz_err *err) BZ_MUST_CHECK;

/* The variables of an environment that say who and where the user is. */
const char *const *bz_serve_request_base(struct bz_arena *a, const char *const *env);

/* The other way: members for the options of `rows` that are not what they are unless
 * given. */
void bz_serve_request_options(struct bz_jsonw *w, const struct bz_opt *rows,
                              const void *values, const char *const *left_out);

#endif
