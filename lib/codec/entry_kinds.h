/* entry_kinds.h - the kinds of entries (entries.h) that the catalog of a build
 * directory has, in one list so that no two share a number.
 *
 * The header that owns a kind says when its entries are valid. There are three rules:
 * entries about an evaluation hold as long as all that was read for it, file digests as
 * long as the file's stamp, the last no-op as long as the catalog, the results and the
 * outputs it has seen.
 */
#ifndef BZ_CODEC_ENTRY_KINDS_H
#define BZ_CODEC_ENTRY_KINDS_H

#include "codec/entries.h"

enum bz_entry_kind {
    BZ_MEMO_KIND = 1,         /* the digests of a recipe's tasks: sig/memo.h */
    BZ_SUMS_KIND = 2,         /* the digest of a file: sig/sums.h */
    BZ_SURVEY_TABLE_KIND = 3, /* a recipe's variables: survey/survey.h */
    BZ_SURVEY_STRINGS_KIND = 4,
    BZ_IDLE_KIND = 5,        /* the last no-op build: build/idle.h */
    BZ_DELTAS_BASE_KIND = 6, /* the facts of all recipes: survey/deltas.h */
    BZ_DELTAS_KIND = 7,
    BZ_TRIAL_MEMORY_KIND = 8, /* whether sandboxes work: exec/trial_memory.h */
    BZ_TOOLS_KIND = 9,        /* the host's tools: tools/tools.h */
};

#define BZ_TAINT_KIND (BZ_ENTRIES_KEPT | 1U) /* a forced task: sig/taint.h */

#endif
