/* inputs.h - whether what a survey looked at is still as it was.
 *
 * Each path is asked for its stamp once. Only where that leaves a doubt is the content
 * read and compared: the stamp differs in nothing but times, say, or had not settled.
 */
#ifndef BZ_SURVEY_INPUTS_H
#define BZ_SURVEY_INPUTS_H

#include "survey/deltas.h"
#include "survey/hashing.h"

struct bz_inputs {
    struct bz_library_look *looks; /* [n], with the stamps that they have now */
    bool *changed;                 /* [n] */
    bool *renewed; /* [n]: the stamp is other than remembered, but good */
    bool *dropped; /* [n]: nobody looks there any more, and nobody has now */
    size_t n;
    size_t nchanged;
    size_t nrenewed;
};

/* The inputs of base and deltas, as they are remembered. BZ_E_CORRUPT. Release *in in
 * any case. */
int bz_inputs_read(struct bz_inputs *in, const struct bz_deltas *d,
                   struct bz_err *err) BZ_MUST_CHECK;
void bz_inputs_release(struct bz_inputs *in);

/* Looks at all of them. */
void bz_inputs_check(struct bz_inputs *in, struct bz_hashing *hashing);

/* Whether any of a list, by way of the image's table, has changed; also if the list is
 * none. */
bool bz_inputs_any_changed(const struct bz_inputs *in, const struct bz_snapshot *s,
                           struct bz_snapshot_range list);

#endif
