/* log_follow.h - shows the log of a task as it grows, until the task ends. */
#ifndef BZ_CMD_LOG_FOLLOW_H
#define BZ_CMD_LOG_FOLLOW_H

#include "out.h"

struct bz_log_follow {
    const char *log;    /* what is shown */
    const char *events; /* of the build: tells of the end */
    struct bz_str task;
    struct bz_out *out;
};

/* Some of a log; what would do something to a terminal does not. */
void bz_log_follow_show(struct bz_out *out, const char *p, size_t n);

/* Returns when such a task has started, or the build or its process has ended. */
int bz_log_follow_await(const char *events, struct bz_str asked,
                        struct bz_err *err) BZ_MUST_CHECK;

/* Copies what is in the log now, from `*from` on, which moves. */
int bz_log_follow_copy(struct bz_out *out, const char *path, int64_t *from,
                       struct bz_err *err) BZ_MUST_CHECK;

/* Returns when the task, the build or its process has ended. */
int bz_log_follow_run(const struct bz_log_follow *f, struct bz_err *err) BZ_MUST_CHECK;

#endif
