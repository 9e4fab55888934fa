/* parse.h - the bytes of one metadata file to its statements.
 *
 * Takes and refuses what BitBake does, and gives the statements the same text. There
 * are two differences: a NUL is refused wherever it stands, and after an error the
 * parser goes on with the next line, so that one run shows several of them.
 *
 * Time and memory are linear in the size of the text. Nothing is evaluated and no other
 * file is opened. The arena and the list belong to the caller's thread; different
 * threads may parse at the same time into different ones.
 */
#ifndef BZ_RECIPE_PARSE_H
#define BZ_RECIPE_PARSE_H

#include "base/arena.h"
#include "recipe/ast.h"
#include "recipe/diag.h"

#define BZ_PARSE_MAX ((size_t)16 << 20) /* bytes of a file */

enum bz_parse_kind {
    BZ_PARSE_BB,       /* .bb, .bbclass, .inc, .bbappend: everything but addpylib */
    BZ_PARSE_CONF,     /* .conf: no functions, tasks, handlers or classes */
    BZ_PARSE_BASECONF, /* a .conf that the configuration starts from, such as a
                          layer.conf, not one that is included: addpylib as well */
};

/* The kind of a file that is named in a statement, by its suffix. Anything else is not
 * a BitBake file, BZ_E_INVAL. That goes for .bbappend too: it is found by its name and
 * parsed as BZ_PARSE_BB, but cannot be included. */
int bz_parse_kind_of(const char *path, enum bz_parse_kind *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* `path` is for messages. The text need not live longer than the call. Warnings go to
 * `diags` and change nothing; errors go there too, and then BZ_E_INVAL says how many,
 * with the first of them. BZ_E_LIMIT if there are more than BZ_PARSE_MAX bytes. */
int bz_parse_text(struct bz_arena *arena, const char *path, enum bz_parse_kind kind,
                  struct bz_str text, struct bz_diag_list *diags, struct bz_ast **out,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
