/* buildconf.h - the conf/ of a build directory, made from a project.
 *
 * local.conf and bblayers.conf get the bytes that kas writes for the same project.
 */
#ifndef BZ_PROJECT_BUILDCONF_H
#define BZ_PROJECT_BUILDCONF_H

#include "base/buf.h"
#include "os/path.h"
#include "project/kas.h"

/* Append the text of the two files. */
void bz_buildconf_local(const struct bz_kas *kas, struct bz_buf *out);
int bz_buildconf_bblayers(const struct bz_kas *kas, struct bz_buf *out,
                          struct bz_err *err) BZ_MUST_CHECK;

/* Writes both below the project's build directory, which is made. A file that has the
 * right bytes is left alone, so that its time of change stays. */
int bz_buildconf_write(const struct bz_kas *kas, struct bz_err *err) BZ_MUST_CHECK;

#endif
