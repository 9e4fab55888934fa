/* logtail.h - the last lines of a log, as somebody at a terminal would have seen them.
 *
 * However large the log is, only its end is read.
 */
#ifndef BZ_REPORT_LOGTAIL_H
#define BZ_REPORT_LOGTAIL_H

#include "base/buf.h"

/* Adds them, each with '\n' at its end; nothing if there is no such log. */
void bz_logtail_add(const char *path, unsigned lines, struct bz_buf *out);

/* Adds a line without what drives a terminal: colours, and what a later part of it was
 * written over. Control characters that are left are the caller's to replace. */
void bz_logtail_clean(struct bz_str line, struct bz_buf *out);

#endif
