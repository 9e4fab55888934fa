/* library.h - files parsed once, however often they are used, and what exists.
 *
 * Safe for any number of threads. Several may ask for the same file at once; it
 * is then perhaps parsed twice, but all get the same statements. What has been
 * given out does not change and lives as long as the library. The disk is asked
 * once about each path, so a library is for one look at the metadata, not for
 * watching it. What it found is remembered with a stamp, for whoever wants to know
 * later whether it is still so.
 */
#ifndef BZ_RECIPE_LIBRARY_H
#define BZ_RECIPE_LIBRARY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "os/stamp.h"
#include "recipe/ast.h"
#include "recipe/parse.h"

struct bz_library;

struct bz_library *bz_library_new(void);
void bz_library_free(struct bz_library *lib); /* NULL is allowed */
void bz_library_freep(struct bz_library **lib);

/* Sets how contents are hashed, before the first file is read; by default they are not.
 * Called by several threads at a time. */
typedef void (*bz_library_hash_fn)(void *ctx, struct bz_str bytes, uint8_t out[32]);
void bz_library_set_hash(struct bz_library *lib, bz_library_hash_fn hash, void *ctx);

/* How many times recipes were evaluated with it; bz_finalize_recipe() counts. Any
 * thread. */
void bz_library_count(struct bz_library *lib);
size_t bz_library_counted(const struct bz_library *lib);

/* The statements of a file. BZ_E_NOENT if there is none, BZ_E_INVAL if it is wrong,
 * BZ_E_BUSY if it was read before, and had another content as far as that is hashed. */
int bz_library_get(struct bz_library *lib, struct bz_str path, enum bz_parse_kind kind,
                   const struct bz_ast **out, struct bz_err *err) BZ_MUST_CHECK;

/* The same of a file that will not be asked for again: it is parsed into the caller's
 * arena, and what the parser has to say goes to `notes`, unless that is NULL. */
struct bz_library_sheet {
    struct bz_arena *arena;
    struct bz_buf *notes;
};
int bz_library_read(struct bz_library *lib, struct bz_str path, enum bz_parse_kind kind,
                    const struct bz_library_sheet *sheet, const struct bz_ast **out,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Whether the parser had errors or warnings about a file that was asked for by get. */
bool bz_library_told(struct bz_library *lib, struct bz_str path,
                     enum bz_parse_kind kind);

/* Adds a text to what bz_library_diags() gives, in the order of `key`; the first one
 * with a key counts. */
void bz_library_tell(struct bz_library *lib, struct bz_str key, struct bz_str text);

/* Whether something is at that path; a link that leads nowhere is nothing. */
bool bz_library_exists(struct bz_library *lib, struct bz_str path);

/* `name` in the first of the directories, separated by ':', that has it; p ==
 * NULL if none does. Reports each path that counts. The result lives as long as
 * the library, which remembers every search: it is for lists of directories that
 * are used again and again. */
typedef void (*bz_library_tried_fn)(void *ctx, struct bz_str path);
struct bz_str bz_library_find(struct bz_library *lib, struct bz_str dirs,
                              struct bz_str name, bz_library_tried_fn tried, void *ctx);

/* What is in a directory, sorted by bytes; NULL if it is none, or cannot be read. Asked
 * once of each directory; lives as long as the library. */
struct bz_library_entry {
    struct bz_str name; /* terminated */
    enum bz_library_kind {
        BZ_LIBRARY_DIR = 'd',
        BZ_LIBRARY_LINK = 'l', /* which may lead to a directory */
        BZ_LIBRARY_OTHER = 'f',
    } kind;
};
struct bz_library_list {
    struct bz_library_entry *at;
    size_t len, cap;
};
const struct bz_library_list *bz_library_list(struct bz_library *lib,
                                              struct bz_str path);

/* The hash of a directory's content, as the look at it has it. False if it is none.
 * Any thread. */
bool bz_library_hash_dir(const char *path, bz_library_hash_fn hash, void *ctx,
                         struct bz_stamp *stamp, uint8_t out[32]);

/* Formats everything the parser had to say about files that were not read for a sheet
 * with notes, by path, and forgets it. */
void bz_library_diags(struct bz_library *lib, struct bz_buf *out);

/* What was found at a path: the first time it was looked at, or, of a file that was
 * read, just before that. */
struct bz_library_look {
    struct bz_str path;
    struct bz_stamp stamp;
    bool read;           /* the content counted, not only that it is there */
    uint8_t content[32]; /* the hash of the bytes read; zero if none was asked for */
};

/* NULL: nobody asked for this path. Lives as long as the library. */
const struct bz_library_look *bz_library_look(struct bz_library *lib,
                                              struct bz_str path);

#endif
