/* kas_schema.h - what one project file may say.
 *
 * A table of the keys of kas files and the types of their values, up to format version
 * BZ_KAS_SCHEMA_VERSION. What has passed the check needs no second look at types: map
 * stays map and string stays string when files are merged.
 *
 * A value of another type than the format gives it is an error that names the place,
 * the key and what was expected. A key that the format does not have is only warned
 * about, with the known key that it resembles.
 */
#ifndef BZ_PROJECT_KAS_SCHEMA_H
#define BZ_PROJECT_KAS_SCHEMA_H

#include "codec/doc.h"
#include "project/kas_place.h"

enum { BZ_KAS_SCHEMA_VERSION = 23 };

/* `file` is for messages. BZ_E_INVAL for a file that is not as the format says,
 * BZ_E_NOSUP if its version is above BZ_KAS_SCHEMA_VERSION. */
int bz_kas_schema_check(const struct bz_doc *doc, const char *file,
                        struct bz_kas_notes *notes, unsigned *version,
                        struct bz_err *err) BZ_MUST_CHECK;

#endif
