/* check_store.h - checks of the store and of the tiers behind it: a part of check.h.
 *
 * Nothing is made, repaired or put aside: the files are looked at as they are. */
#ifndef BZ_CMD_CHECK_STORE_H
#define BZ_CMD_CHECK_STORE_H

#include "check.h"

/* The index, and a sample of the blobs: each is hashed. */
void bz_check_store_health(const struct bz_check_host *host, struct bz_check_row *row);

/* Whether each tier answers, in less than a second. */
void bz_check_store_tiers(const struct bz_check_host *host, struct bz_check_row *row);

/* When something was last stored, in seconds since 1970; 0: nothing is known. */
int64_t bz_check_store_newest(const char *root);

#endif
