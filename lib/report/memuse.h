/* memuse.h - how much of the machine's memory is in use. */
#ifndef BZ_REPORT_MEMUSE_H
#define BZ_REPORT_MEMUSE_H

#include "base/str.h"

/* By what /proc/meminfo says: percent that is not available to programs; -1 if it does
 * not say. */
int bz_memuse_parse(struct bz_str meminfo);
int bz_memuse_read(void);

/* How many bytes of this machine's memory are in use; 0: not known. The second is of
 * the text of /proc/meminfo. */
uint64_t bz_memuse_used(void);
uint64_t bz_memuse_parse_used(struct bz_str meminfo);

#endif
