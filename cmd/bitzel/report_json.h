/* report_json.h - what a build did, as JSON. */
#ifndef BZ_CMD_REPORT_JSON_H
#define BZ_CMD_REPORT_JSON_H

#include "codec/jsonw.h"
#include "report_view.h"

/* One map. */
void bz_report_json_write(const struct bz_report_view *r, struct bz_jsonw *w);

#endif
