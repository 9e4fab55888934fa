/* jobserver.h - tokens that the makes of all tasks share, so that together they run no
 * more commands at a time than there are.
 *
 * GNU make's protocol: a named pipe holds a byte for each command that may run besides
 * the one that every make may run anyway. A task that runs holds one token for that
 * one, so a task starts only if it gets a token: it competes for it with the makes that
 * run.
 *
 * Tokens of a task that was killed are lost, and nobody can tell how many a task has.
 * They are counted anew whenever no task uses them.
 *
 * One thread.
 */
#ifndef BZ_EXEC_JOBSERVER_H
#define BZ_EXEC_JOBSERVER_H

#include "base/buf.h"
#include "base/err.h"

/* How a make is told: make 4.4 takes the path of the pipe, those before only numbers of
 * descriptors, which they must inherit. */
enum bz_jobserver_style {
    BZ_JOBSERVER_UNKNOWN,
    BZ_JOBSERVER_PATH,
    BZ_JOBSERVER_FDS,
};

struct bz_jobserver {
    char *path; /* of the pipe; NULL: not open */
    int fd;
    int gate;       /* readable when there is a token, if one is waited for */
    unsigned total; /* tokens there are */
    unsigned held;  /* by tasks that run, for one command each */
    unsigned users; /* tasks that may hold more */
    bool armed;     /* the gate */
    enum bz_jobserver_style style;
};

/* Makes the pipe. Tokens may have been taken before. Close it in any case. */
int bz_jobserver_open(struct bz_jobserver *j, const char *path, unsigned total,
                      struct bz_err *err) BZ_MUST_CHECK;
void bz_jobserver_close(struct bz_jobserver *j); /* also if it was never open */

/* A token for a task that is to run. If there is none, false, and then the gate is
 * readable when there is one. As long as it is not open there always is. */
bool bz_jobserver_take(struct bz_jobserver *j);
/* Nobody waits for one any more. */
void bz_jobserver_rest(struct bz_jobserver *j);
/* The task has ended, or did not run. */
void bz_jobserver_give(struct bz_jobserver *j);

/* How many tokens are taken now. */
unsigned bz_jobserver_used(const struct bz_jobserver *j);

/* A task that runs uses it from now on, or does no longer. */
void bz_jobserver_join(struct bz_jobserver *j);
void bz_jobserver_leave(struct bz_jobserver *j);

/* What MAKEFLAGS has to be for a make that sees the pipe at `path`, or has it open as
 * BZ_JOBSERVER_READ and BZ_JOBSERVER_WRITE. Asks the host's make for its version once.
 */
#define BZ_JOBSERVER_READ 8
#define BZ_JOBSERVER_WRITE 9
void bz_jobserver_flags(struct bz_jobserver *j, const char *path, struct bz_buf *out);

/* By what `make --version` says. */
enum bz_jobserver_style bz_jobserver_style_of(struct bz_str version);

#endif
