/* lineage.h - what one variant of a recipe was evaluated from, as one number.
 *
 * Two evaluations with the same lineage, in configurations that say the same, are the
 * same: every path that was looked at had the same content, or was not there either;
 * and recipe, layer, appends and program are the same. So whatever follows from an
 * evaluation can be kept by it.
 *
 * It tells accidents apart, not attacks: 256 bits, added up from numbers that are mixed
 * of the digests of contents. Any thread.
 */
#ifndef BZ_SURVEY_LINEAGE_H
#define BZ_SURVEY_LINEAGE_H

#include "recipe/library.h"
#include "recipe/meta.h"
#include "survey/facts.h"

/* The lineage of facts whose first part, up to `error`, is known, given the meta they
 * are read from. All zero if it is not known, since a file was not hashed. */
void bz_lineage_of(struct bz_library *lib, const struct bz_meta *m,
                   const struct bz_facts *facts, uint8_t out[32]);

static inline bool bz_lineage_known(const uint8_t lineage[32])
{
    return memcmp(lineage, (const uint8_t[32]){0}, 32) != 0;
}

/* That together with what the configuration says, as recall.h digests it. */
void bz_lineage_key(const uint8_t lineage[32], const uint8_t config[32],
                    uint8_t out[32]);

#endif
