/* library.h - files parsed once, however often they are used, and what exists.
 *
 * Safe for any number of threads. Several may ask for the same file at once; it
 * is then perhaps parsed twice, but all get the same statements. What has been
 * given out does not change and lives as long as the library. The disk is asked
 * once about each path, so a library is for one look at the metadata, not for
 * watching it.
 */
#ifndef BZ_RECIPE_LIBRARY_H
#define BZ_RECIPE_LIBRARY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "recipe/ast.h"
#include "recipe/parse.h"

struct bz_library;

struct bz_library *bz_library_new(void);
void bz_library_free(struct bz_library *lib); /* NULL is allowed */
void bz_library_freep(struct bz_library **lib);

/* The statements of a file. BZ_E_NOENT if there is none, BZ_E_INVAL if it is
 * wrong. */
int bz_library_get(struct bz_library *lib, struct bz_str path, enum bz_parse_kind kind,
                   const struct bz_ast **out, struct bz_err *err) BZ_MUST_CHECK;

/* Whether something is at that path; a link that leads nowhere is nothing. */
bool bz_library_exists(struct bz_library *lib, struct bz_str path);

/* `name` in the first of the directories, separated by ':', that has it; p ==
 * NULL if none does. Reports each path it tries. The result lives as long as
 * the library. */
typedef void (*bz_library_tried_fn)(void *ctx, struct bz_str path);
struct bz_str bz_library_find(struct bz_library *lib, struct bz_str dirs,
                              struct bz_str name, bz_library_tried_fn tried, void *ctx);

/* Formats everything the parser had to say about any file, in the order it was
 * found, and forgets it. */
void bz_library_diags(struct bz_library *lib, struct bz_buf *out);

#endif
