/* history_json.h - the history of a variable as JSON. */
#ifndef BZ_CMD_HISTORY_JSON_H
#define BZ_CMD_HISTORY_JSON_H

#include "codec/jsonw.h"
#include "vars/vars.h"

/* A list of all operations, oldest first: op, file, line, detail and, if it was about
 * one, flag. */
void bz_history_json_list(struct bz_jsonw *w, struct bz_vars *v, struct bz_str name);

#endif
