/* inputs.h - whether what a snapshot was made from is still as it was.
 *
 * Each path is asked for its stamp once. Only where that leaves a doubt is the content
 * read and compared: the stamp differs in nothing but times, say, or had not settled.
 */
#ifndef BZ_SURVEY_INPUTS_H
#define BZ_SURVEY_INPUTS_H

#include "survey/hashing.h"
#include "survey/snapshot.h"

struct bz_inputs {
    struct bz_library_look *looks; /* [n], as in the snapshot; stamps renewed */
    bool *changed;                 /* [n] */
    size_t n;
    size_t nchanged;
    size_t nrenewed; /* stamps that are other than in the snapshot, but good */
};

/* BZ_E_CORRUPT if the snapshot is. */
int bz_inputs_check(struct bz_inputs *in, const struct bz_snapshot *s,
                    struct bz_hashing *hashing, struct bz_err *err) BZ_MUST_CHECK;
void bz_inputs_release(struct bz_inputs *in);

/* Whether any of a list, by way of the snapshot's table, has changed; also if the list
 * is none. */
bool bz_inputs_any_changed(const struct bz_inputs *in, const struct bz_snapshot *s,
                           struct bz_snapshot_range list);

#endif
