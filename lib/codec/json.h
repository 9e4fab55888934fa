/* json.h - reads JSON, and the one door to cJSON.
 *
 * Accepts what RFC 8259 calls a JSON text, strictly, and of that only what can be
 * understood in one way:
 *
 *   - a key occurs once in its map;
 *   - the text is UTF-8, without byte order mark, and no string contains a NUL, also
 *     not as \u0000: strings become paths, arguments and keys, where a NUL would end
 *     them early;
 *   - a number without point and exponent is an integer and kept exactly. One that does
 *     not fit 64 bits with sign is refused, never rounded;
 *   - any other number is a double; one too large to be one is refused.
 *
 * Writing is in jsonw.h. Parsing may go on in any number of threads at once.
 */
#ifndef BZ_CODEC_JSON_H
#define BZ_CODEC_JSON_H

#include "base/arena.h"
#include "codec/doc.h"

/* Reads a whole text; `limits` may be NULL. *out lives in the arena and needs nothing
 * of `text`. On failure nothing is left in the arena: BZ_E_INVAL for a text that is not
 * as above, BZ_E_LIMIT for one that is too long, too deep, or has too many values or a
 * number that does not fit. */
int bz_json_parse(struct bz_arena *arena, struct bz_str text,
                  const struct bz_doc_limits *limits, const struct bz_doc **out,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
