/* serve_child.h - a command of `bitzel serve`, in a process of its own.
 *
 * The process is this program once more, with the directory and the environment of the
 * request: it may crash as it likes, and nothing of one request is seen by another.
 */
#ifndef BZ_CMD_SERVE_CHILD_H
#define BZ_CMD_SERVE_CHILD_H

#include <sys/types.h>

#include "base/buf.h"
#include "jobs/call.h"
#include "serve_request.h"

#define BZ_SERVE_CHILD_OUT ((size_t)256 << 20) /* bytes of its results */
#define BZ_SERVE_CHILD_LINE ((size_t)4 << 20)  /* bytes of a line */

struct bz_serve_child {
    /* To be set before: */
    struct bz_call *call; /* when it is canceled the child is interrupted */
    int wake;             /* readable once for each further interruption; or -1 */
    /* A whole line of standard error, or of standard output if `out`. False: it is to
     * be kept in `kept`, with all lines of its kind that are not taken. Or NULL. */
    bool (*line)(void *ctx, bool out, struct bz_str line);
    void (*started)(void *ctx, pid_t pid); /* or NULL */
    void *ctx;
    /* What comes of it; release it. */
    struct bz_buf kept;   /* standard output */
    struct bz_buf errors; /* standard error, the last part of it */
    int exit_code;        /* as a shell has it: 128 + signal */
    /* From here on this file's own. */
    struct bz_buf out_line, err_line;
    int signals;   /* that were sent */
    int64_t next;  /* when to send another by ourselves */
    bool stopping; /* the call is canceled */
    bool too_much;
};

/* Runs it to its end. BZ_E_LIMIT if it says too much. */
int bz_serve_child_run(struct bz_serve_child *c, const struct bz_serve_request *r,
                       struct bz_err *err) BZ_MUST_CHECK;
void bz_serve_child_release(struct bz_serve_child *c);

#endif
