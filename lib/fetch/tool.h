/* tool.h - programs that fetch for us: git, apt-get, npm, patch.
 *
 * They get a small environment: PATH, HOME, proxies, agents for keys, and what is
 * given; LC_ALL is C, standard input is empty. A token stops them. What they say in a
 * message has no passwords in it.
 */
#ifndef BZ_FETCH_TOOL_H
#define BZ_FETCH_TOOL_H

#include <sys/types.h>

#include "base/buf.h"
#include "pool/cancel.h"

#define BZ_TOOL_ARGS 48
#define BZ_TOOL_ENV 64

struct bz_tool {
    const char *argv[BZ_TOOL_ARGS + 1];
    size_t argc;
    const char *env[8]; /* NAME=value, up to a NULL; besides the usual */
    const char *cwd;    /* NULL: ours */
    struct bz_cancel *cancel;
    int64_t patience; /* ns; 0: an hour */
    bool merge;       /* stderr goes to `out` as well */
    mode_t umask;     /* as in struct bz_archive_opts; 0: ours */
};

void bz_tool_add(struct bz_tool *t, const char *arg);

/* Runs it to its end. *status is its exit status. `out`, which may be NULL, gets what
 * it wrote to standard output, at most a MiB of it. Fails if it cannot be run, is ended
 * by a signal or takes too long. */
int bz_tool_try(const struct bz_tool *t, struct bz_buf *out, int *status,
                struct bz_buf *said, struct bz_err *err) BZ_MUST_CHECK;

/* The same, and a status other than 0 is BZ_E_IO with the last lines it said. */
int bz_tool_run(const struct bz_tool *t, struct bz_buf *out,
                struct bz_err *err) BZ_MUST_CHECK;

#endif
