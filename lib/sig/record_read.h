/* record_read.h - reads what record.c writes, perhaps on another host, perhaps damaged.
 *
 * Trusts nothing: sizes and counts are bounded, tasks must be as many as the first line
 * says, in order and different from each other. What it does not know in a line it
 * skips.
 */
#ifndef BZ_SIG_RECORD_READ_H
#define BZ_SIG_RECORD_READ_H

#include "sig/record.h"

#define BZ_RECORD_READ_MAX ((size_t)1 << 30) /* bytes of a file */

/* All of a file's text into an empty record; `name` is for messages: "NAME:3: ...".
 * BZ_E_INVAL if it is no such file, BZ_E_LIMIT if a line is too long. */
int bz_record_read(struct bz_record *r, struct bz_str text, const char *name,
                   struct bz_err *err) BZ_MUST_CHECK;

/* The same from disk. BZ_E_NOENT if there is no such file. */
int bz_record_read_file(struct bz_record *r, const char *path,
                        struct bz_err *err) BZ_MUST_CHECK;

#endif
