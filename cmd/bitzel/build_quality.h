/* build_quality.h - the failures of a build as a Code Quality report, which GitLab
 * shows beside the lines that a merge request changes.
 *
 * A list in JSON, with one object for each task that failed: its `description`, a
 * `check_name`, a `severity`, the `location` in the repository, and a `fingerprint` by
 * which the same failure is known again. The list of a build without any is empty.
 */
#ifndef BZ_CMD_BUILD_QUALITY_H
#define BZ_CMD_BUILD_QUALITY_H

#include "build/build.h"
#include "codec/jsonw.h"
#include "exec/event.h"
#include "report/firsterror.h"

struct bz_build_quality {
    const char *file; /* to be set before; NULL: none is wanted */
    /* From here on this file's own. */
    struct bz_buf text;
    struct bz_jsonw w;
};

/* The path of a file as the repository has it whose CI this is (GITHUB_WORKSPACE,
 * CI_PROJECT_DIR), if it belongs to a layer there; else as it is. */
void bz_build_quality_path(const struct bz_build *b, struct bz_str file,
                           struct bz_buf *out);

/* A task that failed. */
void bz_build_quality_add(struct bz_build_quality *q, const struct bz_build *b,
                          const struct bz_event *e, const struct bz_firsterror *first,
                          const char *how);

/* Writes the file, and releases what was collected. */
int bz_build_quality_write(struct bz_build_quality *q,
                           struct bz_err *err) BZ_MUST_CHECK;

#endif
