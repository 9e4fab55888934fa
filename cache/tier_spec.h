/* tier_spec.h - how a tier is described in the settings.
 *
 *     PLACE [ro|rw] [trust=KEY,KEY...] [token=FILE] [cert=FILE] [key=FILE] [ca=FILE]
 *
 * PLACE is `dir:PATH`, a directory that others share, or an http:// or https:// URL. A
 * tier is for reading unless it says `rw`: nothing leaves this machine unasked. With
 * `trust` only results signed by one of these keys are taken from it (trust.h). The
 * files are for web servers: one with a token to show, our certificate and its key, and
 * the only authorities to believe in.
 */
#ifndef BZ_CACHE_TIER_SPEC_H
#define BZ_CACHE_TIER_SPEC_H

#include "cache/tier.h"

#define BZ_TIER_SPEC_KEYS 16

enum bz_tier_spec_kind { BZ_TIER_SPEC_DIR, BZ_TIER_SPEC_HTTP };

enum bz_tier_spec_file {
    BZ_TIER_SPEC_TOKEN,
    BZ_TIER_SPEC_CERT,
    BZ_TIER_SPEC_KEY,
    BZ_TIER_SPEC_CA,
    BZ_TIER_SPEC_FILES,
};

struct bz_tier_spec {
    enum bz_tier_spec_kind kind;
    struct bz_str place; /* the path as it was written, or the URL; terminated */
    struct bz_str name;  /* what messages call it, without secrets; terminated */
    bool write;
    struct bz_str trust[BZ_TIER_SPEC_KEYS]; /* names of keys */
    size_t ntrust;
    struct bz_str file[BZ_TIER_SPEC_FILES]; /* as written; terminated; or {0} */
    int64_t timeout; /* ns that a server may be silent; 0: as http.h says */
};

/* The texts are in the arena. BZ_E_INVAL, saying what was expected. */
int bz_tier_spec_parse(struct bz_arena *a, struct bz_str text, struct bz_tier_spec *out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* Opens what it describes. A directory must be there. */
int bz_tier_spec_open(const struct bz_tier_spec *spec, struct bz_tier **out,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
