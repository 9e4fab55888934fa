/* build_failure.h - what `build` tells of a task that failed: how it ended, the line of
 * its log that tells why, the last lines, and where to look next.
 *
 * In the CI of GitHub and GitLab the lines of the log can be folded, and GitHub shows
 * the error beside the file that it is about.
 */
#ifndef BZ_CMD_BUILD_FAILURE_H
#define BZ_CMD_BUILD_FAILURE_H

#include "build/build.h"
#include "build_quality.h"
#include "exec/event.h"
#include "out.h"

enum bz_build_failure_ci {
    BZ_BUILD_FAILURE_NO_CI,
    BZ_BUILD_FAILURE_GITHUB,
    BZ_BUILD_FAILURE_GITLAB,
};

struct bz_build_failure {
    const char *store; /* to be set before: whose file system tasks write to */
    bool bare;         /* likewise: tasks have no sandboxes to look into */
    struct bz_build_quality quality; /* likewise, and to be written afterwards */
    /* From here on this file's own. */
    enum bz_build_failure_ci ci;
    struct bz_buf again;
};

/* Before tasks run. */
void bz_build_failure_open(struct bz_build_failure *f);
void bz_build_failure_release(struct bz_build_failure *f);

/* Tells of a task after its name has been told. */
void bz_build_failure_say(struct bz_build_failure *f, struct bz_out *log,
                          const struct bz_build *b, const struct bz_event *e);

/* All that failed, a line for each, if there are several. */
void bz_build_failure_repeat(const struct bz_build_failure *f, struct bz_out *log);

#endif
