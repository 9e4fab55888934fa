#include "project/kas_place.h"

#include <stdarg.h>

#include "base/buf.h"

void bz_kas_place_warn(struct bz_kas_notes *notes, struct bz_kas_place at,
                       const char *fmt, ...)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    va_list ap;

    if (!notes || notes->given > BZ_KAS_PLACE_WARNINGS)
        return;
    if (notes->given++ == BZ_KAS_PLACE_WARNINGS) {
        notes->fn(notes->ctx, "there are more warnings, which are not shown");
        return;
    }
    bz_buf_addf(&text, "%s:%u", at.file, at.line);
    if (at.column > 0)
        bz_buf_addf(&text, ":%u", at.column);
    bz_buf_addf(&text, ": ");
    va_start(ap, fmt);
    bz_buf_addv(&text, fmt, ap);
    va_end(ap);
    notes->fn(notes->ctx, bz_buf_text(&text));
}
