/* kas_file.h - reads a project file, in YAML or JSON by its name, and writes files.
 *
 * A file that was read has passed kas_schema.h. It lives in the caller's arena.
 */
#ifndef BZ_PROJECT_KAS_FILE_H
#define BZ_PROJECT_KAS_FILE_H

#include "base/arena.h"
#include "codec/doc.h"
#include "project/kas_place.h"

enum { BZ_KAS_FILE_BYTES = 1 << 20 };

struct bz_kas_file {
    const char *path;  /* absolute */
    const char *shown; /* the same for messages: short if it is below the cwd */
    const struct bz_doc *doc;
    unsigned version; /* of the format, from its header */
};

/* `path` is absolute, as is `cwd`. BZ_E_NOENT if there is no such file. */
int bz_kas_file_read(struct bz_arena *arena, const char *path, const char *cwd,
                     struct bz_kas_notes *notes, struct bz_kas_file *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* The name `p`, absolute and normalised; if it is relative, it starts from the absolute
 * directory `base`. */
int bz_kas_file_resolve(struct bz_arena *arena, const char *base, struct bz_str p,
                        const char **out, struct bz_err *err) BZ_MUST_CHECK;

/* Replaces a file at once by these bytes, unless it has them already: then its time of
 * change stays. */
int bz_kas_file_write(const char *path, struct bz_str text,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
