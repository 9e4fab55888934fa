/* kas_place.h - where in a project's files something stands, and warnings about it.
 *
 * Every value of a project knows its place, so that a message can lead to the line to
 * change: `bz_fail(err, BZ_E_INVAL, BZ_KAS_PLACE_FMT ": ...", BZ_KAS_PLACE_ARG(at))`.
 *
 * Warnings go to the caller's function, on the caller's thread, in the order in which
 * they are found.
 */
#ifndef BZ_PROJECT_KAS_PLACE_H
#define BZ_PROJECT_KAS_PLACE_H

#include <stdint.h>

#include "base/defs.h"

struct bz_kas_place {
    const char *file; /* as messages name it; for a value from the environment the
                         variable, for a default NULL */
    uint32_t line;    /* from 1; 0 if it is in no file */
    uint32_t column;  /* from 1; 0 if only the line is known */
};

#define BZ_KAS_PLACE_FMT "%s:%u:%u"
#define BZ_KAS_PLACE_ARG(at) (at).file, (at).line, (at).column

enum { BZ_KAS_PLACE_WARNINGS = 50 }; /* a reader of a hostile file stops there */

/* Gets one line without its newline: "kas.yml:3: unknown key 'x'". */
typedef void (*bz_kas_place_fn)(void *ctx, const char *text);

struct bz_kas_notes {
    bz_kas_place_fn fn;
    void *ctx;
    unsigned given; /* warnings so far */
};

/* notes may be NULL: then nobody wants to know. */
void bz_kas_place_warn(struct bz_kas_notes *notes, struct bz_kas_place at,
                       const char *fmt, ...) BZ_PRINTF(3, 4);

#endif
