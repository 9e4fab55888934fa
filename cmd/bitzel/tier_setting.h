/* tier_setting.h - an item of cache.tiers, where the one who says it means it. */
#ifndef BZ_CMD_TIER_SETTING_H
#define BZ_CMD_TIER_SETTING_H

#include "cache/tier_spec.h"
#include "config/setting_value.h"

/* The tier that the text describes; the files it names are relative to the place. The
 * texts are in the arena. BZ_E_INVAL, without passwords. */
int bz_tier_setting_parse(struct bz_arena *a, struct bz_str text,
                          const struct bz_setting_value_place *place,
                          struct bz_tier_spec *out, struct bz_err *err) BZ_MUST_CHECK;

/* The text, which may be wrong, without the user and password of a URL: to be shown. */
struct bz_str bz_tier_setting_shown(struct bz_arena *a, struct bz_str text);

/* The same of a whole value of cache.tiers. */
struct bz_setting_value bz_tier_setting_value(struct bz_arena *a,
                                              const struct bz_setting_value *v);

#endif
