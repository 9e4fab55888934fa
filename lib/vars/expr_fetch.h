/* expr_fetch.h - what BitBake's fetcher is asked in expressions: where local files are.
 */
#ifndef BZ_VARS_EXPR_FETCH_H
#define BZ_VARS_EXPR_FETCH_H

#include "vars/expr_call.h"

/* bb.fetch.get_checksum_file_list(d): the places where the file:// entries of SRC_URI
 * are looked for, each with ":True" or ":False" as there is something. BZ_E_INVAL if an
 * entry is nowhere; BZ_E_NOSUP for URLs that only BitBake's fetchers can judge. */
int bz_expr_fetch_list(struct bz_expr_run *r, const struct bz_expr_args *a,
                       struct bz_expr_value *out);

#endif
