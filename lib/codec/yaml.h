/* yaml.h - reads YAML, and the one door to libyaml.
 *
 * One document in UTF-8. A scalar means what YAML 1.2's core schema says: plain ~,
 * null, true, 7, 0x1f, 0o17, 1e3 and their spellings have the type they look like, and
 * every other scalar, above all every quoted one, is a string. So yes, on, 1:30 and
 * 2024-01-01 are strings, unlike in YAML 1.1. The text of a number stays available in
 * bz_doc.text.
 *
 * An alias gives a value that shares its items with the anchored one and has the place
 * of the alias. Refused, with line and column: a key twice in a map, a key that is a
 * list or map, an alias inside its own anchor, tags beyond the core schema's, numbers
 * that do not fit 64 bits, infinities and NaN, a NUL in a string, more than one
 * document. An empty text is null.
 *
 * The merge key << is resolved as YAML 1.1 loaders do: the items of the map it has for
 * a value, or of each map in a list, become items of its own map and keep their place
 * in the text. The map's own items win over merged ones, and in a list an earlier map
 * over a later one. Merged items stand first, those of a list's last map before all.
 * Where << stands more than once in a map, the later one wins.
 *
 * Parsing may go on in any number of threads at once.
 */
#ifndef BZ_CODEC_YAML_H
#define BZ_CODEC_YAML_H

#include "base/arena.h"
#include "codec/doc.h"

/* Reads a whole text; `limits` may be NULL. Keys count as values, and what an alias
 * stands for counts anew, also below a merge key. *out lives in the arena and needs
 * nothing of `text`. On failure nothing is left in the arena: BZ_E_INVAL for a text
 * that is not as above, BZ_E_NOSUP for foreign tags, BZ_E_LIMIT for a text or number
 * that is too large. */
int bz_yaml_parse(struct bz_arena *arena, struct bz_str text,
                  const struct bz_doc_limits *limits, const struct bz_doc **out,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
