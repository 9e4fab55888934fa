/* why_view.h - causes, as text and as JSON. */
#ifndef BZ_CMD_WHY_VIEW_H
#define BZ_CMD_WHY_VIEW_H

#include "codec/jsonw.h"
#include "out.h"
#include "sig/cause.h"

/* `since` says what the tasks are compared with. */
void bz_why_view_text(struct bz_out *out, const struct bz_causes *c, const char *since);
/* `assumed`: that sandboxes work here. */
void bz_why_view_json(struct bz_out *out, const struct bz_causes *c, const char *since,
                      bool assumed);

/* One cause: what was edited, in a few words, and all about it as a map. */
void bz_why_view_title(struct bz_buf *out, const struct bz_cause *c);
void bz_why_view_cause(struct bz_jsonw *w, const struct bz_cause *c);

#endif
