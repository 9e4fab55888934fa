/* why_view.h - causes, as text and as JSON. */
#ifndef BZ_CMD_WHY_VIEW_H
#define BZ_CMD_WHY_VIEW_H

#include "out.h"
#include "sig/cause.h"

/* `since` says what the tasks are compared with. */
void bz_why_view_text(struct bz_out *out, const struct bz_causes *c, const char *since);
void bz_why_view_json(struct bz_out *out, const struct bz_causes *c, const char *since);

#endif
