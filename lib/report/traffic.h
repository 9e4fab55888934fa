/* traffic.h - what a build had brought from elsewhere, and where from.
 *
 * Downloads are added up by the server that they came from; what the places of the
 * cache gave and took stands in the account as it was told. One thread.
 */
#ifndef BZ_REPORT_TRAFFIC_H
#define BZ_REPORT_TRAFFIC_H

#include "report/account.h"

struct bz_traffic_row {
    struct bz_str from; /* "https://example.org"; of the account */
    uint64_t files;
    uint64_t bytes; /* as far as they are known */
    int64_t took;   /* one after the other */
};

struct bz_traffic BZ_VEC(struct bz_traffic_row);

/* Fills *t, which is {0}: most bytes first. The caller releases it with
 * bz_vec_release. */
void bz_traffic_downloads(struct bz_traffic *t, const struct bz_account *a);

/* What all of it comes to. */
struct bz_traffic_sum {
    uint64_t downloads, downloaded; /* files, bytes */
    uint64_t hits;                  /* results found in tiers */
    uint64_t read, sent;            /* bytes from and to tiers */
};

/* Whether a place is the store of this machine. */
bool bz_traffic_is_local(const struct bz_account_place *p);

#endif
